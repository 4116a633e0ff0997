# function-tracer.txt, "trace-cmd": these are programs of their own, which this guest has not; each line says so.
#lines function-tracer.txt 192-208

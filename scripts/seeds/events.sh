# function-tracer.txt, "Event tracing: tracepoints"; the seed's pid 1234 is no task here.
#lines function-tracer.txt 165-165
#lines function-tracer.txt 168-168
#lines function-tracer.txt 171-171
#lines function-tracer.txt 174-174
#lines function-tracer.txt 177-177
cat /etc/hostname
head -14 /sys/kernel/tracing/trace

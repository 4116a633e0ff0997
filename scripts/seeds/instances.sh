# function-tracer.txt, "trace instances: non-interfering sessions"; the filter net_* matches nothing here.
#lines function-tracer.txt 212-218
cat /sys/kernel/tracing/instances/myinstance/current_tracer
ls /sys/kernel/tracing/instances
#lines function-tracer.txt 224-224
ls /sys/kernel/tracing/instances

# function-tracer.txt, "trace instances: non-interfering sessions", as it stands: the filter net_* matches nothing here, and the
# instance is in use as long as the cat behind & reads its trace_pipe.
{
#lines function-tracer.txt 212-224
} > /tmp/out
head -20 /tmp/out
cat /sys/kernel/tracing/instances/myinstance/current_tracer
ls /sys/kernel/tracing/instances
kill %1; wait
#lines function-tracer.txt 224-224
ls /sys/kernel/tracing/instances

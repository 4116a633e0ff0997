# function-tracer.txt, "Event tracing: tracepoints"; the seed's pid 1234 is no task here.
#lines function-tracer.txt 164-177
cat /etc/hostname
head -14 /sys/kernel/tracing/trace
echo "--- a filter that a task of ours passes"
echo "common_pid != 1234" > /sys/kernel/tracing/events/syscalls/sys_enter_read/filter
echo > /sys/kernel/tracing/trace; cat /etc/hostname; echo 0 > /sys/kernel/tracing/tracing_on
grep sys_read /sys/kernel/tracing/trace | cut -c1-90

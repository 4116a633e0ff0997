# userstacktrace: where the task came from user space. The stub that runs programs has no frame pointers.
cd /sys/kernel/tracing
echo 1 > options/userstacktrace; echo 1 > events/syscalls/sys_enter_write/enable
echo hello > /dev/null
echo 0 > tracing_on; tail -4 trace
echo raw > trace_options; tail -2 trace; echo noraw > trace_options;
echo > trace; echo 1 > tracing_on; echo 1 > options/stacktrace; echo hello > /dev/null; echo 0 > tracing_on; tail -6 trace
echo 1 > options/sym-userobj

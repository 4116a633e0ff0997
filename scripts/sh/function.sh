# Tracing functions as in any introduction to ftrace; every command is a task of the guest.
cd /sys/kernel/tracing
cat available_tracers
echo 'vfs_read' > set_ftrace_filter
echo 'vfs_op*' >> set_ftrace_filter
cat set_ftrace_filter
echo function > current_tracer
cat /etc/hostname
echo 0 > tracing_on
cat trace | grep -v '^#' | grep 'cat-'
echo > trace
echo nop > current_tracer
echo > set_ftrace_filter
head -1 set_ftrace_filter

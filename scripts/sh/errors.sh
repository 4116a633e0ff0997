# What the shell says when tracefs refuses.
cd /sys/kernel/tracing
echo fucntion > current_tracer
echo vfs_raed > set_ftrace_filter; echo "status $?"
echo 1 > available_tracers
cat no_such_file
echo 0 > buffer_size_kb
nosuchcommand
for f in current_tracer tracing_on; do printf '%s: ' $f; cat $f; done
exit 3

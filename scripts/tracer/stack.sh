# The stack tracer: the deepest stack of the functions in stack_trace_filter; what function_graph has hijacked is left out.
cd /sys/kernel/tracing
cat stack_trace; cat /proc/sys/kernel/stack_tracer_enabled
echo 'vfs_open vfs_read' > stack_trace_filter; cat stack_trace_filter
echo 1 > /proc/sys/kernel/stack_tracer_enabled; cat enabled_functions
cat /etc/hostname; cat stack_max_size stack_trace
echo 0 > stack_max_size; echo vfs_read > stack_trace_filter
cat /etc/hostname; cat stack_trace
echo 0 > stack_max_size; echo function_graph > current_tracer
cat /etc/hostname > /dev/null; cat stack_trace
echo nop > current_tracer
echo nosuch > stack_trace_filter; echo vfs_read:traceoff > stack_trace_filter; echo x > stack_max_size; echo x > stack_trace
echo 0 > /proc/sys/kernel/stack_tracer_enabled; cat enabled_functions; head -3 stack_trace

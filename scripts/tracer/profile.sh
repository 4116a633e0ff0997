# The function profiler: hits and times by CPU; not beside function_graph; graph-time counts what a function calls.
cd /sys/kernel/tracing
cat trace_stat/function0
echo 'vfs_* path_openat do_filp_open' > set_ftrace_filter
echo 1 > function_profile_enabled; cat function_profile_enabled
cat enabled_functions | head -2
echo function_graph > current_tracer
taskset 1 cat /etc/hostname; taskset 1 cat /etc/hostname
echo 0 > function_profile_enabled; cat trace_stat/function0
echo 0 > options/graph-time; echo 1 > function_profile_enabled
taskset 2 cat /etc/hostname
echo 0 > function_profile_enabled; head -4 trace_stat/function1; grep -c vfs_open trace_stat/function2 trace_stat/function3
echo 5 > tracing_thresh; cat trace_stat/function0; echo 0 > tracing_thresh
echo function_graph > current_tracer; echo 1 > function_profile_enabled; echo nop > current_tracer
echo x > function_profile_enabled; echo x > trace_stat/function0

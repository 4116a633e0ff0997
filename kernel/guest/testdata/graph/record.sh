# oracle.sh record.sh -smp 1 -m 768 -a t -a t2; then the trees are cut to depth 4, their interrupts and security modules left out, equal calls merged.
cd /sys/kernel/tracing
echo 0 > tracing_on
echo 80000 > buffer_size_kb
echo 7 > max_graph_depth
echo nofuncgraph-irqs > trace_options
echo nofuncgraph-duration > trace_options
echo nofuncgraph-cpu > trace_options
echo '__x64_sys_*' > set_graph_function
echo do_exit >> set_graph_function
cat > /tmp/nt <<X
__rcu_read_lock
__rcu_read_unlock
X
cat /tmp/nt > set_ftrace_notrace
echo function_graph > current_tracer
/work/t
echo 0 > tracing_on
cat trace

# second part
cd /sys/kernel/tracing
echo 0 > tracing_on
echo 80000 > buffer_size_kb
echo 6 > max_graph_depth
echo function_graph > current_tracer
echo nofuncgraph-irqs > trace_options
echo nofuncgraph-duration > trace_options
echo nofuncgraph-cpu > trace_options
echo '__x64_sys_*' > set_graph_function
echo do_user_addr_fault >> set_graph_function
echo handle_mm_fault >> set_graph_function
printf '__rcu_read_lock\n__rcu_read_unlock\n' > set_ftrace_notrace
/work/t2
cat trace

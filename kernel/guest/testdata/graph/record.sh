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

# third part: waking and the timer tick
cd /sys/kernel/tracing
echo 0 > tracing_on
echo 30000 > buffer_size_kb
echo 5 > max_graph_depth
echo nofuncgraph-duration > trace_options
echo nofuncgraph-cpu > trace_options
echo nofuncgraph-irqs > trace_options
echo try_to_wake_up > set_graph_function
printf '__rcu_read_lock\n__rcu_read_unlock\n' > set_ftrace_notrace
echo function_graph > current_tracer
echo 1 > tracing_on
for i in 1 2 3 4 5; do echo x | cat > /dev/null; sleep 0.01; done
echo 0 > tracing_on
echo "== try_to_wake_up"
cat trace
echo nop > current_tracer
echo funcgraph-irqs > trace_options
echo hrtimer_interrupt > set_graph_function
echo function_graph > current_tracer
echo 1 > tracing_on
i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.2
echo 0 > tracing_on
echo "== hrtimer_interrupt"
cat trace

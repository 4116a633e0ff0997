# Options that show only with forks, interrupts, sleeping tasks, repeated calls and long functions.
cd /sys/kernel/tracing
lines() { grep -v '^#' trace | sed 's/^ *//; s/\[[0-9]*\].*: / /'; echo > trace; }

echo "== event-fork, function-fork: the children of a listed task are listed too"
echo $$ > set_event_pid
echo 1 > events/sched/sched_process_exec/enable
/bin/true
lines
echo 1 > options/event-fork
/bin/true
lines
echo 0 > options/event-fork
echo 0 > events/enable
echo > set_event_pid
echo $$ > set_ftrace_pid
echo begin_new_exec > set_ftrace_filter
echo function > current_tracer
/bin/true
lines
echo 1 > options/function-fork
/bin/true
lines
echo 0 > options/function-fork
echo > set_ftrace_pid

echo "== func-no-repeats"
taskset -p 1 $$ > /dev/null
echo vfs_write vfs_open > set_ftrace_filter
calls() { grep -v '^#' trace | sed 's/^[^:]*: //; s/ts:.*/ts: ...)/' | head -7; }
for on in 0 1; do
	echo $on > options/func-no-repeats
	echo > trace
	for i in 1 2 3 4; do echo x; done > /dev/null
	calls
done
echo 0 > options/func-no-repeats
taskset -p f $$ > /dev/null

echo "== sleep-time, funcgraph-overhead"
echo nop > current_tracer
echo __x64_sys_nanosleep __x64_sys_clock_nanosleep > set_ftrace_filter
echo function_graph > current_tracer
sleep 0.02
grep nanosleep trace | sed 's/^ *[0-9]*)//'; echo > trace
echo 0 > options/funcgraph-overhead
sleep 0.02
grep nanosleep trace | sed 's/^ *[0-9]*)//'; echo > trace
echo 1 > options/funcgraph-overhead
echo 0 > options/sleep-time
sleep 0.02
grep nanosleep trace | sed 's/^ *[0-9]*)//'; echo > trace
echo 1 > options/sleep-time

echo "== funcgraph-irqs"
echo > set_ftrace_filter
echo do_exit > set_ftrace_notrace    # nothing else is left out
for on in 1 0; do
	echo $on > options/funcgraph-irqs
	echo > trace
	sleep 0.01
	echo 0 > tracing_on
	grep -q tick_sched_timer trace && echo "interrupts with $on" || echo "no interrupts with $on"
	echo 1 > tracing_on
done
echo 1 > options/funcgraph-irqs
echo > set_ftrace_notrace

echo "== of the tracer nop, and of tracers that are not here"
echo nop > current_tracer
for o in test_nop_accept test_nop_refuse display-graph; do echo 1 2> /dev/null > options/$o || echo refused; cat options/$o; done
echo 0 > options/test_nop_accept

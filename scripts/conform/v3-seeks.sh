# Partial reads, seeks, appends.
cd /sys/kernel/tracing
ddr() { dd if=$1 bs=$2 skip=${3:-0} count=${4:-1} 2>/dev/null | od -An -c | head -3; echo "= ${PIPESTATUS[0]}"; }
for f in tracing_on current_tracer trace_clock tracing_cpumask buffer_size_kb max_graph_depth options/overwrite events/sched/sched_switch/enable events/sched/sched_switch/id events/sched/sched_switch/filter events/sched/sched_switch/format events/header_page set_event set_ftrace_filter set_ftrace_pid set_graph_function trace_options tracing_thresh saved_cmdlines_size error_log synthetic_events snapshot stack_max_size stack_trace per_cpu/cpu0/stats timestamp_mode; do
  echo "## $f"
  dd if=$f bs=1 count=4 2>/dev/null | od -An -c
  dd if=$f bs=3 skip=1 count=1 2>/dev/null | od -An -c
  dd if=$f bs=2 skip=100000 count=1 2>/dev/null | od -An -c
  [ "$(dd if=$f bs=1 2>/dev/null | md5sum)" = "$(dd if=$f bs=7 2>/dev/null | md5sum)" ] && [ "$(cat $f | md5sum)" = "$(dd if=$f bs=64k 2>/dev/null | md5sum)" ] && echo same || echo different
done
echo "## sizes"
for f in tracing_on trace available_filter_functions events/sched/sched_switch/format per_cpu/cpu0/trace; do stat -c '%s %b %A' $f; tail -c 20 $f 2>/dev/null | wc -c; done
echo "## append and truncate"
echo a > trace_marker; echo b >> trace_marker; grep -c tracing_mark trace
: >> trace; grep -c tracing_mark trace
echo >> trace; grep -c tracing_mark trace
: > trace; grep -c tracing_mark trace
echo c > trace_marker; echo x > trace; grep -c tracing_mark trace
echo c > trace_marker; echo > per_cpu/cpu0/trace; echo > per_cpu/cpu1/trace; grep -c tracing_mark trace
echo d > trace_marker; : > per_cpu/cpu0/trace; : > per_cpu/cpu1/trace; grep -c tracing_mark trace
for f in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace; do
  echo vfs_read > $f; echo vfs_write >> $f; sort $f; : >> $f; sort $f; echo >> $f; sort $f; : > $f; cat $f
done
echo $$ > set_ftrace_pid; echo 1 >> set_ftrace_pid; wc -l < set_ftrace_pid; : >> set_ftrace_pid; wc -l < set_ftrace_pid; : > set_ftrace_pid; cat set_ftrace_pid
echo sched_switch > set_event; echo sched_wakeup >> set_event; cat set_event; : >> set_event; cat set_event; echo sched_waking > set_event; cat set_event; : > set_event; cat set_event
echo "## one open file, several writes"
exec 3> set_ftrace_filter; echo vfs_read >&3; echo vfs_write >&3; sort set_ftrace_filter; exec 3>&-; sort set_ftrace_filter
exec 3>> set_ftrace_filter; printf vfs_ >&3; printf 'open\n' >&3; exec 3>&-; sort set_ftrace_filter
exec 3>> set_ftrace_filter; printf 'vfs_rename vfs_rm' >&3; printf 'dir' >&3; exec 3>&-; sort set_ftrace_filter
printf 'vfs_symlink' > set_ftrace_filter; sort set_ftrace_filter
exec 3<> set_ftrace_filter; sort <&3; echo vfs_read >&3; exec 3>&-; sort set_ftrace_filter
: > set_ftrace_filter
exec 3> tracing_on; echo 0 >&3; cat tracing_on; echo 1 >&3; cat tracing_on; exec 3>&-
exec 3<> tracing_on; cat <&3; echo 0 >&3; cat <&3; exec 3>&-; cat tracing_on; echo 1 > tracing_on
exec 3> current_tracer; echo function >&3; echo nop >&3; exec 3>&-; cat current_tracer
exec 3< tracing_on; cat <&3; cat <&3; exec 3<&-
exec 3< set_event; cat <&3; cat <&3; exec 3<&-

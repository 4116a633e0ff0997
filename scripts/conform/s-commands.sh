# What function commands do, stack tracer, options that make stacks.
cd /sys/kernel/tracing
work() { ln -s a /tmp/l; rm /tmp/l; mkdir /tmp/d; rmdir /tmp/d; }
f() { grep -v '^#' set_ftrace_filter; echo "= $(cat tracing_on) $(grep -c . enabled_functions)"; }
set() { echo "$1" >> set_ftrace_filter; }
echo "# traceon, traceoff"
echo > set_ftrace_filter
set 'vfs_symlink:traceoff'; f; work; f; work; f; echo 1 > tracing_on
set '!vfs_symlink:traceoff'; f
set 'vfs_symlink:traceoff:2'; f; work; f; echo 1 > tracing_on; work; f; echo 1 > tracing_on; work; f
set 'vfs_rmdir:traceon:1'; echo 0 > tracing_on; work; f; echo 0 > tracing_on; work; f
set 'vfs_mkdir:traceon:unlimited' ; f
set '!vfs_symlink:traceoff:2'; f; set '!vfs_symlink:traceoff:0'; f; set '!vfs_rmdir:traceon:0'; f
echo 1 > tracing_on
echo "# snapshot"
echo mark > trace_marker; set 'vfs_symlink:snapshot:1'; f; work; f; grep -c mark trace snapshot; work; grep -c mark snapshot
set '!vfs_symlink:snapshot:0'; f; echo 0 > snapshot
echo "# stacktrace"
echo > trace; set 'vfs_symlink:stacktrace:2'; f; work; work; work; f; grep -c 'stack trace' trace; sed -n '/stack trace/,$p' trace | sed 's/.*: </</' | head -6
set '!vfs_symlink:stacktrace:0'
echo "# dump, cpudump"
dmesg -C 2>/dev/null; echo > trace; echo mark1 > trace_marker
set 'vfs_symlink:dump'; f; work; f; dmesg | sed -E 's/^\[[^]]*\] //; s/-[0-9]+ +[0-9]*/-PID /; s/[0-9]+us/Nus/' | grep -v 'random:' | head -20
set '!vfs_symlink:dump'; dmesg -C 2>/dev/null; echo mark2 > trace_marker
set 'vfs_rmdir:cpudump:1'; f; work; work; f; dmesg | grep -c 'Dumping ftrace buffer'
set '!vfs_rmdir:cpudump:0'; f
echo "# enable_event"
echo > trace; set 'vfs_symlink:enable_event:sched:sched_switch:1'; f; cat events/sched/sched_switch/enable; work; cat events/sched/sched_switch/enable; f; [ $(grep -c sched_switch: trace) -gt 0 ] && echo events
echo 0 > events/sched/sched_switch/enable; set '!vfs_symlink:enable_event:sched:sched_switch'; f; cat events/sched/sched_switch/enable
set 'vfs_symlink:disable_event:sched:sched_switch'; echo 1 > events/sched/sched_switch/enable; work; cat events/sched/sched_switch/enable; set '!vfs_symlink:disable_event:sched:sched_switch'; cat events/sched/sched_switch/enable; echo 0 > events/sched/sched_switch/enable
echo "# globs and modules"
set 'vfs_sym*:traceoff:3'; set 'vfs_rm*:stacktrace'; f; set '!vfs_*:stacktrace'; f; set '!*:traceoff:0'; f
echo > set_ftrace_filter; f
echo 'nosuch_mod_fn:mod:nosuchmod' > set_ftrace_filter; cat set_ftrace_filter; echo ':mod:nosuchmod' >> set_ftrace_notrace; cat set_ftrace_notrace; echo > set_ftrace_filter; echo > set_ftrace_notrace; cat set_ftrace_filter set_ftrace_notrace
echo "# the stack tracer"
cat /proc/sys/kernel/stack_tracer_enabled stack_max_size; cat stack_trace; echo 1 > /proc/sys/kernel/stack_tracer_enabled; work
echo 0 > /proc/sys/kernel/stack_tracer_enabled
[ $(cat stack_max_size) -gt 500 ] && echo deep; head -2 stack_trace | sed -E 's/[0-9]+ entries/N entries/'; echo 0 > stack_max_size; cat stack_max_size
cat stack_trace_filter; echo vfs_symlink > stack_trace_filter; cat stack_trace_filter; grep -c . enabled_functions
echo 1 > /proc/sys/kernel/stack_tracer_enabled; grep -E '^vfs_sym' enabled_functions | sed -E 's/0x[0-9a-f]+/ADDR/g; s/\+ADDR\/ADDR//g; s/[[:space:]]+/ /g'; grep -c . enabled_functions; work; echo 0 > /proc/sys/kernel/stack_tracer_enabled; sed -E 's/[0-9]+/N/g; s/\+Nx.*//; s/ +/ /g' stack_trace | tail -3

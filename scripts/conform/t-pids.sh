# Pids of events, forks, instances' events, stacks of events, triggers of events on.
cd /sys/kernel/tracing
n() { grep -c -E "$1" ${2:-trace}; }
has() { echo 0 > tracing_on; has1 "$@"; echo 1 > tracing_on; }
has1() { [ $(grep -c -E "$1" ${2:-trace}) -gt 0 ] && echo "$1: yes" || echo "$1: no"; }
run() { ls / > /dev/null; }
echo "# set_event_pid"
echo 1 > events/raw_syscalls/sys_enter/enable; echo $$ > set_event_pid; echo > trace; run; echo > /dev/null
has "bash|sh-"; has "ls-"
echo 1 > options/event-fork; echo > trace; run; has "ls-"; [ $(wc -l < set_event_pid) -ge 1 ] && echo some; wc -l < set_event_pid
echo 0 > options/event-fork; echo > set_event_pid; cat set_event_pid
echo $$ > set_event_notrace_pid; echo > trace; run; has " (bash|sh)-"; has "ls-"; echo > set_event_notrace_pid
echo 1 > options/event-fork; echo $$ > set_event_notrace_pid; echo > trace; run;  has "ls-"; echo > set_event_notrace_pid; echo 0 > options/event-fork
echo 0 > events/raw_syscalls/sys_enter/enable
echo "# instances"
mkdir instances/a; echo 1 > instances/a/events/sched/sched_process_exit/enable; cat events/sched/sched_process_exit/enable instances/a/events/sched/sched_process_exit/enable instances/a/events/sched/enable events/enable instances/a/events/enable; cat set_event instances/a/set_event
echo > trace; run; has exit; has exit instances/a/trace
echo hello > instances/a/trace_marker; n hello; n hello instances/a/trace
echo 1 > instances/a/options/overwrite; echo 0 > instances/a/tracing_on; cat tracing_on instances/a/tracing_on
echo 'comm == "ls"' > instances/a/events/sched/sched_process_exit/filter; cat events/sched/sched_process_exit/filter instances/a/events/sched/sched_process_exit/filter; echo 1 > instances/a/tracing_on; echo > instances/a/trace; run; cat /dev/null; n exit instances/a/trace
echo $$ > instances/a/set_event_pid; cat set_event_pid; echo "--"; wc -l < instances/a/set_event_pid
echo 1 > instances/a/options/stacktrace; echo > instances/a/set_event_pid; echo > instances/a/trace; run; sed -n '/stack trace/,$p' instances/a/trace | sed -E 's/.*: </</; s/-[0-9]+//' | head -5
ls instances/a | tr '\n' ' '; echo; ls instances/a/options | wc -l; ls instances/a/events/sched/sched_switch | tr '\n' ' '; echo; cat instances/a/available_tracers
echo global > instances/a/trace_clock; cat trace_clock instances/a/trace_clock; echo 100 > instances/a/buffer_size_kb; cat instances/a/buffer_size_kb instances/a/buffer_total_size_kb
echo 1 > instances/a/snapshot; n exit instances/a/snapshot; cat snapshot | head -2
echo 'raw_syscalls:sys_enter' >> instances/a/set_event; cat instances/a/set_event; cat set_event
rmdir instances/a; cat set_event
echo "# stacks"
echo 1 > options/stacktrace; echo 1 > events/sched/sched_process_exit/enable; echo > trace; run; sed -n '/stack trace/,$p' trace | sed -E 's/.*: </</' | sed -n 1,4p; echo 0 > options/stacktrace; echo 0 > events/sched/sched_process_exit/enable
echo "# a reader stops tracing, and does not"
echo 1 > options/pause-on-trace; exec 3< trace; cat tracing_on; echo x > trace_marker; echo $?; exec 3<&-; echo x > trace_marker; echo $?; echo 0 > options/pause-on-trace
exec 3< trace; echo x > trace_marker; echo $?; exec 3<&-
echo "# tgid"
echo 1 > options/record-tgid; echo 1 > events/raw_syscalls/sys_enter/enable; run; echo 0 > events/raw_syscalls/sys_enter/enable; grep -m1 TGID trace; sed '/^#/d' trace | sed -E 's/^ *([a-z<>.]+)-[0-9]+ +\( *[0-9-]+\).*/\1 (N)/' | sort -u | grep -E '^(ls|bash|sh)' | sed 's/^bash/sh/' | sort -u; echo 0 > options/record-tgid; grep -c TGID trace

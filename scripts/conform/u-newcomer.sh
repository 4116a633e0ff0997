# What a newcomer tries: the rings' size as instances use it, snapshots while tracing is off, probes at addresses.
cd /sys/kernel/tracing
size() { echo "$1: $(cat buffer_size_kb), $(cat instances/y/buffer_size_kb 2>/dev/null)"; }
cat buffer_size_kb
mkdir instances/y
size made
echo function > instances/y/current_tracer; echo nop > instances/y/current_tracer
size 'tracer of y'
echo 1 > instances/y/events/sched/sched_switch/enable; echo 0 > instances/y/events/sched/sched_switch/enable
size 'event of y'
echo nop > current_tracer
size 'own tracer'
echo 1 > events/sched/sched_switch/enable; echo 0 > events/sched/sched_switch/enable
size 'own event'
rmdir instances/y
size removed

## snapshots while tracing is off
see() { echo "snapshot:"; grep -v '^#' snapshot | sed 's/^.*: //'; grep '^# \* ' snapshot; echo "trace:"; grep -v '^#' trace | sed 's/^.*: //'; cat tracing_on; }
echo > trace
echo hello > trace_marker; echo 0 > tracing_on; echo 1 > snapshot; echo "rc $?"; see
echo 1 > tracing_on; echo again > trace_marker; echo 1 > snapshot; see
echo 0 > tracing_on; echo 1 > snapshot; see
echo 2 > snapshot; see
echo 1 > tracing_on; echo > trace
echo 'snapshot:1' > events/sched/sched_process_fork/trigger
echo fork > trace_marker; echo 0 > tracing_on; /bin/true; see
echo '!snapshot' > events/sched/sched_process_fork/trigger
echo 0 > snapshot; echo 1 > tracing_on; echo > trace
echo 'hist:keys=common_type:p=child_pid:onchange($p).snapshot()' > events/sched/sched_process_fork/trigger; echo "rc $?"
echo change > trace_marker; echo 0 > tracing_on; /bin/true
see
echo '!hist:keys=common_type:p=child_pid:onchange($p).snapshot()' > events/sched/sched_process_fork/trigger; echo "rc $?"
echo 1 > tracing_on; echo 0 > snapshot; echo > trace
echo paused > trace_marker; echo 1 > options/pause-on-trace
exec 5< trace; read -r line <&5; echo 1 > snapshot; cat tracing_on; exec 5<&-; echo 0 > options/pause-on-trace; see
echo 0 > snapshot; echo > trace

## probes at addresses
dmesg -C
echo 'p:a 0xffffffff81000000' > kprobe_events; echo "rc $?"; dmesg | tail -1 | sed 's/^\[[^]]*\] //'
echo 'r:b 0xffffffff81000000' > kprobe_events; echo "rc $?"; dmesg | tail -1 | sed 's/^\[[^]]*\] //'
dmesg -C
cat kprobe_events; sed 's/^\[[^]]*\] //' error_log

# Rings: sizes, losses, pipes, snapshots.
cd /sys/kernel/tracing
ring() { grep -E 'entries|overrun|dropped|read' per_cpu/cpu0/stats | tr '\n' ' '; echo; }
mark() { taskset 1 sh -c "i=0; while [ \$i -lt $1 ]; do echo mark\$i > trace_marker; i=\$((i+1)); done" 2>/dev/null; }
echo 4 > per_cpu/cpu0/buffer_size_kb; cat per_cpu/cpu0/buffer_size_kb per_cpu/cpu1/buffer_size_kb buffer_size_kb buffer_total_size_kb
echo "# overwrite"
mark 400; ring
grep -c mark trace; grep entries-in trace | sed 's/#P.*//'
sed '/^#/d; s/.*: //' trace | head -1
timeout 1 cat per_cpu/cpu0/trace_pipe > /tmp/p; sed -E 's/.*tracing_mark_write: //' /tmp/p | head -2; wc -l < /tmp/p
ring
timeout 1 cat trace_pipe | wc -l
mark 400; timeout 1 cat trace_pipe > /tmp/p; head -1 /tmp/p
echo "# live resize keeps what fits"
echo > trace; mark 100; echo 20 > per_cpu/cpu0/buffer_size_kb; ring; grep -c mark trace; echo 4 > per_cpu/cpu0/buffer_size_kb; ring; grep -c mark trace; sed '/^#/d; s/.*: //' trace | sed -n '1p;$p'
echo 8 > buffer_size_kb; ring; grep -c mark trace; cat buffer_size_kb
echo "# overwrite off"
echo > trace; echo 4 > buffer_size_kb; echo 0 > options/overwrite
mark 400; ring; grep -c mark trace; sed '/^#/d; s/.*: //' trace | sed -n '1p;$p'
timeout 1 cat trace_pipe > /tmp/p; head -1 /tmp/p | sed 's/.*: //'
mark 5; ring
echo 1 > options/overwrite
echo "# lost"
echo > trace; mark 400; sed -n '/LOST/p' trace; cat per_cpu/cpu0/trace | grep -a -c LOST
exec 3< trace_pipe; read -r line <&3; echo "$line" | sed 's/.*: //'; mark 400; mark 400; timeout 1 cat <&3 > /tmp/p; exec 3<&-
grep -E -c LOST /tmp/p; grep -E LOST /tmp/p | sed 's/[0-9]* EV/N EV/'
ring
echo "# snapshot"
echo > trace; echo 1410 > buffer_size_kb
cat snapshot | head -3
mark 3; echo 1 > snapshot; mark 2
grep -c mark trace snapshot
cat per_cpu/cpu0/snapshot | grep -c mark
sed -n '/^#.*entries/p' snapshot | sed 's/#P.*//'
echo 2 > snapshot; grep -c mark trace snapshot
echo 1 > per_cpu/cpu0/snapshot; grep -c mark trace snapshot
echo 2 > per_cpu/cpu0/snapshot; grep -c mark trace snapshot
echo 0 > snapshot; cat snapshot | tail -3
echo 1 > per_cpu/cpu1/snapshot; echo $?; cat snapshot | head -2
echo 0 > per_cpu/cpu1/snapshot; echo $?
echo 0 > snapshot
echo "# free_buffer"
echo > trace; mark 5; echo x > free_buffer; cat buffer_size_kb tracing_on; grep -c mark trace
echo 100 > buffer_size_kb; echo 1 > options/disable_on_free; mark 5; echo > free_buffer; cat buffer_size_kb tracing_on
echo 1 > tracing_on
echo "# clocks"
for c in local global counter uptime perf mono mono_raw boot tai x86-tsc; do echo $c > trace_clock; mark 1; sed '/^#/d' trace | sed -E 's/.*\] [^ ]+ +//; s/[0-9]+\.[0-9]{6}:/SEC/; s/^[0-9]+:/INT/'; grep -E 'ts' per_cpu/cpu0/stats | sed -E 's/ +[0-9]+\.[0-9]{6}/ SEC/; s/ [0-9]+$/ INT/' | tr '\n' ' '; cat timestamp_mode; done
cat trace_clock
echo "# saved"
cat saved_cmdlines_size; grep -c . saved_cmdlines; cat saved_tgids | wc -l
echo 1 > options/record-tgid; echo 1 > events/sched/sched_switch/enable; sleep 0.1; echo 0 > events/sched/sched_switch/enable
[ $(wc -l < saved_tgids) -gt 0 ] && echo tgids
grep -m1 TGID trace

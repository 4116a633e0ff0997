# function-tracer.txt, "Dynamic events": tcp_sendmsg is not in this guest; then the same commands with a function that is.
#lines function-tracer.txt 146-148
#lines function-tracer.txt 154-157
echo "--- with do_sys_open; trace_pipe does not end by itself, on Linux either (and with vfs_read its own reads would feed it)"
cd /sys/kernel/tracing
echo 'p:my_probe do_sys_open dfd=%di' > kprobe_events
echo 1 > events/kprobes/my_probe/enable
cat trace_pipe > /tmp/pipe &
cat /etc/hostname
sleep 0.01; kill %1; wait
cat /tmp/pipe
echo 0 > events/kprobes/my_probe/enable
echo '-:my_probe' >> kprobe_events
echo 'r:my_ret do_sys_open retval=$retval' > kprobe_events
cat kprobe_events
echo "--- uprobes are not in this guest"
#lines function-tracer.txt 160-160

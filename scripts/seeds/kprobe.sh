# ftrace-and-kprobe.txt, "Using kprobe_events Interface": the arguments and the result of do_sys_open.
#lines ftrace-and-kprobe.txt 187-213
echo "--- the number of calls; the seed's awk with its lost \n back: \$2 is the CPU, so that starts of other tasks mix in"
cat trace | grep myprobe | wc -l
cat trace | awk '/myprobe:/ { start[$2] = $4; next } /myretprobe:/ { pid = $2; if (start[pid] != "") { diff = $4 - start[pid]; total += diff; count++; delete start[pid] } } END { if (count > 0) printf("count=%d, avg=%.6f us\n", count, total/count*1000000) }'
echo "--- they are in use; then not"
echo > kprobe_events
echo '-:myprobe' >> kprobe_events
echo 0 > events/kprobes/enable
echo > kprobe_events; cat kprobe_events; echo > trace; echo 1 > tracing_on
echo "--- case study 1: sockets are not in this guest; case study 2"
#lines ftrace-and-kprobe.txt 290-290
#lines ftrace-and-kprobe.txt 301-306
cat /etc/hostname > /dev/null
echo 0 > tracing_on
grep -c kmalloc_enter trace; grep kmalloc_exit: trace | tail -1 | cut -d: -f2-
cat kprobe_profile
echo 0 > events/kprobes/enable; echo > kprobe_events
echo "--- function-tracer.txt, \"Dynamic events\": tcp_sendmsg is not in this guest"
#lines function-tracer.txt 147-148
#lines function-tracer.txt 154-154

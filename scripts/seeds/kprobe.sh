# ftrace-and-kprobe.txt, "Using kprobe_events Interface": the arguments and the result of do_sys_open.
#lines ftrace-and-kprobe.txt 187-213
echo "--- line 255: the number of calls"
cat trace | grep myprobe | wc -l
echo "--- lines 257-272: the seed's awk lost its \\n in print, so that its string is broken"
#lines ftrace-and-kprobe.txt 257-272
echo "--- the same with its \\n back; \$2 is the CPU, so that starts of other tasks mix in"
cat trace | awk '/myprobe:/ { start[$2] = $4; next } /myretprobe:/ { pid = $2; if (start[pid] != "") { diff = $4 - start[pid]; total += diff; count++; delete start[pid] } } END { if (count > 0) printf("count=%d, avg=%.6f us\n", count, total/count*1000000) }'
echo "--- and by task"
cat trace | awk '/myprobe:/ { start[$1] = $4; next } /myretprobe:/ { if (start[$1] != "") { total += $4 - start[$1]; count++; delete start[$1] } } END { if (count > 0) printf("count=%d, avg=%.6f us\n", count, total/count*1000000) }'
echo "--- they are in use; then not"
echo > kprobe_events
echo '-:myprobe' >> kprobe_events
echo 0 > events/kprobes/enable
echo > kprobe_events; cat kprobe_events

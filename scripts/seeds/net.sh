# ftrace-and-kprobe.txt, case study 1, as it stands: sockets are not in this guest, and 'a*|b*' is one pattern anywhere.
#lines ftrace-and-kprobe.txt 278-286
head -12 /tmp/net_trace.txt
echo "--- the filter was refused, so that everything was traced; as it was meant, line by line, on what the guest has:"
echo nop > current_tracer; echo 'vfs_read*' > set_ftrace_filter; echo 'vfs_write*' >> set_ftrace_filter; cat set_ftrace_filter
echo "--- the probes on lock_sock"
#lines ftrace-and-kprobe.txt 290-293
cat kprobe_events

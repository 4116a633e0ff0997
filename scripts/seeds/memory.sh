# ftrace-and-kprobe.txt, case study 2: kmalloc and kfree of one process, then what the story is about.
cd /sys/kernel/debug/tracing
#lines ftrace-and-kprobe.txt 301-306
cat kprobe_events
cat /etc/hostname > /dev/null
echo 0 > tracing_on
grep -c kmalloc_enter trace; grep kmalloc_exit: trace | tail -1 | cut -d: -f2-
cat kprobe_profile
echo "--- set_ftrace_pid does not filter kprobe events (line 308): set_event_pid does"
echo > trace; echo $$ > set_event_pid; echo 1 > tracing_on
cat /etc/hostname > /dev/null
echo 0 > tracing_on
grep -c 'cat-' trace; grep -v '^#' trace | sed 's/-[0-9].*//' | sort | uniq -c
echo 0 > events/kprobes/enable; echo > kprobe_events

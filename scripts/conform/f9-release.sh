cd /sys/kernel/tracing
exec 2>&1
a() { echo "--- '$1' >> $2"; echo "$1" >> $2; echo "rc=$?"; }
a 'p:g/x vfs_read' dynamic_events
a 'p:g/y vfs_write' dynamic_events
a 'p:h/x vfs_read' dynamic_events
a 'r:h/r vfs_read' dynamic_events
a 's:d int x' dynamic_events
a 'e:ep/e sched/sched_switch c=$next_comm' dynamic_events
cat dynamic_events
a '!p:nosuch' dynamic_events
a '!p:g/nosuch' dynamic_events
a '!' dynamic_events
a '!x' dynamic_events
a '!p' dynamic_events
a '!:' dynamic_events
a '!:x' kprobe_events
a '!p:x' kprobe_events
a '!s:x' dynamic_events
cat dynamic_events
a '!zz:g/y vfs_write' dynamic_events
a '!zz:g/y vfs_read' dynamic_events
cat dynamic_events
a '-:g/' kprobe_events
a '-:g/' dynamic_events
a '-:h/' dynamic_events
cat dynamic_events
a '!e:ep/e sched.sched_switch' dynamic_events
a '!e:ep/e sched/sched_switch' dynamic_events
a '!s:synthetic/d' dynamic_events
a 's:d int x' dynamic_events
a '!s:synthetic/d' dynamic_events
a '-:synthetic/d' dynamic_events
a '-:/d' dynamic_events
a '-:d' dynamic_events
a 's:d int x' dynamic_events
a '!s:d int x' dynamic_events
a '!s:d int y' dynamic_events
a 's:d int x' synthetic_events
a '!d' synthetic_events
a '!s:d' synthetic_events
a '-:d' synthetic_events
cat dynamic_events

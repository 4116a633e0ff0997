cd /sys/kernel/tracing
exec 2>&1
t() { echo "--- $*"; "$@"; echo "rc=$?"; }
w() { echo "--- '$1' > $2"; echo "$1" > $2; echo "rc=$?"; }
a() { echo "--- '$1' >> $2"; echo "$1" >> $2; echo "rc=$?"; }
w 'p:one vfs_read' kprobe_events
a 'p:one vfs_write' kprobe_events
a 'p:one vfs_open %di' kprobe_events
a 'r:one vfs_open' kprobe_events
a 'p:two vfs_read a=%di b=%si:u32' kprobe_events
a 'p:two vfs_write a=%di b=%si:u32' kprobe_events
a 'p:two vfs_open a=%di c=%si:u32' kprobe_events
a 'p:two vfs_open a=%di b=%si:s32' kprobe_events
a 'p:two vfs_open a=%si b=%di:u32' kprobe_events
cat kprobe_events
echo 1 > events/kprobes/one/enable; echo rc=$?
w 'p:x vfs_read' kprobe_events
w '' kprobe_events
a '-:one vfs_read' kprobe_events
a '-:kprobes/one vfs_write' kprobe_events
a '-:one' kprobe_events
echo 0 > events/kprobes/one/enable; echo rc=$?
a '-:one' kprobe_events
a '-:two vfs_read a=%di' kprobe_events
a '-:two vfs_write a=%di b=%si:u32' kprobe_events
cat kprobe_events dynamic_events
a 'p:nomod/x nosuchmod:foo' kprobe_events
a 'p nosuchmod:foo+8' kprobe_events
cat kprobe_events
echo 1 > events/nomod/x/enable; echo rc=$?
cat events/nomod/x/enable
echo 0 > events/nomod/x/enable; echo rc=$?
cat kprobe_profile
w 'p:a vfs_read' dynamic_events
a 'r:b vfs_read $retval' dynamic_events
a 'e:c a $__probe_ip' dynamic_events
a 'e:c kprobes/a' dynamic_events
a 's:d int x' dynamic_events
cat dynamic_events
a '-:a' dynamic_events
a '!s:d' dynamic_events
a '-:d' dynamic_events
a '-:synthetic/d' dynamic_events
w '' dynamic_events
cat dynamic_events
w 'p:f vfs_read len=%dx' kprobe_events
cat events/kprobes/f/filter events/kprobes/f/trigger events/kprobes/f/enable
w 'len > 5' events/kprobes/f/filter
w 'nosuch > 5' events/kprobes/f/filter
cat events/kprobes/f/filter
w 'hist:keys=len' events/kprobes/f/trigger
w 'stacktrace:1 if len > 1' events/kprobes/f/trigger
cat events/kprobes/f/trigger
w '!stacktrace' events/kprobes/f/trigger
w '!hist:keys=len' events/kprobes/f/trigger
cat events/kprobes/f/enable
w '' kprobe_events
ls events/kprobes; echo rc=$?
w 'p vfs_read %di %si %dx %cx %r8 %r9 %ax %bx %bp %sp %ip %flags %cs %ss %orig_ax %r10 %r11 %r12 %r13 %r14 %r15' kprobe_events
cat kprobe_events
sed 's/offset:[0-9]*//' events/kprobes/p_vfs_read_0/format | grep field | tail -22
w "p:long $(printf 'x%.0s' $(seq 1 64)) vfs_read" kprobe_events
w "p:$(printf 'x%.0s' $(seq 1 63)) vfs_read" kprobe_events
w "p:$(printf 'x%.0s' $(seq 1 64)) vfs_read" kprobe_events
w "p:$(printf 'g%.0s' $(seq 1 64))/x vfs_read" kprobe_events
w "p:m vfs_read $(printf 'a%.0s' $(seq 1 32))=%di" kprobe_events
w "p:m vfs_read $(printf 'a%.0s' $(seq 1 31))=%di" kprobe_events
cat error_log | tail -12

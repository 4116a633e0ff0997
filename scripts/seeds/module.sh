# ftrace-and-kprobe.txt 69-157, the kernel module (module kprobe_example of the guest, its \n mended), and 159: what dmesg shows.
modprobe kprobe_example
cat /etc/hostname > /dev/null
echo "--- a line of kprobe_events at the same function, while the module's probes are there"
cd /sys/kernel/debug/tracing
echo 'p:mine do_sys_open' > kprobe_events; echo 1 > events/kprobes/mine/enable
cat /etc/hostname > /dev/null
cat /sys/kernel/debug/kprobes/list
echo 0 > events/kprobes/mine/enable; grep -c mine: trace; echo > kprobe_events
rmmod kprobe_example
cat /sys/kernel/debug/kprobes/list
echo "--- dmesg: the module's lines of cat"
dmesg | grep -E 'registered|: do_sys_open' | cut -c1-15,16-120 | head -12
dmesg | tail -1

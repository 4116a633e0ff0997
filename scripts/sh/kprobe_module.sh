# The seed's kernel module, compiled with only its lost \n restored: two probes from C, what they print, where they show.
cd /lib/modules/6.1.0-kscope/extra
insmod kprobe_example.ko
cat /etc/hostname
dmesg | tail -12
lsmod
cat /sys/kernel/debug/kprobes/list
grep do_sys_open /sys/kernel/tracing/enabled_functions
rmmod kprobe_example
dmesg | tail -1
cat /sys/kernel/debug/kprobes/list
echo "# a module of every kind of probe: by int3 with a post handler, then without, which soon is a jump"
insmod kprobe_test.ko symbol=do_filp_open offset=5 post=1
cat /etc/hostname; cat /sys/kernel/debug/kprobes/list
rmmod kprobe_test
insmod kprobe_test.ko symbol=do_filp_open offset=5 post=0
sleep 0.05; cat /etc/hostname; cat /sys/kernel/debug/kprobes/list
rmmod kprobe_test
dmesg | tail -2
insmod kprobe_test.ko symbol=no_such
insmod kprobe_test.ko symbol=do_filp_open offset=2
insmod kprobe_test.ko symbol=asm_exc_int3 offset=0
echo "# the switches"
cat /proc/sys/debug/kprobes-optimization
echo 0 > /proc/sys/debug/kprobes-optimization
insmod kprobe_test.ko post=0; sleep 0.05; cat /sys/kernel/debug/kprobes/list
echo 0 > /sys/kernel/debug/kprobes/enabled
cat /sys/kernel/debug/kprobes/enabled; cat /etc/hostname
echo 1 > /sys/kernel/debug/kprobes/enabled
echo 1 > /proc/sys/debug/kprobes-optimization
sleep 0.05; cat /sys/kernel/debug/kprobes/list
echo 2 > /proc/sys/debug/kprobes-optimization
echo maybe > /sys/kernel/debug/kprobes/enabled
rmmod kprobe_test
dmesg | tail -5
head -3 /sys/kernel/debug/kprobes/blacklist

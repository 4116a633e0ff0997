# Modules: loading, dependencies, parameters, references, errors and what the log says of them; their events.
cd /sys/kernel/tracing
echo 1 > events/module/enable
modprobe kscope_test_user
lsmod
cat /proc/modules
rmmod kscope_test
modprobe -r kscope_test
rmmod kscope_test_user
rmmod kscope_test
rmmod kscope_test
echo "# parameters"
modprobe kscope_test interval=0 count=7 name=golden verbose=1
rmmod kscope_test
modprobe kscope_test interval=x
modprobe kscope_test nosuch=1 interval=0; rmmod kscope_test
modprobe kscope_test fail=12
modprobe nosuch
insmod /etc/passwd
insmod /nosuch.ko
insmod /lib/modules/6.1.0-kscope/extra/kscope_test_user.ko
echo "# a file system's module is in use while it is mounted"
mount -t ext4 /dev/vda /mnt
lsmod
rmmod ext4
umount /mnt
rmmod ext4
cat /lib/modules/6.1.0-kscope/modules.dep /lib/modules/6.1.0-kscope/modules.alias
echo "# an oops in a module leaves the machine usable"
modprobe kscope_test oops=4
lsmod
modprobe kscope_test_user
ls / > /dev/null && echo "still here"
echo 0 > events/module/enable
echo "# what the events and the log say"
grep -v '^#' trace | sed 's/^ *\([^ ]*\)-[0-9]* .*: \(module_.*\)$/\1 \2/'
dmesg | grep -v '^\[    0' | grep -v 'R[A-Z0-9]*: \|GS:\|CR2:\|Code:\|CS:\|PGD' | sed 's/^\[[^]]*\]//'

# /proc, debugfs and the files that say what this kernel is. Numbers that move with every image are masked.
mask() { sed 's/[0-9][0-9]*/N/g'; }
ls /proc | grep -v '^[0-9]'
ls /proc/self /proc/sys /proc/sys/kernel /proc/sys/debug /sys/kernel/debug
head -4 /proc/stat | mask; grep -c . /proc/stat; awk '{print $1}' /proc/stat | tail -7
sed 's/[0-9][0-9]*/N/g; s/  */ /g' /proc/interrupts
awk '{print $1}' /proc/softirqs | tail -10
mask < /proc/loadavg
cat /proc/mounts /proc/filesystems /etc/fstab
sed -n '/^Name/,/^Pid/p; /^Threads/,/^NoNew/p' /proc/$$/status
cat /proc/1/comm /proc/3/comm /proc/1/wchan; echo
sed 's/+0x.*//' /proc/self/stack
cat /proc/2/stack | sed 's/+0x.*//'
zcat /proc/config.gz | grep -c '=y'; zcat /proc/config.gz | cmp - /boot/config-$(uname -r) && echo the same
grep -w CONFIG_KPROBES /boot/config-*
grep -c . /proc/kallsyms | mask; grep ' T vfs_read$' /proc/kallsyms | mask
echo 2 > /proc/sys/kernel/kptr_restrict; grep ' T vfs_read$' /proc/kallsyms; echo 3 > /proc/sys/kernel/kptr_restrict; echo x > /proc/sys/kernel/kptr_restrict
umount /sys/kernel/debug/tracing; umount /sys/kernel/debug; ls /sys/kernel/debug; mount -a; ls /sys/kernel/debug
mount -t tracefs nodev /sys/kernel/tracing; mount -t nosuch x /tmp
dd if=/proc/sys/kernel/hostname bs=1 count=3 status=none; echo; echo box > /proc/sys/kernel/hostname; hostname; uname -n

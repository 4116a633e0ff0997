# ext4 on /dev/vda: mount asks for the module, the module brings its functions and its events, and both go with it.
cd /sys/kernel/tracing
cat /proc/partitions
ls events | grep -c ext4
mount -t ext4 /dev/vda /mnt && lsmod && mount | grep vda
grep -c '\[ext4\]' available_filter_functions
ls events/ext4 | wc -l

echo "# which functions of ext4 a write, an fsync and a read after a remount go through"
echo ':mod:ext4' > set_ftrace_filter
echo function > current_tracer
echo hello > /mnt/a
sync
echo 0 > tracing_on
grep -v '^#' trace | awk '{print $5, $6}' | uniq | head -60
echo nop > current_tracer
umount /mnt
mount -t ext4 /dev/vda /mnt
echo ext4_file_read_iter > set_graph_function
echo > set_ftrace_filter
echo function_graph > current_tracer
echo 1 > tracing_on
cat /mnt/a
echo 0 > tracing_on
grep -v '^#' trace | cut -d'|' -f2- | grep -v '^$' | head -120
echo nop > current_tracer
echo > set_graph_function

echo "# its events and the block layer's"
for e in ext4 block irq/irq_handler_entry irq/irq_handler_exit; do echo 1 > events/$e/enable; done
echo 1 > tracing_on
mkdir /mnt/d; mv /mnt/a /mnt/d/b; rm /mnt/d/b; rmdir /mnt/d
umount /mnt
for e in ext4 block irq; do echo 0 > events/$e/enable; done
grep -v '^#' trace | sed 's/^.*: \([a-z0-9_]*: .*\)$/\1/' | grep -v 'block_\(touch\|dirty\)' | head -110

rmmod ext4
lsmod
ls events | grep -c ext4
cat set_ftrace_filter | head -2
dmesg | grep EXT4

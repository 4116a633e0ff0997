# function-tracer.txt 67 and 168 with the module and a disk in place: ext4 by functions, by graph, and what it asks of the block layer.
modprobe ext4
mkdir -p /mnt && mount -t ext4 /dev/vda /mnt && echo hello > /mnt/a && sync
cd /sys/kernel/tracing
#lines function-tracer.txt 67-67
wc -l < set_ftrace_filter; grep ext4_file_ set_ftrace_filter | sort
echo function > current_tracer; echo > trace
cat /mnt/a
echo 0 > tracing_on; grep -v '^#' trace | head -12
echo "--- line 199's trace-cmd record -p function_graph -l 'ext4_*', by hand"
echo nop > current_tracer; echo 'ext4_*' > set_ftrace_filter; echo function_graph > current_tracer; echo > trace; echo 1 > tracing_on
echo more >> /mnt/a
echo 0 > tracing_on; grep -v '^#' trace | head -16
echo nop > current_tracer; echo > set_ftrace_filter; echo > trace; echo 1 > tracing_on
echo "--- block events"
#lines function-tracer.txt 168-168
sync
echo 0 > tracing_on; grep -v '^#' trace | head -8

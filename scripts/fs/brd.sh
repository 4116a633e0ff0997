# a disk in memory: module brd; its disks keep it, and their contents stay while it is loaded
modprobe brd rd_nr=2 rd_size=4096
dmesg | tail -n 1 | grep -o 'brd: .*'
ls -l /dev/ram* | cut -d: -f1 | cut -c1-24; cat /proc/partitions
echo 'in memory' > /dev/ram1; head -c 10 /dev/ram1
dd if=/dev/vda of=/dev/ram0 bs=4k count=800 2>/dev/null      # the file system of vda is larger than this disk
mount -t ext4 /dev/ram0 /mnt; dmesg | tail -n 1 | grep -o 'EXT4-fs.*'
exec 3< /dev/ram1; rmmod brd; lsmod; exec 3<&-
rmmod brd; lsmod; ls /dev/ram0; dmesg | tail -n 1 | grep -o 'brd: .*'

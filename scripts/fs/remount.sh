# remounting, and the options of ext4
mount -t ext4 /dev/vda /mnt; echo a > /mnt/a
exec 3> /mnt/b; mount -o remount,ro /mnt; exec 3>&-
mount -o remount,ro /mnt; grep vda /proc/mounts; echo x > /mnt/x; mount -o remount,rw /mnt; echo y > /mnt/y; ls /mnt; grep vda /proc/mounts; umount /mnt
mount -t ext4 -o bogus=1 /dev/vda /mnt; dmesg | tail -1
mount -t ext4 -o data=journal /dev/vda /mnt; dmesg | tail -1
mount -t ext4 -o errors=remount-ro,noatime /dev/vda /mnt; grep vda /proc/mounts; umount /mnt
mount -t ext4 -o ro /dev/vda /mnt; grep vda /proc/mounts; echo > /mnt/z;  mount -o remount,rw /mnt; echo > /mnt/z; umount /mnt
dmesg | grep -o "EXT4.*"

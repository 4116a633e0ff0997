exec 2>&1
mkdir -p /tmp/a/b /tmp/c; echo one > /tmp/a/f; echo two > /tmp/g
mount --bind /tmp/a /tmp/c; cat /tmp/c/f; echo new > /tmp/c/n; cat /tmp/a/n; cd /tmp/c/b; pwd -P; cd /; grep -o "^rootfs .tmp.c rootfs rw" /proc/mounts; rmdir /tmp/c; umount /tmp/c; ls /tmp/c
mount --bind /tmp/g /tmp/a/f; cat /tmp/a/f; umount /tmp/a/f; cat /tmp/a/f
mount --bind /tmp/a /tmp/a; echo $?; ls /tmp/a; mount --bind /tmp/g /tmp/a; echo $?; umount /tmp/a; echo $?
mount --bind /proc /tmp/c; cat /tmp/c/version | cut -c1-13; exec 4</tmp/c/stat; umount /tmp/c; echo $?; exec 4<&-; umount /tmp/c; echo $?
mount --make-private /; echo $?; mount --make-private /tmp/c; echo $?
for i in 1 2 3 4 5 6 7 8; do mount --bind /tmp/a /tmp/c; umount /tmp/c; done; rm -r /tmp/a /tmp/c; echo $?


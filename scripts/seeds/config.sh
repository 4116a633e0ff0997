# ftrace-and-kprobe.txt, "Kernel Configuration Check" and "Symbol Resolution Issues".
#lines ftrace-and-kprobe.txt 167-167
grep ' do_sys_open$' /proc/kallsyms   # ftrace-and-kprobe.txt 342
grep -c ' no_such_function$' /proc/kallsyms
cat /etc/fstab; ls /boot   # ftrace-and-kprobe.txt 177, 169
# a function that is inlined has no symbol: its caller does
grep -E ' (lock_sock|do_sys_openat2)$' /proc/kallsyms

cd /sys/kernel/tracing
for l in 'p mm_init' 'p vfs_read+1' 'p nosuch' 'p:a-b vfs_read' 'p vfs_read %x0' 'p vfs_read x=%x0' 'r vfs_read+5' 'r vfs_read%return' 'p vfs_read%return $retval' 'r5:myr vfs_read r=$retval' 'p vfs_read $retval' 'r4097 vfs_read' 'r0 vfs_read' 'p 0xffffffff81000000' 'p -:x' '-:' '-:nosuch' 'p:g/ vfs_read' 'p:/e vfs_read' 'p:1e vfs_read' 'p:g.e vfs_read' 'p vfs_read a=\1 b=\"x' 'p vfs_read a=\"str":string' 'p vfs_read a=\1:string' 'p vfs_read +0(%di):b4@2/8' 'p vfs_read a=%di:u8[64]' 'p vfs_read a=+0(%di):u8[65]' 'p vfs_read a=+0(%di):u8[64]' 'p vfs_read $comm' 'p vfs_read a=$comm:u8' 'p vfs_read a=$stack a=$stack1' 'p vfs_read $argx' 'p vfs_read $arg0' 'p vfs_read $arg6' 'p vfs_read $arg7' 'p vfs_read a=@jiffies' 'p vfs_read a=@jiffies+8' 'p vfs_read a=@nosuch' 'p vfs_read a=+u8(%si):ustring' 'p vfs_read a=+0(+0(%di))' 'p vfs_read a=+0(%di' 'p vfs_read a=0(%di)' 'p vfs_read %di:symbol' 'p vfs_read %di:symstr' 'p vfs_read %di:char' 'q vfs_read' 'p' 'p:ab' 'p vfs_read a' 'p vfs_read a=' 'p vfs_read =%di' 'p vfs_read 1a=%di' 'p vfs_read _a=%di' 'p vfs_read common_pid=%di'; do
 echo "--- $l"; echo "$l" >> kprobe_events; echo "rc=$?"
done 2>&1
cat kprobe_events
cat error_log
cat kprobe_profile | head -3

# What the system tells of itself, scheduling, signals, links and modes: the kernel behind ordinary commands.
for f in version cmdline filesystems mounts modules partitions; do echo "== $f"; cat /proc/$f; done
for f in stat uptime cpuinfo meminfo loadavg interrupts softirqs diskstats; do cat /proc/$f > /dev/null && echo "$f"; done
cat /proc/self/status | grep -E '^(Name|State|PPid|Threads|Cpus_allowed_list|VmSize)' | sed 's/[0-9]\{3,\}/N/'
for f in stat statm cmdline environ maps limits io wchan schedstat comm oom_score_adj; do cat /proc/self/$f > /dev/null 2>&1 && echo "self/$f"; done
ls -l /proc/$$/fd | grep -c -- '->'
ls /proc/self/task | wc -l
readlink /proc/self/exe /proc/self/cwd /proc/self/root
sysctl kernel.ostype kernel.hostname
sysctl -w kernel.sched_schedstats=1 kernel.hostname=golden
hostname
echo 0 > /proc/sys/kernel/sched_schedstats
cat /sys/kernel/debug/kprobes/list | wc -l

echo "== links and modes"
cd /tmp
echo text > a; ln a b; ln -s a c; chmod 640 a; stat -c '%n %a %h %F' a b c
touch -d 2026-01-02 a; mv b d; cp a e; cat c d e | wc -c
mkdir -p x/y; mv x/y z; rmdir z x; rm a c d e; ls | wc -l
dd if=/dev/urandom of=r bs=512 count=2 2>/dev/null; stat -c %s r
dd if=/dev/vda of=v bs=4096 count=2 2>/dev/null; stat -c %s v
dd if=v of=/dev/vda bs=4096 count=2 conv=fsync 2>/dev/null && echo written back

echo "== tasks"
taskset 2 sh -c 'grep Cpus_allowed_list /proc/self/status'
chrt -f 10 sh -c 'echo in real time'; chrt -r 5 sleep 0.001
nice -n 5 sh -c 'cut -d" " -f19 /proc/self/stat'
sleep 10 & p=$!
kill -STOP $p; sleep 0.01; cut -d' ' -f3 /proc/$p/stat; kill -CONT $p; sleep 0.01; cut -d' ' -f3 /proc/$p/stat; kill $p; wait $p; echo "status $?"
trap 'echo caught USR1' USR1; kill -USR1 $$; sleep 0.001
timeout 0.01 sleep 1; echo "timeout $?"
(sleep 0.002; echo late) | cat
seq 1 3000 | while read n; do echo $n; done | tail -1
yes | head -3
ps | head -1
dmesg -c > /dev/null 2>&1; echo "a word to the log" > /dev/kmsg; dmesg | tail -1 | sed 's/^\[[^]]*\]//'
modprobe kscope_test interval=0 && grep -c kscope_test_add /proc/kallsyms && rmmod kscope_test
nosuch; echo "status $?"

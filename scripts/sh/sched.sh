# Policies and priorities, and the threads that each CPU has. Nothing here is a time.
ps -eo pid,comm | head -24
chrt -m
chrt -p $$
chrt -f 10 sh -c 'chrt -p $$; cut -d" " -f18,19,40,41 /proc/$$/stat'
chrt -r 20 sh -c 'chrt -p $$; nice -n 5 nice'
chrt -R -f 3 sh -c 'chrt -p $$; sh -c "chrt -p \$\$"; true'
chrt -i 0 sh -c 'chrt -p $$'
chrt -f 100 true; chrt -p 99999; chrt -f 10 nosuch
sleep 9 & renice 5 $!; renice -n -3 -p $!; cut -d' ' -f18,19 /proc/$!/stat; kill $!
nice -n 30 nice; nice -n -30 nice
## on one CPU the most urgent writes first
for p in 5 50 20; do echo "taskset 1 chrt -f $p echo $p"; done > /tmp/x; taskset 1 chrt -f 90 sh -c 'while read l; do $l & done < /tmp/x; wait'
## affinity
taskset 2 sh -c 'taskset -p $$; grep Cpus_allowed_list /proc/$$/status; cut -d" " -f39 /proc/$$/stat'
taskset 10 true; taskset -p 3 6
## settings of the scheduler
cat /proc/sys/kernel/sched_rt_period_us /proc/sys/kernel/sched_rt_runtime_us /proc/sys/kernel/sched_rr_timeslice_ms
echo 2000000 > /proc/sys/kernel/sched_rt_runtime_us
sysctl -w kernel.sched_rr_timeslice_ms=20 kernel.sched_rt_runtime_us=-1

# The options sym-userobj and hash-ptr, as Linux 6.1 has them: with nohash-ptr the first %s of an event's format prints nothing there.
cd /sys/kernel/tracing
echo 1 > options/userstacktrace
echo 1 > events/syscalls/sys_enter_clock_nanosleep/enable
echo 1 > events/syscalls/sys_enter_nanosleep/enable
sleep 1 &
sleep 0.01
echo 0 > events/enable
echo 1 > options/sym-userobj
tail -4 trace
echo 1 > options/sym-addr
tail -4 trace
echo 0 > options/sym-userobj
echo 0 > options/userstacktrace
echo > trace
echo 1 > events/sched/sched_waking/enable
echo 1 > events/timer/hrtimer_start/enable
sleep 0.001
echo 0 > events/enable
grep -m1 sched_waking trace
grep -m1 hrtimer_start trace
echo nohash-ptr > trace_options
grep -m1 sched_waking trace
grep -m1 hrtimer_start trace

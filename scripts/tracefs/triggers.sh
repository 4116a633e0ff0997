# Event triggers: each command, with a count, with a filter, removed, and what its errors are.
cd /sys/kernel/tracing
t() { echo "# $2 > $1/trigger"; echo "$2" >> events/$1/trigger; }
X=sched/sched_process_exit
cat events/$X/trigger

t $X 'traceoff:1 if comm == "true"'
cat events/$X/trigger events/$X/enable
echo 1 > events/$X/enable
cat /etc/hostname; true; /bin/true; cat /etc/hostname
cat tracing_on events/$X/trigger
grep -v '^#' trace
t $X '!traceoff'
t $X 'traceon if comm == "cat"'
cat /etc/hostname; cat tracing_on
t $X '!traceon'

echo > trace
t $X 'stacktrace:1'
/bin/true; /bin/true
cat events/$X/trigger
grep -v '^#' trace
t $X '!stacktrace'

echo > trace
t $X 'snapshot if comm == "true"'
/bin/true; cat /etc/hostname
echo '# snapshot'; grep -v '^#' snapshot
echo '# trace'; grep -v '^#' trace
t $X '!snapshot'
echo 0 > events/$X/enable; echo 0 > snapshot; echo > trace

t $X 'enable_event:sched:sched_process_exec:2 if comm == "true"'
t sched/sched_process_exec 'disable_event:sched:sched_process_exec if filename ~ "*/cat"'
cat events/$X/trigger events/sched/sched_process_exec/trigger events/sched/sched_process_exec/enable
/bin/true; ls / > /dev/null; cat /etc/hostname; ls / > /dev/null; /bin/true; ls / > /dev/null; /bin/true; ls / > /dev/null
cat events/$X/trigger events/sched/sched_process_exec/enable
grep -v '^#' trace
t $X '!enable_event:sched:sched_process_exec'
t sched/sched_process_exec '!disable_event:sched:sched_process_exec'
cat events/sched/sched_process_exec/enable

t $X 'hist:keys=comm:pause'
t sched/sched_process_exec 'enable_hist:sched:sched_process_exit if filename ~ "*/true"'
t sched/sched_process_fork 'disable_hist:sched:sched_process_exit:1'
t sched/sched_process_exec 'disable_hist:sched:sched_process_exit:1 if filename ~ "*/false"'
cat /etc/hostname; /bin/true; cat /etc/hostname; /bin/false; cat /etc/hostname
cat events/$X/hist events/sched/sched_process_exec/trigger events/sched/sched_process_fork/trigger
t sched/sched_process_exec '!enable_hist:sched:sched_process_exit'; t sched/sched_process_fork '!disable_hist:sched:sched_process_exit'
t $X '!hist:keys=comm:pause'

echo 'p:open do_sys_openat2 dfd=%di:s32' > kprobe_events
t kprobes/open 'hist:keys=dfd:vals=common_pid.percent'
t kprobes/open 'traceoff:1 if dfd == 7'
cat events/kprobes/open/trigger
cat /etc/hostname
echo > kprobe_events
t kprobes/open '!hist:keys=dfd:vals=common_pid.percent'; t kprobes/open '!traceoff'
echo > kprobe_events

t $X 'nosuch'; t $X 'traceoff:x'; t $X 'traceoff if nosuch == 1'; t $X 'enable_event:no:such'; t $X 'stacktrace if'
t $X 'stacktrace'; t $X 'stacktrace:5'; t $X '!stacktrace'; t $X '!stacktrace'

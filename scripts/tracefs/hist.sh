# Histograms: keys and their modifiers, values, sort, names, pause; variables and actions; synthetic events.
cd /sys/kernel/tracing
R=events/syscalls/sys_enter_read X=events/sched/sched_process_exit
h() { echo "# $2"; echo > error_log; echo "$2" >> $1/trigger || { cat error_log; return 1; }; }
show() { cat $1/hist; echo "!$2" >> $1/trigger; }
reads() { for n in 7000 7001 7000 7777; do dd if=/dev/zero of=/dev/null bs=$n count=2 status=none; done; }
F='if count >= 7000 && count < 8000'
for k in count count.hex count.log2 count.buckets=500 count.syscall count,common_cpu; do
	h $R "hist:keys=$k:sort=count.descending $F"; reads; show $R "hist:keys=$k:sort=count.descending $F"
done
for k in fd.hex,count/7 common_pid.execname -\(count\) common_comm count.nosuch; do
	h $R "hist:keys=$k $F" && { reads; show $R "hist:keys=$k $F"; }
done
h $R "hist:keys=count:vals=fd,count.percent:sort=count $F"; reads; show $R "hist:keys=count:vals=fd,count.percent:sort=count $F"
h $R "hist:keys=count:vals=count.graph,hitcount:size=128:pause $F"; reads; h $R "hist:keys=count:vals=count.graph:cont $F"; reads
show $R "hist:keys=count:vals=count.graph $F"
h $X 'hist:keys=comm,prio.sym:sort=comm'; /bin/true; /bin/true; cat /etc/hostname; show $X 'hist:keys=comm,prio.sym:sort=comm'
h $X 'hist:keys=stacktrace if comm == "true"'; /bin/true; show $X 'hist:keys=stacktrace if comm == "true"'
h $X 'hist:name=both:keys=common_type'; h events/sched/sched_process_exec 'hist:name=both:keys=common_type'
h $X '!hist:name=both:keys=common_type'; h events/sched/sched_process_exec '!hist:name=both:keys=common_type'

echo 'life u64 us; pid_t pid; char comm[16]; char what[]' > synthetic_events
cat synthetic_events dynamic_events events/synthetic/life/format
h events/sched/sched_process_exec 'hist:keys=pid:start=common_timestamp.usecs,file=filename'
h $X 'hist:keys=pid:us=common_timestamp.usecs-$start,p=pid:onmatch(sched.sched_process_exec).trace(life,$us,pid,comm,$file):onmax($us).save(comm,prio)'
h events/synthetic/life 'hist:keys=what:vals=us:sort=us.descending'
echo 1 > events/synthetic/life/enable
/bin/true; cat /etc/hostname; ls / > /dev/null
grep -v '^#' trace
cat events/synthetic/life/hist $X/hist
h events/sched/sched_process_exec '!hist:keys=pid:start=common_timestamp.usecs,file=filename'
echo '!life' >> synthetic_events
echo 0 > events/synthetic/life/enable
for e in synthetic/life sched/sched_process_exit sched/sched_process_exec; do : > events/$e/trigger; done
h $X 'hist:keys=prio:p=prio:onchange($p).snapshot()'; /bin/true; cat $X/hist; echo 1 > snapshot; : > $X/trigger
echo '!life' >> synthetic_events; cat synthetic_events

#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
t() { echo "[$2]"; echo > error_log; printf '%s\n' "$2" >> events/$1/trigger || echo "  exit $?"; grep . error_log; }
R=syscalls/sys_enter_read
h() { L=$1; echo "[$1]"; echo > error_log; printf '%s\n' "$1" >> events/$R/trigger || { echo "  exit $?"; grep . error_log; return 0; }; grep . error_log; grep '^hist' events/$R/trigger; return 0; }
d() { while [ $# -gt 0 ]; do dd if=/dev/zero of=/dev/null bs=$1 count=$2 status=none; shift 2; done; }
x() { echo "!${1:-$L}" >> events/$R/trigger; cat events/$R/trigger | grep '^[^#]'; echo > events/$R/trigger; } 2> /dev/null
## the files
ls events/ftrace/print events/ftrace/function
cat events/ftrace/print/trigger
t ftrace/print 'hist:keys=common_pid'; t ftrace/print 'stacktrace:1'; echo hello > trace_marker; echo hi > trace_marker; cat events/ftrace/print/trigger; cat events/ftrace/print/hist | sed 's/: *[0-9]* }/: PID }/'; grep -v '^#' trace; t ftrace/print '!hist:keys=common_pid'; t ftrace/print '!stacktrace'; echo > trace
t ftrace/print 'traceoff if buf ~ "*stop*"'; echo go > trace_marker; echo stop > trace_marker; cat tracing_on; t ftrace/print '!traceoff'; echo 1 > tracing_on
## keys
F=' if count == 7777 || count == 7001 || count == 7002 || count == 7013'
h "hist:keys=count$F"; d 7777 3 7001 2 7002 5; cat events/$R/hist; x
h "hist:keys=count.hex:vals=count,count.hex$F"; d 7777 3 7001 2 7002 5; cat events/$R/hist; x
h "hist:keys=count.log2$F"; d 7777 3 7001 2 7002 5; cat events/$R/hist; x
h "hist:keys=count.buckets=5:sort=count$F"; d 7777 3 7001 2 7002 5; cat events/$R/hist; x
h "hist:keys=count.bucket=0x10:sort=count.descending,hitcount$F"; d 7777 3 7001 2 7002 5; cat events/$R/hist; x
h "hist:keys=fd,count,common_flags:sort=count$F"; d 7777 3 7001 2 7002 5; cat events/$R/hist; x
h "hist:keys=common_cpu$F"; x
h "hist:keys=cpu$F"; x
h "hist:keys=CPU$F"; x
h "hist:keys=common_timestamp$F"; x
h "hist:keys=common_timestamp.usecs$F"; x
h "hist:keys=common_timestamp.log2,count$F"; x
h "hist:keys=common_comm$F"
h "hist:keys=comm$F"
h "hist:keys=COMM$F"
h "hist:keys=common_type,common_preempt_count$F"; d 7777 3 7001 2 7002 5; tail -5 events/$R/hist; x
h "hist:keys=common_pid.hex$F"; x
h "hist:keys=buf.sym$F"; x
h "hist:keys=buf.sym-offset:vals=count.sym,fd.sym-offset$F"
h "hist:keys=count.syscall$F"; d 7777 3; cat events/$R/hist; x
h "hist:keys=common_pid.syscall,common_pid.log2,common_pid.buckets=10$F"; x
h "hist:keys=count+1$F"; d 7777 3; cat events/$R/hist; x
h "hist:keys=count/1000,fd*2$F"; d 7777 3; cat events/$R/hist; x
h "hist:keys=-(count)$F"; d 7777 1; cat events/$R/hist; x
h "hist:keys=5$F"; d 7777 1; cat events/$R/hist; x
h "hist:keys=stacktrace,count$F"; d 7777 2; cat events/$R/hist; x
h "hist:keys=stacktrace,stacktrace,stacktrace$F"
h "hist:keys=stacktrace.hex$F"
h "hist:keys=common_stacktrace$F"
h "hist:keys=count.usecs$F"; x
h "hist:keys=count.execname$F"
h "hist:keys=common_pid.hex.sym$F"
h "hist:keys=common_pid.$F"
h "hist:keys=.hex$F"
h "hist:keys=,count$F"
h "hist:keys=count,$F"
h "hist:keys= count$F"
h "hist: keys=count :vals=fd$F"; x
h "hist:key=count:val=fd$F"; x
h "hist:keys=count:values=fd,hitcount,count$F"; d 7777 2; cat events/$R/hist; x
h "hist:keys=count:vals=hitcount,hitcount$F"; x
h "hist:keys=count:vals=fd,fd,fd$F"
h "hist:keys=count:vals=fd,count,buf,common_pid$F"
h "hist:keys=count:vals=fd,count,hitcount$F"; x
h "hist:keys=count:vals=fd.hex,count.log2$F"
h "hist:keys=count:vals=fd.hex,common_pid.execname$F"
h "hist:keys=count:vals=count.percent$F"; d 7777 3 7001 2; cat events/$R/hist; x
h "hist:keys=count:vals=count.graph:sort=count$F"; d 7777 3 7001 2; cat events/$R/hist; x
h "hist:keys=count.percent$F"
h "hist:keys=count:vals=hitcount.percent$F"
h "hist:keys=count:vals=hitcount.hex$F"
h "hist:keys=count:vals=common_timestamp$F"; x
h "hist:keys=count:vals=common_cpu,cpu$F"; x
h "hist:keys=count:vals=fd+count,count*2$F"; d 7777 3 7001 2; cat events/$R/hist; x
h "hist:keys=count:vals=5$F"; d 7777 3; cat events/$R/hist; x
h "hist:keys=count:vals=stacktrace$F"
h "hist:keys=count:vals=$F"
h "hist:keys=count:vals=,$F"
## strings
W=sched/sched_waking
t sched/sched_process_exit 'hist:keys=comm if comm == "cat" || comm == "true"'; cat /etc/passwd > /dev/null; /bin/true; /bin/true; cat events/sched/sched_process_exit/hist; t sched/sched_process_exit '!hist:keys=comm if comm == "cat" || comm == "true"'
t sched/sched_process_exit 'hist:keys=comm,prio:sort=comm.descending if comm == "cat" || comm == "true"'; cat /etc/passwd > /dev/null; /bin/true; /bin/true; cat events/sched/sched_process_exit/hist events/sched/sched_process_exit/trigger; t sched/sched_process_exit '!hist:keys=comm,prio:sort=comm.descending if comm == "cat" || comm == "true"'
t sched/sched_process_exit 'hist:keys=comm.hex,comm.log2'; cat events/sched/sched_process_exit/trigger; echo > events/sched/sched_process_exit/trigger
t sched/sched_process_exec 'hist:keys=filename,old_pid.log2:vals=pid if filename ~ "*/true"'; /bin/true; /bin/true; head -8 events/sched/sched_process_exec/hist | sed 's/2^[0-9]*/2^N/; s/pid: *[0-9]*/pid: N/'; t sched/sched_process_exec '!hist:keys=filename,old_pid.log2:vals=pid if filename ~ "*/true"'
t sched/sched_process_exec 'hist:keys=pid:vals=filename'
t sched/sched_process_exec 'hist:keys=filename,comm'
t syscalls/sys_enter_openat 'hist:keys=filename'; cat events/syscalls/sys_enter_openat/trigger; t syscalls/sys_enter_openat '!hist:keys=filename'
t sched/sched_switch 'hist:keys=prev_comm,next_comm:sort=prev_comm,next_comm.descending'; cat events/sched/sched_switch/trigger; t sched/sched_switch '!hist:keys=prev_comm,next_comm:sort=prev_comm,next_comm.descending'
t syscalls/sys_exit_read 'hist:keys=ret:sort=ret if ret < 0'; cat /proc/self > /dev/null; cat events/syscalls/sys_exit_read/hist; t syscalls/sys_exit_read '!hist:keys=ret:sort=ret if ret < 0'
t sched/sched_process_exit 'hist:keys=pid,prio:vals=prio if comm == "true"'; /bin/true; tail -6 events/sched/sched_process_exit/hist | sed 's/pid: *[0-9]*/pid: N/';  echo > events/sched/sched_process_exit/trigger
## sort and size
h "hist:keys=count:sort=count.ascending$F"; x
h "hist:keys=count:sort=hitcount.descending,count$F"; x
h "hist:keys=count:vals=fd:sort=fd,hitcount.descending$F"; x
h "hist:keys=count:sort=hitcount.$F"
h "hist:keys=count:sort=.descending$F"
h "hist:keys=count:sort=count,$F"
h "hist:keys=count:sort=,count$F"
h "hist:keys=count.log2:sort=count.log2$F"
h "hist:keys=stacktrace:sort=stacktrace$F"
h "hist:keys=stacktrace,count:sort=count$F"; x
h "hist:keys=count+1:sort=count$F"
h "hist:keys=count:vals=fd+1:sort=fd$F"
h "hist:keys=common_pid.execname:sort=common_pid$F"; x
h "hist:keys=count:size=64$F"
h "hist:keys=count:size=128$F"; x
h "hist:keys=count:size=131072$F"; x
h "hist:keys=count:size=131073$F"
h "hist:keys=count:size=0$F"
h "hist:keys=count:size=-1$F"
h "hist:keys=count:size=0x100:size=500$F"; x
## dropped
h "hist:keys=count:size=128"; for i in $(seq 8000 8149); do d $i 1; done; tail -4 events/$R/hist | grep -v Hits; x
## pause, clear, continue
h "hist:keys=count:pause$F"; d 7777 3; tail -4 events/$R/hist; h "hist:keys=count:cont$F"; d 7777 3; tail -4 events/$R/hist; h "hist:keys=count:pause$F"; d 7777 3; tail -4 events/$R/hist; h "hist:keys=count:clear$F"; tail -4 events/$R/hist; h "hist:keys=count:continue$F"; d 7777 2; tail -4 events/$R/hist; x
h "hist:keys=count:pause:cont$F"
h "hist:keys=count:cont$F"
h "hist:keys=count$F"; h "hist:keys=count:clear"; h "hist:keys=count"; cat events/$R/hist | head -20; x; x
h "hist:keys=count"; h "hist:keys=count:sort=hitcount.descending"; h "hist:keys=count:vals=fd"; h "hist:keys=count:size=128"; h "hist:keys=count:size=128:clear"; x; x; x
h "!hist:keys=nosuch"
h "!hist:keys=fd"
h "!hist"
h "hist:keys=count if"
h "hist:keys=count if "
h "hist:if count == 1"
h "hist:keys=count if (count == 1"
h "hist:keys=count ifcount == 1"
h "hist:keys=count	if	count == 1"; x
t sched/sched_switch 'enable_hist:syscalls:sys_enter_read:2 if prev_pid > 0'; h "hist:keys=count:pause"; sleep 0.05; grep hist events/$R/trigger events/sched/sched_switch/trigger; t sched/sched_switch '!enable_hist:syscalls:sys_enter_read'; cat events/$R/enable; x; cat events/$R/enable
## named
t sched/sched_switch 'hist:name=nm:keys=common_pid:vals=common_type'; t sched/sched_waking 'hist:name=nm:keys=common_pid:vals=common_type'; t sched/sched_waking 'hist:name=nm:keys=common_pid:vals=common_type'; cat events/sched/sched_switch/trigger events/sched/sched_waking/trigger
t sched/sched_wakeup 'hist:name=nm:keys=common_pid'
t sched/sched_wakeup 'hist:name=nm'
t sched/sched_wakeup 'hist:keys=common_pid:name=nm:vals=common_type if pid > 0'; cat events/sched/sched_wakeup/trigger
t sched/sched_wakeup 'hist:name=nm:keys=common_pid:vals=common_type:pause if pid > 0'; cat events/sched/sched_wakeup/trigger  events/sched/sched_waking/trigger
t sched/sched_switch '!hist:keys=common_pid:vals=common_type'; cat events/sched/sched_switch/trigger
t sched/sched_switch '!hist:name=nm:keys=common_pid:vals=common_type'; cat events/sched/sched_switch/trigger; cat events/sched/sched_waking/hist | head -4
t sched/sched_waking '!hist:name=nm:keys=common_pid:vals=common_type'; t sched/sched_wakeup '!hist:name=nm:keys=common_pid:vals=common_type if pid > 0'; cat events/sched/sched_waking/trigger events/sched/sched_wakeup/trigger
h "hist:name=:keys=count"
h "hist:name=b:keys=count:name=c"; x
## several in one file
h "hist:keys=count$F"; h "hist:keys=fd$F"; d 7777 1; cat events/$R/hist; x; x
## instance
mkdir instances/i; echo "hist:keys=count$F" > instances/i/events/$R/trigger; d 7777 2; cat instances/i/events/$R/hist; cat events/$R/hist; rmdir instances/i
EOF

#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
t() { echo "[$2]"; echo > error_log; printf '%s\n' "$2" >> events/$1/trigger || echo "  exit $?"; grep . error_log; }
## the files
ls events/sched/sched_switch events/syscalls/sys_enter_read
ls -l events/sched/sched_switch | awk 'NR > 1 { print $1, $NF }'
S=events/sched/sched_switch
R=events/syscalls/sys_enter_read
## soft mode
cat $S/enable events/sched/enable events/enable; grep sched_switch set_event
t sched/sched_switch 'stacktrace if prev_pid == 99999'
cat $S/enable events/sched/enable; cat set_event
echo 1 > $S/enable; cat $S/enable events/sched/enable
echo 0 > $S/enable; cat $S/enable events/sched/enable
echo 1 > $S/enable; t sched/sched_switch '!stacktrace'; cat $S/enable
echo 0 > $S/enable; cat $S/enable events/sched/enable
t sched/sched_switch 'enable_event:sched:sched_stat_runtime:1 if prev_pid > 0'; sleep 0.1; cat $S/trigger events/sched/sched_stat_runtime/enable
t sched/sched_switch '!enable_event:sched:sched_stat_runtime'; cat events/sched/sched_stat_runtime/enable
echo 0 > events/sched/sched_stat_runtime/enable; cat events/sched/sched_stat_runtime/enable
echo 1 > events/sched/sched_stat_runtime/enable
t sched/sched_switch 'disable_event:sched:sched_stat_runtime if prev_pid > 0'; sleep 0.1; cat $S/trigger events/sched/sched_stat_runtime/enable
t sched/sched_switch 'enable_event:sched:sched_stat_runtime if prev_pid > 0'
t sched/sched_switch '!disable_event:sched:sched_stat_runtime'; cat events/sched/sched_stat_runtime/enable
echo 0 > events/sched/sched_stat_runtime/enable; cat events/sched/sched_stat_runtime/enable
## order of the list
t sched/sched_switch 'stacktrace:1 if prev_pid == 99999'
t sched/sched_switch 'snapshot if prev_pid == 99999'
t sched/sched_switch 'traceon'
t sched/sched_switch 'hist:keys=prev_pid'
t sched/sched_switch 'hist:keys=next_pid'
t sched/sched_switch 'enable_event:sched:sched_waking if prev_pid == 99999'
t sched/sched_switch 'enable_event:sched:sched_wakeup:3 if prev_pid == 99999'
t sched/sched_switch 'disable_hist:sched:sched_waking if prev_pid == 99999'
cat $S/trigger
echo > $S/trigger; cat $S/trigger
echo '!enable_event:sched:sched_wakeup:9 if nosuch == 2' >> $S/trigger; cat $S/trigger
echo '!snapshot:nonsense' >> $S/trigger; echo '!traceoff' >> $S/trigger; cat $S/trigger
t sched/sched_switch '!stacktrace:1 if prev_pid == 99999'
t sched/sched_switch '!enable_event:sched:sched_waking'; cat $S/trigger
## odd texts
t sched/sched_switch 'traceoff 5'; cat $S/trigger; t sched/sched_switch '!traceoff'; echo 1 > tracing_on
t sched/sched_switch 'traceoff:5x'
t sched/sched_switch 'traceoff:-1'
t sched/sched_switch 'traceoff:99999999999999999999'
t sched/sched_switch '  stacktrace   if   prev_pid   ==   99999  '; cat $S/trigger; t sched/sched_switch '!stacktrace'
t sched/sched_switch 'stacktrace:0x10 if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!stacktrace'
t sched/sched_switch 'stacktrace:010:7 if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!stacktrace'
t sched/sched_switch 'stacktrace:if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!stacktrace'
t sched/sched_switch 'stacktrace 3 if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!stacktrace'
t sched/sched_switch 'stacktrace:18446744073709551615 if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!stacktrace'
t sched/sched_switch 'stacktrace if (prev_pid == 1'
t sched/sched_switch 'stacktrace if prev_pid == 1 &&'
t sched/sched_switch 'stacktrace if prev_comm ~ 1'
t sched/sched_switch 'enable_event:sched'
t sched/sched_switch 'enable_event:sched:'
t sched/sched_switch 'enable_event:sched:sched_waking:'
t sched/sched_switch 'enable_event:sched:sched_waking:x'
t sched/sched_switch 'enable_event:sched:sched_waking:1:2 if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!enable_event:sched:sched_waking'
t sched/sched_switch 'enable_event:sched:sched_switch if prev_pid == 99999'; cat $S/trigger $S/enable; t sched/sched_switch '!enable_event:sched:sched_switch'
t sched/sched_switch 'enable_event sched:sched_waking if prev_pid == 99999'; cat $S/trigger; t sched/sched_switch '!enable_event:sched:sched_waking'
t sched/sched_switch 'dump'
t sched/sched_switch '!nosuch'
t sched/sched_switch '!'
t sched/sched_switch ''
## stacks
echo 0 > options/stacktrace; echo > trace
t syscalls/sys_enter_getppid 'stacktrace:2'; echo 1 > events/syscalls/sys_enter_getppid/enable; bash -c 'echo $PPID' > /dev/null; echo 0 > events/syscalls/sys_enter_getppid/enable; bash -c 'echo $PPID' > /dev/null; t syscalls/sys_enter_getppid '!stacktrace'; grep -v '^#' trace; echo > trace
t syscalls/sys_exit_getppid 'stacktrace:1'; bash -c 'echo $PPID' > /dev/null; t syscalls/sys_exit_getppid '!stacktrace'; grep -v '^#' trace; echo > trace
t sched/sched_switch 'stacktrace:1 if prev_comm == "sleep"'; sleep 0.05; t sched/sched_switch '!stacktrace'; grep -v '^#' trace; echo > trace
t sched/sched_waking 'stacktrace:1 if comm == "sleep"'; sleep 0.05; t sched/sched_waking '!stacktrace'; grep -v '^#' trace; echo > trace
t sched/sched_process_exit 'stacktrace:1'; sleep 0.05; t sched/sched_process_exit '!stacktrace'; grep -v '^#' trace; echo > trace
t kmem/kmalloc 'stacktrace:1'; sleep 0.05; t kmem/kmalloc '!stacktrace'; grep -v '^#' trace; echo > trace
echo 'p:kp do_sys_openat2' > kprobe_events; t kprobes/kp 'stacktrace:1'; cat /etc/passwd > /dev/null; cat events/kprobes/kp/trigger; echo '-:kp' >> kprobe_events; t kprobes/kp '!stacktrace'; grep -v '^#' trace; echo > trace
echo 'p:kp2 do_sys_openat2+5' >> kprobe_events; t kprobes/kp2 'stacktrace:1'; cat /etc/passwd > /dev/null; t kprobes/kp2 '!stacktrace'; grep -v '^#' trace; echo > trace
echo 'r:kr do_sys_openat2' >> kprobe_events; t kprobes/kr 'stacktrace:1'; cat /etc/passwd > /dev/null; t kprobes/kr '!stacktrace'; grep -v '^#' trace; echo > trace
ls events/kprobes/kp
t kprobes/kp 'hist:keys=common_pid.execname'; cat /etc/passwd > /dev/null; cat events/kprobes/kp/trigger; cat events/kprobes/kp/hist | tail -8; echo > kprobe_events; t kprobes/kp '!hist:keys=common_pid.execname'; echo > kprobe_events; cat kprobe_events; ls events/kprobes
## on, off, snapshot with the event recorded
echo > trace; echo 1 > events/sched/sched_process_exit/enable; t sched/sched_process_exit 'traceoff if comm == "sleep"'; cat /etc/passwd > /dev/null; sleep 0.01; cat /etc/passwd > /dev/null; cat tracing_on; grep -v '^#' trace
t sched/sched_process_exit '!traceoff'; t sched/sched_process_exit 'traceon:1 if comm == "true"'; echo > trace; /bin/sleep 0.01; /bin/true; cat tracing_on; grep -v '^#' trace
t sched/sched_process_exit '!traceon'; cat events/sched/sched_process_exit/enable
echo > trace; t sched/sched_process_exit 'snapshot:1 if comm == "sleep"'; cat /etc/passwd > /dev/null; sleep 0.01; cat snapshot | grep -v '^#' ; echo; grep -v '^#' trace; t sched/sched_process_exit '!snapshot'; echo 0 > snapshot; echo 0 > events/sched/sched_process_exit/enable
## instances
mkdir instances/i; cat instances/i/$S/trigger; echo 'traceoff:2 if prev_pid == 99999' > instances/i/$S/trigger; cat instances/i/$S/trigger $S/trigger; echo 'hist:keys=prev_pid' >> instances/i/$S/trigger; cat instances/i/$S/trigger; rmdir instances/i; cat $S/trigger
## hist_debug, timestamps
ls $S/hist_debug; cat $S/hist_debug | head -3
cat timestamp_mode trace_clock; t sched/sched_waking 'hist:keys=pid:ts0=common_timestamp.usecs'; cat timestamp_mode trace_clock; t sched/sched_waking '!hist:keys=pid:ts0=common_timestamp.usecs'; cat timestamp_mode trace_clock
cat events/sched/enable events/enable
EOF

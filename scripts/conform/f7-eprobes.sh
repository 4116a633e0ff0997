#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
dy() { echo "[$1]"; echo > error_log; printf '%s\n' "$1" >> dynamic_events || echo "  exit $?"; grep . error_log; return 0; }
t() { L=$2; echo "[$2]"; echo > error_log; printf '%s\n' "$2" >> events/$1/trigger || echo "  exit $?"; grep . error_log; return 0; }
E=syscalls.sys_enter_openat
## definitions
dy "e:eg/ep $E file=+0(\$filename):ustring fl=\$flags"; cat dynamic_events; ls events/eg events/eg/ep; cat events/eg/ep/format events/eg/ep/enable
dy "e:eg/ep $E fl=\$flags"
dy "e:two $E"; cat events/eprobes/two/format
dy "e $E"; tail -1 dynamic_events
dy "e:ep3 $E \$flags \$dfd:s32 \$mode:x16 \$filename:x64"; tail -1 dynamic_events; cat events/eprobes/ep3/format | tail -9
dy "e:sw sched.sched_switch prev=\$prev_pid comm=\$prev_comm:string next=\$next_comm st=\$prev_state"; tail -1 dynamic_events; tail -9 events/eprobes/sw/format
dy "e:sy sched/sched_switch x=\$prev_prio:u8 y=\$comm"; tail -1 dynamic_events; tail -6 events/eprobes/sy/format
dy 'e:ex sched.sched_process_exec name=$filename:string old=$old_pid'; tail -1 dynamic_events
## errors
dy "e:bad"
dy "e:bad nosuch"
dy "e:bad sched"
dy "e:bad sched.nosuch"
dy "e:bad nosuch.ev"
dy "e:bad sched.sched_switch nosuch=\$nosuch"
dy "e:bad sched.sched_switch a=%di"
dy "e:bad sched.sched_switch a=\$prev_pid:nosuch"
dy "e:bad sched.sched_switch a=\$prev_pid a=\$next_pid"
dy "e:bad sched.sched_switch a=prev_pid"
dy "e:bad sched.sched_switch a=\$arg1"
dy "e:bad sched.sched_switch a=\$stack"
dy "e:bad sched.sched_switch a=@jiffies"
dy "e:bad sched.sched_switch a=\\5"
dy "e:bad-name sched.sched_switch"
dy "e:g/h/i sched.sched_switch"
dy "e: sched.sched_switch"; tail -1 dynamic_events
dy "e:/x sched.sched_switch"
dy "e:x/ sched.sched_switch"; tail -1 dynamic_events
dy "e5:x5 sched.sched_switch"
dy "e:kprobes/kk kprobes.nosuch"
dy "e:own eprobes.two"
dy "e:fil sched.sched_switch if prev_pid == 0"
dy "e:fi2 sched.sched_switch p=\$prev_pid if prev_pid == 99999"; tail -1 dynamic_events
dy "e:sched/sched_switch sched.sched_waking"
dy "eprobe:x sched.sched_switch"
echo 'e:inkp sched.sched_switch' >> kprobe_events; grep . error_log; cat kprobe_events
## recorded
cat events/syscalls/sys_enter_openat/enable events/syscalls/sys_enter_openat/trigger
echo 1 > events/eg/ep/enable; cat events/eg/ep/enable events/syscalls/sys_enter_openat/enable events/syscalls/sys_enter_openat/trigger; echo > trace; cat /etc/passwd > /dev/null; grep '/etc/passwd' trace; echo 0 > events/eg/ep/enable; cat events/syscalls/sys_enter_openat/enable
echo 1 > events/eprobes/ex/enable; echo > trace; /bin/true; echo 0 > events/eprobes/ex/enable; grep true trace | sed 's/old=0x[0-9a-f]*/old=N/'
echo 1 > events/eprobes/sw/enable; echo > trace; sleep 0.01; echo 0 > events/eprobes/sw/enable; grep -m1 'comm="sleep"' trace | sed 's/prev=0x[0-9a-f]*/prev=N/'
echo 1 > events/eprobes/sy/enable; echo > trace; sleep 0.01; echo 0 > events/eprobes/sy/enable; grep -m1 'y="sleep"' trace | sed 's/pid=0x[0-9a-f]*/pid=N/'
echo 1 > events/eprobes/ep3/enable; echo > trace; cat /etc/passwd > /dev/null; echo 0 > events/eprobes/ep3/enable; grep -m1 ep3: trace
echo 1 > events/eprobes/fi2/enable; echo > trace; sleep 0.01; echo 0 > events/eprobes/fi2/enable; grep -c fi2: trace
t eg/ep 'hist:keys=fl'; echo > events/eg/ep/trigger; t eg/ep 'stacktrace:1'; cat events/eg/ep/enable; echo > trace; cat /etc/passwd > /dev/null; t eg/ep '!stacktrace'; grep -v '^#' trace
echo 'fl == 0' > events/eg/ep/filter; cat events/eg/ep/filter; echo 0 > events/eg/ep/filter
## with a probe and a synthetic event beneath
echo 'p:kp do_sys_openat2 dfd=%di:s32' >> kprobe_events; dy 'e:onk kprobes.kp d=$dfd'; tail -1 dynamic_events; echo '-:kp' >> kprobe_events; dy '-:onk'; echo '-:kp' >> kprobe_events; cat kprobe_events
## gone
echo 1 > events/eprobes/two/enable; dy '-:eprobes/two'; echo > dynamic_events; echo 0 > events/eprobes/two/enable; dy '-:eprobes/two'; dy '-:eg/ep'; dy '-:nosuch'; dy "-:ep3 $E"; cat dynamic_events; cat events/syscalls/sys_enter_openat/enable; echo > dynamic_events; cat dynamic_events; ls events | grep -c '^e'
EOF

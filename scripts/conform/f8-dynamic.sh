#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
t() { echo "[$2]"; echo > error_log; printf '%s\n' "$2" >> events/$1/trigger || echo "  exit $?"; grep . error_log; return 0; }
mk() { echo 'sw char comm[16]; pid_t pid; int prio' >> synthetic_events; t sched/sched_process_exit 'hist:keys=pid:p=prio:onchange($p).trace(sw,comm,pid,prio) if comm == "true"'; echo 1 > events/synthetic/sw/enable; /bin/true; echo 0 > events/synthetic/sw/enable; echo '!hist:keys=pid:p=prio:onchange($p).trace(sw,comm,pid,prio) if comm == "true"' >> events/sched/sched_process_exit/trigger; cat events/sched/sched_process_exit/trigger | grep hist: ; }
n() { grep -c -v '^#' trace; }
## what taking a synthetic event away does to the trace
echo > trace; echo mark > trace_marker; mk; n; echo '!sw' >> synthetic_events; n; grep -v '^#' trace | sed 's/type [0-9]*/type N/'
echo > trace; echo mark > trace_marker; mk; n; echo '-:synthetic/sw' >> dynamic_events; n
echo > trace; echo mark > trace_marker; mk; n; echo > synthetic_events; n
echo > trace; echo mark > trace_marker; mk; n; echo > dynamic_events; n
echo > trace; echo mark > trace_marker; echo 'off u64 x' >> synthetic_events; n; echo '-:off' >> dynamic_events; n; echo > synthetic_events; n
## and of others
echo 'p:kp do_sys_openat2' >> kprobe_events; n; echo '-:kp' >> kprobe_events; n
echo 'p:kp do_sys_openat2' >> kprobe_events; echo 1 > events/kprobes/kp/enable; cat /etc/passwd > /dev/null; echo 0 > events/kprobes/kp/enable; echo '-:kp' >> kprobe_events; n
echo mark > trace_marker; echo 'e:ep sched.sched_switch' >> dynamic_events; n; echo '-:ep' >> dynamic_events; n
mkdir instances/i; echo mark > instances/i/trace_marker; mk; grep -c -v '^#' instances/i/trace; echo > synthetic_events; n; grep -c -v '^#' instances/i/trace; rmdir instances/i
EOF

#!/bin/bash
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOS'
echo > error_log; echo 'nosuch == 3' > events/irq/filter; cat error_log events/irq/filter; echo 0 > events/irq/filter
echo > error_log; echo 'vec == 3' > events/irq/filter; cat error_log; head -5 events/irq/*/filter; echo 0 > events/irq/filter
echo 'vec ==' > events/irq/filter; cat events/irq/filter; head -5 events/irq/softirq_entry/filter; echo 0 > events/irq/filter
echo '(vec == 1' > events/irq/filter; cat events/irq/filter; head -5 events/irq/softirq_entry/filter; echo 0 > events/irq/filter
echo '' > events/irq/filter; cat events/irq/filter; head -5 events/irq/softirq_entry/filter; echo 0 > events/irq/filter
f() { echo "[$2]"; printf '%s\n' "$2" > events/$1/filter || echo "  exit $?"; cat events/$1/filter; }
f kmem/kfree 'call_site.function == kfree'
f kmem/kfree 'call_site.function == "kfree"'
f kmem/kfree 'call_site == 0xffffffff81000000'
f kmem/kmalloc 'gfp_flags & 0x400'
f kmem/kmem_cache_free 'name == "x"'
f sched/sched_switch 'prev_comm == ""'
f sched/sched_switch 'prev_comm ~ ""'
f sched/sched_switch 'prev_comm ~ "*a*b*"'
f sched/sched_switch 'prev_comm ~ "[ab]?*"'
f sched/sched_switch 'prev_comm ~ "!a*"'
f sched/sched_switch 'prev_comm == "!a"'
f sched/sched_switch "prev_comm == \"$(printf 'a%.0s' {1..255})\""
f sched/sched_switch "prev_comm == \"$(printf 'a%.0s' {1..256})\""
f sched/sched_switch "prev_pid == $(printf '1%.0s' {1..300})"
f sched/sched_switch 'CPU == -1'
f sched/sched_switch 'CPU & 3'
f sched/sched_switch 'CPU ~ "1"'
f sched/sched_switch 'cpu == 1'
f sched/sched_switch 'common_cpu == 1'
f sched/sched_switch 'COMM & 3'
f sched/sched_switch 'COMM == 3'
f sched/sched_switch 'COMM.ustring == "a"'
f sched/sched_switch 'prev_pid.ustring == "a"'
f sched/sched_switch 'prev_pid.foo == 1'
f sched/sched_switch 'prev_pid.function == 1'
f sched/sched_switch 'common_preempt_count > 0 || common_type != 5'
f sched/sched_switch 'common_type ~ "1"'
f raw_syscalls/sys_enter 'args == 1'
f raw_syscalls/sys_enter 'args[0] == 1'
f raw_syscalls/sys_enter 'id == 1 && id != 2'
f raw_syscalls/sys_exit 'ret < 0'
f sched/sched_process_exec 'filename ~ "/bin*" && pid != 1'
f sched/sched_process_exec 'filename == 3'
f sched/sched_switch 'prev_pid == -0x10'
f sched/sched_switch 'prev_pid == 010'
f sched/sched_switch 'prev_pid == 08'
f sched/sched_switch 'prev_pid == +1'
f sched/sched_switch 'prev_pid == 1 ||'
f sched/sched_switch '!!prev_pid == 1'
f sched/sched_switch '! prev_pid == 1'
f sched/sched_switch '!(prev_pid == 1) && !(!(next_pid == 2))'
f sched/sched_switch '!prev_pid'
f sched/sched_switch 'prev_pid == 1 | next_pid == 2'
f sched/sched_switch 'prev_pid == 1)('
f sched/sched_switch '(prev_pid == 1)(next_pid == 2)'
f sched/sched_switch '(prev_pid == 1) next_pid == 2'
f sched/sched_switch 'prev_pid <= 1 && prev_prio >= 3 && prev_state > 0x7fffffffffffffff'
f sched/sched_switch 'prev_state == 18446744073709551615'
f sched/sched_switch 'prev_pid == 4294967296'
f sched/sched_switch 'prev_comm ~ bash'
f sched/sched_switch 'prev_comm.ustring ~ "b*"'
f sched/sched_switch 'prev_comm ! "b"'
f sched/sched_switch '"b" == prev_comm'
f sched/sched_switch "$(printf 'prev_pid == 1 || %.0s' {1..200}) prev_pid == 2" | cut -c1-60
f sched/sched_switch "$(printf 'prev_pid == 1 || %.0s' {1..300}) prev_pid == 2" | cut -c1-60
f sched/sched_switch "$(printf '(%.0s' {1..60})prev_pid == 2$(printf ')%.0s' {1..60})"
f irq_vectors/vector_alloc 'vector == 3'
f workqueue/workqueue_queue_work 'req_cpu == 3 && workqueue ~ "x*"'
f timer/timer_start 'function == 1'
f timer/timer_start 'function ~ "x"'
f block/block_rq_issue 'rwbs == "R"'
f block/block_rq_issue 'cmd == "R"'
f sched/sched_switch 0
f raw_syscalls/sys_enter 0
f raw_syscalls/sys_exit 0
echo 'sched:sched_sw*' > set_event; cat set_event
echo 'sch*:' > set_event; cat set_event
echo 'sched:sched_switch:foo' > set_event; cat set_event
echo ':sched_switch' > set_event; cat set_event
echo '!sched:sched_switch' > set_event; cat set_event
printf 'sched:sched_switch\nnosuch\nirq:softirq_entry\n' > set_event; cat set_event
printf 'sched:sched_switch\tirq:softirq_entry' > set_event; cat set_event
echo '!' > set_event; cat set_event
echo '*' > set_event; wc -l < set_event
echo > set_event
echo '::' > set_event; cat set_event | wc -l
echo ':' > set_event; cat set_event | wc -l
echo > set_event
cat events/nosuch/enable
echo 1 > events/header_page
ls -l events | head -4; ls -l events/sched/sched_switch events/sched | head -20
echo 1 > events/enable; cat events/enable; wc -l < set_event; wc -l < available_events; echo 0 > events/enable
echo 0x1 > events/sched/enable; cat events/sched/enable; echo 01 > events/sched/enable; cat events/sched/enable
echo '  1  ' > events/sched/enable; cat events/sched/enable
echo -1 > events/sched/enable
echo 1x > events/sched/enable
echo > events/sched/enable
printf '' > events/sched/enable
echo 0 > events/sched/enable
echo 1 2 3 > set_event_pid; cat set_event_pid; echo 4 >> set_event_pid; cat set_event_pid
echo abc > set_event_pid; cat set_event_pid
echo -5 > set_event_pid; cat set_event_pid
echo 99999999 > set_event_pid; cat set_event_pid
echo '7 abc 8' > set_event_pid; cat set_event_pid
echo 0 > set_event_pid; cat set_event_pid
echo > set_event_pid; echo 9 8 8 > set_event_notrace_pid; cat set_event_notrace_pid; echo > set_event_notrace_pid
echo 1 > set_event_pid; echo 1 > set_event_notrace_pid; cat set_event_pid set_event_notrace_pid; echo > set_event_pid; echo > set_event_notrace_pid
cat printk_formats | head -3
echo 1 > options/event-fork; echo $$ > set_event_pid; echo 1 > events/sched/sched_process_fork/enable; (true); (true); cat set_event_pid | wc -l; echo 0 > options/event-fork; echo > set_event_pid; echo 0 > events/enable
ls /sys/kernel/tracing/events/ftrace; cat events/ftrace/print/id; ls -l events/ftrace/print
echo 1 > events/ftrace/enable
cat events/ftrace/enable events/ftrace/filter
echo 'ftrace:print' > set_event
EOS

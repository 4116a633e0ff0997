# Filters of events: brackets, logic, errors; fields of system calls; what they let through.
cd /sys/kernel/tracing
w() { er=$( { echo "$2" > $1/filter; } 2>&1 ) && er=ok || er=${er##*: }; echo "[$2] $er"; cat $1/filter; }
s=events/sched/sched_switch
for v in 'prev_pid == 1 && next_pid == 2' 'prev_pid == 1 || next_pid == 2 && prev_prio < 3' '(prev_pid == 1 || next_pid == 2) && prev_prio < 3' '!(prev_pid == 1)' '! prev_pid == 1' '!!(prev_pid == 1)' '((prev_pid == 1))' '()' '(' ')' '(prev_pid == 1' 'prev_pid == 1)' 'prev_pid == 1 &&' '&& prev_pid == 1' 'prev_pid == 1 & next_pid == 2' 'prev_pid == 1 and next_pid == 2' 'prev_pid == 1 next_pid == 2' 'prev_pid' 'prev_pid ==' '== 1' '1 == prev_pid' 'prev_pid==1&&next_pid==2' 'prev_pid== 1' ' prev_pid == 1 ' '	prev_pid	==	1' 'prev_pid == 1;' 'prev_pid & 1 && prev_comm ~ "a*" || !(next_comm == "b" && next_prio != 120)' 'prev_comm == ls' 'prev_comm == "l s"' 'prev_comm ~ "*l*s*"' 'prev_comm != "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"' 'prev_pid == next_pid' 'prev_comm == next_comm' '0' '1' 'none' '' ' ' 'prev_pid.function == x' 'prev_pid == 1 || ' '!prev_pid' 'prev_pid !' '"prev_pid" == 1' 'prev_pid == 1 # x' 'x == 1 || prev_pid ~ 3' 'prev_pid == 1 || y == 1'; do w $s "$v"; done
deep='prev_pid == 1'; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do deep="($deep)"; done; w $s "$deep"
many='prev_pid == 1'; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do many="$many || prev_pid == $i"; done; w $s "$many" | cut -c1-120
echo 0 > $s/filter
echo "# of a system"
w events/sched 'prev_pid == 1'; cat $s/filter events/sched/sched_wakeup/filter; w events/sched 'comm == "ls"'; cat $s/filter events/sched/sched_wakeup/filter; w events/sched 'nosuch == 1'; cat $s/filter; w events/sched 'prev_pid =='; cat $s/filter;  w events/sched 0; cat $s/filter events/sched/sched_wakeup/filter
w events/sched 'common_pid == 3'; cat $s/filter; w events/sched none; cat $s/filter; w events/sched ''; cat $s/filter
echo "# of system calls"
e=events/syscalls/sys_enter_openat
for v in 'dfd == 0xffffff9c' 'dfd < 0' 'dfd == -100' 'filename == 0' 'filename == "x"' 'filename ~ "*x"' 'flags & 0x8000' 'flags ~ 1' 'mode == 0644' '__syscall_nr == 257' '__syscall_nr != 257' 'nr == 1' 'dfd == 18446744073709551516' 'dfd == 4294967196'; do w $e "$v"; done
x=events/syscalls/sys_exit_openat; for v in 'ret < 0' 'ret == -2' 'ret > 2' 'ret == 0xfffffffffffffffe' 'ret ~ 3' 'ret & 1'; do w $x "$v"; done
echo 0 > $x/filter
echo "# what they let through"
n() { echo 0 > tracing_on; [ $(grep -c "$1" trace) -gt 0 ] && echo yes || echo no; echo > trace; echo 1 > tracing_on; }
run() { cat /nosuch; cat /etc/hostname > /dev/null; } 2> /dev/null
echo 'ret < 0' > $x/filter; echo 1 > $x/enable; echo > trace; cat /nosuch 2> /dev/null; n 'sys_openat -> 0xfffffffffffffffe'
echo 'ret == -2 && comm == "cat"' > $x/filter; echo > trace; cat /nosuch 2> /dev/null; n 'openat'
echo 'ret == -2 && comm ~ "c?t"' > $x/filter; echo > trace; cat /nosuch 2> /dev/null; n 'openat'
echo '!(ret == -2) || comm != "cat"' > $x/filter; echo > trace; cat /nosuch 2> /dev/null; n 'fffffe'
echo 'ret == -2 && CPU == 0' > $x/filter; echo > trace; taskset 1 cat /nosuch 2> /dev/null; taskset 2 cat /nosuch 2> /dev/null; n 'fffffe'
echo 'ret == -2 && CPU > 0' > $x/filter; echo > trace; taskset 1 cat /nosuch 2> /dev/null; taskset 2 cat /nosuch 2> /dev/null; n 'fffffe'
echo 'common_pid == 0' > $x/filter; echo > trace; cat /nosuch 2> /dev/null; n 'openat'
echo 0 > $x/enable; echo 0 > $x/filter
p=events/sched/sched_process_exec; echo 1 > $p/enable
for v in 'filename == "/bin/true"' 'filename ~ "*tru*"' 'filename != "/bin/true"' 'filename ~ "/bin/*"' 'filename ~ "*e"' 'filename ~ "?bin?tru[def]"' 'pid > 0' 'pid == old_pid' 'common_preempt_count == 0' 'common_flags & 0xff' 'common_type > 0'; do echo "$v" > $p/filter; echo > trace; /bin/true; /bin/echo > /dev/null; echo "[$v] $(n 'sched_process_exec')"; done
echo 0 > $p/enable; echo 0 > $p/filter
echo "# in an instance, and of the marker"
mkdir instances/f; w instances/f/$s 'prev_pid == 7'; cat $s/filter; rmdir instances/f
w events/raw_syscalls/sys_enter 'id == 1'; w events/raw_syscalls/sys_enter 'args == 1'; w events/raw_syscalls/sys_enter 'args ~ "x"'; echo 0 > events/raw_syscalls/sys_enter/filter

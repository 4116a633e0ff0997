# set_event's syntax, in corners, and enable files.
cd /sys/kernel/tracing
w() { e=$( { printf "$1" > set_event; } 2>&1 ) && e=ok || e=${e##*: }; printf '"%s": %s: ' "$1" "$e"; grep -v -E 'syscalls|raw_' set_event | sort | head -4 | tr '\n' ' '; [ $(wc -l < set_event) -gt 4 ] && echo ... || echo; }
a() { e=$( { printf "$1" >> set_event; } 2>&1 ) && e=ok || e=${e##*: }; printf '+"%s": %s: ' "$1" "$e"; sort set_event | head -4 | tr '\n' ' '; [ $(wc -l < set_event) -gt 4 ] && echo ... || echo; }
for v in 'sched_switch' 'sched_switch\n' 'sched:sched_switch\n' ':sched_switch\n' 'irq:\n' 'irq\n' 'sched:sched_wak*\n' 'irq:*\n' '*:sched_switch\n' '*sched*:sched_w*\n' '\n' ' \n' 'nosuch\n' 'nosuch:sched_switch\n' 'sched:nosuch\n' 'sched_switch sched_wakeup\n' 'sched_switch,sched_wakeup\n' 'sched_switch nosuch sched_wakeup\n' '!sched_switch\n' '!nosuch\n' 'sched:sched_switch:x\n' 'sched:sched_switch:\n' 'sched/sched_switch\n' 'Sched_switch\n' 'sched_switc?\n' 'sched:sched_[sw]*\n' '  sched_switch  \n' '\tsched_switch\n' '#sched_switch\n' 'sched_switch\000\n' 'sched_switch\000sched_wakeup\n' '*wakeup\n' '!*:*\n' 'print\n' 'ftrace:print\n' 'ftrace:\n' 'ftrace:function\n'; do w "$v"; done
: > set_event; a 'sched:sched_switch\n'; a '!sched:sched_switch\n'; a 'sched:sched_w*\n'; a '!sched_wakeup\n'; a '!sched:\n'; a 'sched_switch'; a ' sched_waking'; a '!sched_switch !sched_waking\n'; a '*:sched_switch\n'; a '!*\n'
sched() { for f in events/enable events/sched/enable events/sched/sched_switch/enable; do printf '%s ' $(cat $f); done; echo; }
sched; echo 1 > events/sched/sched_switch/enable; sched; echo 1 > events/sched/enable; sched; echo 0 > events/sched/sched_switch/enable; sched; echo 0 > events/sched/enable; sched
echo sched: > set_event; sched; echo > set_event; sched
exec 3>> set_event; printf sched_sw >&3; printf 'itch\n' >&3; exec 3>&-; sched
exec 3> set_event; sched; printf 'sched_wakeup ' >&3; sched; printf '!sched_wakeup' >&3; cat set_event; exec 3>&-; cat set_event
long=$(printf 'x%0200d' 1); { echo $long > set_event; } 2>&1 | sed 's/.*: //'; cat set_event
echo "# of an instance"
mkdir instances/e; cd instances/e
for v in 'sched_switch\n' '*:sched_switch\n' 'nosuch\n' '!sched_switch\n'; do w "$v"; done; a 'sched:sched_waking\n'; cat events/sched/enable ../../events/sched/enable; cat events/enable
cd ../..; rmdir instances/e
echo "# system directories"
for f in events/sched/filter events/sched/enable events/enable; do for v in '' ' ' 2 X 'y\n' 'n\n' 'on\n' 'Y' 'off' 'o' '01' '1 1'; do case $f in */filter) continue;; esac; e=$( { printf "$v" > $f; } 2>&1 ) && e=ok || e=${e##*: }; echo "$f <- '$v' $e $(cat $f)"; echo 0 > $f; done; done

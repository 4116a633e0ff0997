# Filters of events: every operator on fields of every kind, what they select, and where the caret points.
cd /sys/kernel/tracing
f=events/sched/sched_switch/filter
w() { e=$( { echo "$2" > $1/filter; } 2>&1 ) && e=ok || e=${e##*: }; echo "[$2] $e"; cat $1/filter; }
s=events/sched/sched_switch
for op in == != '<' '<=' '>' '>=' '&' '~' '=' '=~' '===' '!' '<>' '&&' '|' '^' '+'; do
  for fld in prev_pid prev_comm prev_state common_pid common_cpu CPU cpu comm COMM common_type nosuch; do
    case $fld in *comm|COMM) v='"ls"';; *) v=1;; esac
    w $s "$fld $op $v"
  done
done 2>&1
for v in 0 -1 +1 010 0x10 0xg 1x '' '"1"' "'1'" abc 4294967296 2147483648 -2147483649 99999999999999999999 18446744073709551615 '0x' ' ' 1.5 '1 1' '(1)' '"a' 'a"' "'a" '""' '"*"' '"a*b?c[de]"'; do w $s "prev_pid == $v"; w $s "prev_comm == $v"; w $s "prev_comm ~ $v"; done
echo 0 > $f

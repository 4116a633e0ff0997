# Lists of pids: what they take, forks, threads of instances, commas and spaces.
cd /sys/kernel/tracing
w() { f=$1; e=$( { printf "$2" > $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <- "%s": %s: ' "$f" "$2" "$e"; cat $f | tr '\n' ' '; echo; }
a() { f=$1; e=$( { printf "$2" >> $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <<- "%s": %s: ' "$f" "$2" "$e"; cat $f | tr '\n' ' '; echo; }
mkdir instances/p
for f in set_ftrace_pid set_ftrace_notrace_pid set_event_pid set_event_notrace_pid instances/p/set_ftrace_pid instances/p/set_event_pid; do
  for v in '1\n' 1 '1 2' '2 1 3\n' '1\n3\n2\n' '0\n' '-1\n' '+5\n' '010\n' '0x10\n' x '1 x 2\n' '1x\n' '99999999\n' '4194304\n' '4194303\n' '1,2\n' '!1\n' ' \n' '\n' '1\0002\n' '2147483648\n' '4294967297\n' ; do w $f "$v"; done
  a $f '7\n'; a $f '7 8\n'; a $f '\n'; a $f x; w $f '\n'
done
echo "# what is traced"
n() { grep -c -E "$1" ${2:-trace}; }
has() { echo 0 > tracing_on; [ $(grep -v "^#" trace | grep -c -E "$1") -gt 0 ] && echo "${2:-$1}: yes" || echo "${2:-$1}: no"; echo 1 > tracing_on; }
run() { ls / > /dev/null; }
echo vfs_open > set_ftrace_filter; echo function > current_tracer
echo > trace; run; has ' ls-'
echo $$ > set_ftrace_pid; echo > trace; run; echo > /dev/null; has ' ls-'; has ' (bash|sh)-'
echo 1 > options/function-fork; echo > trace; run; has ' ls-'; [ $(wc -l < set_ftrace_pid) -ge 1 ] && echo some
echo 0 > options/function-fork; echo > trace; run; has ' ls-'
: > set_ftrace_pid; echo $$ > set_ftrace_notrace_pid; echo > trace; run; echo > /dev/null; has ' ls-'; has " .*-$$ " self
echo 1 > options/function-fork; echo > trace; run; has ' ls-'; echo 0 > options/function-fork
echo $$ > set_ftrace_pid; echo > trace; echo > /dev/null; has " .*-$$ " self
: > set_ftrace_notrace_pid; echo > trace; echo > /dev/null; has " .*-$$ " self
echo function_graph > current_tracer; echo 1 > options/funcgraph-proc; echo > trace; run; echo > /dev/null; has ' ls-'; has "(bash|sh)-"
: > set_ftrace_pid; run; has ' ls-'
echo nop > current_tracer
echo 1 > events/sched/sched_process_exec/enable; echo $$ > set_event_pid;  echo > trace; run; has ' ls-'; echo 1 > options/event-fork; echo > trace; run; has ' ls-'; echo 0 > options/event-fork
: > set_event_pid; echo > trace; run; has ' ls-'
echo $$ > set_event_notrace_pid; echo 1 > options/event-fork; echo > trace; run; has ' ls-'; wc -l < set_event_notrace_pid; echo 0 > options/event-fork; : > set_event_notrace_pid
echo 0 > events/sched/sched_process_exec/enable
rmdir instances/p

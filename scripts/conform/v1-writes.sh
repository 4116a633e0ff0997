# Odd writes to every file that takes a number, a word or a mask: what is answered, and what it says then.
cd /sys/kernel/tracing
w() { f=$1; shift; e=$( { printf "$@" > $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <- "%s": %s = ' "$f" "$1" "$e"; head -c 60 $f 2>/dev/null | head -1; }
long=$(printf '%0100d' 1)
for f in tracing_on buffer_percent buffer_size_kb per_cpu/cpu1/buffer_size_kb max_graph_depth saved_cmdlines_size stack_max_size tracing_thresh tracing_max_latency options/overwrite options/stacktrace events/enable events/sched/enable events/sched/sched_switch/enable /proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled; do
  for v in ' ' '\n' '1\n2\n' '1 2' ' 1' '1 ' '\t1\n' '0x1' '010' '-1' '+1' '1x' 'x' '1\000' '1\0001\n' 99999999999999999999 18446744073709551615 9223372036854775807 4294967296 4294967295 2147483648 "$long"; do
    case "$f:$v" in *buffer_size_kb:[0-9][0-9][0-9][0-9]*|*cmdlines_size:[0-9][0-9][0-9][0-9]*|events*enable:[0-9][0-9][0-9][0-9]*) continue;; esac
    w $f "$v"
  done
  case $f in tracing_on|options/overwrite) w $f '1\n';; buffer_size_kb|per*) w $f '1408';; saved*) w $f 128;; *) w $f '0\n';; esac
done

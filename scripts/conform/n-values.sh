# Values that files refuse or round, and what they then hold.
cd /sys/kernel/tracing
t() { f=$1; shift; printf '%s <- %s: ' "$f" "$(printf '%s' "$*" | tr '\n' '|')"; if err=$( { printf '%b\n' "$*" > $f; } 2>&1 ); then printf 'ok'; else printf '%s' "${err##*: }"; fi; printf '; %s\n' "$(cat $f 2>&1 | tail -3 | tr '\n' '|')"; }
echo "# numbers"
for v in 0 -1 abc '' ' 8' '8 ' 0x10 010 8x 1.5 100000000000000000000; do t buffer_size_kb "$v"; done
t buffer_size_kb 100; t per_cpu/cpu1/buffer_size_kb 50; cat buffer_size_kb buffer_total_size_kb
t buffer_size_kb 8
t buffer_total_size_kb 5
for v in 0 1 50 100 101 -1 x; do t buffer_percent "$v"; done
t buffer_percent 50
for v in 0 1 2 3 abc -1; do t tracing_on "$v"; done
t tracing_on 1
for v in 0 3 1 ff ,1 zz 100000000 '1,00000000' ' ' ' 1' '1 ' '1 2' , '1,' '1,,1' ',,1' '0,1' 123456789 00000001 0x1 1-2 '1,00000002' ''; do t tracing_cpumask "$v"; done
t tracing_cpumask 3
for v in 0 5 -1 x 4294967296; do t max_graph_depth "$v"; done
t max_graph_depth 0
for v in 0 100 -1 x; do t tracing_thresh "$v"; done
t tracing_thresh 0
for v in 0 1 128 1000000000000 x; do t saved_cmdlines_size "$v"; done
echo "# names"
for v in nosuch local global 'mono ' ' boot' counter uptime perf mono_raw tai x86-tsc ppc-tb '' 'mono boot'; do t trace_clock "$v"; done
t trace_clock local
for v in nosuch function ' function' 'function ' 'function nop' function_graph nop '' ; do t current_tracer "$v"; done
t current_tracer nop
for v in nosuch raw noraw nonoraw 'raw hex' RAW '' 'sym-addr ' nofuncgraph-irqs nofunc_stack_trace; do printf '%s: ' "$v"; echo "$v" > trace_options && echo ok; done 2>&1 | sed 's/^.*write error/write error/'
grep -E '^(no)?(raw|sym-addr)$' trace_options
t options/raw 2; t options/raw x; t options/raw 1; t options/raw 0
echo "# pids"
for v in 1 '1 2' abc 0 -1 '' 99999999 '3,4' '5\n6'; do t set_ftrace_pid "$v"; done
for v in 1 '1 2' abc ''; do t set_ftrace_notrace_pid "$v"; done
for v in 1 '1 2' abc 0 -1 ''; do t set_event_pid "$v"; done
for v in 1 '1 2' abc ''; do t set_event_notrace_pid "$v"; done
echo 1 > set_ftrace_pid; echo 7 >> set_ftrace_pid; cat set_ftrace_pid; echo > set_ftrace_pid; cat set_ftrace_pid
echo "# events"
for v in nosuch nosuch: sched: sched:nosuch ':sched_switch' 'sched:*' '!sched:*' sched 'sched:sched_switch sched:sched_waking' '!sched:sched_waking' 'sched_w*' '*:sched_exec' '*wak*' '!*:*' 'sched:sched_switch\nnosuch:x' '!sched'; do t set_event "$v"; done
echo > set_event
for v in 0 1 2 x; do t events/sched/enable "$v"; done
t events/sched/sched_switch/enable 0; cat events/sched/enable; t events/sched/enable 0
t events/enable 2
echo "# filters"
for v in nosuch 'vfs_read nosuch' vfs_read ' vfs_write' '!vfs_read' '!nosuch' '*' 'vfs_rea?' 'vfs_[rw]*' '*_read*' 'a*b*c' '*:mod:nosuch' ':mod:*' 'vfs_read:nosuch' 'vfs_read:traceon:x' 'vfs_read:traceon:0' 'vfs_read:traceon:-1' 'vfs_read:stacktrace:1:2' 'vfs_read:dump:' '!vfs_read:traceon' 'vfs_read:enable_event' 'vfs_read:enable_event:sched' 'vfs_read:enable_event:sched:nosuch' 'vfs_read:enable_event:sched:sched_switch:x' 0 1 99999999 ; do printf '%s: ' "$v"; { echo "$v" > set_ftrace_filter; } 2>&1 | sed 's/.*: //'; wc -l < set_ftrace_filter | sed 's/^[0-9]\{3,\}$/many/'; done
echo > set_ftrace_filter; echo '!*:traceon' >> set_ftrace_filter 2>/dev/null; cat set_ftrace_filter
for v in nosuch vfs_read '!vfs_read' '!nosuch' 'vfs_r*' '*nosuch*'; do t set_graph_function "$v"; done
for v in nosuch vfs_read '!vfs_read'; do t set_graph_notrace "$v"; done
echo "# others"
for v in 0 1 2 3 x; do t snapshot "$v" | head -c 60; echo; done
echo 0 > snapshot
t per_cpu/cpu0/snapshot 1 | cut -d';' -f1
t trace_marker hello | cut -d';' -f1
printf 'abc' > trace_marker_raw; echo $?
printf 'abcd' > trace_marker_raw; echo $?
head -c 3000 /dev/zero | tr '\0' x > trace_marker_raw; echo $?
tail -1 trace | cut -c 1-20
t timestamp_mode 1
t free_buffer 1 | cut -d';' -f1
cat buffer_size_kb
t error_log x
t stack_trace x; t stack_max_size 5; t stack_max_size x

t events/header_page x
t available_events x
t README x | cut -d';' -f1

mkdir instances/a; mkdir instances/a; mkdir instances/a/b; mkdir x; rmdir instances/b; touch y; mv instances/a instances/c; rmdir instances/a/events; exec 3< instances/a/trace; rmdir instances/a; exec 3<&-; rmdir instances/a; ls instances

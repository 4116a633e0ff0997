# Odd writes to the files that take words: clocks, tracers, masks, options.
cd /sys/kernel/tracing
w() { f=$1; shift; e=$( { printf "$@" > $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <- "%s": %s = ' "$f" "$1" "$e"; head -c 100 $f 2>/dev/null | head -1; }
a() { f=$1; shift; e=$( { printf "$@" >> $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <<- "%s": %s = ' "$f" "$1" "$e"; head -c 100 $f 2>/dev/null | head -1; }
long=$(printf '%0200d' 1)
for v in ' ' '\n' mono ' mono' 'mono ' 'mono \n' 'mono\nlocal\n' MONO mon 'mono local' 'boot\000' 'boot\000x' '[local]' "$long" 'x86-tsc\n' 'local\n'; do w trace_clock "$v"; done
for v in ' ' '\n' function ' nop' 'nop ' 'nop \t\n' 'function\nnop\n' FUNCTION func 'function nop' 'nop\000' 'function_graph\000x' "$long" 'wakeup' 'nop\n'; do w current_tracer "$v"; done
for v in ' ' '\n' 3 1 0 ' 1' '1 ' '0x1' 0-1 1,1 '1\n2\n' 4 ff 00000001 'x' 0000000000000003 00000000,00000003 '3,' ',3' "$long" '1\0002' '3\n'; do w tracing_cpumask "$v"; done
n() { cat trace_options | tr '\n' ' ' | md5sum | cut -c1-8; }
n
for v in ' ' '\n' 'hex' ' nohex' 'hex ' 'nohex\nhex\n' 'nonohex' 'no' 'HEX' 'hex,bin' 'hex bin' 'nohex\000' 'hex\000bin' "$long" 'func_stack_trace' 'nofunc_stack_trace' 'print-parent' 'test_nop_accept' 'funcgraph-irqs' 'nohex' 'no hex' 'no-hex' 'no_hex' 'irq-info' 'noirq-info' 'trace_printk' 'notrace_printk' 'trace_printk' 'printk-msg-only' 'noprintk-msg-only'; do printf '%s ' "$(n)"; w trace_options "$v"; done
n
for f in nosuch options/nosuch per_cpu/cpu9/trace events/nosuch/enable events/sched/nosuch/enable instances/none/trace; do w $f 1; a $f 1; done
echo "# files that are not written, or not read"
for f in timestamp_mode buffer_total_size_kb events/header_page events/sched/sched_switch/format events/sched/sched_switch/id enabled_functions per_cpu/cpu0/stats; do w $f 1; done; for f in trace_pipe per_cpu/cpu0/trace_pipe_raw per_cpu/cpu0/trace_pipe; do { printf 1 > $f; } 2>&1 | sed "s,.*: ,,"; done
for f in trace_marker trace_marker_raw free_buffer; do cat $f 2>&1 | sed "s,.*: ,,"; done

# What function_graph shows of interrupts. No function of 6.1 between __irqentry_text_start and _end can be traced on x86, so that
# the arrows ==========> and <========== stand in no trace there.
cd /sys/kernel/tracing
lo=$(grep ' __irqentry_text_start' /proc/kallsyms | cut -c1-16)
hi=$(grep ' __irqentry_text_end' /proc/kallsyms | cut -c1-16)
[ -n "$lo" ] && [ -n "$hi" ] && echo bounds
awk -v lo=$lo -v hi=$hi '$1>=lo && $1<hi {print $3}' /proc/kallsyms > /tmp/names
grep -c -x -F asm_sysvec_apic_timer_interrupt /tmp/names
grep -x -F -f /tmp/names available_filter_functions | wc -l
echo 4096 > buffer_size_kb
work() { i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; }
yes() { if grep -q "$1" trace; then echo "$1: yes"; else echo "$1: no"; fi; }
for o in 1 0; do
	echo "# funcgraph-irqs $o"
	echo $o > options/funcgraph-irqs
	cat options/funcgraph-irqs
	echo 0 > tracing_on; echo > trace
	echo function_graph > current_tracer
	echo 1 > tracing_on; work; echo 0 > tracing_on
	yes ' __sysvec_apic_timer_interrupt'
	yes 'hrtimer_interrupt'
	yes 'vfs_write\|ksys_write'
	yes '==========>'
	yes '<=========='
	echo nop > current_tracer
done
echo "# one interrupt"
echo 1 > options/funcgraph-irqs
echo __sysvec_apic_timer_interrupt > set_graph_function
echo 2 > max_graph_depth
echo > trace; echo function_graph > current_tracer
echo 1 > tracing_on; work; echo 0 > tracing_on
grep -A1 ' __sysvec_apic_timer_interrupt()' trace | sed -E 's/^ *[0-9]+\) +//; s/.*\|/|/' | head -2
grep -c '==========' trace

# trace_printk in a module: kernel/guest/modules/kscope_trace.c; for 6.1 built with linux-headers-6.1.0-57-cloud-amd64: oracle.sh -a kscope_trace.ko
cd /sys/kernel/tracing
ins() { if [ -f /work/kscope_trace.ko ]; then insmod /work/kscope_trace.ko; else insmod /usr/lib/modules/6.1.0-kscope/extra/kscope_trace.ko; fi; }
notice() { dmesg | grep -F '**' | sed 's/^[^*]*//'; }
formats() { sed 's/^[^:]*//' printk_formats | grep -E 'plain|and|5d|pS|3s|hhd|text|never|leaving'; }
echo "# before"
cat buffer_size_kb
notice
echo "# bprint, bputs, print"
ins
cat buffer_size_kb
cat trace
formats
notice
echo "# formats stay with the module's texts"
rmmod kscope_trace
formats
sed -n '/^ /p' trace | head -6
echo "# raw, bin, hex, options"
echo 1 > options/raw
sed -E '/^#/d; s/^[0-9]+ [0-9]+ [0-9]+/PID CPU TIME/' trace | head -12
echo 0 > options/raw
echo 1 > options/printk-msg-only
sed -n '/^#/!p' trace | head -12
echo 0 > options/printk-msg-only
ls options | grep -i print
echo nosuch > trace_options; echo $?
echo 1 > options/printk_msg_only 2>/dev/null; echo $?
echo printk-msg-only > trace_options; echo $?
sed -n '/^#/!p' trace | head -3
echo noprintk-msg-only > trace_options
echo 0 > options/trace_printk; echo > trace
ins; rmmod kscope_trace
sed -n '/^#/!p' trace
echo 1 > options/trace_printk
echo "# in an instance there are none"
mkdir instances/p
ins; rmmod kscope_trace
grep -c plain instances/p/trace
grep -c plain trace
rmdir instances/p
echo "# the events"
ls events/ftrace | grep -E 'print|puts'
cat events/ftrace/bprint/format events/ftrace/bputs/format events/ftrace/print/format
grep -E 'print|puts' available_events | head -3
echo "# tracers and trace_printk"
echo > trace; echo do_init_module > set_graph_function; echo 1 > max_graph_depth
echo nofuncgraph-irqs > trace_options; echo function_graph > current_tracer
ins; rmmod kscope_trace
grep -F '  /*' trace
echo nop > current_tracer
echo "# trace_pipe"
echo > trace; ins
timeout 1 cat trace_pipe | head -4
rmmod kscope_trace

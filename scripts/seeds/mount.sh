# Mounting, and the files that the documents list (function-tracer.txt 22-48, dynamic-kernel-tracing.txt 50-53). debugfs and tracefs
# are mounted at boot: the seeds' mounts answer so.
#lines function-tracer.txt 18-19
#lines ftrace-and-kprobe.txt 23-30
#lines ftrace-and-kprobe.txt 173-173
echo "--- function-tracer.txt 22-48: each name of the tree; the one that is not there is a slip"
cd /sys/kernel/tracing
for f in current_tracer tracing_on trace trace_pipe trace_options available_tracers available_filter_funcs set_ftrace_filter \
	set_ftrace_notrace set_graph_function set_graph_notrace tracing_cpumask per_cpu per_cpu/cpu0/trace per_cpu/cpu0/stats \
	events/enable events/syscalls/sys_enter_read/enable events/syscalls/sys_enter_read/filter \
	events/syscalls/sys_enter_read/format instances snapshot; do
	ls -d $f
done
cat set_ftrace_filter snapshot per_cpu/cpu0/stats
echo "--- line 27: \"comma-separated options\" are not"
echo "sym-offset,sym-addr" > trace_options; echo sym-offset > trace_options; grep sym trace_options

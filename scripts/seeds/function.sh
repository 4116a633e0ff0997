# function-tracer.txt, "Function tracer": trace everything for a millisecond; then filters.
#lines function-tracer.txt 53-57
echo nop > /sys/kernel/tracing/current_tracer
echo "--- a filter that matches nothing here, a module that is not there, several patterns, none"
#lines function-tracer.txt 62-64
#lines function-tracer.txt 67-67
#lines function-tracer.txt 70-70
cat /sys/kernel/tracing/set_ftrace_filter
#lines function-tracer.txt 73-73
cat /sys/kernel/tracing/set_ftrace_filter

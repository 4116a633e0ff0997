# function-tracer.txt, "Function graph tracer". The seed sets the tracer first, so its buffer begins with the patching; and its
# /some/file does not exist, so a real one is read too.
#lines function-tracer.txt 79-83
cat /sys/kernel/tracing/trace | head -20
echo > /sys/kernel/tracing/trace
#lines function-tracer.txt 81-81
cat /etc/hostname
#lines function-tracer.txt 83-84

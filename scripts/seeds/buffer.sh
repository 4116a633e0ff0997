# function-tracer.txt, "Check buffer size".
#lines function-tracer.txt 137-142
#lines function-tracer.txt 138-138

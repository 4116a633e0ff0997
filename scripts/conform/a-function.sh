#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
uname -r; nproc
cat available_tracers; cat current_tracer
## nop: the empty trace
cat trace
## one function
echo vfs_read > set_ftrace_filter
cat set_ftrace_filter
cat trace
echo function > current_tracer
cat trace_options | tr '\n' ' '; echo
dd if=/dev/zero of=/dev/null bs=1 count=3
echo 0 > tracing_on
head -25 trace
echo > trace
cat trace
## a trace file is not consumed by reading; trace_pipe is
echo 1 > tracing_on; dd if=/dev/zero of=/dev/null bs=1 count=3 status=none; echo 0 > tracing_on
cat trace | wc -l; cat trace | wc -l
timeout 1 cat trace_pipe | head -5
cat trace | wc -l
## glob
echo 'vfs_*' > set_ftrace_filter
wc -l < set_ftrace_filter
cat set_ftrace_filter
echo > trace; echo 1 > tracing_on; cat /etc/passwd > /dev/null; echo 0 > tracing_on
head -45 trace
## notrace
echo vfs_read > set_ftrace_notrace
cat set_ftrace_notrace
cat set_ftrace_filter | grep -c .
grep -x vfs_read set_ftrace_filter
echo > trace; echo 1 > tracing_on; cat /etc/passwd > /dev/null; echo 0 > tracing_on
grep -c ' vfs_read ' trace; grep -c ' vfs_open ' trace
echo > set_ftrace_notrace
cat set_ftrace_notrace
## display options of the function tracer, on one and the same buffer
echo vfs_read > set_ftrace_filter
echo > trace; echo 1 > tracing_on; dd if=/dev/zero of=/dev/null bs=1 count=2 status=none; echo 0 > tracing_on
tail -2 trace
echo noprint-parent > trace_options; tail -2 trace; echo print-parent > trace_options
echo sym-offset > trace_options; tail -2 trace; echo nosym-offset > trace_options
echo sym-addr > trace_options; tail -2 trace; echo nosym-addr > trace_options
echo noirq-info > trace_options; cat trace | head -12; echo irq-info > trace_options
echo nocontext-info > trace_options; tail -2 trace; echo context-info > trace_options
echo verbose > trace_options; tail -2 trace; echo noverbose > trace_options
echo verbose > trace_options; echo latency-format > trace_options; tail -2 trace; echo nolatency-format > trace_options; echo noverbose > trace_options
echo raw > trace_options; tail -2 trace; echo noraw > trace_options
echo hex > trace_options; tail -2 trace; echo nohex > trace_options
echo bin > trace_options; head -c 200 trace | od -An -tx1 | head -8; echo nobin > trace_options
echo fields > trace_options
echo bogus > trace_options
echo 1 > options/record-tgid; head -14 trace; echo 0 > options/record-tgid
echo 2 > options/record-tgid
cat options/record-tgid
## func_stack_trace (only allowed sanely with a filter)
echo 1 > options/func_stack_trace
echo > trace; echo 1 > tracing_on; dd if=/dev/zero of=/dev/null bs=1 count=1 status=none; echo 0 > tracing_on
tail -20 trace
echo 0 > options/func_stack_trace
## func-no-repeats
echo 1 > options/func-no-repeats
echo > trace; echo 1 > tracing_on; dd if=/dev/zero of=/dev/null bs=1 count=200 status=none; echo 0 > tracing_on
tail -8 trace
echo 0 > options/func-no-repeats
## trace_marker in the function trace
echo > trace; echo 1 > tracing_on; echo hello > trace_marker; printf 'no newline' > trace_marker; env printf 'two\nlines\n' > trace_marker; echo 0 > tracing_on
grep -v vfs_read trace
cat trace_marker
head -c 5000 /dev/zero | tr '\0' y > trace_marker; echo 1 > tracing_on; head -c 5000 /dev/zero | tr '\0' y > trace_marker; echo 0 > tracing_on
grep yyyy trace | awk '{print length($0)}'
## set_ftrace_pid
cat set_ftrace_pid; cat set_ftrace_notrace_pid
echo $$ > set_ftrace_pid; [ "$(cat set_ftrace_pid)" = $$ ] && echo same
echo > trace; echo 1 > tracing_on; dd if=/dev/zero of=/dev/null bs=1 count=2 status=none; read a < /etc/passwd; echo 0 > tracing_on
grep -v '^#' trace | awk '{print $1}' | sed 's/-[0-9]*$//' | sort | uniq -c
echo 99999999 > set_ftrace_pid
echo abc > set_ftrace_pid
echo '1 2 3' > set_ftrace_pid; cat set_ftrace_pid
echo 7 >> set_ftrace_pid; cat set_ftrace_pid
echo > set_ftrace_pid; cat set_ftrace_pid
## tracer switching
echo nop > current_tracer; cat trace
echo nosuch > current_tracer
echo ' function' > current_tracer
env printf 'function\n\n' > current_tracer; cat current_tracer
echo '' > current_tracer
echo nop > current_tracer
cat tracing_on
echo 2 > tracing_on; cat tracing_on
echo x > tracing_on
## `cat trace` has no end while each read of it adds an entry (unless pause-on-trace is set)
echo 1 > tracing_on; echo vfs_read > set_ftrace_filter; echo function > current_tracer
cat options/pause-on-trace; timeout 0.2 cat trace > /dev/null; echo $?
echo 1 > options/pause-on-trace; timeout 0.2 cat trace > /dev/null; echo $?; echo 0 > options/pause-on-trace
echo nop > current_tracer
EOF

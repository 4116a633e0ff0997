# One call site, many users.
cd /sys/kernel/tracing
sites() { grep -E '^vfs_(symlink|rmdir) ' enabled_functions | sed -E 's/0x[0-9a-f]+/ADDR/g; s/\+ADDR\/ADDR//g; s/[[:space:]]+/ /g'; echo "= $(grep -c . enabled_functions)"; }
work() { ln -s a /tmp/l; rm /tmp/l; mkdir /tmp/d; rmdir /tmp/d; }
hits() { echo "hits: trace $(grep -c -E 'vfs_(symlink|rmdir)' trace) $(for i in instances/*; do [ -f $i/trace ] && grep -c -E 'vfs_(symlink|rmdir)' $i/trace; done | tr '\n' ' ')"; }
sites
echo "# function"
echo vfs_symlink > set_ftrace_filter; echo function > current_tracer; sites; work; hits
echo "# and an instance"
mkdir instances/a; echo 'vfs_symlink vfs_rmdir' > instances/a/set_ftrace_filter; echo function > instances/a/current_tracer; sites; work; hits
echo "# and another"
mkdir instances/b; echo vfs_rmdir > instances/b/set_ftrace_filter; echo function > instances/b/current_tracer; sites; work; hits
echo "# and a kprobe"
echo 'p:x vfs_symlink' > kprobe_events; sites; echo 1 > events/kprobes/x/enable; sites; work; hits; grep -c x: trace
echo "# and a kretprobe"
echo 'r:y vfs_symlink' >> kprobe_events; echo 1 > events/kprobes/y/enable; sites; work; hits
echo "# and commands"
echo 'vfs_symlink:traceoff:0' >> set_ftrace_filter 2>/dev/null; echo 'vfs_rmdir:stacktrace:1' >> set_ftrace_filter; sites; cat set_ftrace_filter
work; grep -c 'stack trace' trace; cat set_ftrace_filter
echo "# graph"
echo function_graph > current_tracer; sites; work; grep -c -E 'vfs_(symlink|rmdir)' trace
echo "# take them away"
echo nop > instances/a/current_tracer; sites
echo 0 > events/kprobes/x/enable; sites
echo '!vfs_rmdir:stacktrace:1' >> set_ftrace_filter; echo '!vfs_rmdir:stacktrace' >> set_ftrace_filter; sites; cat set_ftrace_filter
rmdir instances/b; echo nop > current_tracer; sites
echo 0 > events/kprobes/y/enable; sites
echo > kprobe_events; sites
rmdir instances/a
echo "# the sysctl"
echo vfs_rmdir > set_ftrace_filter; echo function > current_tracer; sites; echo 0 > /proc/sys/kernel/ftrace_enabled; sites; echo > trace; work; hits
echo function > current_tracer; echo $?; echo nop > current_tracer; echo function > current_tracer; echo $?; cat current_tracer
echo 'p:x vfs_symlink' > kprobe_events; echo 1 > events/kprobes/x/enable; echo $?; sites
echo 1 > /proc/sys/kernel/ftrace_enabled; sites; work; hits
echo 0 > events/kprobes/x/enable; echo > kprobe_events; echo nop > current_tracer; sites
echo "# pids"
echo > set_ftrace_filter; echo vfs_rmdir > set_ftrace_filter; echo function > current_tracer
echo $$ > set_ftrace_pid; echo > trace; work; hits; (exec rmdir /nosuch) 2>/dev/null; hits
echo 1 > options/function-fork; echo > trace; work; hits; wc -l < set_ftrace_pid
echo 0 > options/function-fork; echo > set_ftrace_pid
echo $$ > set_ftrace_notrace_pid; echo > trace; work; hits; echo 1 > options/function-fork; work; hits; echo > set_ftrace_notrace_pid

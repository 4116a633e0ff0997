#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
cat set_ftrace_filter; cat set_ftrace_notrace
cat enabled_functions
wc -l < available_filter_functions; head -5 available_filter_functions; grep '\[' available_filter_functions | head -3
## globs
for g in 'vfs_read' 'vfs_r*' '*_vfs_read' '*vfs_read*' 'vfs*read' 'vfs_rea?' 'vfs_[rs]e*' '*' 'v*f*s_read' '?fs_read' '^vfs_read$' '!vfs_read'; do echo "$g" > set_ftrace_filter; echo "[$g] exit $? -> $(wc -l < set_ftrace_filter): $(head -4 set_ftrace_filter | tr '\n' ' ')"; done
echo > set_ftrace_filter; cat set_ftrace_filter
## append, overwrite, remove
echo vfs_write > set_ftrace_filter; echo vfs_read >> set_ftrace_filter; echo vfs_open >> set_ftrace_filter; cat set_ftrace_filter
echo '!vfs_read' >> set_ftrace_filter; cat set_ftrace_filter
echo '!vfs_read' >> set_ftrace_filter; cat set_ftrace_filter
echo '!vfs_*' >> set_ftrace_filter; cat set_ftrace_filter
echo 'vfs_*' > set_ftrace_filter; echo '!*_w*' >> set_ftrace_filter; grep -c . set_ftrace_filter; grep _w set_ftrace_filter
echo '!vfs_read' > set_ftrace_filter; head -3 set_ftrace_filter; wc -l < set_ftrace_filter
echo 'vfs_read vfs_write' > set_ftrace_filter; cat set_ftrace_filter
env printf 'vfs_read\nvfs_open\n' > set_ftrace_filter; cat set_ftrace_filter
printf 'vfs_read' > set_ftrace_filter; cat set_ftrace_filter
env printf '  vfs_read\t vfs_open  \n\n' > set_ftrace_filter; cat set_ftrace_filter
## unknown names
echo nosuch > set_ftrace_filter; cat set_ftrace_filter
echo vfs_read > set_ftrace_filter; echo nosuch >> set_ftrace_filter; cat set_ftrace_filter
echo 'vfs_write nosuch vfs_open' > set_ftrace_filter; cat set_ftrace_filter
echo 'nosuch*' > set_ftrace_filter; cat set_ftrace_filter
echo do_int3 > set_ftrace_filter
echo 'vfs_read [vfs]' > set_ftrace_filter; cat set_ftrace_filter
## by index in available_filter_functions
echo 1 > set_ftrace_filter; cat set_ftrace_filter
echo 10 20 > set_ftrace_filter; cat set_ftrace_filter; sed -n '10p;20p' available_filter_functions
echo 0 > set_ftrace_filter
echo 99999999 > set_ftrace_filter
echo 0x10 > set_ftrace_filter
## modules
lsmod
echo ':mod:virtio_console' > set_ftrace_filter; wc -l < set_ftrace_filter; head -3 set_ftrace_filter
echo 'init*:mod:virtio_console' > set_ftrace_filter; cat set_ftrace_filter
echo '*send*:mod:virtio_console' > set_ftrace_filter; cat set_ftrace_filter
echo '*:mod:!virtio_console' > set_ftrace_filter; wc -l < set_ftrace_filter
echo '*:mod:virtio*' > set_ftrace_filter; wc -l < set_ftrace_filter
echo 'vfs_read:mod:nomodule' > set_ftrace_filter; cat set_ftrace_filter
echo ':mod:nomodule' > set_ftrace_filter; cat set_ftrace_filter
echo 'vfs_read:mod' > set_ftrace_filter
echo > set_ftrace_filter
## commands
echo 'vfs_read:nosuchcmd' > set_ftrace_filter
echo 'vfs_read:' > set_ftrace_filter
echo ':traceoff' > set_ftrace_filter
echo 'nosuch:traceoff' > set_ftrace_filter; cat set_ftrace_filter
echo 'vfs_read:traceoff' > set_ftrace_filter; cat set_ftrace_filter; cat tracing_on
echo 'vfs_write:traceon:5' >> set_ftrace_filter; cat set_ftrace_filter
cat enabled_functions
echo 1 > tracing_on; cat tracing_on
echo 'vfs_open:traceoff:0' >> set_ftrace_filter; cat set_ftrace_filter | grep vfs_open
echo 'vfs_open:traceoff:x' >> set_ftrace_filter
echo 'vfs_open:traceoff:-1' >> set_ftrace_filter; grep vfs_open set_ftrace_filter
echo 'vfs_read:stacktrace:2' >> set_ftrace_filter; echo 'vfs_read:snapshot:1' >> set_ftrace_filter; echo 'do_nanosleep:dump' >> set_ftrace_filter; echo 'do_nanosleep:cpudump:1' >> set_ftrace_filter; echo 'do_nanosleep:stacktrace' >> set_ftrace_filter
cat set_ftrace_filter
echo 'vfs_symlink:enable_event:sched:sched_switch' >> set_ftrace_filter; echo 'vfs_symlink:disable_event:sched:sched_waking:3' >> set_ftrace_filter; echo 'vfs_symlink:enable_event:nosuch:ev' >> set_ftrace_filter
grep event set_ftrace_filter; cat events/sched/sched_switch/enable events/sched/sched_waking/enable
echo > set_ftrace_filter; cat set_ftrace_filter
echo '!vfs_read:traceoff' >> set_ftrace_filter; echo '!vfs_read:stacktrace' >> set_ftrace_filter; cat set_ftrace_filter
echo '!vfs_read:stacktrace:2' >> set_ftrace_filter; cat set_ftrace_filter
echo '!*:traceoff' >> set_ftrace_filter; echo '!*:traceon:0' >> set_ftrace_filter;  echo '!*:stacktrace' >> set_ftrace_filter; cat set_ftrace_filter
echo '!vfs_read:traceoff' >> set_ftrace_filter
for c in snapshot snapshot:0 dump cpudump dump:0 cpudump:0 enable_event:sched:sched_switch disable_event:sched:sched_waking:0; do echo "!*:$c" >> set_ftrace_filter; done; cat set_ftrace_filter
## how counts go down: stacktrace twice, with trace text
echo nop > current_tracer; echo > trace; echo 1 > tracing_on
echo 'do_nanosleep:stacktrace:2' > set_ftrace_filter; cat set_ftrace_filter
sleep 0.01; cat set_ftrace_filter; sleep 0.01; cat set_ftrace_filter; sleep 0.01; cat set_ftrace_filter
cat trace
echo '!do_nanosleep:stacktrace:0' > set_ftrace_filter; cat set_ftrace_filter
echo 'do_nanosleep:traceoff:1' > set_ftrace_filter; cat tracing_on; sleep 0.01; cat tracing_on; cat set_ftrace_filter; tail -3 trace; echo 1 > tracing_on; sleep 0.01; cat tracing_on
echo '!do_nanosleep:traceoff:0' >> set_ftrace_filter
echo 'do_nanosleep:snapshot:1' > set_ftrace_filter; sleep 0.01; cat set_ftrace_filter; head -4 snapshot; echo '!do_nanosleep:snapshot:0' >> set_ftrace_filter
## two filters of functions plus commands in one listing
echo vfs_read > set_ftrace_filter; echo 'vfs_write:traceon' >> set_ftrace_filter; cat set_ftrace_filter; cat enabled_functions
echo '!vfs_write:traceon' >> set_ftrace_filter
## enabled_functions
echo vfs_read > set_ftrace_filter; echo function > current_tracer; cat enabled_functions
echo 'p:kp vfs_read' > kprobe_events; echo 'p:kw vfs_write' >> kprobe_events; cat enabled_functions
echo 1 > events/kprobes/kp/enable; echo 1 > events/kprobes/kw/enable; cat enabled_functions
cat /sys/kernel/debug/kprobes/list
echo 'vfs_read:stacktrace' >> set_ftrace_filter; cat enabled_functions; echo '!vfs_read:stacktrace' >> set_ftrace_filter
mkdir instances/i1; echo vfs_open > instances/i1/set_ftrace_filter; echo function > instances/i1/current_tracer; cat enabled_functions
echo vfs_read > instances/i1/set_ftrace_filter; cat enabled_functions
echo nop > instances/i1/current_tracer; rmdir instances/i1
echo 0 > events/kprobes/enable; echo > kprobe_events; cat enabled_functions
echo function_graph > current_tracer; cat enabled_functions; cat dyn_ftrace_total_info
echo nop > current_tracer; cat enabled_functions; cat set_ftrace_filter
cat dyn_ftrace_total_info
## written while open: the filter takes effect at close
exec 5> set_ftrace_filter; echo vfs_open >&5; cat set_ftrace_filter; exec 5>&-; cat set_ftrace_filter
## /proc/sys/kernel/ftrace_enabled
cat /proc/sys/kernel/ftrace_enabled
echo function > current_tracer; echo 0 > /proc/sys/kernel/ftrace_enabled; cat enabled_functions; echo 1 > /proc/sys/kernel/ftrace_enabled; cat enabled_functions; echo nop > current_tracer
## function_graph's two files
echo vfs_read > set_graph_function; echo 'vfs_w*' >> set_graph_function; cat set_graph_function; echo '!vfs_write' >> set_graph_function; cat set_graph_function; echo > set_graph_function; cat set_graph_function
EOF

# set_graph_function, set_graph_notrace, max_graph_depth, tracing_thresh: what they take and what they make.
cd /sys/kernel/tracing
w() { f=$1; e=$( { printf "$2" > $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <- "%s": %s\n' "$f" "$2" "$e"; sort $f; }
a() { f=$1; e=$( { printf "$2" >> $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <<- "%s": %s\n' "$f" "$2" "$e"; sort $f; }
for f in set_graph_function set_graph_notrace; do
  for v in '\n' vfs_mkdir 'vfs_mkdir\n' 'vfs_mkdir vfs_symlink\n' 'vfs_mkdir\nvfs_symlink\n' '!vfs_mkdir\n' 'nosuch\n' 'nosuch*\n' 'vfs_mkdir:mod:nosuch\n' ':mod:nosuch\n' 'vfs_mkdir:traceon\n' 'vfs_mkdi?\n' 'vfs_mk[dx]ir\n' '*mkdir!\n' ' \n' 'vfs_mkdir vfs_mkdir\n' 'vfs_mkdir nosuch vfs_symlink\n'; do w $f "$v"; done
  a $f 'vfs_symlink\n'; a $f 'vfs_symlink\n'; a $f '!vfs_symlink\n'; a $f '!vfs_mkdir\n'; a $f '!vfs_mkdir\n'; a $f '!nosuch\n'; a $f '!*\n'; a $f nosuch; a $f vfs_mkdir; a $f vfs_symlink; a $f '!vfs_*\n'
  : > $f; cat $f
done
echo "# what is traced"
work() { mkdir /tmp/d; rmdir /tmp/d; }
g() { echo 0 > tracing_on; sed -n '/|/s/.*|  *\([a-z}].*\)$/\1/p' trace | sed 's/ \[[a-z0-9_]*\]//' | grep -c -E "$1"; echo > trace; echo 1 > tracing_on; }
tally() { echo 0 > tracing_on; sed '/^#/d; / => /d; /^ *-*$/d; s/.*|  //' trace | sed -E 's/ \[[a-z0-9_]+\]//' | sort | uniq -c | sort -k2 | sed 's/^ *//'; echo > trace; echo 1 > tracing_on; }
echo vfs_mkdir vfs_rmdir may_delete shmem_mkdir ramfs_mkdir > set_ftrace_filter 2>/dev/null
echo vfs_mkdir vfs_rmdir may_delete > set_ftrace_filter
echo function_graph > current_tracer; echo > trace
work; tally
echo "# only vfs_mkdir"; echo vfs_mkdir > set_graph_function; work; tally
echo "# and vfs_rmdir by glob"; echo 'vfs_r?dir' >> set_graph_function; work; tally
echo "# not vfs_rmdir"; echo vfs_rmdir > set_graph_notrace; work; tally
echo "# not, without set_graph_function"; echo > set_graph_function; work; tally; cat set_graph_function
echo vfs_rmdir > set_graph_function; echo > set_graph_notrace; cat set_graph_function set_graph_notrace
: > set_graph_function; : > set_graph_notrace
echo "# depth 1"; echo 1 > max_graph_depth; work; tally
echo "# depth 1 from vfs_rmdir"; echo vfs_rmdir > set_graph_function; : > set_ftrace_filter; echo > trace; work; tally | sed "s,()* {$,;,"
echo "# depth 0 from vfs_rmdir, of may_delete too"; echo 'vfs_rmdir may_delete' > set_ftrace_filter; echo 0 > max_graph_depth; work; tally
echo "# threshold"; echo vfs_rmdir vfs_mkdir > set_ftrace_filter; : > set_graph_function; echo > trace; echo 1000000 > tracing_thresh; cat current_tracer; work; tally
echo 0 > tracing_thresh; echo nop > current_tracer; echo 1 > tracing_thresh; echo function_graph > current_tracer; echo 5000000 > tracing_thresh; cat tracing_thresh; work; tally
echo 0 > tracing_thresh; work; tally
echo nop > current_tracer

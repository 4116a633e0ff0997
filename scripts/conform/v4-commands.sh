# Function commands: counts, removals, globs, modules, bad ones, and the index numbers of filters.
cd /sys/kernel/tracing
modprobe ext4 2> /dev/null
w() { e=$( { printf "$1\n" >> set_ftrace_filter; } 2>&1 ) && e=ok || e=${e##*: }; printf '"%s": %s\n' "$1" "$e"; }
l() { grep -v '^#### all' set_ftrace_filter; }
echo "# kinds and counts"
for c in traceon traceoff snapshot stacktrace dump cpudump; do
  for a in '' ':' ':0' ':1' ':-1' ':x' ':1x' ':010' ':0x10' ':18446744073709551615' ':99999999999999999999' ':1:2' ':unlimited'; do w "vfs_symlink:$c$a"; l; { echo "!vfs_symlink:$c" >> set_ftrace_filter; echo "!vfs_symlink:$c:0" >> set_ftrace_filter; } 2> /dev/null; done
  w "vfs_symlink:$c:3"; w "vfs_symlink:$c:2"; w "vfs_symlink:$c"; w "vfs_symlink:$c"; w "vfs_symlink:$c:99999999999999999999"; w "vfs_symlink:$c:x"
  l; w "!vfs_symlink:$c"; w "!vfs_symlink:$c:0"; w "!vfs_symlink:$c:0"; l
done
echo "# events"
for c in enable_event disable_event; do
  for a in '' ':' ':sched' ':sched:' ':sched:nosuch' ':nosuch:x' ':sched:sched_switch' ':sched:sched_switch:2' ':sched:sched_switch:x' ':sched:sched_switch:' ':sched:sched_switch:1:2' ':sched:sched_waking' ':sched:*' ':*:sched_waking'; do w "vfs_symlink:$c$a"; done; l; cat events/sched/sched_switch/enable
  l; w "!vfs_symlink:$c"; w "!vfs_symlink:$c:sched:sched_switch"; w "!vfs_symlink:$c:sched:sched_switch:0"; l
done
echo "# odd commands"
for a in 'vfs_symlink:' 'vfs_symlink:nosuch' 'vfs_symlink:nosuch:1' ':traceon' '::traceon' 'nosuch_fn:traceon' 'nosuch*:traceon' '!nosuch_fn:traceon' '!vfs_symlink:nosuch' 'vfs_symlink:Traceon' 'vfs_symlink:traceon:traceoff' 'vfs_symlink :traceon' 'vfs_symlink: traceon' '!:traceon' '*:mod:nosuchmod' '!*:mod:nosuchmod' 'vfs_symlink:mod' 'vfs_symlink:mod:' 'nosuch:mod:!*' '!:mod:nosuchmod' '!nosuch_fn:mod:nosuchmod' 'vfs_symlink:mod:!*' '!vfs_symlink:mod:!*' 'a_fn:mod:nosuchmod' 'b_fn:mod:nosuchmod' 'b_fn:mod:other' '!*:mod:nosuchmod' 'vfs_read:mod:!nosuchmod' '!vfs_read:mod:!nosuchmod'; do w "$a"; l | head -8; done
n=$(grep -c '\]$' available_filter_functions); for a in ':mod:' ':mod:*' '!:mod:*' ':mod:!*' '!:mod:!*' '!'; do w "$a"; [ $(l | grep -c '\]$') = $n ] && echo "all of modules"; [ $(l | grep -c -v '\]$') -gt 1000 ] && echo "all others"; done
for a in $(l | grep :); do w "!$a"; done; l | grep :; echo > set_ftrace_filter; cat set_ftrace_filter
echo "# several functions"
w 'vfs_symlin?:traceon'; w 'vfs_rm[dx]ir:traceon'; w '*symlink:traceoff:3'; l | grep '^vfs' | sort
w '!vfs_*:traceon'; l | grep '^vfs'; w '!vfs_symlink:traceoff:0'; l | grep '^vfs'; w '!*:traceoff:0'; l
w 'vfs_rmdir:traceon'; w 'vfs_rmdir:traceon'; w 'vfs_rmdir:traceon:5'; w 'vfs_rmdir:traceoff'; l; w '!vfs_rmdir:traceon'; w '!vfs_rmdir:traceoff'; l
w '!vfs_rmdir:traceon:0'; l; w '!vfs_rmdir:traceoff:0'; l
echo "# in notrace there are none"
for a in vfs_symlink:traceon vfs_symlink:mod:nosuchmod 'vfs_symlink:nosuch'; do e=$( { echo "$a" >> set_ftrace_notrace; } 2>&1 ) && e=ok || e=${e##*: }; echo "$a: $e"; done; cat set_ftrace_notrace; echo > set_ftrace_notrace; cat set_ftrace_notrace
echo "# numbers"
n=$(grep -n '^vfs_read$' available_filter_functions | cut -d: -f1); m=$(grep -n '^vfs_rmdir$' available_filter_functions | cut -d: -f1)
t() { printf "$1" > set_ftrace_filter; r=$?; cat set_ftrace_filter | head -3; }
x() { e=$( { echo "$1" > set_ftrace_filter; } 2>&1 ) && e=ok || e=${e##*: }; echo "$1: $e" | sed "s/$n/N/; s/$m/M/; s/$(printf %x $n)/HEX/; s/$(printf %o $n)/OCT/"; sort set_ftrace_filter | head -2; }
x $n; x "$n $m"; x "$n
$m"; x 0; x -1; x 99999999; x "+$n"; x "${n}x"; x "0x$(printf %x $n)q"; x "0$(printf %o $n)9"; x 09; echo "18446744073709551617x" > set_ftrace_filter; echo $?; x "0x10" >/dev/null; x "$n:traceon"; x "!$n"; echo vfs_read > set_ftrace_filter; echo "!$n" >> set_ftrace_filter; cat set_ftrace_filter
echo vfs_read > set_ftrace_filter;  echo "$m" >> set_ftrace_filter; sort set_ftrace_filter; x ' '; x "vfs_read nosuch_fn $m"; x "vfs_rea"; x "vfs_read*x"; x '!*'; x '!vfs_read'; x '*'  > /dev/null; wc -l < set_ftrace_filter | sed 's/^[0-9][0-9]*$/many/'; echo '!*' >> set_ftrace_filter; cat set_ftrace_filter
echo 'vfs_r* !vfs_rename' > set_ftrace_filter; grep rename set_ftrace_filter
echo '!vfs_rename vfs_rename' > set_ftrace_filter; cat set_ftrace_filter; echo > set_ftrace_filter

#!/bin/bash
# An opensnoop as people write them: options, a lock file, a kprobe, a trap that cleans up, and gawk over the trace; then an iosnoop's way of
# taking two events apart with arrays, a live reader behind a FIFO, and counts that are sorted by a command of awk's.
tracing=/sys/kernel/tracing flock=/var/tmp/.ftrace-lock
declare -A opt=([d]=0.3)
while getopts d:n: o -d 0.2; do opt[$o]=$OPTARG; done
die() { printf '%s\n' "$@" >&2; exit 1; }
cleanup() {
	local e
	for e in kprobes/names syscalls/sys_exit_openat; do echo 0 > events/$e/enable; done
	echo -:names >> kprobe_events
	rm -f "$flock"
	echo "done, the lock is ${flock##*/}"
}
cd $tracing || die "no tracefs"
[[ -e $flock ]] && die "in use by PID $(< $flock)"
echo $$ > $flock || die "cannot write $flock"
trap cleanup EXIT
trap 'echo interrupted; exit 130' INT TERM

echo 'r:names getname +0(+0($retval)):string' >> kprobe_events || die "no kprobe"
echo 1 > events/kprobes/names/enable
echo 1 > events/syscalls/sys_exit_openat/enable
( sleep 0.1; cat /etc/hostname; cat /etc/nothing; wc -l < /etc/passwd ) > /dev/null 2>&1 &
sleep ${opt[d]}
printf '%-8s %4s %s\n' COMM FD FILE
gawk -v wanted='cat|wc|bash' '
	$1 ~ /^#/ { next }
	{ split($0, at, "-"); comm = at[1]; gsub(/^ +/, "", comm); pid = at[2] + 0 }
	comm !~ wanted { next }
	/names: / && match($0, /arg1="(.+)"/, m) { last[pid] = m[1] }
	/sys_openat -> / && pid in last {
		fd = $NF ~ /0xfffff/ ? -1 : strtonum($NF)
		printf "%-8s %4d %s\n", comm, fd, last[pid]
		n[comm]++
		delete last[pid]
	}
	END {
		for (c in n) print n[c], c | "sort -rn"
		close("sort -rn")
		while ((getline line < "/proc/self/comm") > 0) print "by", line > "/dev/stderr"
	}' trace

echo > trace
mkfifo /tmp/live && exec 7<> /tmp/live
timeout -s INT 0.2 cat trace_pipe > /tmp/live &
cat /etc/hostname > /dev/null
while read -r -t 0.3 -u 7 task cpu flags time rest; do
	[[ $rest =~ ^names:.*arg1=\"(/etc/[a-z]+)\" ]] && printf -v seen '%s%s ' "$seen" "${BASH_REMATCH[1]/\/etc/<&>}"
done
echo "live: $seen, then status $?"
mapfile -t lines < <(grep -c . kprobe_events; echo "${PIPESTATUS[@]}")
echo "${lines[@]}"

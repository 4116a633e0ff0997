# The snapshot in combination: with instances, sizes, clearing, reading, one CPU's, its trigger, its command, tracing off, O_APPEND.
cd /sys/kernel/tracing
w() { f=$1; e=$( { printf "$2" > $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <- "%s": %s\n' "$f" "$2" "$e"; }
c() { echo "trace $(grep -c tracing_mark $1/trace) snapshot $(grep -c tracing_mark $1/snapshot) $(grep '^# \*' $1/snapshot | head -2 | tr -d '\n')"; }
m() { taskset 2 sh -c "echo m > ${1:-.}/trace_marker"; }
for v in '' ' ' '\n' x 0 2 3 -1 0x1 01 '1 1' '1\n2\n' 99; do w snapshot "$v"; c .; done
w snapshot 0; c .
m; w snapshot 1; c .; m; m; w snapshot 1; c .; w snapshot 1; c .; w snapshot 5; c .; m; echo 1 >> snapshot; c .; : > snapshot; c .; : >> snapshot; c .
w per_cpu/cpu0/snapshot 0; w per_cpu/cpu0/snapshot 1; w per_cpu/cpu0/snapshot 2; w per_cpu/cpu0/snapshot x; c .
echo > trace; c .; w snapshot 0; c .
echo "# clearing trace leaves it"; m; w snapshot 1; m; echo > trace; c .; w snapshot 2; c .
echo "# sizes follow"; w buffer_size_kb 100; m; w snapshot 1; c .; w buffer_size_kb 200; c .; w snapshot 1; c .; w per_cpu/cpu1/buffer_size_kb 50; w snapshot 1; c .; w snapshot 0; c .
echo "# per cpu"; echo > trace; taskset 1 sh -c 'echo a > trace_marker'; taskset 2 sh -c 'echo b > trace_marker'; w snapshot 1; for i in 0 1; do grep -c mark per_cpu/cpu$i/snapshot; grep -c mark per_cpu/cpu$i/trace; done; sed -n 1,3p per_cpu/cpu0/snapshot; sed -n 3p per_cpu/cpu1/trace; echo 1 > options/latency-format; sed -n 1,5p per_cpu/cpu0/trace | sed "s/on .*//; s/us, /N, /"; echo 0 > options/latency-format; w per_cpu/cpu0/snapshot 2; for i in 0 1; do grep -c mark per_cpu/cpu$i/snapshot; done
echo "# in instances"; mkdir instances/s; c instances/s; m instances/s; w instances/s/snapshot 1; c instances/s; c .; w instances/s/snapshot 0; c instances/s; w instances/s/per_cpu/cpu0/snapshot 0; w instances/s/per_cpu/cpu0/snapshot 1
echo 'snapshot' > instances/s/events/sched/sched_process_exit/trigger; cat instances/s/events/sched/sched_process_exit/trigger; m instances/s; /bin/true; c instances/s; echo '!snapshot' > instances/s/events/sched/sched_process_exit/trigger; rmdir instances/s
echo "# a trigger with a count"; w snapshot 0; echo > trace; echo 'snapshot:1' > events/sched/sched_process_exit/trigger; cat events/sched/sched_process_exit/trigger; c .; m; /bin/true; c .; m; /bin/true; c .; cat events/sched/sched_process_exit/trigger; echo '!snapshot' > events/sched/sched_process_exit/trigger
echo "# with a tracer"; echo vfs_symlink > set_ftrace_filter; echo function > current_tracer; c . | sed 's/snapshot [0-9]* /snapshot N /'; ln -s a /tmp/l; w snapshot 1; grep -c vfs_symlink snapshot; echo nop > current_tracer; grep -c vfs_symlink snapshot; : > set_ftrace_filter
echo "# raw"; echo > trace; m; w snapshot 1; for i in 0 1; do [ $(timeout 1 cat per_cpu/cpu$i/snapshot_raw | wc -c) -gt 0 ] && echo bytes; done | head -1; c .
echo "# clocks empty it"; m; w snapshot 1; m; c .; echo global > trace_clock; c .; echo local > trace_clock; w snapshot 0; c .
exec 3< snapshot; w snapshot 1; head -3 <&3; exec 3<&-
exec 3<> snapshot; echo 1 >&3; exec 3<&-; c .; w snapshot 0

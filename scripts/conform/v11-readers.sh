# What an open reader holds up: sizes, the snapshot, tracers, instances; several readers; a reader across a clear.
cd /sys/kernel/tracing
w() { f=$1; e=$( { printf "$2" > $f; } 2>&1 ) && e=ok || e=${e##*: }; printf '%s <- "%s": %s\n' "$f" "$2" "$e"; }
m() { taskset 1 sh -c "echo $1 > ${2:-.}/trace_marker"; }
echo "# at rest"
exec 3< trace; w events/sched/sched_process_exec/enable 1; cat events/sched/sched_process_exec/enable buffer_size_kb; w buffer_size_kb 100; w current_tracer function; cat current_tracer; exec 3<&-
w current_tracer function; w current_tracer nop; w events/sched/sched_process_exec/enable 1; w events/sched/sched_process_exec/enable 0
echo "# trace"
exec 3< trace; w buffer_size_kb 100; w buffer_size_kb 1408; w per_cpu/cpu0/buffer_size_kb 100; w snapshot 1; w snapshot 0; w current_tracer function; w current_tracer nop; w trace_clock global; w trace_clock local; w options/overwrite 0; w options/overwrite 1; w tracing_on 0; w tracing_on 1; exec 3<&-; cat buffer_size_kb
w buffer_size_kb 100; cat buffer_size_kb
echo "# per_cpu/cpu0/trace"
exec 3< per_cpu/cpu0/trace; w per_cpu/cpu0/buffer_size_kb 50; w per_cpu/cpu1/buffer_size_kb 50; w buffer_size_kb 60; cat buffer_size_kb per_cpu/cpu0/buffer_size_kb per_cpu/cpu1/buffer_size_kb; exec 3<&-
w buffer_size_kb 100
echo "# trace_pipe"
exec 3< trace_pipe; w buffer_size_kb 200; w current_tracer function; w snapshot 1; w current_tracer nop; cat current_tracer; w trace_clock global; w trace_clock local; exec 3<&-; w snapshot 0
exec 3< per_cpu/cpu0/trace_pipe_raw; w buffer_size_kb 100; w current_tracer function; w current_tracer nop; exec 3<&-
echo "# trace_pipe twice, and of a CPU"
exec 3< trace_pipe; { exec 4< trace_pipe; } 2>&1 | sed 's/.*: //'; { exec 4< per_cpu/cpu0/trace_pipe; } 2>&1 | sed 's/.*: //'; exec 3<&-
exec 3< per_cpu/cpu0/trace_pipe; { exec 4< per_cpu/cpu1/trace_pipe; } 2>&1 | sed 's/.*: //'; { exec 4< trace_pipe; } 2>&1 | sed 's/.*: //'; exec 3<&-
echo "# snapshot"
w snapshot 1; exec 3< snapshot; w snapshot 1; w snapshot 2; w buffer_size_kb 150; w snapshot 0; exec 3<&-; w snapshot 0; cat snapshot | head -3
echo "# free_buffer"
exec 3< trace; w free_buffer 1; cat buffer_size_kb; exec 3<&-; w free_buffer 1; cat buffer_size_kb
w buffer_size_kb 100
echo "# instances"
mkdir instances/r; exec 3< instances/r/trace; rmdir instances/r 2>&1 | sed 's/.*: //'; w instances/r/buffer_size_kb 10; w buffer_size_kb 110; exec 3<&-; rmdir instances/r; mkdir instances/r; exec 3> instances/r/trace_marker; rmdir instances/r 2>&1 | sed 's/.*: //'; exec 3>&-
ls instances
exec 3< instances/r/options/overwrite; rmdir instances/r 2>&1 | sed 's/.*: //'; exec 3<&-; ls instances;  mkdir instances/r 2> /dev/null
for f in buffer_size_kb current_tracer trace_clock set_event set_ftrace_filter set_ftrace_pid tracing_cpumask trace_options error_log snapshot per_cpu/cpu0/stats per_cpu/cpu0/trace_pipe_raw set_event_pid buffer_percent timestamp_mode events/enable events/sched/filter available_tracers; do mkdir instances/q 2> /dev/null; exec 3< instances/q/$f; rmdir instances/q 2>/dev/null; [ -d instances/q ] && echo "$f holds" || echo "$f does not"; exec 3<&-; done
rmdir instances/* 2> /dev/null; ls instances
echo "# a reader across a clear"

for i in 1 2 3; do m $i; done; exec 3< trace; cat <&3 > /dev/null; m 5; cat <&3 | sed 's/.*: //'; exec 3<&-

/* The scheduler: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(sched, sched_kthread_stop, 322,
	TP_PROTO(struct task_struct *t), TP_ARGS(t),
	TP_FIELDS(
		__array(char, comm, 16, T_ARG(0), T_ADD(struct task_struct, comm))
		__field(pid_t, pid, T_ARG(0), T_LD(4, struct task_struct, pid))),
	TP_printk("\"comm=%s pid=%d\", REC->comm, REC->pid"))

TRACE_EVENT(sched, sched_kthread_stop_ret, 321,
	TP_PROTO(int ret), TP_ARGS(ret),
	TP_FIELDS(
		__field(int, ret, T_ARG(0))),
	TP_printk("\"ret=%d\", REC->ret"))

DECLARE_EVENT_CLASS(sched_process_template,
	TP_PROTO(struct task_struct *p), TP_ARGS(p),
	TP_FIELDS(
		__array(char, comm, 16, T_ARG(0), T_ADD(struct task_struct, comm))
		__field(pid_t, pid, T_ARG(0), T_LD(4, struct task_struct, pid))
		__field(int, prio, T_ARG(0), T_LD(4, struct task_struct, prio))),
	TP_printk("\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio"))

DEFINE_EVENT(sched_process_template, sched, sched_process_free, 312, TP_PROTO(struct task_struct *p), TP_ARGS(p))
DEFINE_EVENT(sched_process_template, sched, sched_wait_task, 310, TP_PROTO(struct task_struct *p), TP_ARGS(p))

DECLARE_EVENT_CLASS(sched_stat_template,
	TP_PROTO(struct task_struct *tsk, u64 delay), TP_ARGS(tsk, delay),
	TP_FIELDS(
		__array(char, comm, 16, T_ARG(0), T_ADD(struct task_struct, comm))
		__field(pid_t, pid, T_ARG(0), T_LD(4, struct task_struct, pid))
		__field(u64, delay, T_ARG(1))),
	TP_printk("\"comm=%s pid=%d delay=%Lu [ns]\", REC->comm, REC->pid, (unsigned long long)REC->delay"))

DEFINE_EVENT(sched_stat_template, sched, sched_stat_wait, 306, TP_PROTO(struct task_struct *tsk, u64 delay), TP_ARGS(tsk, delay))
DEFINE_EVENT(sched_stat_template, sched, sched_stat_sleep, 305, TP_PROTO(struct task_struct *tsk, u64 delay), TP_ARGS(tsk, delay))
DEFINE_EVENT(sched_stat_template, sched, sched_stat_iowait, 304, TP_PROTO(struct task_struct *tsk, u64 delay), TP_ARGS(tsk, delay))
DEFINE_EVENT(sched_stat_template, sched, sched_stat_blocked, 303, TP_PROTO(struct task_struct *tsk, u64 delay), TP_ARGS(tsk, delay))

TRACE_EVENT(sched, sched_stat_runtime, 302,
	TP_PROTO(struct task_struct *tsk, u64 runtime, u64 vruntime), TP_ARGS(tsk, runtime, vruntime),
	TP_FIELDS(
		__array(char, comm, 16, T_ARG(0), T_ADD(struct task_struct, comm))
		__field(pid_t, pid, T_ARG(0), T_LD(4, struct task_struct, pid))
		__field(u64, runtime, T_ARG(1))
		__field(u64, vruntime, T_ARG(2))),
	TP_printk("\"comm=%s pid=%d runtime=%Lu [ns] vruntime=%Lu [ns]\", REC->comm, REC->pid, (unsigned long "
		"long)REC->runtime, (unsigned long long)REC->vruntime"))

TRACE_EVENT(sched, sched_wake_idle_without_ipi, 296,
	TP_PROTO(int cpu), TP_ARGS(cpu),
	TP_FIELDS(
		__field(int, cpu, T_ARG(0))),
	TP_printk("\"cpu=%d\", REC->cpu"))


/* Tasks: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(task, task_newtask, 127,
	TP_PROTO(struct task_struct *task, unsigned long clone_flags), TP_ARGS(task, clone_flags),
	TP_FIELDS(
		__field(pid_t, pid, T_ARG(0), T_LD(4, struct task_struct, pid))
		__array(char, comm, 16, T_ARG(0), T_ADD(struct task_struct, comm))
		__field(unsigned long, clone_flags, T_ARG(1))
		__field(short, oom_score_adj, T_IMM(0))),
	TP_printk("\"pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd\", REC->pid, REC->comm, REC->clone_flags, "
		"REC->oom_score_adj"))

TRACE_EVENT(task, task_rename, 126,
	TP_PROTO(struct task_struct *task, const char *comm), TP_ARGS(task, comm),
	TP_FIELDS(
		__field(pid_t, pid, T_ARG(0), T_LD(4, struct task_struct, pid))
		__array(char, oldcomm, 16, T_ARG(0), T_ADD(struct task_struct, comm))
		__array(char, newcomm, 16, T_ARG(1))
		__field(short, oom_score_adj, T_IMM(0))),
	TP_printk("\"pid=%d oldcomm=%s newcomm=%s oom_score_adj=%hd\", REC->pid, REC->oldcomm, REC->newcomm, REC->oom_score_adj"))

/* Signals: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(signal, signal_generate, 183,
	TP_PROTO(int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result), TP_ARGS(sig, info, task, group, result),
	TP_FIELDS(
		__field(int, sig, T_ARG(0))
		__field(int, errno, T_SIGINFO(1, si_errno))
		__field(int, code, T_SIGINFO(1, si_code))
		__array(char, comm, 16, T_ARG(2), T_ADD(struct task_struct, comm))
		__field(pid_t, pid, T_ARG(2), T_LD(4, struct task_struct, pid))
		__field(int, group, T_ARG(3))
		__field(int, result, T_ARG(4))),
	TP_printk("\"sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d\", REC->sig, REC->errno, REC->code, REC->comm, "
		"REC->pid, REC->group, REC->result"))

TRACE_EVENT(signal, signal_deliver, 182,
	TP_PROTO(int sig, struct kernel_siginfo *info, struct k_sigaction *ka), TP_ARGS(sig, info, ka),
	TP_FIELDS(
		__field(int, sig, T_ARG(0))
		__field(int, errno, T_SIGINFO(1, si_errno))
		__field(int, code, T_SIGINFO(1, si_code))
		__field(unsigned long, sa_handler, T_ARG(2), T_LD(8, struct k_sigaction, sa_handler))
		__field(unsigned long, sa_flags, T_ARG(2), T_LD(8, struct k_sigaction, sa_flags))),
	TP_printk("\"sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx\", REC->sig, REC->errno, REC->code, "
		"REC->sa_handler, REC->sa_flags"))

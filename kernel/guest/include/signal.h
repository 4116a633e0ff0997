#pragma once
/* Between the general and the machine's part of signal delivery (include/linux/signal.h). */
#include "sched.h"
struct ksignal { struct k_sigaction ka; struct kernel_siginfo info; int sig; };
#define SA_NOCLDSTOP	1UL
#define SA_NOCLDWAIT	2UL
#define SA_SIGINFO	4UL
#define SA_RESTORER	0x04000000UL
#define SA_ONSTACK	0x08000000UL
#define SA_RESTART	0x10000000UL
#define SA_NODEFER	0x40000000UL
#define SA_RESETHAND	0x80000000UL
#define TIF_RESTORE_SIGMASK 20
#define UNBLOCKABLE	(sigmask(SIGKILL) | sigmask(SIGSTOP))
/* As user programs see it: 128 bytes, what is told depends on the signal and its code (uapi/asm-generic/siginfo.h). */
struct siginfo {
	int si_signo, si_errno, si_code, pad;
	union {
		struct { int si_pid, si_uid; union { struct { int si_status, pad2; long si_utime, si_stime; }; unsigned long si_value; }; };
		void *si_addr;
		u64 fill[14];
	};
};
void copy_siginfo_to_external(struct siginfo *to, const struct kernel_siginfo *from);
bool sig_ignored(struct task_struct *t, int sig);
void flush_sigqueue_mask(unsigned long mask, struct sigpending *s);
int dequeue_signal(struct task_struct *tsk, unsigned long blocked, struct kernel_siginfo *info);
bool get_signal(struct ksignal *ksig);
void signal_setup_done(int failed, struct ksignal *ksig);
void set_current_blocked(sigset_t *newset);
static __always_inline sigset_t *sigmask_to_save(void)
{
	return unlikely(current->restore_sigmask) ? &current->saved_sigmask : &current->blocked;
}
static __always_inline void restore_saved_sigmask(void)
{
	if (unlikely(current->restore_sigmask)) {
		current->restore_sigmask = false;
		set_current_blocked(&current->saved_sigmask);
	}
}

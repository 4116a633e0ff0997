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

/* RLIMIT_CPU (kernel/time/posix-cpu-timers.c): SIGXCPU at the soft limit and each second behind it, SIGKILL at the hard one. */
#include "mm.h"
#include "sched.h"
#include "cputime.h"
#include "timer.h"
#include "task_work.h"

void posix_cputimers_group_init(struct signal_struct *sig);
void update_rlimit_cpu(struct task_struct *task, unsigned long rlim_new);
void run_posix_cpu_timers(void);
void clear_posix_cputimers_work(struct task_struct *p);

/* 0: no limit, which is how most live. */
static u64 limit_ns(unsigned long seconds)
{
	return seconds >= RLIM_INFINITY / NSEC_PER_SEC ? 0 : max(seconds, 1UL) * NSEC_PER_SEC;
}

noinline void posix_cputimers_group_init(struct signal_struct *sig)
{
	sig->cpu_limit = limit_ns(sig->rlim[RLIMIT_CPU].rlim_cur);
}

noinline void update_rlimit_cpu(struct task_struct *task, unsigned long rlim_new)
{
	spin_lock_irq(&task->sighand->siglock);
	task->signal->cpu_limit = limit_ns(rlim_new);
	spin_unlock_irq(&task->sighand->siglock);
}

static noinline void check_process_timers(struct task_struct *tsk)
{
	struct signal_struct *sig = tsk->signal;
	u64 utime, stime, hard = limit_ns(sig->rlim[RLIMIT_CPU].rlim_max);

	thread_group_cputime(tsk, &utime, &stime);
	if (hard && utime + stime >= hard) {
		send_sig(SIGKILL, tsk, 1);
		return;
	}
	if (sig->cpu_limit && utime + stime >= sig->cpu_limit) {
		sig->cpu_limit += NSEC_PER_SEC;
		do_send_sig_info(SIGXCPU, SEND_SIG_PRIV, tsk, true);
	}
}

/* In the task, on its way back to user mode: adding up the threads' times is not for an interrupt. */
static noinline void posix_cpu_timers_work(struct callback_head *work)
{
	struct posix_cputimers_work *cw = container_of(work, struct posix_cputimers_work, work);

	mutex_lock(&cw->mutex);
	cw->scheduled = false;
	check_process_timers(current);
	mutex_unlock(&cw->mutex);
}

/* A new task's: what its parent may have under way is the parent's. */
noinline void clear_posix_cputimers_work(struct task_struct *p)
{
	init_task_work(&p->posix_cputimers_work.work, posix_cpu_timers_work);
	mutex_init(&p->posix_cputimers_work.mutex);
	p->posix_cputimers_work.scheduled = false;
}

/* At each tick, IRQs off. */
noinline void run_posix_cpu_timers(void)
{
	struct task_struct *tsk = current;
	struct posix_cputimers_work *cw = &tsk->posix_cputimers_work;

	if (likely(!tsk->signal->cpu_limit) || tsk->exit_state || tsk->flags & (PF_EXITING | PF_KTHREAD) || cw->scheduled)
		return;
	cw->scheduled = true;
	task_work_add(tsk, &cw->work, TWA_RESUME);
}

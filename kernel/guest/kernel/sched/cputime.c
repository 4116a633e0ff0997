/* See cputime.h (Linux's kernel/sched/cputime.c). */
#include "sched.h"
#include "cputime.h"
#include "kernel_stat.h"

static __always_inline void task_group_account_field(int index, u64 cputime)
{
	this_cpu_ptr(&kstat)->cpustat[index] += cputime;
}

void account_user_time(struct task_struct *p, u64 cputime)
{
	p->utime += cputime;
	task_group_account_field(task_nice(p) > 0 ? CPUTIME_NICE : CPUTIME_USER, cputime);
	acct_account_cputime(p);
}

static noinline void account_system_index_time(struct task_struct *p, u64 cputime, enum cpu_usage_stat index)
{
	p->stime += cputime;
	task_group_account_field(index, cputime);
	acct_account_cputime(p);
}

/* @hardirq_offset: what the caller's own interrupt adds to the count. */
void account_system_time(struct task_struct *p, int hardirq_offset, u64 cputime)
{
	enum cpu_usage_stat index = CPUTIME_SYSTEM;

	if (hardirq_count() - hardirq_offset)
		index = CPUTIME_IRQ;
	else if (in_serving_softirq())
		index = CPUTIME_SOFTIRQ;
	account_system_index_time(p, cputime, index);
}

/* From the tick. How long a CPU is idle is measured, not sampled (get_idle_time). */
void account_process_tick(struct task_struct *p, int user_tick)
{
	if (user_tick)
		account_user_time(p, TICK_NSEC);
	else if (!is_idle_task(p) || irq_count() != HARDIRQ_OFFSET)
		account_system_time(p, HARDIRQ_OFFSET, TICK_NSEC);
}

noinline void task_cputime(struct task_struct *t, u64 *utime, u64 *stime)
{
	*utime = t->utime;
	*stime = t->stime;
}

/* All threads of the group, the dead ones as far as they have been added up. */
noinline void thread_group_cputime(struct task_struct *tsk, u64 *utime, u64 *stime)
{
	struct task_struct *t;

	task_cputime(tsk->group_leader, utime, stime);
	*utime += tsk->signal->utime;
	*stime += tsk->signal->stime;
	list_for_each_entry(t, &tsk->group_leader->thread_group, thread_group) {
		u64 u, s;

		task_cputime(t, &u, &s);
		*utime += u;
		*stime += s;
	}
}

/* Ticks only sample: the sum is put right by the scheduler's exact account, split in the ticks' proportion. */
noinline void cputime_adjust(u64 rtime, u64 *utime, u64 *stime)
{
	u64 sum = *utime + *stime;

	if (!*stime) {
		*utime = rtime;
	} else if (!*utime) {
		*stime = rtime;
	} else {
		*stime = *stime / 1000 * (rtime / 1000) / (sum / 1000) * 1000;
		*utime = rtime - *stime;
	}
}

void thread_group_cputime_adjusted(struct task_struct *p, u64 *ut, u64 *st)
{
	thread_group_cputime(p, ut, st);
	cputime_adjust(p->se.sum_exec_runtime, ut, st);
}

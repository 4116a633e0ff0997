/* Accounting of memory over time, and what a dying process hands on (kernel/tsacct.c, acct.c). */
#include "mm.h"
#include "cputime.h"

static void __acct_update_integrals(struct task_struct *tsk, u64 utime, u64 stime)
{
	u64 time = utime + stime, delta = time - tsk->acct_timexpd;

	if (!tsk->mm || delta < TICK_NSEC)
		return;
	tsk->acct_timexpd = time;
	/* MB-usecs: pages * us >> 8 */
	tsk->acct_rss_mem1 += delta / 1000 * get_mm_rss(tsk->mm) >> 8;
	tsk->acct_vm_mem1 += delta / 1000 * tsk->mm->total_vm >> 8;
}

void acct_update_integrals(struct task_struct *tsk)
{
	unsigned long flags;
	u64 utime, stime;

	local_irq_save(flags);
	task_cputime(tsk, &utime, &stime);
	__acct_update_integrals(tsk, utime, stime);
	local_irq_restore(flags);
}

/* At a tick: the task's times have just been moved on. */
void acct_account_cputime(struct task_struct *tsk)
{
	__acct_update_integrals(tsk, tsk->utime, tsk->stime);
}

void acct_clear_integrals(struct task_struct *tsk)
{
	tsk->acct_timexpd = tsk->acct_rss_mem1 = tsk->acct_vm_mem1 = 0;
}

/* A thread is leaving: its size and times go to the group. */
void acct_collect(long exitcode, int group_dead)
{
	struct signal_struct *sig = current->signal;
	unsigned long vsize = 0;
	u64 utime, stime;

	if (group_dead && current->mm) {
		struct vm_area_struct *vma;

		mmap_read_lock(current->mm);
		list_for_each_entry(vma, &current->mm->mmap, vm_list)
			vsize += vma->vm_end - vma->vm_start;
		mmap_read_unlock(current->mm);
	}
	spin_lock_irq(&current->sighand->siglock);
	if (group_dead)
		sig->acct_mem = vsize / 1024;
	if (thread_group_leader(current))
		sig->acct_exitcode = exitcode;
	task_cputime(current, &utime, &stime);
	sig->acct_utime += utime;
	sig->acct_stime += stime;
	spin_unlock_irq(&current->sighand->siglock);
}

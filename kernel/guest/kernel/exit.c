/* The end of tasks, and waiting for it (kernel/exit.c). */
#include "mm.h"
#include "cputime.h"
#include "tracepoint.h"
#include "syscalls.h"
#include "uaccess.h"
#include "fdtable.h"
#include "fs_struct.h"
#include "task_work.h"
#include "gates.h"
#include "cred.h"
#include "rcupdate.h"
#include "truth.h"
#include "cgroup.h"
#include "nsproxy.h"
#include "signal.h"

void exit_rcu(void);
void __cleanup_sighand(struct sighand_struct *sighand);

/* tasklist_lock held. */
static void __unhash_process(struct task_struct *p)
{
	detach_pid(p, PIDTYPE_PID);
	list_del_init(&p->thread_group);
	if (thread_group_leader(p)) {
		detach_pid(p, PIDTYPE_TGID);
		detach_pid(p, PIDTYPE_PGID);
		detach_pid(p, PIDTYPE_SID);
		list_del_init(&p->tasks);
		list_del_init(&p->sibling);
	}
}

static void __exit_signal(struct task_struct *tsk)
{
	struct signal_struct *sig = tsk->signal;
	struct sighand_struct *sighand = tsk->sighand;

	spin_lock(&sighand->siglock);
	sig->nr_threads--;
	if (!thread_group_leader(tsk)) {
		u64 utime, stime;

		task_cputime(tsk, &utime, &stime);
		sig->utime += utime;
		sig->stime += stime;
		sig->nvcsw += tsk->nvcsw;
		sig->nivcsw += tsk->nivcsw;
		sig->min_flt += tsk->min_flt;
	}
	__unhash_process(tsk);
	flush_sigqueue(&tsk->pending);
	tsk->sighand = NULL;
	spin_unlock(&sighand->siglock);
	__cleanup_sighand(sighand);
	if (thread_group_leader(tsk))
		flush_sigqueue(&sig->shared_pending);
}

/* The last thread of a process whose first one is dead already tells the parent, and goes for both when nobody will wait. */
void release_task(struct task_struct *p)
{
	struct task_struct *leader;
	bool zap_leader;

	do {
		leader = p->group_leader;
		cgroup_release(p);
		write_lock_irq(&tasklist_lock);
		__exit_signal(p);
		zap_leader = false;
		if (leader != p && thread_group_empty(leader) && leader->exit_state == EXIT_ZOMBIE) {
			zap_leader = do_notify_parent(leader, leader->exit_signal);
			if (zap_leader)
				leader->exit_state = EXIT_DEAD;
		}
		write_unlock_irq(&tasklist_lock);
		put_task_struct_rcu_user(p);
		p = leader;
	} while (unlikely(zap_leader));
}

static void exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	exit_mm_release(current, mm);
	sync_mm_rss(mm);
	mmap_read_lock(mm);
	mmgrab(mm);			/* active_mm keeps the tables until the last switch */
	task_lock(current);
	local_irq_disable();
	current->mm = NULL;
	enter_lazy_tlb(mm, current);
	local_irq_enable();
	task_unlock(current);
	mmap_read_unlock(mm);
	mmput(mm);
}

#define do_each_pid_task(p, pid, type) hlist_for_each_entry(p, &(pid)->tasks[type], pid_links[type])

/* tasklist_lock held. A group that no member's parent, in another group of the session, can continue any more (but for ignored). */
static bool will_become_orphaned_pgrp(struct pid *pgrp, struct task_struct *ignored)
{
	struct task_struct *p;

	do_each_pid_task(p, pgrp, PIDTYPE_PGID) {
		if (p == ignored || (p->exit_state && thread_group_empty(p)) || p->real_parent == init_pid_ns.child_reaper)
			continue;
		if (task_pgrp(p->real_parent) != pgrp && task_session(p->real_parent) == task_session(p))
			return false;
	}
	return true;
}

static bool has_stopped_jobs(struct pid *pgrp)
{
	struct task_struct *p;

	do_each_pid_task(p, pgrp, PIDTYPE_PGID) {
		if (p->signal->flags & SIGNAL_STOP_STOPPED)
			return true;
	}
	return false;
}

/*
 * tasklist_lock held. POSIX: stopped jobs that become orphans are hung up and continued. tsk leaves (parent NULL), or loses parent,
 * which leaves.
 */
static noinline void kill_orphaned_pgrp(struct task_struct *tsk, struct task_struct *parent)
{
	struct task_struct *ignored = parent ? NULL : tsk, *p;
	struct pid *pgrp = task_pgrp(tsk);

	if (!parent)
		parent = tsk->real_parent;
	if (task_pgrp(parent) == pgrp || task_session(parent) != task_session(tsk) || !will_become_orphaned_pgrp(pgrp, ignored) ||
	    !has_stopped_jobs(pgrp))
		return;
	do_each_pid_task(p, pgrp, PIDTYPE_PGID) {
		do_send_sig_info(SIGHUP, SEND_SIG_PRIV, p, true);
		do_send_sig_info(SIGCONT, SEND_SIG_PRIV, p, true);
	}
}

/* tasklist_lock held. Orphans go to init. */
static void forget_original_parent(struct task_struct *father)
{
	struct task_struct *p, *n, *reaper = task_active_pid_ns(father)->child_reaper;

	list_for_each_entry_safe(p, n, &father->children, sibling) {
		p->real_parent = p->parent = reaper;
		list_move_tail(&p->sibling, &reaper->children);
		p->exit_signal = SIGCHLD;
		if (p->exit_state == EXIT_ZOMBIE)
			do_notify_parent(p, SIGCHLD);
		else
			wake_up_interruptible(&reaper->signal->wait_chldexit);
		kill_orphaned_pgrp(p, father);
	}
}

static inline void exit_notify(struct task_struct *tsk, int group_dead)
{
	bool autoreap;

	write_lock_irq(&tasklist_lock);
	forget_original_parent(tsk);
	if (group_dead)
		kill_orphaned_pgrp(tsk->group_leader, NULL);
	tsk->exit_state = EXIT_ZOMBIE;
	if (thread_group_leader(tsk))
		autoreap = thread_group_empty(tsk) && do_notify_parent(tsk, tsk->exit_signal);
	else
		autoreap = true;
	if (autoreap)
		tsk->exit_state = EXIT_DEAD;
	write_unlock_irq(&tasklist_lock);
	if (autoreap)
		release_task(tsk);
}

/* The last thread to leave decides the group's exit code, unless somebody has. */
static void synchronize_group_exit(struct task_struct *tsk, long code)
{
	spin_lock_irq(&tsk->sighand->siglock);
	if (thread_group_empty(tsk) && !(tsk->signal->flags & SIGNAL_GROUP_EXIT)) {
		tsk->signal->flags |= SIGNAL_GROUP_EXIT;
		tsk->signal->group_exit_code = code;
	}
	spin_unlock_irq(&tsk->sighand->siglock);
}

__noreturn void do_exit(long code)
{
	struct task_struct *tsk = current;
	int group_dead;
	bool user = tsk->mm != NULL;

	KSCOPE_TRUTH(do_exit);
	WARN_ON(in_interrupt());
	synchronize_group_exit(tsk, code);
	exit_signals(tsk);
	group_dead = atomic_dec_and_test(&tsk->signal->live);
	if (group_dead && unlikely(tsk->pid == 1))
		panic("Attempted to kill init! exitcode=0x%08x", tsk->signal->group_exit_code ?: (int)code);
	if (group_dead)
		hrtimer_cancel(&tsk->signal->real_timer);
	if (tsk->mm)
		sync_mm_rss(tsk->mm);
	if (group_dead && tsk->mm)
		tsk->signal->maxrss = max(tsk->signal->maxrss, get_mm_hiwater_rss(tsk->mm));
	acct_update_integrals(tsk);
	acct_collect(code, group_dead);
	tsk->exit_code = code;
	exit_mm();
	trace_sched_process_exit(tsk);
	exit_files(tsk);
	exit_fs(tsk);
	exit_task_namespaces(tsk);
	exit_task_work(tsk);
	cgroup_exit(tsk);
	if (user)
		user_task_exit(tsk->pid, code);
	exit_notify(tsk, group_dead);
	exit_task_stack_account(tsk);
	preempt_disable();
	exit_rcu();
	do_task_dead();
}

/* After an oops: the task dies here, whatever it held. */
__noreturn void make_task_dead(int signr)
{
	struct task_struct *tsk = current;

	if (unlikely(in_interrupt()))
		panic("Aiee, killing interrupt handler!");
	if (unlikely(!tsk->pid))
		panic("Attempted to kill the idle task!");
	if (unlikely(in_atomic())) {
		pr_info("note: %s[%d] exited with preempt_count %d\n", tsk->comm, tsk->pid, preempt_count());
		__preempt_count_sub(preempt_count());
	}
	if (unlikely(tsk->flags & PF_EXITING)) {
		pr_alert("Fixing recursive fault but reboot is needed!\n");
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	local_irq_enable();
	do_exit(signr);
}

__noreturn void do_group_exit(int exit_code)
{
	struct signal_struct *sig = current->signal;

	if (sig->flags & SIGNAL_GROUP_EXIT) {
		exit_code = sig->group_exit_code;
	} else {
		spin_lock_irq(&current->sighand->siglock);
		sig->group_exit_code = exit_code;
		sig->flags |= SIGNAL_GROUP_EXIT;
		zap_other_threads(current);
		spin_unlock_irq(&current->sighand->siglock);
	}
	do_exit(exit_code);
}

SYSCALL_DEFINE1(exit, int, error_code)
{
	do_exit((error_code & 0xff) << 8);
}

SYSCALL_DEFINE1(exit_group, int, error_code)
{
	do_group_exit((error_code & 0xff) << 8);
}

#define WNOHANG 1
#define WUNTRACED 2
#define WSTOPPED WUNTRACED
#define WEXITED 4
#define WCONTINUED 8
#define WNOWAIT 0x01000000
#define __WNOTHREAD 0x20000000
#define __WALL 0x40000000
#define __WCLONE 0x80000000
enum { P_ALL, P_PID, P_PGID, P_PIDFD };

/* What is waited for; then what was found: stat is wait4's status, cause and status are waitid's si_code and si_status. */
struct wait_opts {
	enum pid_type wo_type;
	struct pid *wo_pid;
	int options, stat, notask_error, cause, status;
	pid_t found;
	uid_t uid;
	struct rusage *wo_rusage;
};

static bool eligible_child(struct wait_opts *wo, struct task_struct *p)
{
	return wo->wo_type == PIDTYPE_MAX || (wo->wo_type == PIDTYPE_PID ? p->thread_pid : p->signal->pids[wo->wo_type]) == wo->wo_pid;
}

/* tasklist_lock held for reading, dropped when a child is reaped. */
static __always_inline int wait_task_zombie(struct wait_opts *wo, struct task_struct *p)
{
	struct signal_struct *sig = p->signal, *psig = current->signal;
	u64 utime, stime;

	if (!(wo->options & WEXITED))
		return 0;
	if (likely(!(wo->options & WNOWAIT)) && cmpxchg(&p->exit_state, EXIT_ZOMBIE, EXIT_DEAD) != EXIT_ZOMBIE)
		return 0;
	wo->stat = p->signal->flags & SIGNAL_GROUP_EXIT ? p->signal->group_exit_code : p->exit_code;
	wo->cause = wo->stat & 0x80 ? CLD_DUMPED : wo->stat & 0x7f ? CLD_KILLED : CLD_EXITED;
	wo->status = wo->stat & 0x7f ? wo->stat & 0x7f : wo->stat >> 8;
	wo->found = task_pid_vnr(p);
	wo->uid = from_kuid_munged(&init_user_ns, p->cred->uid);
	if (unlikely(wo->options & WNOWAIT)) {
		if (wo->wo_rusage)
			getrusage(p, RUSAGE_BOTH, wo->wo_rusage);
		read_unlock(&tasklist_lock);
		return 1;
	}
	read_unlock(&tasklist_lock);
	thread_group_cputime_adjusted(p, &utime, &stime);
	spin_lock_irq(&current->sighand->siglock);
	psig->cutime += utime + sig->cutime;
	psig->cstime += stime + sig->cstime;
	psig->cmin_flt += p->min_flt + sig->min_flt + sig->cmin_flt;
	psig->cnvcsw += p->nvcsw + sig->nvcsw + sig->cnvcsw;
	psig->cnivcsw += p->nivcsw + sig->nivcsw + sig->cnivcsw;
	psig->cmaxrss = max(psig->cmaxrss, max(sig->maxrss, sig->cmaxrss));
	spin_unlock_irq(&current->sighand->siglock);
	if (unlikely(wo->wo_rusage))
		getrusage(p, RUSAGE_BOTH, wo->wo_rusage);
	release_task(p);
	return 1;
}

/* The answer's common part: the lock goes, as when a zombie was found. */
static int wait_report(struct wait_opts *wo, struct task_struct *p, int stat, int cause, int status)
{
	wo->stat = stat;
	wo->cause = cause;
	wo->status = status;
	wo->found = task_pid_vnr(p);
	wo->uid = from_kuid_munged(&init_user_ns, p->cred->uid);
	if (wo->wo_rusage)
		getrusage(p, RUSAGE_BOTH, wo->wo_rusage);
	read_unlock(&tasklist_lock);
	return 1;
}

/* Each stop is told once: group_exit_code is its signal until then. */
static int wait_task_stopped(struct wait_opts *wo, struct task_struct *p)
{
	int code = 0;

	if (!(wo->options & WUNTRACED) || !(p->signal->flags & SIGNAL_STOP_STOPPED))
		return 0;
	spin_lock_irq(&p->sighand->siglock);
	if (p->signal->flags & SIGNAL_STOP_STOPPED) {
		code = p->signal->group_exit_code;
		if (!(wo->options & WNOWAIT))
			p->signal->group_exit_code = 0;
	}
	spin_unlock_irq(&p->sighand->siglock);
	return code ? wait_report(wo, p, code << 8 | 0x7f, CLD_STOPPED, code) : 0;
}

static int wait_task_continued(struct wait_opts *wo, struct task_struct *p)
{
	bool told;

	if (!(wo->options & WCONTINUED) || !(p->signal->flags & SIGNAL_STOP_CONTINUED))
		return 0;
	spin_lock_irq(&p->sighand->siglock);
	told = p->signal->flags & SIGNAL_STOP_CONTINUED;
	if (!(wo->options & WNOWAIT))
		p->signal->flags &= ~SIGNAL_STOP_CONTINUED;
	spin_unlock_irq(&p->sighand->siglock);
	return told ? wait_report(wo, p, 0xffff, CLD_CONTINUED, SIGCONT) : 0;
}

static noinline int wait_consider_task(struct wait_opts *wo, struct task_struct *p)
{
	if (!eligible_child(wo, p) || p->exit_state == EXIT_DEAD)
		return 0;
	wo->notask_error = 0;
	if (p->exit_state == EXIT_ZOMBIE && thread_group_empty(p))
		return wait_task_zombie(wo, p);
	return wait_task_stopped(wo, p) || wait_task_continued(wo, p);
}

/* The one child that is meant, found by its number. */
static int do_wait_pid(struct wait_opts *wo)
{
	struct task_struct *target = pid_task(wo->wo_pid, PIDTYPE_PID);

	return target && target->real_parent == current ? wait_consider_task(wo, target) : 0;
}

static int do_wait_thread(struct wait_opts *wo)
{
	struct task_struct *p;

	list_for_each_entry(p, &current->children, sibling) {
		int ret = wait_consider_task(wo, p);

		if (ret)
			return ret;
	}
	return 0;
}

static noinline long do_wait(struct wait_opts *wo)
{
	DECLARE_WAITQUEUE(wait, current);
	long retval;

	trace_sched_process_wait(wo->wo_pid);
	add_wait_queue(&current->signal->wait_chldexit, &wait);
	for (;;) {
		wo->notask_error = -ECHILD;
		set_current_state(TASK_INTERRUPTIBLE);
		if (wo->wo_type < PIDTYPE_MAX && !wo->wo_pid) {
			retval = -ECHILD;
			break;
		}
		read_lock(&tasklist_lock);
		if (wo->wo_type == PIDTYPE_PID ? do_wait_pid(wo) : do_wait_thread(wo)) {
			retval = wo->found;
			break;
		}
		read_unlock(&tasklist_lock);
		retval = wo->notask_error;
		if (retval || (wo->options & WNOHANG))
			break;
		retval = -ERESTARTSYS;
		if (signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	remove_wait_queue(&current->signal->wait_chldexit, &wait);
	return retval;
}

long kernel_wait4(pid_t upid, int __user *stat_addr, int options, struct rusage *ru)
{
	struct wait_opts wo = { .wo_type = PIDTYPE_MAX, .options = options | WEXITED, .wo_rusage = ru };
	long ret;

	if (upid > 0) {
		wo.wo_type = PIDTYPE_PID;
		wo.wo_pid = find_get_pid(upid);
	} else if (upid != -1) {
		wo.wo_type = PIDTYPE_PGID;
		wo.wo_pid = upid ? find_get_pid(-upid) : get_task_pid(current, PIDTYPE_PGID);
	}
	ret = do_wait(&wo);
	put_pid(wo.wo_pid);
	if (ret > 0 && stat_addr && put_user(wo.stat, stat_addr))
		ret = -EFAULT;
	return ret;
}

/* For kernel threads: waits for a child of theirs; *stat is what wait would have said. */
int kernel_wait(pid_t pid, int *stat)
{
	struct wait_opts wo = { .wo_type = PIDTYPE_PID, .wo_pid = find_get_pid(pid), .options = WEXITED };
	int ret = do_wait(&wo);

	if (ret > 0)
		*stat = wo.stat;
	put_pid(wo.wo_pid);
	return ret;
}

SYSCALL_DEFINE4(wait4, pid_t, upid, int *, stat_addr, int, options, struct rusage *, ru)
{
	struct rusage r;
	long err;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	if (stat_addr && !access_ok(stat_addr, sizeof(int)))
		return -EFAULT;
	err = kernel_wait4(upid, stat_addr, options, ru ? &r : NULL);
	if (err > 0 && ru && copy_to_user(ru, &r, sizeof(r)))
		return -EFAULT;
	return err;
}

/* 0 and what was found in *wo: nothing with WNOHANG when no child has anything to tell. */
static noinline long kernel_waitid(int which, pid_t upid, struct wait_opts *wo)
{
	long ret;

	if (wo->options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	if (!(wo->options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	switch (which) {
	case P_ALL:
		break;
	case P_PID:
		if (upid <= 0)
			return -EINVAL;
		wo->wo_type = PIDTYPE_PID;
		wo->wo_pid = find_get_pid(upid);
		break;
	case P_PGID:
		if (upid < 0)
			return -EINVAL;
		wo->wo_type = PIDTYPE_PGID;
		wo->wo_pid = upid ? find_get_pid(upid) : get_task_pid(current, PIDTYPE_PGID);
		break;
	case P_PIDFD:
		return upid < 0 ? -EINVAL : -EBADF;	/* no file of ours is a process */
	default:
		return -EINVAL;
	}
	ret = do_wait(wo);
	put_pid(wo->wo_pid);
	return ret;
}

SYSCALL_DEFINE5(waitid, int, which, pid_t, upid, struct siginfo *, infop, int, options, struct rusage *, ru)
{
	struct rusage r;
	struct wait_opts wo = { .wo_type = PIDTYPE_MAX, .options = options, .wo_rusage = ru ? &r : NULL };
	struct kernel_siginfo info = { 0 };
	long ret = kernel_waitid(which, upid, &wo);
	struct siginfo out;

	if (ret > 0) {
		info = (struct kernel_siginfo){ .si_signo = SIGCHLD, .si_code = wo.cause, .si_pid = wo.found, .si_uid = wo.uid, .si_status = wo.status };
		ret = ru && copy_to_user(ru, &r, sizeof(r)) ? -EFAULT : 0;
	}
	if (ret || !infop)
		return ret;
	copy_siginfo_to_external(&out, &info);
	return copy_to_user(infop, &out, offsetof(struct siginfo, si_utime)) ? -EFAULT : 0;
}

/* The system calls about signals (kernel/signal.c). */
#include "signal.h"
#include "syscalls.h"
#include "uaccess.h"
#include "timer.h"
#include "mm.h"
#include "cred.h"

/* ---- kill and its kin ---- */
static __always_inline bool valid_signal(int sig)
{
	return sig >= 0 && sig <= _NSIG;
}

static __always_inline bool si_fromuser(const struct kernel_siginfo *info)
{
	return info == SEND_SIG_NOINFO || (info != SEND_SIG_PRIV && info->si_code <= 0);
}

static bool kill_ok_by_cred(struct task_struct *t)
{
	const struct cred *cred = current_cred(), *tcred = t->cred;

	return uid_eq(cred->euid, tcred->suid) || uid_eq(cred->euid, tcred->uid) || uid_eq(cred->uid, tcred->suid) ||
	       uid_eq(cred->uid, tcred->uid) || capable(CAP_KILL);
}

/* What a process may send to another; SIGCONT to all of its session. */
static noinline int check_kill_permission(int sig, struct kernel_siginfo *info, struct task_struct *t)
{
	if (!valid_signal(sig))
		return -EINVAL;
	if (!si_fromuser(info) || t->signal == current->signal || kill_ok_by_cred(t))
		return 0;
	return sig == SIGCONT && task_session(t) == task_session(current) ? 0 : -EPERM;
}

static noinline int group_send_sig_info(int sig, struct kernel_siginfo *info, struct task_struct *p)
{
	int ret = check_kill_permission(sig, info, p);

	return !ret && sig ? do_send_sig_info(sig, info, p, true) : ret;
}

/* Signal 0 asks whether there is such a process. */
static noinline int kill_pid_info(int sig, struct kernel_siginfo *info, struct pid *pid)
{
	struct task_struct *p;
	int error;

	for (;;) {
		rcu_read_lock();
		p = pid_task(pid, PIDTYPE_PID);
		error = p ? check_kill_permission(sig, info, p) : -ESRCH;
		if (!error && sig)
			error = do_send_sig_info(sig, info, p, true);
		rcu_read_unlock();
		if (likely(!p || error != -ESRCH))
			return error;
		/* an exec in a thread has just given the number to that thread: again */
	}
}

static noinline int __kill_pgrp_info(int sig, struct kernel_siginfo *info, struct pid *pgrp)
{
	struct task_struct *p;
	int ret = -ESRCH, err;

	if (!pgrp)
		return ret;
	hlist_for_each_entry(p, &pgrp->tasks[PIDTYPE_PGID], pid_links[PIDTYPE_PGID]) {
		err = group_send_sig_info(sig, info, p);
		if (ret)
			ret = err;	/* one that takes it is success */
	}
	return ret;
}

static noinline int kill_something_info(int sig, struct kernel_siginfo *info, pid_t pid)
{
	struct task_struct *p;
	int ret;

	if (pid > 0) {
		rcu_read_lock();
		ret = kill_pid_info(sig, info, find_vpid(pid));
		rcu_read_unlock();
		return ret;
	}
	if (pid == -2147483647 - 1)
		return -ESRCH;
	read_lock(&tasklist_lock);
	if (pid != -1) {
		ret = __kill_pgrp_info(sig, info, pid ? find_vpid(-pid) : task_pgrp(current));
	} else {
		ret = -ESRCH;
		for_each_process(p) {
			if (task_pid_vnr(p) > 1 && p->signal != current->signal) {
				int err = group_send_sig_info(sig, info, p);

				if (err != -EPERM)
					ret = err;
			}
		}
	}
	read_unlock(&tasklist_lock);
	return ret;
}

static __always_inline void prepare_kill_siginfo(int sig, int code, struct kernel_siginfo *info)
{
	*info = (struct kernel_siginfo){ .si_signo = sig, .si_code = code, .si_pid = task_tgid_vnr(current) };
	info->si_uid = from_kuid_munged(current_user_ns(), current_uid());
}

/* For the host's kernel.kill(): with kscoped as the sender. */
int kill_pid_from_kernel(int sig, pid_t pid);
int kill_pid_from_kernel(int sig, pid_t pid)
{
	struct kernel_siginfo info;

	prepare_kill_siginfo(sig, SI_USER, &info);
	return kill_something_info(sig, &info, pid);
}

SYSCALL_DEFINE2(kill, pid_t, pid, int, sig)
{
	struct kernel_siginfo info;

	prepare_kill_siginfo(sig, SI_USER, &info);
	return kill_something_info(sig, &info, pid);
}

/* tgid 0: any process. A signal for one thread. */
static noinline int do_send_specific(pid_t tgid, pid_t pid, int sig, struct kernel_siginfo *info)
{
	struct task_struct *p;
	int error = -ESRCH;

	rcu_read_lock();
	p = find_task_by_vpid(pid);
	if (p && (tgid <= 0 || task_tgid_vnr(p) == tgid)) {
		error = check_kill_permission(sig, info, p);
		if (!error && sig) {
			error = do_send_sig_info(sig, info, p, false);
			if (error == -ESRCH)
				error = 0;	/* it was there a moment ago */
		}
	}
	rcu_read_unlock();
	return error;
}

static int do_tkill(pid_t tgid, pid_t pid, int sig)
{
	struct kernel_siginfo info;

	prepare_kill_siginfo(sig, SI_TKILL, &info);
	return do_send_specific(tgid, pid, sig, &info);
}

SYSCALL_DEFINE3(tgkill, pid_t, tgid, pid_t, pid, int, sig)
{
	return pid <= 0 || tgid <= 0 ? -EINVAL : do_tkill(tgid, pid, sig);
}

SYSCALL_DEFINE2(tkill, pid_t, pid, int, sig)
{
	return pid <= 0 ? -EINVAL : do_tkill(0, pid, sig);
}

/* Nobody can pretend to be the kernel, but to himself. */
static int copy_queued_info(struct kernel_siginfo *to, int sig, const struct siginfo __user *uinfo, pid_t pid)
{
	struct siginfo from;

	if (copy_from_user(&from, uinfo, sizeof(from)))
		return -EFAULT;
	if ((from.si_code >= 0 || from.si_code == SI_TKILL) && task_pid_vnr(current) != pid)
		return -EPERM;
	*to = (struct kernel_siginfo){ .si_signo = sig, .si_errno = from.si_errno, .si_code = from.si_code, .si_pid = from.si_pid,
		.si_uid = from.si_uid, .si_value = from.si_value };
	return 0;
}

SYSCALL_DEFINE3(rt_sigqueueinfo, pid_t, pid, int, sig, struct siginfo __user *, uinfo)
{
	struct kernel_siginfo info;
	int ret = copy_queued_info(&info, sig, uinfo, pid);

	if (ret)
		return ret;
	rcu_read_lock();
	ret = kill_pid_info(sig, &info, find_vpid(pid));
	rcu_read_unlock();
	return ret;
}

SYSCALL_DEFINE4(rt_tgsigqueueinfo, pid_t, tgid, pid_t, pid, int, sig, struct siginfo __user *, uinfo)
{
	struct kernel_siginfo info;
	int ret;

	if (pid <= 0 || tgid <= 0)
		return -EINVAL;
	ret = copy_queued_info(&info, sig, uinfo, pid);
	return ret ? ret : do_send_specific(tgid, pid, sig, &info);
}

/* ---- actions and masks ---- */
struct user_sigaction { void *handler; unsigned long flags; void *restorer; unsigned long mask; };

static noinline int do_sigaction(int sig, const struct user_sigaction *act, struct user_sigaction *oact)
{
	struct k_sigaction *k;
	struct task_struct *t;

	if (!valid_signal(sig) || sig < 1 || (act && (sigmask(sig) & UNBLOCKABLE)))
		return -EINVAL;
	k = &current->sighand->action[sig - 1];
	spin_lock_irq(&current->sighand->siglock);
	*oact = (struct user_sigaction){ k->sa_handler, k->sa_flags, k->sa_restorer, k->sa_mask.sig[0] };
	if (act) {
		*k = (struct k_sigaction){ act->handler, act->flags, act->restorer, { { act->mask & ~UNBLOCKABLE } } };
		current->sighand->changed |= sigmask(sig);
		/* POSIX: ignoring a signal discards what pends of it, blocked or not */
		if (k->sa_handler == SIG_IGN || (k->sa_handler == SIG_DFL && sig_ignored(current, sig))) {
			flush_sigqueue_mask(sigmask(sig), &current->signal->shared_pending);
			flush_sigqueue_mask(sigmask(sig), &current->pending);
			list_for_each_entry(t, &current->thread_group, thread_group)
				flush_sigqueue_mask(sigmask(sig), &t->pending);
		}
	}
	spin_unlock_irq(&current->sighand->siglock);
	return 0;
}

SYSCALL_DEFINE4(rt_sigaction, int, sig, const struct user_sigaction *, act, struct user_sigaction *, oact, size_t, size)
{
	struct user_sigaction new, old;
	int ret;

	if (size != sizeof(sigset_t))
		return -EINVAL;
	if (act && copy_from_user(&new, act, sizeof(new)))
		return -EFAULT;
	ret = do_sigaction(sig, act ? &new : NULL, &old);
	if (ret)
		return ret;
	return oact && copy_to_user(oact, &old, sizeof(old)) ? -EFAULT : 0;
}

/* @how: SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK. SIGKILL and SIGSTOP cannot be blocked. */
static noinline int sigprocmask(int how, const sigset_t *set, sigset_t *oldset)
{
	sigset_t newset, old = current->blocked;

	switch (how) {
	case 0: newset.sig[0] = old.sig[0] | set->sig[0]; break;
	case 1: newset.sig[0] = old.sig[0] & ~set->sig[0]; break;
	case 2: newset = *set; break;
	default: return -EINVAL;
	}
	if (oldset)
		*oldset = old;
	set_current_blocked(&newset);
	return 0;
}

SYSCALL_DEFINE4(rt_sigprocmask, int, how, unsigned long *, nset, unsigned long *, oset, size_t, size)
{
	sigset_t new_set, old_set = current->blocked;
	int error;

	if (size != sizeof(sigset_t))
		return -EINVAL;
	if (nset) {
		if (copy_from_user(&new_set, nset, sizeof(new_set)))
			return -EFAULT;
		error = sigprocmask(how, &new_set, NULL);
		if (error)
			return error;
	}
	return oset && copy_to_user(oset, &old_set, sizeof(old_set)) ? -EFAULT : 0;
}

SYSCALL_DEFINE2(rt_sigpending, unsigned long *, uset, size_t, size)
{
	unsigned long set;

	if (size > sizeof(sigset_t))
		return -EINVAL;
	set = (current->pending.signal.sig[0] | current->signal->shared_pending.signal.sig[0]) & current->blocked.sig[0];
	return copy_to_user(uset, &set, size) ? -EFAULT : 0;
}

static noinline int sigsuspend(sigset_t *set)
{
	current->saved_sigmask = current->blocked;
	set_current_blocked(set);
	while (!signal_pending(current)) {
		__set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	current->restore_sigmask = true;
	return -ERESTARTNOHAND;
}

/* Blocks another set until a signal has come and its handler has run. */
SYSCALL_DEFINE2(rt_sigsuspend, unsigned long *, unewset, size_t, size)
{
	sigset_t newset;

	if (size != sizeof(sigset_t))
		return -EINVAL;
	if (copy_from_user(&newset, unewset, sizeof(newset)))
		return -EFAULT;
	return sigsuspend(&newset);
}

SYSCALL_DEFINE0(pause)
{
	while (!signal_pending(current)) {
		__set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	return -ERESTARTNOHAND;
}

/* Takes a signal of the set, which is usually blocked, or waits for one. timeout NULL: for ever. */
static noinline int do_sigtimedwait(unsigned long which, struct kernel_siginfo *info, const struct timespec64 *ts)
{
	struct task_struct *tsk = current;
	unsigned long mask = ~(which & ~UNBLOCKABLE);
	struct hrtimer_sleeper to;
	int sig, ret = 0;

	spin_lock_irq(&tsk->sighand->siglock);
	sig = dequeue_signal(tsk, mask, info);
	if (!sig && (!ts || ts->tv_sec || ts->tv_nsec)) {
		/* Unblocked meanwhile, so that a sender wakes us; handlers see the old mask again. */
		tsk->real_blocked = tsk->blocked;
		tsk->blocked.sig[0] &= mask;
		recalc_sigpending();
		spin_unlock_irq(&tsk->sighand->siglock);
		set_current_state(TASK_INTERRUPTIBLE);
		if (ts) {
			hrtimer_init_sleeper(&to, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
			to.timer._softexpires = timespec64_to_ns(ts);
			to.timer.node.expires = to.timer._softexpires + 50 * NSEC_PER_USEC;
			hrtimer_sleeper_start_expires(&to, HRTIMER_MODE_REL);
		}
		if (!signal_pending(tsk) && (!ts || to.task))
			schedule();
		__set_current_state(TASK_RUNNING);
		if (ts) {
			hrtimer_cancel(&to.timer);
			ret = to.task ? -EINTR : 0;
		} else {
			ret = -EINTR;
		}
		spin_lock_irq(&tsk->sighand->siglock);
		tsk->blocked = tsk->real_blocked;
		tsk->real_blocked.sig[0] = 0;
		sig = dequeue_signal(tsk, mask, info);
	}
	spin_unlock_irq(&tsk->sighand->siglock);
	return sig ? sig : ret ? ret : -EAGAIN;
}

SYSCALL_DEFINE4(rt_sigtimedwait, const unsigned long __user *, uthese, struct siginfo __user *, uinfo,
		const struct __kernel_timespec __user *, uts, size_t, size)
{
	struct kernel_siginfo info;
	struct timespec64 ts;
	struct siginfo out;
	unsigned long these;
	int ret;

	if (size != sizeof(sigset_t))
		return -EINVAL;
	if (get_user(these, uthese) || (uts && get_timespec64(&ts, uts)))
		return -EFAULT;
	if (uts && (ts.tv_sec < 0 || (unsigned long)ts.tv_nsec >= NSEC_PER_SEC))
		return -EINVAL;
	ret = do_sigtimedwait(these, &info, uts ? &ts : NULL);
	if (ret > 0 && uinfo) {
		copy_siginfo_to_external(&out, &info);
		if (copy_to_user(uinfo, &out, sizeof(out)))
			ret = -EFAULT;
	}
	return ret;
}

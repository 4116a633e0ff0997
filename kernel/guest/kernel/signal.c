/*
 * Signals (kernel/signal.c): pending sets, default actions, stopping and continuing; handlers run by the frame that
 * arch/signal.c makes. No queueing of several signals of one number (real-time signals).
 */
#include "entry.h"
#include "signal.h"
#include "syscalls.h"
#include "uaccess.h"
#include "mm.h"
#include "cred.h"
#include "tracepoint.h"

void task_cputime(struct task_struct *t, u64 *utime, u64 *stime);
long nsec_to_clock_t(u64 n);

#define SIG_KERNEL_IGNORE_MASK	(sigmask(SIGCONT) | sigmask(SIGCHLD) | sigmask(SIGWINCH) | sigmask(SIGURG))
#define SIG_KERNEL_STOP_MASK	(sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
#define UNBLOCKABLE		(sigmask(SIGKILL) | sigmask(SIGSTOP))

static bool sig_ignored(struct task_struct *t, int sig)
{
	void *handler = t->sighand->action[sig - 1].sa_handler;

	if (t->signal->flags & SIGNAL_UNKILLABLE && handler == SIG_DFL)
		return true;
	if (t->flags & PF_KTHREAD && handler == SIG_DFL)
		return true;
	if (t->blocked.sig[0] & sigmask(sig))
		return false;
	return handler == SIG_IGN || (handler == SIG_DFL && (sigmask(sig) & SIG_KERNEL_IGNORE_MASK));
}

static bool recalc_sigpending_tsk(struct task_struct *t)
{
	if ((t->pending.signal.sig[0] | t->signal->shared_pending.signal.sig[0]) & ~t->blocked.sig[0]) {
		set_tsk_thread_flag(t, TIF_SIGPENDING);
		return true;
	}
	return false;
}

void recalc_sigpending(void)
{
	if (!recalc_sigpending_tsk(current))
		clear_thread_flag(TIF_SIGPENDING);
}

static void signal_wake_up_state(struct task_struct *t, unsigned int state)
{
	set_tsk_thread_flag(t, TIF_SIGPENDING);
	if (!wake_up_state(t, state | TASK_INTERRUPTIBLE)) {
		/* Running in user mode somewhere: make it enter the kernel. */
		if (task_cpu(t) != smp_processor_id() && t->on_cpu)
			smp_send_reschedule(task_cpu(t));
	}
}

/* A thread that is on its way out takes no more signals: another of its group that can, or NULL. */
static struct task_struct *another_thread(struct task_struct *p)
{
	struct task_struct *t;

	if (!(p->group_leader->flags & PF_EXITING))
		return p->group_leader;
	list_for_each_entry(t, &p->group_leader->thread_group, thread_group) {
		if (!(t->flags & PF_EXITING))
			return t;
	}
	return NULL;
}

static noinline void complete_signal(int sig, struct task_struct *p, bool group)
{
	struct task_struct *t;

	if (p->flags & PF_EXITING) {
		p = another_thread(p);
		if (!p)
			return;
	}
	if (sig == SIGKILL || (p->sighand->action[sig - 1].sa_handler == SIG_DFL && !(p->signal->flags & SIGNAL_GROUP_EXIT) &&
			       !(sigmask(sig) & SIG_KERNEL_STOP_MASK) && !(p->blocked.sig[0] & sigmask(sig)))) {
		p->signal->flags |= SIGNAL_GROUP_EXIT;
		p->signal->group_exit_code = sig;
		t = p->group_leader;
		t->pending.signal.sig[0] |= sigmask(SIGKILL);
		signal_wake_up_state(t, TASK_WAKEKILL);
		list_for_each_entry(t, &p->group_leader->thread_group, thread_group) {
			t->pending.signal.sig[0] |= sigmask(SIGKILL);
			signal_wake_up_state(t, TASK_WAKEKILL);
		}
		return;
	}
	if (!(p->blocked.sig[0] & sigmask(sig)))
		signal_wake_up_state(p, 0);
}

static struct kmem_cache *sigqueue_cachep;

/* Signals that nobody will take any more. */
void flush_sigqueue(struct sigpending *queue)
{
	struct sigqueue *q, *n;

	queue->signal.sig[0] = 0;
	list_for_each_entry_safe(q, n, &queue->list, list) {
		list_del(&q->list);
		kmem_cache_free(sigqueue_cachep, q);
	}
}

void __init signals_init(void)
{
	sigqueue_cachep = KMEM_CACHE(sigqueue, SLAB_PANIC | SLAB_ACCOUNT);
}

/* Without memory the signal still comes, only without its story. */
static void queue_siginfo(int sig, struct kernel_siginfo *info, struct sigpending *pending)
{
	struct sigqueue *q = kmem_cache_alloc(sigqueue_cachep, GFP_ATOMIC);

	if (!q)
		return;
	if (info == SEND_SIG_NOINFO)
		q->info = (struct kernel_siginfo){ .si_signo = sig, .si_code = SI_USER, .si_pid = task_tgid_vnr(current) };
	else if (info == SEND_SIG_PRIV)
		q->info = (struct kernel_siginfo){ .si_signo = sig, .si_code = SI_KERNEL };
	else
		q->info = *info;
	list_add_tail(&q->list, &pending->list);
}

static void flush_sigqueue_mask(unsigned long mask, struct sigpending *s)
{
	struct sigqueue *q, *n;

	s->signal.sig[0] &= ~mask;
	list_for_each_entry_safe(q, n, &s->list, list) {
		if (sigmask(q->info.si_signo) & mask) {
			list_del(&q->list);
			kmem_cache_free(sigqueue_cachep, q);
		}
	}
}

/* siglock held. A stop takes back a pending SIGCONT and the other way round; SIGCONT wakes a stopped task even if ignored. */
static void prepare_signal(int sig, struct task_struct *p)
{
	struct signal_struct *signal = p->signal;

	if (signal->flags & SIGNAL_GROUP_EXIT)
		return;
	if (sigmask(sig) & SIG_KERNEL_STOP_MASK) {
		flush_sigqueue_mask(sigmask(SIGCONT), &signal->shared_pending);
		flush_sigqueue_mask(sigmask(SIGCONT), &p->pending);
	} else if (sig == SIGCONT) {
		flush_sigqueue_mask(SIG_KERNEL_STOP_MASK, &signal->shared_pending);
		flush_sigqueue_mask(SIG_KERNEL_STOP_MASK, &p->pending);
		if (signal->flags & SIGNAL_STOP_STOPPED) {
			signal->flags = (signal->flags & ~SIGNAL_STOP_STOPPED) | SIGNAL_STOP_CONTINUED | SIGNAL_CLD_CONTINUED;
			signal->group_exit_code = 0;
			wake_up_state(p, __TASK_STOPPED);
		}
	}
}

enum { TRACE_SIGNAL_DELIVERED, TRACE_SIGNAL_IGNORED, TRACE_SIGNAL_ALREADY_PENDING };

/* siglock held. */
static noinline int __send_signal_locked(int sig, struct kernel_siginfo *info, struct task_struct *t, bool group)
{
	struct sigpending *pending = group ? &t->signal->shared_pending : &t->pending;

	int result = TRACE_SIGNAL_IGNORED;

	prepare_signal(sig, t);
	if (sig_ignored(t, sig))
		goto ret;
	result = TRACE_SIGNAL_ALREADY_PENDING;
	if (pending->signal.sig[0] & sigmask(sig))
		goto ret;
	result = TRACE_SIGNAL_DELIVERED;
	if (sig != SIGKILL)
		queue_siginfo(sig, info, pending);
	pending->signal.sig[0] |= sigmask(sig);
	complete_signal(sig, t, group);
ret:
	trace_signal_generate(sig, info, t, group, result);
	return 0;
}

/* NULL: the task has been released. */
noinline struct sighand_struct *__lock_task_sighand(struct task_struct *tsk, unsigned long *flags)
{
	struct sighand_struct *sighand;

	rcu_read_lock();
	for (;;) {
		sighand = READ_ONCE(tsk->sighand);
		if (!sighand)
			break;
		spin_lock_irqsave(&sighand->siglock, *flags);
		if (likely(sighand == READ_ONCE(tsk->sighand)))
			break;
		spin_unlock_irqrestore(&sighand->siglock, *flags);
	}
	rcu_read_unlock();
	return sighand;
}

int do_send_sig_info(int sig, struct kernel_siginfo *info, struct task_struct *p, bool group)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	int ret;

	sighand = __lock_task_sighand(p, &flags);
	if (!sighand)
		return -ESRCH;
	ret = __send_signal_locked(sig, info, p, group);
	spin_unlock_irqrestore(&sighand->siglock, flags);
	return ret;
}

int send_sig(int sig, struct task_struct *p, int priv)
{
	return do_send_sig_info(sig, priv ? SEND_SIG_PRIV : SEND_SIG_NOINFO, p, false);
}

void force_sig(int sig)
{
	struct task_struct *t = current;
	unsigned long flags;

	spin_lock_irqsave(&t->sighand->siglock, flags);
	if (t->blocked.sig[0] & sigmask(sig) || t->sighand->action[sig - 1].sa_handler == SIG_IGN) {
		t->sighand->action[sig - 1].sa_handler = SIG_DFL;
		t->blocked.sig[0] &= ~sigmask(sig);
		recalc_sigpending();
	}
	if (t->sighand->action[sig - 1].sa_handler == SIG_DFL)
		t->signal->flags &= ~SIGNAL_UNKILLABLE;
	__send_signal_locked(sig, SEND_SIG_PRIV, t, false);
	spin_unlock_irqrestore(&t->sighand->siglock, flags);
}

void zap_other_threads(struct task_struct *p)
{
	struct task_struct *t;

	list_for_each_entry(t, &p->thread_group, thread_group) {
		if (t == p || t->exit_state)
			continue;
		t->pending.signal.sig[0] |= sigmask(SIGKILL);
		signal_wake_up_state(t, TASK_WAKEKILL);
	}
}

void ignore_signals(struct task_struct *t)
{
	int i;

	for (i = 0; i < _NSIG; i++)
		t->sighand->action[i].sa_handler = SIG_IGN;
	t->sighand->changed = ~0UL;
	t->pending.signal.sig[0] = 0;
}

/* exec: caught signals go back to the default, ignored ones stay so. */
void flush_signal_handlers(struct task_struct *t, int force_default)
{
	unsigned long set;

	for (set = t->sighand->changed; set; set &= set - 1) {
		int i = __ffs(set);
		struct k_sigaction *ka = &t->sighand->action[i];

		if (force_default || ka->sa_handler != SIG_IGN) {
			ka->sa_handler = SIG_DFL;
			t->sighand->changed &= ~(1UL << i);
		}
		ka->sa_flags = 0;
		ka->sa_mask.sig[0] = 0;
	}
}

void exit_signals(struct task_struct *tsk)
{
	might_sleep();
	tsk->flags |= PF_EXITING;
}

/* Whoever polls the task's pidfd. */
static void do_notify_pidfd(struct task_struct *task)
{
	__wake_up(&task->thread_pid->wait_pidfd, TASK_NORMAL, 0, NULL);
}

static noinline void __wake_up_parent(struct task_struct *p, struct task_struct *parent)
{
	__wake_up_sync_key(&parent->signal->wait_chldexit, TASK_INTERRUPTIBLE, p);
}

/* tasklist_lock held. Tells the parent; true when nobody will wait for the task. */
bool do_notify_parent(struct task_struct *tsk, int sig)
{
	struct sighand_struct *psig = tsk->parent->sighand;
	struct kernel_siginfo info = { .si_signo = sig };
	bool autoreap = false;
	unsigned long flags;
	u64 utime, stime;

	do_notify_pidfd(tsk);
	rcu_read_lock();
	info.si_pid = __task_pid_nr_ns(tsk, PIDTYPE_PID, task_active_pid_ns(tsk->parent));
	info.si_uid = from_kuid_munged(&init_user_ns, tsk->cred->uid);
	rcu_read_unlock();
	task_cputime(tsk, &utime, &stime);
	info.si_utime = nsec_to_clock_t(utime + tsk->signal->acct_utime);
	info.si_stime = nsec_to_clock_t(stime + tsk->signal->acct_stime);
	info.si_status = tsk->exit_code & 0x7f ? tsk->exit_code & 0x7f : tsk->exit_code >> 8;
	info.si_code = tsk->exit_code & 0x7f ? CLD_KILLED : CLD_EXITED;
	spin_lock_irqsave(&psig->siglock, flags);
	if (sig == SIGCHLD && psig->action[SIGCHLD - 1].sa_handler == SIG_IGN) {
		autoreap = true;
		sig = 0;
	}
	if (sig > 0)
		__send_signal_locked(sig, &info, tsk->parent, true);
	__wake_up_parent(tsk, tsk->parent);
	spin_unlock_irqrestore(&psig->siglock, flags);
	return autoreap;
}

/* The signal is taken: its record goes. (Programs poll; nobody asks for the record yet but the debugger.) */
static void collect_signal(int sig, struct sigpending *list)
{
	struct sigqueue *q, *n;

	list_for_each_entry_safe(q, n, &list->list, list) {
		if (q->info.si_signo == sig) {
			current->last_siginfo = q->info;
			list_del(&q->list);
			kmem_cache_free(sigqueue_cachep, q);
		}
	}
}

static noinline int dequeue_signal(struct task_struct *tsk)
{
	unsigned long mask = ~tsk->blocked.sig[0], set = tsk->pending.signal.sig[0] & mask;
	struct sigpending *from = &tsk->pending;
	int sig;

	if (!set) {
		from = &tsk->signal->shared_pending;
		set = from->signal.sig[0] & mask;
	}
	if (!set)
		return 0;
	sig = set & sigmask(SIGKILL) ? SIGKILL : (int)__ffs(set) + 1;
	from->signal.sig[0] &= ~sigmask(sig);
	current->last_siginfo = (struct kernel_siginfo){ .si_signo = sig, .si_code = SI_USER };	/* when its story was not kept */
	collect_signal(sig, from);
	return sig;
}

/* tasklist_lock held for reading: the parent may wait for stops and continuations. */
static noinline void do_notify_parent_cldstop(struct task_struct *tsk, int why)
{
	struct task_struct *parent = tsk->parent;
	struct kernel_siginfo info = { .si_signo = SIGCHLD, .si_code = why, .si_pid = tsk->pid, .si_status = tsk->signal->group_exit_code };
	unsigned long flags;

	spin_lock_irqsave(&parent->sighand->siglock, flags);
	__send_signal_locked(SIGCHLD, &info, parent, true);
	__wake_up_parent(tsk, parent);
	spin_unlock_irqrestore(&parent->sighand->siglock, flags);
}

/* siglock held, dropped. Sleeps until SIGCONT or SIGKILL. */
static noinline void do_signal_stop(int signr)
{
	struct signal_struct *sig = current->signal;

	sig->group_exit_code = signr;
	sig->flags = (sig->flags & ~(SIGNAL_STOP_CONTINUED | SIGNAL_CLD_CONTINUED)) | SIGNAL_STOP_STOPPED;
	set_current_state(TASK_STOPPED);
	spin_unlock_irq(&current->sighand->siglock);
	read_lock(&tasklist_lock);
	do_notify_parent_cldstop(current, CLD_STOPPED);
	read_unlock(&tasklist_lock);
	schedule();
}

/* Takes signals until one has a handler (true), or none is left. A fatal one does not return. */
bool get_signal(struct ksignal *ksig)
{
	struct sighand_struct *sighand = current->sighand;

	for (;;) {
		struct k_sigaction *ka;
		int sig;

		spin_lock_irq(&sighand->siglock);
		if (current->signal->flags & SIGNAL_GROUP_EXIT) {
			trace_signal_deliver(SIGKILL, SEND_SIG_NOINFO, &sighand->action[SIGKILL - 1]);
			spin_unlock_irq(&sighand->siglock);
			current->flags |= PF_SIGNALED;
			do_group_exit(current->signal->group_exit_code);
		}
		if (current->signal->flags & SIGNAL_CLD_CONTINUED) {
			current->signal->flags &= ~SIGNAL_CLD_CONTINUED;
			spin_unlock_irq(&sighand->siglock);
			read_lock(&tasklist_lock);
			do_notify_parent_cldstop(current, CLD_CONTINUED);
			read_unlock(&tasklist_lock);
			continue;
		}
		sig = dequeue_signal(current);
		recalc_sigpending();
		ka = &sighand->action[sig ? sig - 1 : 0];
		if (sig)
			trace_signal_deliver(sig, &current->last_siginfo, ka);
		if (sig && (sigmask(sig) & SIG_KERNEL_STOP_MASK) && ka->sa_handler == SIG_DFL) {
			do_signal_stop(sig);
			continue;
		}
		ksig->ka = *ka;
		ksig->info = current->last_siginfo;
		if (sig && ka->sa_flags & SA_RESETHAND && ka->sa_handler != SIG_IGN)
			ka->sa_handler = SIG_DFL;
		spin_unlock_irq(&sighand->siglock);
		if (!sig)
			return false;
		if (ksig->ka.sa_handler == SIG_IGN)
			continue;
		if (ksig->ka.sa_handler != SIG_DFL) {
			ksig->sig = sig;
			return true;
		}
		if (sigmask(sig) & SIG_KERNEL_IGNORE_MASK)
			continue;
		current->flags |= PF_SIGNALED;
		do_group_exit(sig);
	}
}

/* What pause, sigsuspend and handlers change; a signal that is unblocked comes before the return to user mode. */
void set_current_blocked(sigset_t *newset)
{
	newset->sig[0] &= ~UNBLOCKABLE;
	spin_lock_irq(&current->sighand->siglock);
	current->blocked = *newset;
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);
}

static noinline void signal_delivered(struct ksignal *ksig)
{
	sigset_t blocked = { { current->blocked.sig[0] | ksig->ka.sa_mask.sig[0] } };

	current->restore_sigmask = false;
	if (!(ksig->ka.sa_flags & SA_NODEFER))
		blocked.sig[0] |= sigmask(ksig->sig);
	set_current_blocked(&blocked);
}

void signal_setup_done(int failed, struct ksignal *ksig)
{
	if (failed) {
		/* A handler of SIGSEGV that cannot be called would fault for ever. */
		if (ksig->sig == SIGSEGV) {
			spin_lock_irq(&current->sighand->siglock);
			current->sighand->action[SIGSEGV - 1].sa_handler = SIG_DFL;
			spin_unlock_irq(&current->sighand->siglock);
		}
		force_sig(SIGSEGV);
	} else {
		signal_delivered(ksig);
	}
}

/* arg 0: test for existence only. */
static int kill_one(pid_t pid, int sig)
{
	struct task_struct *p;
	int ret = -ESRCH;

	read_lock(&tasklist_lock);
	p = find_task_by_vpid(pid);
	if (p)
		ret = sig ? do_send_sig_info(sig, SEND_SIG_NOINFO, p, true) : 0;
	read_unlock(&tasklist_lock);
	return ret;
}

static int kill_something_info(int sig, pid_t pid)
{
	struct task_struct *p;
	int ret = -ESRCH;

	struct pid *pgrp;

	if (pid > 0)
		return kill_one(pid, sig);
	read_lock(&tasklist_lock);
	pgrp = pid ? find_vpid(-pid) : task_pgrp(current);
	for_each_process(p) {
		if (pid == -1 ? p->pid > 1 && p != current && !(p->flags & PF_KTHREAD) : task_pgrp(p) == pgrp) {
			if (sig)
				do_send_sig_info(sig, SEND_SIG_NOINFO, p, true);
			ret = 0;
		}
	}
	read_unlock(&tasklist_lock);
	return ret;
}

int kill_pid_info(int sig, pid_t pid);
int kill_pid_info(int sig, pid_t pid)
{
	if (sig < 0 || sig > _NSIG)
		return -EINVAL;
	return kill_something_info(sig, pid);
}

SYSCALL_DEFINE2(kill, pid_t, pid, int, sig)
{
	return kill_pid_info(sig, pid);
}

SYSCALL_DEFINE3(tgkill, pid_t, tgid, pid_t, pid, int, sig)
{
	return pid <= 0 || tgid <= 0 ? -EINVAL : kill_pid_info(sig, pid);
}

SYSCALL_DEFINE2(tkill, pid_t, pid, int, sig)
{
	return pid <= 0 ? -EINVAL : kill_pid_info(sig, pid);
}

struct user_sigaction { void *handler; unsigned long flags; void *restorer; unsigned long mask; };

SYSCALL_DEFINE4(rt_sigaction, int, sig, const struct user_sigaction *, act, struct user_sigaction *, oact, size_t, size)
{
	struct user_sigaction new, old;
	struct k_sigaction *k;

	if (size != sizeof(sigset_t) || sig < 1 || sig > _NSIG || (act && (sigmask(sig) & UNBLOCKABLE)))
		return -EINVAL;
	if (act && copy_from_user(&new, act, sizeof(new)))
		return -EFAULT;
	k = &current->sighand->action[sig - 1];
	spin_lock_irq(&current->sighand->siglock);
	old = (struct user_sigaction){ k->sa_handler, k->sa_flags, k->sa_restorer, k->sa_mask.sig[0] };
	if (act) {
		*k = (struct k_sigaction){ new.handler, new.flags, new.restorer, { { new.mask & ~UNBLOCKABLE } } };
		current->sighand->changed |= sigmask(sig);
		if (sig_ignored(current, sig)) {
			current->pending.signal.sig[0] &= ~sigmask(sig);
			current->signal->shared_pending.signal.sig[0] &= ~sigmask(sig);
		}
	}
	spin_unlock_irq(&current->sighand->siglock);
	return oact && copy_to_user(oact, &old, sizeof(old)) ? -EFAULT : 0;
}

SYSCALL_DEFINE4(rt_sigprocmask, int, how, unsigned long *, nset, unsigned long *, oset, size_t, size)
{
	unsigned long set, old = current->blocked.sig[0];

	if (size != sizeof(sigset_t))
		return -EINVAL;
	if (nset) {
		if (get_user(set, nset))
			return -EFAULT;
		if (how < 0 || how > 2)
			return -EINVAL;
		spin_lock_irq(&current->sighand->siglock);
		set &= ~UNBLOCKABLE;
		current->blocked.sig[0] = how == 0 ? old | set : how == 1 ? old & ~set : set;
		recalc_sigpending();
		spin_unlock_irq(&current->sighand->siglock);
	}
	return oset && put_user(old, oset) ? -EFAULT : 0;
}

SYSCALL_DEFINE2(rt_sigpending, unsigned long *, uset, size_t, size)
{
	unsigned long set;

	if (size > sizeof(sigset_t))
		return -EINVAL;
	set = (current->pending.signal.sig[0] | current->signal->shared_pending.signal.sig[0]) & current->blocked.sig[0];
	return copy_to_user(uset, &set, size) ? -EFAULT : 0;
}

/* Blocks another set until a signal has come and its handler has run. */
SYSCALL_DEFINE2(rt_sigsuspend, unsigned long *, unewset, size_t, size)
{
	sigset_t newset;

	if (size != sizeof(sigset_t))
		return -EINVAL;
	if (get_user(newset.sig[0], unewset))
		return -EFAULT;
	current->saved_sigmask = current->blocked;
	set_current_blocked(&newset);
	while (!signal_pending(current)) {
		__set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	current->restore_sigmask = true;
	return -ERESTARTNOHAND;
}

SYSCALL_DEFINE0(pause)
{
	while (!signal_pending(current)) {
		__set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	return -ERESTARTNOHAND;
}

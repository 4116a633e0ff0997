/*
 * Signals (kernel/signal.c): sending, taking, stopping and continuing; the system calls are in signal_sys.c, the frame of a handler in
 * arch/signal.c.
 *
 * A signal pends in its thread's set or in that of the process; each set is a mask and a queue of what the senders told. Of the
 * signals below SIGRTMIN one pends at a time; those from there on queue, in order, and RLIMIT_SIGPENDING bounds how many. siglock
 * protects sets, actions and the flags of the process.
 */
#include "entry.h"
#include "signal.h"
#include "mm.h"
#include "cputime.h"
#include "cred.h"
#include "tracepoint.h"

long nsec_to_clock_t(u64 n);

#define SIG_KERNEL_IGNORE_MASK	(sigmask(SIGCONT) | sigmask(SIGCHLD) | sigmask(SIGWINCH) | sigmask(SIGURG))
#define SIG_KERNEL_STOP_MASK	(sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
#define SYNCHRONOUS_MASK	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) | sigmask(SIGFPE))

static struct kmem_cache *sigqueue_cachep;
static atomic_t sigpending_count;		/* records in use, of the one user there is */

bool sig_ignored(struct task_struct *t, int sig)
{
	void *handler = t->sighand->action[sig - 1].sa_handler;

	if (t->signal->flags & SIGNAL_UNKILLABLE && handler == SIG_DFL)
		return true;
	if (t->flags & PF_KTHREAD && handler == SIG_DFL)
		return true;
	if ((t->blocked.sig[0] | t->real_blocked.sig[0]) & sigmask(sig))
		return false;
	return handler == SIG_IGN || (handler == SIG_DFL && (sigmask(sig) & SIG_KERNEL_IGNORE_MASK));
}

/* A thread of a process that stops has work even when no signal is left. */
static bool recalc_sigpending_tsk(struct task_struct *t)
{
	if ((t->pending.signal.sig[0] | t->signal->shared_pending.signal.sig[0]) & ~t->blocked.sig[0] ||
	    t->jobctl & JOBCTL_STOP_PENDING || t->signal->flags & SIGNAL_CLD_MASK) {
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
	if (!wake_up_state(t, state | TASK_INTERRUPTIBLE))
		kick_process(t);
}

/* All threads of p's process but p. */
#define for_each_other_thread(p, t) list_for_each_entry(t, &(p)->thread_group, thread_group)

static void kill_thread(struct task_struct *t)
{
	t->pending.signal.sig[0] |= sigmask(SIGKILL);
	signal_wake_up_state(t, TASK_WAKEKILL);
}

void zap_other_threads(struct task_struct *p)
{
	struct task_struct *t;

	p->signal->group_stop_count = 0;
	for_each_other_thread(p, t) {
		t->jobctl &= ~JOBCTL_STOP_PENDING;
		if (!t->exit_state)
			kill_thread(t);
	}
}

/* siglock held. tsk will not take these signals of the process any more: who else does is woken for them. */
static void retarget_shared_pending(struct task_struct *tsk, unsigned long which)
{
	struct task_struct *t;

	which &= tsk->signal->shared_pending.signal.sig[0];
	for_each_other_thread(tsk, t) {
		if (!which)
			return;
		if (t->flags & PF_EXITING || !(which & ~t->blocked.sig[0]))
			continue;
		which &= t->blocked.sig[0];
		if (!signal_pending(t))
			signal_wake_up_state(t, 0);
	}
}

/* A thread that would take the signal now. */
static bool wants_signal(int sig, struct task_struct *p)
{
	return !(p->blocked.sig[0] & sigmask(sig)) && !(p->flags & PF_EXITING) && !p->exit_state;
}

/* The signal pends: who is to wake up for it? A fatal one ends all threads at once. */
static noinline void complete_signal(int sig, struct task_struct *p, bool group)
{
	struct task_struct *t = p, *other;

	if (!wants_signal(sig, p)) {
		if (!group || thread_group_empty(p))
			return;			/* it waits until p unblocks it; or p is gone */
		for_each_other_thread(p, other) {
			if (wants_signal(sig, other)) {
				t = other;
				break;
			}
		}
		if (t == p)
			return;
	}
	if (sig == SIGKILL || (p->sighand->action[sig - 1].sa_handler == SIG_DFL && !(p->signal->flags & SIGNAL_GROUP_EXIT) &&
			       !(t->real_blocked.sig[0] & sigmask(sig)) && !(sigmask(sig) & (SIG_KERNEL_STOP_MASK | SIG_KERNEL_IGNORE_MASK)))) {
		p->signal->flags = (p->signal->flags & ~SIGNAL_STOP_MASK) | SIGNAL_GROUP_EXIT;
		p->signal->group_exit_code = sig;
		kill_thread(t);
		zap_other_threads(t);
		return;
	}
	signal_wake_up_state(t, 0);
}

static void __sigqueue_free(struct sigqueue *q)
{
	atomic_dec(&sigpending_count);
	kmem_cache_free(sigqueue_cachep, q);
}

/* For /proc/PID/status. */
int sigqueue_count(void)
{
	return atomic_read(&sigpending_count);
}

/* NULL: no memory, or one more than RLIMIT_SIGPENDING; override: what the kernel sends, and the classic signals, may exceed it. */
static noinline struct sigqueue *__sigqueue_alloc(struct task_struct *t, bool override)
{
	struct sigqueue *q = NULL;

	if (override || atomic_read(&sigpending_count) < (int)min(READ_ONCE(t->signal->rlim[RLIMIT_SIGPENDING].rlim_cur), 1UL << 30))
		q = kmem_cache_alloc(sigqueue_cachep, GFP_ATOMIC);
	if (q)
		atomic_inc(&sigpending_count);
	return q;
}

/* Signals that nobody will take any more. */
void flush_sigqueue(struct sigpending *queue)
{
	struct sigqueue *q, *n;

	queue->signal.sig[0] = 0;
	list_for_each_entry_safe(q, n, &queue->list, list) {
		list_del(&q->list);
		__sigqueue_free(q);
	}
}

void __init signals_init(void)
{
	sigqueue_cachep = KMEM_CACHE(sigqueue, SLAB_PANIC | SLAB_ACCOUNT);
}

void flush_sigqueue_mask(unsigned long mask, struct sigpending *s)
{
	struct sigqueue *q, *n;

	if (!(s->signal.sig[0] & mask))
		return;
	s->signal.sig[0] &= ~mask;
	list_for_each_entry_safe(q, n, &s->list, list) {
		if (sigmask(q->info.si_signo) & mask) {
			list_del(&q->list);
			__sigqueue_free(q);
		}
	}
}

static void flush_process_mask(struct task_struct *p, unsigned long mask)
{
	struct task_struct *t;

	flush_sigqueue_mask(mask, &p->signal->shared_pending);
	flush_sigqueue_mask(mask, &p->pending);
	for_each_other_thread(p, t)
		flush_sigqueue_mask(mask, &t->pending);
}

static void continue_thread(struct task_struct *t)
{
	t->jobctl &= ~JOBCTL_STOP_PENDING;
	wake_up_state(t, __TASK_STOPPED);
}

/*
 * siglock held. A stop takes back a pending SIGCONT and the other way round; SIGCONT continues a stopped process even if ignored.
 * False: the signal has no other effect.
 */
static noinline bool prepare_signal(int sig, struct task_struct *p)
{
	struct signal_struct *signal = p->signal;
	struct task_struct *t;

	if (signal->flags & SIGNAL_GROUP_EXIT)
		return sig == SIGKILL;
	if (sigmask(sig) & SIG_KERNEL_STOP_MASK) {
		flush_process_mask(p, sigmask(SIGCONT));
	} else if (sig == SIGCONT) {
		flush_process_mask(p, SIG_KERNEL_STOP_MASK);
		continue_thread(p);
		for_each_other_thread(p, t)
			continue_thread(t);
		/* Who wakes up tells the parent: of a stop that was not yet complete, that it took place. */
		if (signal->flags & SIGNAL_STOP_STOPPED || signal->group_stop_count) {
			signal->flags = (signal->flags & ~SIGNAL_STOP_MASK) | SIGNAL_STOP_CONTINUED |
				(signal->group_stop_count ? SIGNAL_CLD_STOPPED : SIGNAL_CLD_CONTINUED);
			signal->group_stop_count = 0;
			signal->group_exit_code = 0;
		}
	}
	return !sig_ignored(p, sig);
}

enum { TRACE_SIGNAL_DELIVERED, TRACE_SIGNAL_IGNORED, TRACE_SIGNAL_ALREADY_PENDING, TRACE_SIGNAL_OVERFLOW_FAIL, TRACE_SIGNAL_LOSE_INFO };

static bool si_special(struct kernel_siginfo *info)
{
	return info == SEND_SIG_NOINFO || info == SEND_SIG_PRIV;
}

static void fill_siginfo(struct sigqueue *q, int sig, struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		q->info = (struct kernel_siginfo){ .si_signo = sig, .si_code = SI_USER, .si_pid = task_tgid_vnr(current),
			.si_uid = from_kuid_munged(current_user_ns(), current_uid()) };
	else if (info == SEND_SIG_PRIV)
		q->info = (struct kernel_siginfo){ .si_signo = sig, .si_code = SI_KERNEL };
	else
		q->info = *info;
}

/* siglock held. */
static noinline int __send_signal_locked(int sig, struct kernel_siginfo *info, struct task_struct *t, bool group, bool force)
{
	struct sigpending *pending = group ? &t->signal->shared_pending : &t->pending;
	int result = TRACE_SIGNAL_IGNORED, ret = 0;
	struct sigqueue *q;

	if (!prepare_signal(sig, t) && !force)
		goto ret;
	result = TRACE_SIGNAL_ALREADY_PENDING;
	if (sig < SIGRTMIN && pending->signal.sig[0] & sigmask(sig))
		goto ret;
	result = TRACE_SIGNAL_DELIVERED;
	if (sig != SIGKILL && !(t->flags & PF_KTHREAD)) {
		q = __sigqueue_alloc(t, sig < SIGRTMIN ? si_special(info) || info->si_code >= 0 : false);
		if (q) {
			fill_siginfo(q, sig, info);
			list_add_tail(&q->list, &pending->list);
		} else if (!si_special(info) && sig >= SIGRTMIN && info->si_code != SI_USER) {
			result = TRACE_SIGNAL_OVERFLOW_FAIL;	/* sigqueue()'s caller is told */
			ret = -EAGAIN;
			goto ret;
		} else {
			result = TRACE_SIGNAL_LOSE_INFO;	/* it comes, without its story */
		}
	}
	pending->signal.sig[0] |= sigmask(sig);
	complete_signal(sig, t, group);
ret:
	trace_signal_generate(sig, info, t, group, result);
	return ret;
}

/* siglock held. The kernel's own, but for what it sends on behalf of a user, reach init too. */
noinline int send_signal_locked(int sig, struct kernel_siginfo *info, struct task_struct *t, bool group)
{
	return __send_signal_locked(sig, info, t, group, false);
}

static __always_inline struct sighand_struct *lock_sighand(struct task_struct *tsk, unsigned long *flags)
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

/* NULL: the task has been released. */
noinline struct sighand_struct *__lock_task_sighand(struct task_struct *tsk, unsigned long *flags)
{
	return lock_sighand(tsk, flags);
}

int do_send_sig_info(int sig, struct kernel_siginfo *info, struct task_struct *p, bool group)
{
	struct sighand_struct *sighand;
	unsigned long flags;
	int ret;

	sighand = lock_sighand(p, &flags);
	if (!sighand)
		return -ESRCH;
	ret = send_signal_locked(sig, info, p, group);
	spin_unlock_irqrestore(&sighand->siglock, flags);
	return ret;
}

int send_sig(int sig, struct task_struct *p, int priv)
{
	return do_send_sig_info(sig, priv ? SEND_SIG_PRIV : SEND_SIG_NOINFO, p, false);
}

/* For a fault of current itself: it cannot go on before the signal is taken, so neither a mask nor SIG_IGN helps. */
static noinline void force_sig_info_to_task(struct kernel_siginfo *info, struct task_struct *t)
{
	int sig = info->si_signo;
	struct k_sigaction *action = &t->sighand->action[sig - 1];
	unsigned long flags;

	spin_lock_irqsave(&t->sighand->siglock, flags);
	if (t->blocked.sig[0] & sigmask(sig) || action->sa_handler == SIG_IGN) {
		action->sa_handler = SIG_DFL;
		t->blocked.sig[0] &= ~sigmask(sig);
		recalc_sigpending();
	}
	if (action->sa_handler == SIG_DFL)
		t->signal->flags &= ~SIGNAL_UNKILLABLE;
	send_signal_locked(sig, info, t, false);
	spin_unlock_irqrestore(&t->sighand->siglock, flags);
}

void force_sig(int sig)
{
	struct kernel_siginfo info = { .si_signo = sig, .si_code = SI_KERNEL };

	force_sig_info_to_task(&info, current);
}

int force_sig_fault(int sig, int code, void __user *addr)
{
	struct kernel_siginfo info = { .si_signo = sig, .si_code = code, .si_addr = addr };

	force_sig_info_to_task(&info, current);
	return 0;
}

void ignore_signals(struct task_struct *t)
{
	int i;

	for (i = 0; i < _NSIG; i++)
		t->sighand->action[i].sa_handler = SIG_IGN;
	t->sighand->changed = ~0UL;
	flush_sigqueue(&t->pending);
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

static noinline void __wake_up_parent(struct task_struct *p, struct task_struct *parent)
{
	__wake_up_sync_key(&parent->signal->wait_chldexit, TASK_INTERRUPTIBLE, p);
}

/* tasklist_lock held for reading: the parent may wait for stops and continuations. */
static noinline void do_notify_parent_cldstop(struct task_struct *tsk, int why)
{
	struct task_struct *parent = tsk->group_leader->parent;
	struct kernel_siginfo info = { .si_signo = SIGCHLD, .si_code = why, .si_pid = tsk->tgid,
		.si_status = why == CLD_CONTINUED ? SIGCONT : tsk->signal->group_exit_code };
	struct k_sigaction *ka = &parent->sighand->action[SIGCHLD - 1];
	unsigned long flags;

	spin_lock_irqsave(&parent->sighand->siglock, flags);
	if (ka->sa_handler != SIG_IGN && !(ka->sa_flags & SA_NOCLDSTOP))
		send_signal_locked(SIGCHLD, &info, parent, true);
	__wake_up_parent(tsk, parent);
	spin_unlock_irqrestore(&parent->sighand->siglock, flags);
}

/* siglock held. A thread that was to stop does, or goes. True: it was the last one, and the process is stopped now. */
static bool task_participate_group_stop(struct task_struct *task)
{
	struct signal_struct *sig = task->signal;

	task->jobctl &= ~JOBCTL_STOP_PENDING;
	if (sig->group_stop_count && --sig->group_stop_count)
		return false;
	if (sig->flags & SIGNAL_STOP_STOPPED)
		return false;
	sig->flags = (sig->flags & ~SIGNAL_STOP_MASK) | SIGNAL_STOP_STOPPED;
	return true;
}

/* siglock held. A thread that is made while its process stops is to stop too. */
void task_join_group_stop(struct task_struct *task)
{
	if (!(current->jobctl & JOBCTL_STOP_PENDING))
		return;
	task->jobctl |= JOBCTL_STOP_PENDING;
	task->signal->group_stop_count++;
	set_tsk_thread_flag(task, TIF_SIGPENDING);
}

/* From here on the thread takes no signals: those of the process that it was to take are for another. */
void exit_signals(struct task_struct *tsk)
{
	bool stopped;

	might_sleep();
	if (thread_group_empty(tsk) || tsk->signal->flags & SIGNAL_GROUP_EXIT) {
		tsk->flags |= PF_EXITING;
		return;
	}
	spin_lock_irq(&tsk->sighand->siglock);
	tsk->flags |= PF_EXITING;
	retarget_shared_pending(tsk, ~tsk->blocked.sig[0]);
	stopped = tsk->jobctl & JOBCTL_STOP_PENDING && task_participate_group_stop(tsk);
	spin_unlock_irq(&tsk->sighand->siglock);
	if (unlikely(stopped)) {
		read_lock(&tasklist_lock);
		do_notify_parent_cldstop(tsk, CLD_STOPPED);
		read_unlock(&tasklist_lock);
	}
}

/* Whoever polls the task's pidfd. */
static void do_notify_pidfd(struct task_struct *task)
{
	__wake_up(&task->thread_pid->wait_pidfd, TASK_NORMAL, 0, NULL);
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
	if (sig == SIGCHLD && (psig->action[SIGCHLD - 1].sa_handler == SIG_IGN || psig->action[SIGCHLD - 1].sa_flags & SA_NOCLDWAIT)) {
		autoreap = true;
		if (psig->action[SIGCHLD - 1].sa_handler == SIG_IGN)
			sig = 0;
	}
	if (sig > 0)
		__send_signal_locked(sig, &info, tsk->parent, true, false);
	__wake_up_parent(tsk, tsk->parent);
	spin_unlock_irqrestore(&psig->siglock, flags);
	return autoreap;
}

/* The signal is taken: the first record of it goes; with more behind, it pends on. */
static noinline void collect_signal(int sig, struct sigpending *list, struct kernel_siginfo *info)
{
	struct sigqueue *q, *n, *first = NULL;

	list->signal.sig[0] &= ~sigmask(sig);
	list_for_each_entry_safe(q, n, &list->list, list) {
		if (q->info.si_signo != sig)
			continue;
		if (first) {
			list->signal.sig[0] |= sigmask(sig);
			break;
		}
		first = q;
	}
	*info = (struct kernel_siginfo){ .si_signo = sig, .si_code = SI_USER };		/* when its story was not kept */
	if (first) {
		*info = first->info;
		list_del(&first->list);
		__sigqueue_free(first);
	}
}

/* What a fault of the program itself has sent comes before what others send; then the lowest number. */
static int next_signal(struct sigpending *pending, unsigned long blocked)
{
	unsigned long set = pending->signal.sig[0] & ~blocked;

	if (!set)
		return 0;
	if (set & sigmask(SIGKILL))
		return SIGKILL;
	if (set & SYNCHRONOUS_MASK)
		set &= SYNCHRONOUS_MASK;
	return __ffs(set) + 1;
}

/* siglock held. 0: there is none that blocked does not hold back. */
noinline int dequeue_signal(struct task_struct *tsk, unsigned long blocked, struct kernel_siginfo *info)
{
	struct sigpending *from = &tsk->pending;
	int sig = next_signal(from, blocked);

	if (!sig) {
		from = &tsk->signal->shared_pending;
		sig = next_signal(from, blocked);
	}
	if (sig)
		collect_signal(sig, from, info);
	recalc_sigpending();
	return sig;
}

/*
 * siglock held, dropped. Sleeps until SIGCONT or SIGKILL. The thread that takes the signal, signr, asks the others to come here too,
 * with 0; the last one to stop tells the parent.
 */
static noinline void do_signal_stop(int signr)
{
	struct signal_struct *sig = current->signal;
	struct task_struct *t;
	bool last;

	if (!(current->jobctl & JOBCTL_STOP_PENDING)) {
		if (!(sig->flags & SIGNAL_STOP_STOPPED))
			sig->group_exit_code = signr;
		sig->group_stop_count = 1;
		for_each_other_thread(current, t) {
			if (t->flags & PF_EXITING || READ_ONCE(t->__state) & __TASK_STOPPED)
				continue;
			t->jobctl |= JOBCTL_STOP_PENDING;
			sig->group_stop_count++;
			signal_wake_up_state(t, 0);
		}
	}
	last = task_participate_group_stop(current);
	set_current_state(TASK_STOPPED);
	spin_unlock_irq(&current->sighand->siglock);
	if (last) {
		read_lock(&tasklist_lock);
		do_notify_parent_cldstop(current, CLD_STOPPED);
		read_unlock(&tasklist_lock);
	}
	schedule();
}

/* Takes signals until one has a handler (true), or none is left. A fatal one does not return. */
bool get_signal(struct ksignal *ksig)
{
	struct sighand_struct *sighand = current->sighand;
	struct signal_struct *signal = current->signal;

	for (;;) {
		struct k_sigaction *ka;
		int sig;

		spin_lock_irq(&sighand->siglock);
		if (signal->flags & SIGNAL_GROUP_EXIT) {
			trace_signal_deliver(SIGKILL, SEND_SIG_NOINFO, &sighand->action[SIGKILL - 1]);
			spin_unlock_irq(&sighand->siglock);
			current->flags |= PF_SIGNALED;
			do_group_exit(signal->group_exit_code);
		}
		if (unlikely(signal->flags & SIGNAL_CLD_MASK)) {
			int why = signal->flags & SIGNAL_CLD_CONTINUED ? CLD_CONTINUED : CLD_STOPPED;

			signal->flags &= ~SIGNAL_CLD_MASK;
			spin_unlock_irq(&sighand->siglock);
			read_lock(&tasklist_lock);
			do_notify_parent_cldstop(current, why);
			read_unlock(&tasklist_lock);
			continue;
		}
		if (unlikely(current->jobctl & JOBCTL_STOP_PENDING)) {
			do_signal_stop(0);
			continue;
		}
		sig = dequeue_signal(current, current->blocked.sig[0], &ksig->info);
		ka = &sighand->action[sig ? sig - 1 : 0];
		if (sig)
			trace_signal_deliver(sig, &ksig->info, ka);
		if (sig && (sigmask(sig) & SIG_KERNEL_STOP_MASK) && ka->sa_handler == SIG_DFL) {
			do_signal_stop(sig);
			continue;
		}
		ksig->ka = *ka;
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

/* siglock held. A signal that is unblocked comes before the return to user mode; one of the process that is blocked may be another thread's. */
static noinline void __set_task_blocked(struct task_struct *tsk, const sigset_t *newset)
{
	if (signal_pending(tsk) && !thread_group_empty(tsk))
		retarget_shared_pending(tsk, newset->sig[0] & ~tsk->blocked.sig[0]);
	tsk->blocked = *newset;
	recalc_sigpending();
}

void set_current_blocked(sigset_t *newset)
{
	newset->sig[0] &= ~UNBLOCKABLE;
	spin_lock_irq(&current->sighand->siglock);
	__set_task_blocked(current, newset);
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

/*
 * Grace periods (Linux's kernel/rcu/tree.c, with one node for all CPUs; the read side is in kernel/locking/spinlock.c).
 *
 *	call_rcu -> next --(a grace period is asked for)--> wait --(it has ended)--> done --(RCU_SOFTIRQ)--> called
 *
 * The kthread rcu_preempt runs the grace periods, one at a time. gp_seq counts them: its lowest bit says that one is running, the rest
 * how many have been. Each CPU notes in its own tick that a period has begun, reports one quiescent state of its own behind that, and
 * notes the end, which moves its callbacks on; the last report wakes the kthread. It looks for itself, a tick after the beginning and
 * then every tick, which CPUs are idle and will not report.
 *
 * A quiescent state is a context switch, or a tick that finds user mode, idle, or a task outside every read section. Idle
 * CPUs count as quiescent at any time: the idle task and interrupt handlers do not read under RCU here. A CPU with
 * callbacks keeps its tick (rcu_needs_cpu). node.lock protects node and, of each CPU's data, what a grace period changes; the lists
 * belong to the CPU, with IRQs off.
 */
#include "rcupdate.h"
#include "sched.h"
#include "interrupt.h"
#include "percpu.h"
#include "init.h"
#include "completion.h"
#include "smp.h"
#include "mutex.h"
#include "kthread.h"
#include "swait.h"
#include "timer.h"
#include "tracepoint.h"

struct rcu_list {
	struct rcu_head *head, **tail;	/* tail NULL: never used, empty */
};

struct rcu_data {
	struct rcu_list done;		/* to be called */
	struct rcu_list wait;		/* until gp_seq is wait_seq */
	struct rcu_list next;		/* no grace period yet */
	unsigned long wait_seq;
	unsigned long gp_seq;		/* node's, as far as this CPU knows */
	bool cpu_no_qs;			/* it has not been quiescent since that one began */
	bool core_needs_qs;		/* which is still to be reported */
	unsigned long n_queued, n_invoked;
};

struct rcu_node {
	raw_spinlock_t lock;
	u64 qsmask;			/* CPUs that this grace period still waits for */
	unsigned long gp_seq, gp_seq_needed;
};

static DEFINE_PER_CPU(struct rcu_data, rcu_data);
static struct rcu_node rcu_root;

#define RCU_GP_FLAG_INIT	1	/* begin one */
#define RCU_GP_FLAG_FQS		2	/* look again, at once */
static struct {
	struct task_struct *gp_kthread;
	struct swait_queue_head gp_wq;
	int gp_flags;
} rcu_state = { .gp_wq = __SWAIT_QUEUE_HEAD_INITIALIZER(rcu_state.gp_wq) };

#define RCU_SEQ_RUNNING	1UL

static inline bool rcu_gp_in_progress(void)
{
	return READ_ONCE(rcu_root.gp_seq) & RCU_SEQ_RUNNING;
}

/* What gp_seq will be at the end of a grace period that begins from now on. */
static inline unsigned long rcu_seq_snap(void)
{
	return (READ_ONCE(rcu_root.gp_seq) + 2 + RCU_SEQ_RUNNING) & ~RCU_SEQ_RUNNING;
}

static void rcu_list_move(struct rcu_list *to, struct rcu_list *from)
{
	if (!from->head)
		return;
	if (!to->head)
		to->tail = &to->head;
	*to->tail = from->head;
	to->tail = from->tail;
	from->head = NULL;
	from->tail = NULL;
}

static noinline void rcu_segcblist_enqueue(struct rcu_list *l, struct rcu_head *head)
{
	head->next = NULL;
	if (!l->tail)
		l->tail = &l->head;
	*l->tail = head;
	l->tail = &head->next;
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	unsigned long flags;
	struct rcu_data *rdp;

	head->func = func;
	local_irq_save(flags);
	rdp = this_cpu_ptr(&rcu_data);
	rcu_segcblist_enqueue(&rdp->next, head);
	rdp->n_queued++;
	local_irq_restore(flags);
}

/* Must this CPU keep its tick? */
bool rcu_needs_cpu(void)
{
	struct rcu_data *rdp = this_cpu_ptr(&rcu_data);

	return rdp->next.head || rdp->wait.head || rdp->done.head;
}

static inline void rcu_qs(void)
{
	this_cpu_ptr(&rcu_data)->cpu_no_qs = false;
}

void rcu_note_context_switch(bool preempt)
{
	trace_rcu_utilization(TPS("Start context switch"));
	rcu_qs();
	trace_rcu_utilization(TPS("End context switch"));
}

static noinline void rcu_gp_kthread_wake(void)
{
	if (current == rcu_state.gp_kthread && !in_interrupt())
		return;			/* it is awake */
	if (READ_ONCE(rcu_state.gp_flags) && READ_ONCE(rcu_state.gp_kthread))
		swake_up_one(&rcu_state.gp_wq);
}

/* node.lock held. True: the kthread must be woken for it. */
static noinline bool rcu_start_this_gp(unsigned long gp_seq_req)
{
	if (rcu_root.gp_seq_needed >= gp_seq_req)
		return false;
	rcu_root.gp_seq_needed = gp_seq_req;
	if (rcu_gp_in_progress())
		return false;		/* seen at its end */
	rcu_state.gp_flags |= RCU_GP_FLAG_INIT;
	return true;
}

/* node.lock held. Callbacks that no grace period has been asked for get one. True: wake the kthread. */
static noinline bool rcu_accelerate_cbs(struct rcu_data *rdp)
{
	if (!rdp->next.head || rdp->wait.head)
		return false;
	rcu_list_move(&rdp->wait, &rdp->next);
	rdp->wait_seq = rcu_seq_snap();
	return rcu_start_this_gp(rdp->wait_seq);
}

/* node.lock held. Callbacks whose grace period has ended can be called. True: wake the kthread. */
static bool rcu_advance_cbs(struct rcu_data *rdp)
{
	if (rdp->wait.head && rcu_root.gp_seq >= rdp->wait_seq)
		rcu_list_move(&rdp->done, &rdp->wait);
	return rcu_accelerate_cbs(rdp);
}

/* node.lock held. This CPU learns which grace periods have begun and ended. True: wake the kthread. */
static noinline bool __note_gp_changes(struct rcu_data *rdp)
{
	bool ret;

	if (rdp->gp_seq == rcu_root.gp_seq)
		return false;
	ret = rcu_advance_cbs(rdp);
	rdp->core_needs_qs = rdp->cpu_no_qs = rcu_root.qsmask >> smp_processor_id() & 1;
	WRITE_ONCE(rdp->gp_seq, rcu_root.gp_seq);
	return ret;
}

static noinline void note_gp_changes(struct rcu_data *rdp)
{
	unsigned long flags;
	bool needwake;

	local_irq_save(flags);
	if (rdp->gp_seq == READ_ONCE(rcu_root.gp_seq)) {
		local_irq_restore(flags);
		return;
	}
	raw_spin_lock(&rcu_root.lock);
	needwake = __note_gp_changes(rdp);
	raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
	if (needwake)
		rcu_gp_kthread_wake();
}

/* node.lock held, dropped. The CPUs of mask have been quiescent; the last one ends the wait. */
static noinline void rcu_report_qs_rnp(u64 mask, unsigned long flags)
{
	rcu_root.qsmask &= ~mask;
	if (rcu_root.qsmask) {
		raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
		return;
	}
	rcu_state.gp_flags |= RCU_GP_FLAG_FQS;
	raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
	rcu_gp_kthread_wake();
}

static void rcu_report_qs_rdp(struct rcu_data *rdp)
{
	u64 mask = 1UL << smp_processor_id();
	unsigned long flags;
	bool needwake;

	raw_spin_lock_irqsave(&rcu_root.lock, flags);
	if (rdp->cpu_no_qs || rdp->gp_seq != rcu_root.gp_seq) {
		rdp->cpu_no_qs = true;	/* of a period that is over: again for the present one */
		raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
		return;
	}
	rdp->core_needs_qs = false;
	if (!(rcu_root.qsmask & mask)) {
		raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
		return;
	}
	needwake = rcu_accelerate_cbs(rdp);
	rcu_report_qs_rnp(mask, flags);
	if (needwake)
		rcu_gp_kthread_wake();
}

static void rcu_check_quiescent_state(struct rcu_data *rdp)
{
	note_gp_changes(rdp);
	if (rdp->core_needs_qs && !rdp->cpu_no_qs)
		rcu_report_qs_rdp(rdp);
}

static noinline void rcu_do_batch(struct rcu_data *rdp)
{
	struct rcu_list batch = { NULL, NULL };
	struct rcu_head *head, *next;
	unsigned long flags;

	local_irq_save(flags);
	rcu_list_move(&batch, &rdp->done);
	local_irq_restore(flags);
	for (head = batch.head; head; head = next) {
		next = head->next;
		head->func(head);
		rdp->n_invoked++;
	}
}

/* Without a grace period running, nobody would come by to ask for one. */
static noinline void rcu_accelerate_cbs_unlocked(struct rcu_data *rdp)
{
	unsigned long flags;
	bool needwake;

	raw_spin_lock_irqsave(&rcu_root.lock, flags);
	needwake = rcu_advance_cbs(rdp);
	raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
	if (needwake)
		rcu_gp_kthread_wake();
}

static noinline void rcu_core(void)
{
	struct rcu_data *rdp = this_cpu_ptr(&rcu_data);

	rcu_check_quiescent_state(rdp);
	if (!rcu_gp_in_progress() && rdp->next.head)
		rcu_accelerate_cbs_unlocked(rdp);
	if (rdp->done.head)
		rcu_do_batch(rdp);
}

static void rcu_core_si(struct softirq_action *h)
{
	rcu_core();
}

static noinline void invoke_rcu_core(void)
{
	raise_softirq(RCU_SOFTIRQ);
}

/* Is there anything for rcu_core() to do on this CPU? */
static bool rcu_pending(void)
{
	struct rcu_data *rdp = this_cpu_ptr(&rcu_data);

	return (rdp->core_needs_qs && !rdp->cpu_no_qs) || rdp->done.head || (!rcu_gp_in_progress() && rdp->next.head) ||
	       READ_ONCE(rcu_root.gp_seq) != rdp->gp_seq;
}

/* From the tick. @user: it interrupted user mode. */
void rcu_sched_clock_irq(int user)
{
	trace_rcu_utilization(TPS("Start scheduler-tick"));
	if (user)
		WRITE_ONCE(current->rcu_tasks_holdout, false);
	/* Code that the tick interrupted with preemption or softirqs off is a reader too (rcu_flavor_sched_clock_irq). */
	if (user || is_idle_task(current) ||
	    (!current->rcu_read_lock_nesting && !(preempt_count() & (PREEMPT_MASK | SOFTIRQ_MASK))))
		rcu_qs();
	if (rcu_pending())
		invoke_rcu_core();
	trace_rcu_utilization(TPS("End scheduler-tick"));
}

/* ---- the kthread ---- */
static noinline bool rcu_gp_init(void)
{
	unsigned long flags;
	int cpu;

	raw_spin_lock_irqsave(&rcu_root.lock, flags);
	if (!rcu_state.gp_flags) {
		raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
		return false;
	}
	rcu_state.gp_flags = 0;
	WRITE_ONCE(rcu_root.gp_seq, rcu_root.gp_seq + RCU_SEQ_RUNNING);
	rcu_root.qsmask = 0;
	for_each_online_cpu(cpu)
		rcu_root.qsmask |= 1UL << cpu;
	__note_gp_changes(this_cpu_ptr(&rcu_data));
	raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
	return true;
}

/* Idle CPUs are quiescent, and do not say so. */
static noinline void force_qs_rnp(void)
{
	unsigned long flags;
	u64 mask = 0;
	int cpu;

	raw_spin_lock_irqsave(&rcu_root.lock, flags);
	for_each_online_cpu(cpu)
		if (rcu_root.qsmask >> cpu & 1 && idle_cpu(cpu))
			mask |= 1UL << cpu;
	smp_mb();
	if (mask)
		rcu_report_qs_rnp(mask, flags);
	else
		raw_spin_unlock_irqrestore(&rcu_root.lock, flags);
}

static noinline void rcu_gp_fqs_loop(void)
{
	for (;;) {
		swait_event_idle_timeout_exclusive(rcu_state.gp_wq, READ_ONCE(rcu_state.gp_flags) & RCU_GP_FLAG_FQS, 1);
		WRITE_ONCE(rcu_state.gp_flags, 0);
		if (!READ_ONCE(rcu_root.qsmask))
			return;
		force_qs_rnp();
		cond_resched();
	}
}

static noinline void rcu_gp_cleanup(void)
{
	raw_spin_lock_irq(&rcu_root.lock);
	WRITE_ONCE(rcu_root.gp_seq, rcu_root.gp_seq + RCU_SEQ_RUNNING);
	__note_gp_changes(this_cpu_ptr(&rcu_data));
	rcu_state.gp_flags = rcu_root.gp_seq_needed > rcu_root.gp_seq ? RCU_GP_FLAG_INIT : 0;
	raw_spin_unlock_irq(&rcu_root.lock);
}

static int rcu_gp_kthread(void *unused)
{
	for (;;) {
		do {
			swait_event_idle_exclusive(rcu_state.gp_wq, READ_ONCE(rcu_state.gp_flags) & RCU_GP_FLAG_INIT);
		} while (!rcu_gp_init());
		rcu_gp_fqs_loop();
		rcu_gp_cleanup();
	}
	return 0;
}

static int __init rcu_spawn_gp_kthread(void)
{
	struct task_struct *t = kthread_create(rcu_gp_kthread, NULL, "rcu_preempt");

	BUG_ON(IS_ERR(t));
	WRITE_ONCE(rcu_state.gp_kthread, t);
	wake_up_process(t);
	return 0;
}
early_initcall(rcu_spawn_gp_kthread);

struct rcu_synchronize {
	struct rcu_head head;
	struct completion completion;
};

static void wakeme_after_rcu(struct rcu_head *head)
{
	complete(&container_of(head, struct rcu_synchronize, head)->completion);
}

void synchronize_rcu(void)
{
	struct rcu_synchronize rs;

	init_completion(&rs.completion);
	call_rcu(&rs.head, wakeme_after_rcu);
	wait_for_completion(&rs.completion);
}

/* ---- rcu_barrier ---- */
static DEFINE_PER_CPU(struct rcu_head, rcu_barrier_head);
static DEFINE_MUTEX(rcu_barrier_mutex);
static atomic_t rcu_barrier_cpu_count;
static struct completion rcu_barrier_completion;

static void rcu_barrier_callback(struct rcu_head *rhp)
{
	if (atomic_dec_and_test(&rcu_barrier_cpu_count))
		complete(&rcu_barrier_completion);
}

/* On each CPU: callbacks run in the order in which they came, so this one's turn is after all there are. */
static void rcu_barrier_func(void *unused)
{
	atomic_inc(&rcu_barrier_cpu_count);
	call_rcu(this_cpu_ptr(&rcu_barrier_head), rcu_barrier_callback);
}

void rcu_barrier(void)
{
	mutex_lock(&rcu_barrier_mutex);
	init_completion(&rcu_barrier_completion);
	atomic_set(&rcu_barrier_cpu_count, 1);
	on_each_cpu(rcu_barrier_func, NULL, 1);
	if (atomic_dec_and_test(&rcu_barrier_cpu_count))
		complete(&rcu_barrier_completion);
	wait_for_completion(&rcu_barrier_completion);
	mutex_unlock(&rcu_barrier_mutex);
}

void __init rcu_init(void)
{
	open_softirq(RCU_SOFTIRQ, rcu_core_si);
}

/*
 * Grace periods (Linux's kernel/rcu/tree.c, much reduced; the read side is in kernel/locking/spinlock.c).
 *
 * Each CPU runs grace periods of its own for its own callbacks, so there is no kthread and no tree:
 *
 *	call_rcu -> next --(snapshot of every CPU's quiescent count)--> wait --(every count moved, or the CPU idles)--> run
 *
 * A quiescent state is a context switch, or a tick that finds user mode, idle, or a task outside every read section. Idle
 * CPUs count as quiescent at any time: the idle task and interrupt handlers do not read under RCU here. A CPU with
 * callbacks keeps its tick (rcu_needs_cpu), and RCU_SOFTIRQ does the work.
 */
#include "rcupdate.h"
#include "sched.h"
#include "interrupt.h"
#include "percpu.h"
#include "init.h"
#include "completion.h"
#include "smp.h"
#include "mutex.h"
#include "tracepoint.h"

struct rcu_list {
	struct rcu_head *head, **tail;	/* tail NULL: never used, empty */
};

struct rcu_data {
	struct rcu_list next;		/* queued, no grace period yet */
	struct rcu_list wait;		/* waiting for the grace period of snap[] */
	unsigned long qs_count;
	unsigned long snap[NR_CPUS];
	unsigned long n_queued, n_invoked;
};

static DEFINE_PER_CPU(struct rcu_data, rcu_data);

static void rcu_segcblist_enqueue(struct rcu_list *l, struct rcu_head *head)
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

	return rdp->next.head || rdp->wait.head;
}

static inline void rcu_qs(void)
{
	this_cpu_ptr(&rcu_data)->qs_count++;
}

void rcu_note_context_switch(bool preempt)
{
	trace_rcu_utilization(TPS("Start context switch"));
	rcu_qs();
	trace_rcu_utilization(TPS("End context switch"));
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
	if (rcu_needs_cpu())
		raise_softirq_irqoff(RCU_SOFTIRQ);
	trace_rcu_utilization(TPS("End scheduler-tick"));
}

static void rcu_gp_init(struct rcu_data *rdp)
{
	int cpu;

	rdp->wait = rdp->next;
	rdp->next.head = NULL;
	rdp->next.tail = NULL;
	smp_mb();
	for_each_online_cpu(cpu)
		rdp->snap[cpu] = READ_ONCE(per_cpu(rcu_data, cpu).qs_count);
}

static bool rcu_gp_done(struct rcu_data *rdp)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu(rcu_data, cpu).qs_count) == rdp->snap[cpu] && !idle_cpu(cpu))
			return false;
	smp_mb();
	return true;
}

static void rcu_do_batch(struct rcu_data *rdp, struct rcu_head *list)
{
	while (list) {
		struct rcu_head *next = list->next;

		list->func(list);
		rdp->n_invoked++;
		list = next;
	}
}

static noinline void rcu_core(void)
{
	struct rcu_data *rdp = this_cpu_ptr(&rcu_data);
	struct rcu_head *done = NULL;
	unsigned long flags;

	local_irq_save(flags);
	if (rdp->wait.head && rcu_gp_done(rdp)) {
		done = rdp->wait.head;
		rdp->wait.head = NULL;
	}
	if (!rdp->wait.head && rdp->next.head)
		rcu_gp_init(rdp);
	local_irq_restore(flags);
	rcu_do_batch(rdp, done);
}

static void rcu_core_si(struct softirq_action *h)
{
	rcu_core();
}

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

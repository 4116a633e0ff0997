/*
 * Waking tasks, old and new (the ttwu part of kernel/sched/core.c): which CPU, and how it learns of it. The task's pi_lock
 * is held from the check of its state until it is on a queue or on another CPU's wake list.
 */
#include "sched.h"
#include "tracepoint.h"
#include "truth.h"

/* The first CPU that is allowed and there; when none is, any. */
static noinline int select_fallback_rq(struct task_struct *p)
{
	struct cpumask mask;

	cpumask_and(&mask, &p->cpus_mask, cpu_active_mask);
	return cpumask_first(cpumask_empty(&mask) ? cpu_online_mask : &mask);
}

static inline int select_task_rq(struct task_struct *p, int cpu, int wake_flags)
{
	if (p->nr_cpus_allowed > 1 && p->sched_class->select_task_rq)
		cpu = p->sched_class->select_task_rq(p, cpu, wake_flags);
	else
		cpu = cpumask_first(&p->cpus_mask);
	if (unlikely(cpu >= nr_cpu_ids || !cpumask_test_cpu(cpu, &p->cpus_mask) || !cpu_online(cpu)))
		cpu = select_fallback_rq(p);
	return cpu;
}

static noinline void ttwu_do_wakeup(struct rq *rq, struct task_struct *p, int wake_flags)
{
	check_preempt_curr(rq, p, wake_flags);
	WRITE_ONCE(p->__state, TASK_RUNNING);
	trace_sched_wakeup(p);
	if (p->sched_class->task_woken)
		p->sched_class->task_woken(rq, p);
}

static noinline void ttwu_do_activate(struct rq *rq, struct task_struct *p, int wake_flags)
{
	int en_flags = ENQUEUE_WAKEUP | ENQUEUE_NOCLOCK;

	if (p->sched_contributes_to_load)
		rq->nr_uninterruptible--;
	if (wake_flags & WF_MIGRATED)
		en_flags |= ENQUEUE_MIGRATED;
	activate_task(rq, p, en_flags);
	ttwu_do_wakeup(rq, p, wake_flags);
}

/* Still on its queue (about to sleep, or preempted): taking back the state is all. */
static int ttwu_runnable(struct task_struct *p, int wake_flags)
{
	struct rq *rq = __task_rq_lock(p);
	int ret = 0;

	if (task_on_rq_queued(p)) {
		update_rq_clock(rq);
		ttwu_do_wakeup(rq, p, wake_flags);
		ret = 1;
	}
	raw_spin_rq_unlock(rq);
	return ret;
}

/* On the woken CPU, in the interrupt (or its idle loop): the tasks that others have woken here. */
void sched_ttwu_pending(void *arg)
{
	struct llist_node *llist = arg;
	struct rq *rq = this_rq();

	if (!llist)
		return;
	WRITE_ONCE(rq->ttwu_pending, 0);
	raw_spin_lock(&rq->__lock);
	update_rq_clock(rq);
	while (llist) {
		struct task_struct *p = llist_entry(llist, struct task_struct, wake_entry.llist);

		llist = llist->next;
		while (smp_load_acquire(&p->on_cpu))
			cpu_relax();
		ttwu_do_activate(rq, p, p->sched_remote_wakeup ? WF_MIGRATED : 0);
	}
	raw_spin_unlock(&rq->__lock);
}

/* A task that runs in user mode somewhere else comes into the kernel; it may have left its CPU meanwhile, and then it is there already. */
void kick_process(struct task_struct *p)
{
	int cpu;

	preempt_disable();
	cpu = task_cpu(p);
	if (cpu != smp_processor_id() && p->on_cpu)
		smp_send_reschedule(cpu);
	preempt_enable();
}

/* True: the IPI can be saved, the idle loop will look. */
bool call_function_single_prep_ipi(int cpu);
bool notrace call_function_single_prep_ipi(int cpu)
{
	struct task_struct *idle = cpu_rq(cpu)->idle;
	unsigned long val = READ_ONCE(idle->thread_info.flags);

	while (val & _TIF_POLLING_NRFLAG) {
		if (val & _TIF_NEED_RESCHED)
			return false;
		if (try_cmpxchg(&idle->thread_info.flags, &val, val | _TIF_NEED_RESCHED))
			return false;
	}
	return true;
}

/* An idle CPU, or one about to be, activates its wakee itself: the waker does not touch its queue's lines. */
static noinline bool ttwu_queue_wakelist(struct task_struct *p, int cpu, int wake_flags)
{
	struct rq *rq = cpu_rq(cpu);

	if (cpu == smp_processor_id() || READ_ONCE(rq->nr_running) || !cpu_active(cpu) || !cpumask_test_cpu(cpu, &p->cpus_mask))
		return false;
	p->sched_remote_wakeup = !!(wake_flags & WF_MIGRATED);
	WRITE_ONCE(rq->ttwu_pending, 1);
	p->wake_entry.u_flags = CSD_TYPE_TTWU;
	__smp_call_single_queue(cpu, &p->wake_entry.llist);
	return true;
}

static void ttwu_queue(struct task_struct *p, int cpu, int wake_flags)
{
	struct rq *rq = cpu_rq(cpu);

	if (ttwu_queue_wakelist(p, cpu, wake_flags))
		return;
	raw_spin_rq_lock(rq);
	update_rq_clock(rq);
	ttwu_do_activate(rq, p, wake_flags);
	raw_spin_rq_unlock(rq);
}

int try_to_wake_up(struct task_struct *p, unsigned int state, int wake_flags)
{
	unsigned long flags;
	int cpu, success = 0;

	KSCOPE_TRUTH(try_to_wake_up);
	preempt_disable();
	if (p == current) {
		if (p->__state & state) {
			success = 1;
			trace_sched_waking(p);
			WRITE_ONCE(p->__state, TASK_RUNNING);
			trace_sched_wakeup(p);
		}
		goto out;
	}
	raw_spin_lock_irqsave(&p->pi_lock, flags);
	smp_mb();
	if (!(READ_ONCE(p->__state) & state))
		goto unlock;
	trace_sched_waking(p);
	success = 1;
	clock_floor_now(p);
	if (READ_ONCE(p->on_rq) && ttwu_runnable(p, wake_flags))
		goto unlock;
	WRITE_ONCE(p->__state, TASK_WAKING);
	/* Still leaving its CPU, which then has nothing else to do: leave it to that CPU. */
	if (smp_load_acquire(&p->on_cpu) && ttwu_queue_wakelist(p, task_cpu(p), wake_flags))
		goto unlock;
	while (smp_load_acquire(&p->on_cpu))
		cpu_relax();
	cpu = select_task_rq(p, p->wake_cpu, wake_flags | WF_TTWU);
	if (task_cpu(p) != cpu) {
		wake_flags |= WF_MIGRATED;
		set_task_cpu(p, cpu);
	}
	ttwu_queue(p, cpu, wake_flags);
unlock:
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
out:
	preempt_enable();
	return success;
}

int wake_up_process(struct task_struct *p)
{
	return try_to_wake_up(p, TASK_NORMAL, 0);
}

int wake_up_state(struct task_struct *p, unsigned int state)
{
	return try_to_wake_up(p, state, 0);
}

void wake_up_new_task(struct task_struct *p)
{
	unsigned long flags;
	struct rq *rq;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	WRITE_ONCE(p->__state, TASK_RUNNING);
	p->recent_used_cpu = task_cpu(p);
	__set_task_cpu(p, select_task_rq(p, task_cpu(p), WF_FORK));	/* it has not run: no migration */
	clock_floor_now(p);
	rq = __task_rq_lock(p);
	update_rq_clock(rq);
	post_init_entity_util_avg(p);
	activate_task(rq, p, ENQUEUE_NOCLOCK | ENQUEUE_INITIAL);
	trace_sched_wakeup_new(p);
	check_preempt_curr(rq, p, WF_FORK);
	if (p->sched_class->task_woken)
		p->sched_class->task_woken(rq, p);
	raw_spin_rq_unlock(rq);
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
}

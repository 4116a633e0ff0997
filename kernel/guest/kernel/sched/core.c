/*
 * The scheduler's core: schedule(), waking, the tick (kernel/sched/core.c).
 *
 * Who may touch a task: while on_rq, its CPU's rq lock decides; while it sleeps, its pi_lock does; on_cpu stays set from
 * the moment it is picked until its successor has left its stack (finish_task).
 */
#include "sched.h"
#include "tracepoint.h"
#include "truth.h"
#include "timer.h"
#include "rcupdate.h"
#include "apic.h"
#include "uaccess.h"
#include "syscalls.h"
#include "workqueue.h"
#include "kernel_stat.h"

DEFINE_PER_CPU_ALIGNED(struct rq, runqueues);
struct task_struct *__switch_to_asm(struct task_struct *prev, struct task_struct *next);
void schedule_tail(struct task_struct *prev);
void put_task_stack(struct task_struct *tsk);

void raw_spin_rq_lock_nested(struct rq *rq, int subclass)
{
	raw_spin_lock(&rq->__lock);
}

void raw_spin_rq_unlock(struct rq *rq)
{
	raw_spin_unlock(&rq->__lock);
}

void double_rq_lock(struct rq *rq1, struct rq *rq2)
{
	if (rq1->cpu > rq2->cpu)
		swap(rq1, rq2);
	raw_spin_rq_lock(rq1);
	raw_spin_rq_lock(rq2);
}

struct rq *__task_rq_lock(struct task_struct *p)
{
	struct rq *rq;

	for (;;) {
		rq = task_rq(p);
		raw_spin_lock(&rq->__lock);
		if (likely(rq == task_rq(p) && !task_on_rq_migrating(p)))
			return rq;
		raw_spin_unlock(&rq->__lock);
		while (unlikely(task_on_rq_migrating(p)))
			cpu_relax();
	}
}

struct rq *task_rq_lock(struct task_struct *p, unsigned long *flags)
{
	raw_spin_lock_irqsave(&p->pi_lock, *flags);
	return __task_rq_lock(p);
}

void task_rq_unlock(struct rq *rq, struct task_struct *p, unsigned long *flags)
{
	raw_spin_rq_unlock(rq);
	raw_spin_unlock_irqrestore(&p->pi_lock, *flags);
}

/* this_rq is locked; true when it had to be dropped for a moment to take both in order. */
int double_lock_balance(struct rq *this_rq, struct rq *busiest)
{
	if (likely(raw_spin_trylock(&busiest->__lock)))
		return 0;
	if (this_rq->cpu < busiest->cpu) {
		raw_spin_rq_lock(busiest);
		return 0;
	}
	raw_spin_rq_unlock(this_rq);
	double_rq_lock(this_rq, busiest);
	return 1;
}

/* Clocks of the CPUs differ by up to one slice, so a remote queue's clock may run backwards: it then stands still. */
void update_rq_clock(struct rq *rq)
{
	s64 delta;

	if (rq->clock_update_flags & RQCF_ACT_SKIP)
		return;
	delta = rdtsc() - rq->clock;	/* sched_clock() */
	if (delta < 0)
		return;
	rq->clock += delta;
	rq->clock_task += delta;
}

/*
 * CPUs' clocks may differ by one slice. What happened to a task before must also be earlier on the clock of the CPU that
 * runs it next: it waits until its clock has passed the task's last event. (Hardware has one clock, and no such wait.)
 */
void notrace sched_clock_sync(struct task_struct *p)
{
	while (rdtsc() <= READ_ONCE(p->clock_floor))
		cpu_relax();
}

/* TIF_POLLING_NRFLAG: the idle loop looks at TIF_NEED_RESCHED by itself, no IPI is needed. */
static bool set_nr_and_not_polling(struct task_struct *p)
{
	unsigned long old = READ_ONCE(p->thread_info.flags);

	while (!try_cmpxchg(&p->thread_info.flags, &old, old | _TIF_NEED_RESCHED))
		;
	return !(old & _TIF_POLLING_NRFLAG);
}

void resched_curr(struct rq *rq)
{
	struct task_struct *curr = rq->curr;
	int cpu = rq->cpu;

	if (test_tsk_thread_flag(curr, TIF_NEED_RESCHED))
		return;
	if (cpu == smp_processor_id()) {
		set_tsk_thread_flag(curr, TIF_NEED_RESCHED);
		set_preempt_need_resched();
		return;
	}
	if (set_nr_and_not_polling(curr))
		smp_send_reschedule(cpu);
	else
		trace_sched_wake_idle_without_ipi(cpu);
}

inline void dequeue_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (!(flags & DEQUEUE_NOCLOCK))
		update_rq_clock(rq);
	p->sched_class->dequeue_task(rq, p, flags);
}

void deactivate_task(struct rq *rq, struct task_struct *p, int flags)
{
	p->on_rq = flags & DEQUEUE_SLEEP ? 0 : TASK_ON_RQ_MIGRATING;
	dequeue_task(rq, p, flags);
}

void check_preempt_curr(struct rq *rq, struct task_struct *p, int flags)
{
	if (p->sched_class == rq->curr->sched_class)
		rq->curr->sched_class->check_preempt_curr(rq, p, flags);
	else if (sched_class_above(p->sched_class, rq->curr->sched_class))
		resched_curr(rq);
	/* A wake-up that leads to a switch at once has read the clock: that will do. */
	if (task_on_rq_queued(rq->curr) && test_tsk_thread_flag(rq->curr, TIF_NEED_RESCHED))
		rq->clock_update_flags |= RQCF_REQ_SKIP;
}

void set_task_cpu(struct task_struct *p, unsigned int new_cpu)
{
	if (task_cpu(p) != new_cpu) {
		trace_sched_migrate_task(p, new_cpu);
		if (p->sched_class->migrate_task_rq)
			p->sched_class->migrate_task_rq(p, new_cpu);
		p->se.nr_migrations++;
	}
	__set_task_cpu(p, new_cpu);
}

static noinline void __sched_fork(unsigned long clone_flags, struct task_struct *p)
{
	p->on_rq = 0;
	p->se.on_rq = 0;
	p->se.exec_start = 0;
	p->se.sum_exec_runtime = 0;
	p->se.prev_sum_exec_runtime = 0;
	p->se.nr_migrations = 0;
	p->se.vruntime = 0;
	RB_CLEAR_NODE(&p->se.run_node);
	INIT_LIST_HEAD(&p->rt.run_list);
	p->rt.timeout = 0;
	p->rt.time_slice = sched_rr_timeslice;
	p->rt.on_rq = p->rt.on_list = 0;
}

#define WEIGHT_IDLEPRIO 3

void set_load_weight(struct task_struct *p, bool update_load)
{
	if (update_load && p->sched_class == &fair_sched_class)
		reweight_task(p);
	else
		p->se.load.weight = idle_policy(p->policy) ? WEIGHT_IDLEPRIO : sched_prio_to_weight[p->static_prio - MAX_RT_PRIO];
}

void __setscheduler_prio(struct task_struct *p, int prio)
{
	p->sched_class = rt_prio(prio) ? &rt_sched_class : &fair_sched_class;
	p->prio = prio;
}

int sched_fork(unsigned long clone_flags, struct task_struct *p)
{
	__sched_fork(clone_flags, p);
	p->__state = TASK_NEW;
	p->prio = current->normal_prio;
	if (unlikely(p->sched_reset_on_fork)) {
		if (rt_policy(p->policy)) {
			p->policy = SCHED_NORMAL;
			p->static_prio = NICE_TO_PRIO(0);
			p->rt_priority = 0;
		} else if (PRIO_TO_NICE(p->static_prio) < 0) {
			p->static_prio = NICE_TO_PRIO(0);
		}
		p->prio = p->normal_prio = p->static_prio;
		p->sched_reset_on_fork = 0;
	}
	__setscheduler_prio(p, p->prio);
	set_load_weight(p, false);
	init_entity_runnable_average(&p->se);
	p->on_cpu = 0;
	p->clock_floor = 0;
	p->thread_info.flags &= ~_TIF_NEED_RESCHED;
	return 0;
}

void sched_cgroup_fork(struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	p->recent_used_cpu = smp_processor_id();
	__set_task_cpu(p, smp_processor_id());
	if (p->sched_class->task_fork)
		p->sched_class->task_fork(p);
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* Visible from here on: its weight may be changed by others. */
void sched_post_fork(struct task_struct *p)
{
	p->wake_cpu = task_cpu(p);
}

static noinline void do_balance_callbacks(struct rq *rq)
{
	struct balance_callback *head = rq->balance_callback;

	rq->balance_callback = NULL;
	while (head) {
		struct balance_callback *next = head->next;
		void (*func)(struct rq *) = head->func;

		head->next = NULL;
		head->func = NULL;
		func(rq);
		head = next;
	}
}

static __always_inline void __balance_callbacks(struct rq *rq)
{
	if (unlikely(rq->balance_callback))
		do_balance_callbacks(rq);
}

void balance_callbacks(struct rq *rq)
{
	if (likely(!rq->balance_callback))
		return;
	local_irq_disable();
	raw_spin_rq_lock(rq);
	do_balance_callbacks(rq);
	raw_spin_rq_unlock(rq);
	local_irq_enable();
}

/* The previous task is off its stack: from now on others may run it, or free it. */
static noinline struct rq *finish_task_switch(struct task_struct *prev)
{
	struct rq *rq = this_rq();
	struct mm_struct *mm = rq->prev_mm;
	unsigned int prev_state = READ_ONCE(prev->__state);

	rq->prev_mm = NULL;
	clock_floor_now(prev);
	smp_store_release(&prev->on_cpu, 0);
	__balance_callbacks(rq);
	raw_spin_unlock(&rq->__lock);
	local_irq_enable();
	if (mm)
		mmdrop(mm);
	if (unlikely(prev_state == TASK_DEAD)) {
		if (prev->sched_class->task_dead)
			prev->sched_class->task_dead(prev);
		put_task_stack(prev);
		put_task_struct_rcu_user(prev);
	}
	return rq;
}

__used void schedule_tail(struct task_struct *prev)
{
	finish_task_switch(prev);
	preempt_enable();
	if (current->set_child_tid)
		put_user(current->pid, current->set_child_tid);
}

static __always_inline struct rq *context_switch(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	next->on_cpu = 1;
	if (!next->mm) {
		enter_lazy_tlb(prev->active_mm, next);
		next->active_mm = prev->active_mm;
		if (prev->mm)
			mmgrab(prev->active_mm);
		else
			prev->active_mm = NULL;
	} else {
		switch_mm_irqs_off(prev->active_mm, next->mm, next);
		if (!prev->mm) {
			rq->prev_mm = prev->active_mm;	/* dropped by finish_task_switch() */
			prev->active_mm = NULL;
		}
	}
	prev = __switch_to_asm(prev, next);
	barrier();
	return finish_task_switch(prev);
}

/* Each class from prev's down may fetch tasks from elsewhere, until one has some. */
static noinline void put_prev_task_balance(struct rq *rq, struct task_struct *prev)
{
	const struct sched_class *class;

	for_class_range(class, prev->sched_class, &idle_sched_class) {
		if (class->balance(rq, prev))
			break;
	}
	put_prev_task(rq, prev);
}

static inline struct task_struct *pick_next_task(struct rq *rq, struct task_struct *prev)
{
	const struct sched_class *class;
	struct task_struct *p;

	/* Nothing but fair tasks, nearly always: then ask that class only. */
	if (likely(!sched_class_above(prev->sched_class, &fair_sched_class) && rq->nr_running == rq->cfs.nr_running)) {
		p = pick_next_task_fair(rq, prev);
		if (unlikely(p == RETRY_TASK))
			goto restart;
		if (p)
			return p;
		put_prev_task(rq, prev);
		return idle_sched_class.pick_next_task(rq);
	}
restart:
	put_prev_task_balance(rq, prev);
	for_each_class(class) {
		p = class->pick_next_task(rq);
		if (p)
			return p;
	}
	BUG();
}

#define SM_NONE 0
#define SM_PREEMPT 1

static void __sched notrace __schedule(unsigned int sched_mode)
{
	int cpu = smp_processor_id();
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *prev = rq->curr, *next;
	unsigned long *switch_count = &prev->nivcsw;
	unsigned int prev_state;

	local_irq_disable();
	rcu_note_context_switch(sched_mode == SM_PREEMPT);
	raw_spin_lock(&rq->__lock);
	smp_mb();
	rq->clock_update_flags <<= 1;
	update_rq_clock(rq);
	prev_state = READ_ONCE(prev->__state);
	if (sched_mode != SM_PREEMPT && prev_state) {
		if (signal_pending_state(prev_state, prev)) {
			WRITE_ONCE(prev->__state, TASK_RUNNING);
		} else {
			prev->sched_contributes_to_load = (prev_state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE;
			if (prev->sched_contributes_to_load)
				rq->nr_uninterruptible++;
			deactivate_task(rq, prev, DEQUEUE_SLEEP | DEQUEUE_NOCLOCK);
		}
		switch_count = &prev->nvcsw;
	}
	next = pick_next_task(rq, prev);
	clear_tsk_thread_flag(prev, TIF_NEED_RESCHED);
	clear_preempt_need_resched();
	rq->clock_update_flags = 0;
	if (likely(prev != next)) {
		if (unlikely(rq->clock <= READ_ONCE(next->clock_floor)))
			sched_clock_sync(next);
		rq->nr_switches++;
		WRITE_ONCE(rq->curr, next);
		++*switch_count;
		trace_sched_switch(sched_mode == SM_PREEMPT, prev, next, prev_state);
		context_switch(rq, prev, next);
	} else {
		__balance_callbacks(rq);
		raw_spin_unlock(&rq->__lock);
		local_irq_enable();
	}
}

/* A worker that goes to sleep makes room for another of its pool (kernel/workqueue.c). */
struct blk_plug;
void __blk_flush_plug(struct blk_plug *plug, bool from_schedule);	/* block/blk-core.c */

static __always_inline void sched_submit_work(struct task_struct *tsk)
{
	if (READ_ONCE(tsk->__state) && unlikely(tsk->flags & PF_WQ_WORKER))
		wq_worker_sleeping(tsk);
	/* what it holds back others may wait for */
	if (unlikely(tsk->plug) && READ_ONCE(tsk->__state))
		__blk_flush_plug(tsk->plug, true);
}

static __always_inline void sched_update_worker(struct task_struct *tsk)
{
	if (unlikely(tsk->flags & PF_WQ_WORKER))
		wq_worker_running(tsk);
}

void __sched schedule(void)
{
	KSCOPE_TRUTH(schedule);
	sched_submit_work(current);
	do {
		preempt_disable();
		__schedule(SM_NONE);
		preempt_enable_no_resched();
	} while (need_resched());
	sched_update_worker(current);
}

/* A task that waits for I/O counts as such. */
void __sched io_schedule(void)
{
	unsigned int token = current->in_iowait;

	current->in_iowait = 1;
	schedule();
	current->in_iowait = token;
}

void __sched schedule_idle(void)
{
	do {
		__schedule(SM_NONE);
	} while (need_resched());
}

void __sched schedule_preempt_disabled(void)
{
	preempt_enable_no_resched();
	schedule();
	preempt_disable();
}

static void __sched notrace preempt_schedule_common(void)
{
	do {
		preempt_disable();
		__schedule(SM_PREEMPT);
		preempt_enable_no_resched();
	} while (need_resched());
}

/* The voluntary mode's one place to be preempted inside the kernel. */
int __sched __cond_resched(void)
{
	if (should_resched()) {
		preempt_schedule_common();
		return 1;
	}
	return 0;
}

__noreturn void __sched do_task_dead(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&current->pi_lock, flags);	/* set_special_state(): no wake-up is under way */
	WRITE_ONCE(current->__state, TASK_DEAD);
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
	current->flags |= 0x8000;	/* PF_NOFREEZE */
	__schedule(SM_NONE);
	BUG();
}

static void do_sched_yield(void)
{
	struct rq *rq;

	local_irq_disable();
	rq = this_rq();
	raw_spin_rq_lock(rq);
	current->sched_class->yield_task(rq);
	preempt_disable();
	raw_spin_rq_unlock(rq);
	local_irq_enable();
	preempt_enable_no_resched();
	schedule();
}

void yield(void)
{
	set_current_state(TASK_RUNNING);
	do_sched_yield();
}

SYSCALL_DEFINE0(sched_yield)
{
	do_sched_yield();
	return 0;
}

/* From the timer interrupt, IRQs off. */
void scheduler_tick(void)
{
	int cpu = smp_processor_id();
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *curr = rq->curr;

	raw_spin_lock(&rq->__lock);
	update_rq_clock(rq);
	curr->sched_class->task_tick(rq, curr, 0);
	calc_global_load_tick(rq);
	raw_spin_unlock(&rq->__lock);
	trigger_load_balance(rq);
}

/* The reschedule interrupt: TIF_NEED_RESCHED is set already; fold it into the preempt count. */
void scheduler_ipi(void)
{
	if (tif_need_resched())
		set_preempt_need_resched();
}

unsigned int nr_running(void)
{
	unsigned int cpu, sum = 0;

	for_each_online_cpu(cpu)
		sum += READ_ONCE(cpu_rq(cpu)->nr_running);
	return sum;
}

unsigned long long nr_context_switches(void)
{
	unsigned long long sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(cpu_rq(cpu)->nr_switches);
	return sum;
}

int idle_cpu(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	return rq->curr == rq->idle && !rq->nr_running && !rq->ttwu_pending;
}

u64 task_sched_runtime(struct task_struct *p)
{
	unsigned long flags;
	struct rq *rq;
	u64 ns;

	rq = task_rq_lock(p, &flags);
	if (task_current(rq, p) && task_on_rq_queued(p)) {
		update_rq_clock(rq);
		p->sched_class->update_curr(rq);
	}
	ns = p->se.sum_exec_runtime;
	task_rq_unlock(rq, p, &flags);
	return ns;
}

/* Until p is off its CPU. */
unsigned long wait_task_inactive(struct task_struct *p, unsigned int state)
{
	trace_sched_wait_task(p);
	while (READ_ONCE(p->on_rq) || READ_ONCE(p->on_cpu)) {
		if (state && !(READ_ONCE(p->__state) & state))
			return 0;
		if (p->on_cpu)
			cpu_relax();
		else
			yield();
	}
	return 1;
}

void init_idle(struct task_struct *idle, int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	__sched_fork(0, idle);
	idle->__state = TASK_RUNNING;
	idle->flags |= PF_IDLE | PF_KTHREAD | PF_NO_SETAFFINITY;
	idle->sched_class = &idle_sched_class;
	idle->cpus_mask = *cpumask_of(cpu);
	idle->nr_cpus_allowed = 1;
	idle->thread_info.cpu = idle->cpu = idle->wake_cpu = cpu;
	idle->policy = SCHED_NORMAL;
	rq->idle = rq->curr = idle;
	idle->on_rq = TASK_ON_RQ_QUEUED;
	idle->on_cpu = 1;
	per_cpu(__preempt_count, cpu) = PREEMPT_ENABLED + PREEMPT_OFFSET;
	snprintf(idle->comm, sizeof(idle->comm), "swapper/%d", cpu);
}

void __init sched_init(void)
{
	unsigned int i;

	for_each_possible_cpu(i) {
		struct rq *rq = cpu_rq(i);

		raw_spin_lock_init(&rq->__lock);
		rq->cpu = i;
		rq->cfs.rq = rq;
		init_cfs_rq(&rq->cfs);
		init_rt_rq(&rq->rt);
		rq->calc_load_update = LOAD_FREQ;
		rq->online = true;
		rq->nohz_csd.func = nohz_csd_func;
		rq->nohz_csd.info = rq;
	}
	set_load_weight(&init_task, false);
	init_rt_bandwidth();
	mmgrab(&init_mm);
	init_idle(current, smp_processor_id());
	init_sched_fair_class();
}

void __init sched_init_smp(void)
{
	pr_info("smp: scheduler runs on %u CPUs\n", num_online_cpus());
}

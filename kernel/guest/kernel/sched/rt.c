/*
 * The real-time class: SCHED_FIFO and SCHED_RR (kernel/sched/rt.c). Of the runnable tasks the first of the highest
 * priority runs; a CPU with more than one offers the others to CPUs that do less urgent work (push), and a CPU that is about
 * to do less urgent work looks for them (pull). All real-time tasks of a CPU together get 0.95 s of each second
 * (sched_rt_runtime_us of sched_rt_period_us), so that one that loops does not lock the machine up.
 *
 * Less than Linux: no groups, and the CPU to push to is found by looking at all of them (Linux keeps cpupri, a table by
 * priority).
 */
#include "sched.h"
#include "timer.h"
#include "sysctl.h"

int sched_rr_timeslice = HZ / 10;		/* 100 ms */
unsigned int sysctl_sched_rt_period = 1000000;	/* us */
int sysctl_sched_rt_runtime = 950000;		/* us; negative: no limit */

struct rt_bandwidth { raw_spinlock_t rt_runtime_lock; ktime_t rt_period; struct hrtimer rt_period_timer; unsigned int rt_period_active; };
static struct rt_bandwidth def_rt_bandwidth;
static DEFINE_PER_CPU(struct balance_callback, rt_push_head);
static DEFINE_PER_CPU(struct balance_callback, rt_pull_head);
static atomic_t rto_count;			/* CPUs that have tasks to give away */

#define rt_task_of(e)	container_of(e, struct task_struct, rt)
#define rq_of_rt_rq(r)	container_of(r, struct rq, rt)

void init_rt_rq(struct rt_rq *rt_rq)
{
	int i;

	for (i = 0; i < MAX_RT_PRIO; i++)
		INIT_LIST_HEAD(&rt_rq->active.queue[i]);
	__set_bit(MAX_RT_PRIO, rt_rq->active.bitmap);
	rt_rq->highest_prio.curr = MAX_RT_PRIO;
	rt_rq->rt_runtime = (u64)sysctl_sched_rt_runtime * NSEC_PER_USEC;
}

static __always_inline int sched_find_first_bit(const unsigned long *b)
{
	return b[0] ? __ffs(b[0]) : __ffs(b[1]) + 64;
}

/* ---- how much of a period they may have ---- */
static void enqueue_top_rt_rq(struct rt_rq *rt_rq);
static void dequeue_top_rt_rq(struct rt_rq *rt_rq, unsigned int count);

/* A new period: what was used of the last one is forgiven, up to what a period allows. True: nobody needs the timer. */
static noinline int do_sched_rt_period_timer(struct rt_bandwidth *rt_b, u64 overrun)
{
	unsigned int cpu;
	int idle = 1;

	for_each_online_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);
		struct rt_rq *rt_rq = &rq->rt;

		raw_spin_rq_lock(rq);
		update_rq_clock(rq);
		if (rt_rq->rt_time) {
			rt_rq->rt_time -= min(rt_rq->rt_time, overrun * rt_rq->rt_runtime);
			if (rt_rq->rt_throttled && rt_rq->rt_time < rt_rq->rt_runtime) {
				rt_rq->rt_throttled = 0;
				enqueue_top_rt_rq(rt_rq);
				resched_curr(rq);
			}
		}
		if (rt_rq->rt_time || rt_rq->rt_nr_running)
			idle = 0;
		raw_spin_rq_unlock(rq);
	}
	return idle;
}

static enum hrtimer_restart sched_rt_period_timer(struct hrtimer *timer)
{
	struct rt_bandwidth *rt_b = container_of(timer, struct rt_bandwidth, rt_period_timer);
	int idle = 0;
	u64 overrun;

	raw_spin_lock(&rt_b->rt_runtime_lock);
	for (;;) {
		overrun = hrtimer_forward(timer, ktime_get(), rt_b->rt_period);
		if (!overrun)
			break;
		raw_spin_unlock(&rt_b->rt_runtime_lock);
		idle = do_sched_rt_period_timer(rt_b, overrun);
		raw_spin_lock(&rt_b->rt_runtime_lock);
	}
	if (idle)
		rt_b->rt_period_active = 0;
	raw_spin_unlock(&rt_b->rt_runtime_lock);
	return idle ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

void __init init_rt_bandwidth(void)
{
	def_rt_bandwidth.rt_period = (u64)sysctl_sched_rt_period * NSEC_PER_USEC;
	raw_spin_lock_init(&def_rt_bandwidth.rt_runtime_lock);
}

static void do_start_rt_bandwidth(struct rt_bandwidth *rt_b)
{
	raw_spin_lock(&rt_b->rt_runtime_lock);
	if (!rt_b->rt_period_active) {
		rt_b->rt_period_active = 1;
		if (!rt_b->rt_period_timer.function) {
			hrtimer_init(&rt_b->rt_period_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
			rt_b->rt_period_timer.function = sched_rt_period_timer;
		}
		/* The first period ends at once: it may have run long since the last one. */
		hrtimer_start(&rt_b->rt_period_timer, ktime_get() + rt_b->rt_period, HRTIMER_MODE_ABS_PINNED);
	}
	raw_spin_unlock(&rt_b->rt_runtime_lock);
}

static int sched_rt_runtime_exceeded(struct rt_rq *rt_rq)
{
	if (rt_rq->rt_throttled)
		return 1;
	if (sysctl_sched_rt_runtime < 0 || sysctl_sched_rt_runtime >= (int)sysctl_sched_rt_period)
		return 0;
	rt_rq->rt_runtime = (u64)sysctl_sched_rt_runtime * NSEC_PER_USEC;
	if (rt_rq->rt_time <= rt_rq->rt_runtime)
		return 0;
	rt_rq->rt_throttled = 1;
	printk_once(KERN_WARNING "sched: RT throttling activated\n");
	dequeue_top_rt_rq(rt_rq, rt_rq->rt_nr_running);
	return 1;
}

static noinline void update_curr_rt(struct rq *rq)
{
	struct task_struct *curr = rq->curr;
	u64 now = rq_clock_task(rq), delta_exec;

	if (curr->sched_class != &rt_sched_class)
		return;
	delta_exec = now - curr->se.exec_start;
	if (unlikely((s64)delta_exec <= 0))
		return;
	curr->se.sum_exec_runtime += delta_exec;
	curr->se.exec_start = now;
	rq->rt.rt_time += delta_exec;
	if (sched_rt_runtime_exceeded(&rq->rt)) {
		resched_curr(rq);
		do_start_rt_bandwidth(&def_rt_bandwidth);
	}
}

/* ---- the queue ---- */
static void dequeue_top_rt_rq(struct rt_rq *rt_rq, unsigned int count)
{
	if (!rt_rq->rt_queued)
		return;
	rq_of_rt_rq(rt_rq)->nr_running -= count;
	rt_rq->rt_queued = 0;
}

static void enqueue_top_rt_rq(struct rt_rq *rt_rq)
{
	if (rt_rq->rt_queued || rt_rq->rt_throttled || !rt_rq->rt_nr_running)
		return;
	rq_of_rt_rq(rt_rq)->nr_running += rt_rq->rt_nr_running;
	rt_rq->rt_queued = 1;
}

/* The highest priority and whether there are tasks to give away, after a change. */
static void update_rt_rq(struct rt_rq *rt_rq)
{
	bool overloaded = rt_rq->rt_nr_running > 1;

	rt_rq->highest_prio.curr = sched_find_first_bit(rt_rq->active.bitmap);
	if (overloaded == rt_rq->overloaded)
		return;
	rt_rq->overloaded = overloaded;
	if (overloaded)
		atomic_inc(&rto_count);
	else
		atomic_dec(&rto_count);
}

static void __enqueue_rt_entity(struct sched_rt_entity *rt_se, struct rt_rq *rt_rq, unsigned int flags)
{
	int prio = rt_task_of(rt_se)->prio;
	struct list_head *queue = &rt_rq->active.queue[prio];

	if (flags & ENQUEUE_HEAD)
		list_add(&rt_se->run_list, queue);
	else
		list_add_tail(&rt_se->run_list, queue);
	__set_bit(prio, rt_rq->active.bitmap);
	rt_se->on_list = rt_se->on_rq = 1;
	rt_rq->rt_nr_running++;
	rt_rq->rr_nr_running += rt_task_of(rt_se)->policy == SCHED_RR;
	update_rt_rq(rt_rq);
	do_start_rt_bandwidth(&def_rt_bandwidth);
}

static void __dequeue_rt_entity(struct sched_rt_entity *rt_se, struct rt_rq *rt_rq)
{
	int prio = rt_task_of(rt_se)->prio;

	list_del_init(&rt_se->run_list);
	if (list_empty(&rt_rq->active.queue[prio]))
		__clear_bit(prio, rt_rq->active.bitmap);
	rt_se->on_list = rt_se->on_rq = 0;
	rt_rq->rt_nr_running--;
	rt_rq->rr_nr_running -= rt_task_of(rt_se)->policy == SCHED_RR;
	update_rt_rq(rt_rq);
}

static noinline void enqueue_rt_entity(struct rq *rq, struct sched_rt_entity *rt_se, unsigned int flags)
{
	dequeue_top_rt_rq(&rq->rt, rq->rt.rt_nr_running);
	__enqueue_rt_entity(rt_se, &rq->rt, flags);
	enqueue_top_rt_rq(&rq->rt);
}

static noinline void dequeue_rt_entity(struct rq *rq, struct sched_rt_entity *rt_se)
{
	dequeue_top_rt_rq(&rq->rt, rq->rt.rt_nr_running);
	__dequeue_rt_entity(rt_se, &rq->rt);
	enqueue_top_rt_rq(&rq->rt);
}

static void enqueue_task_rt(struct rq *rq, struct task_struct *p, int flags)
{
	if (flags & ENQUEUE_WAKEUP)
		p->rt.timeout = 0;
	enqueue_rt_entity(rq, &p->rt, flags);
}

static void dequeue_task_rt(struct rq *rq, struct task_struct *p, int flags)
{
	update_curr_rt(rq);
	dequeue_rt_entity(rq, &p->rt);
}

static noinline void requeue_task_rt(struct rq *rq, struct task_struct *p, int head)
{
	if (!p->rt.on_rq)
		return;
	if (head)
		list_move(&p->rt.run_list, &rq->rt.active.queue[p->prio]);
	else
		list_move_tail(&p->rt.run_list, &rq->rt.active.queue[p->prio]);
}

static void yield_task_rt(struct rq *rq)
{
	requeue_task_rt(rq, rq->curr, 0);
}

/* ---- which CPU ---- */

/* An allowed CPU that does the least urgent work, when that is less urgent than the task: its own first, then this one. */
static noinline int find_lowest_rq(struct task_struct *task)
{
	int this_cpu = smp_processor_id(), best = -1, lowest = task->prio;
	unsigned int cpu;

	for_each_cpu(cpu, &task->cpus_mask) {
		int prio = cpu_active(cpu) ? READ_ONCE(cpu_rq(cpu)->rt.highest_prio.curr) : -1;

		if (prio > lowest || (prio == lowest && best >= 0 && best != (int)task_cpu(task) &&
				      (cpu == task_cpu(task) || (int)cpu == this_cpu))) {
			lowest = prio;
			best = cpu;
		}
	}
	return best;
}

/* A wakee whose CPU runs a task that is as urgent, or cannot move, goes elsewhere. */
static int select_task_rq_rt(struct task_struct *p, int cpu, int flags)
{
	struct task_struct *curr;
	int target;

	if (!(flags & (WF_TTWU | WF_FORK)))
		return cpu;
	rcu_read_lock();
	curr = READ_ONCE(cpu_rq(cpu)->curr);
	if (curr && rt_task(curr) && (curr->nr_cpus_allowed < 2 || curr->prio <= p->prio)) {
		target = find_lowest_rq(p);
		if (target != -1 && p->prio < READ_ONCE(cpu_rq(target)->rt.highest_prio.curr))
			cpu = target;
	}
	rcu_read_unlock();
	return cpu;
}

static bool pick_rt_task(struct rq *rq, struct task_struct *p, int cpu)
{
	return !task_current(rq, p) && !p->on_cpu && cpumask_test_cpu(cpu, &p->cpus_mask);
}

/* The most urgent waiting task that may run on @cpu; -1: on any other CPU. */
static noinline struct task_struct *pick_highest_pushable_task(struct rq *rq, int cpu)
{
	struct sched_rt_entity *rt_se;
	int prio;

	for (prio = rq->rt.highest_prio.curr; prio < MAX_RT_PRIO; prio++) {
		list_for_each_entry(rt_se, &rq->rt.active.queue[prio], run_list) {
			struct task_struct *p = rt_task_of(rt_se);

			if (cpu < 0 ? !task_current(rq, p) && !p->on_cpu && p->nr_cpus_allowed > 1 : pick_rt_task(rq, p, cpu))
				return p;
		}
	}
	return NULL;
}

/* rq is locked; the CPU found is locked too, and still does less urgent work. */
static noinline struct rq *find_lock_lowest_rq(struct task_struct *task, struct rq *rq)
{
	int tries;

	for (tries = 0; tries < 3; tries++) {
		int cpu = find_lowest_rq(task);
		struct rq *lowest_rq;

		if (cpu == -1 || cpu == rq->cpu)
			return NULL;
		lowest_rq = cpu_rq(cpu);
		if (lowest_rq->rt.highest_prio.curr <= task->prio)
			return NULL;
		if (double_lock_balance(rq, lowest_rq) &&
		    (task_rq(task) != rq || !cpumask_test_cpu(cpu, &task->cpus_mask) || task->on_cpu || !rt_task(task) ||
		     !task_on_rq_queued(task))) {
			raw_spin_rq_unlock(lowest_rq);
			return NULL;
		}
		if (lowest_rq->rt.highest_prio.curr > task->prio)
			return lowest_rq;
		raw_spin_rq_unlock(lowest_rq);
	}
	return NULL;
}

static noinline int push_rt_task(struct rq *rq, bool pull)
{
	struct task_struct *next_task;
	struct rq *lowest_rq;

	if (!rq->rt.overloaded)
		return 0;
	next_task = pick_highest_pushable_task(rq, -1);
	if (!next_task)
		return 0;
	/* More urgent than what runs here: it is the next to run anyway. */
	if (unlikely(next_task->prio < rq->curr->prio)) {
		resched_curr(rq);
		return 0;
	}
	get_task_struct(next_task);
	lowest_rq = find_lock_lowest_rq(next_task, rq);
	if (lowest_rq) {
		deactivate_task(rq, next_task, 0);
		set_task_cpu(next_task, lowest_rq->cpu);
		activate_task(lowest_rq, next_task, 0);
		resched_curr(lowest_rq);
		raw_spin_rq_unlock(lowest_rq);
	}
	put_task_struct(next_task);
	return lowest_rq != NULL;
}

static noinline void push_rt_tasks(struct rq *rq)
{
	while (push_rt_task(rq, false))
		;
}

/* Fetches tasks that are more urgent than all here and wait elsewhere. */
static noinline void pull_rt_task(struct rq *this_rq)
{
	unsigned int cpu;
	bool resched = false;

	if (!atomic_read(&rto_count))
		return;
	for_each_online_cpu(cpu) {
		struct rq *src_rq = cpu_rq(cpu);
		struct task_struct *p;

		if (src_rq == this_rq || !READ_ONCE(src_rq->rt.overloaded))
			continue;
		double_lock_balance(this_rq, src_rq);
		p = pick_highest_pushable_task(src_rq, this_rq->cpu);
		/* One that will run there in a moment, being more urgent than what runs, stays. */
		if (p && p->prio < this_rq->rt.highest_prio.curr && p->prio >= src_rq->curr->prio) {
			deactivate_task(src_rq, p, 0);
			set_task_cpu(p, this_rq->cpu);
			activate_task(this_rq, p, 0);
			resched = true;
		}
		raw_spin_rq_unlock(src_rq);
	}
	if (resched)
		resched_curr(this_rq);
}

static void rt_queue_push_tasks(struct rq *rq)
{
	if (rq->rt.overloaded)
		queue_balance_callback(rq, &per_cpu(rt_push_head, rq->cpu), push_rt_tasks);
}

static void rt_queue_pull_task(struct rq *rq)
{
	queue_balance_callback(rq, &per_cpu(rt_pull_head, rq->cpu), pull_rt_task);
}

static int balance_rt(struct rq *rq, struct task_struct *p)
{
	/* p goes to sleep, or what is left is less urgent than it was. */
	if (!p->rt.on_rq && rq->rt.highest_prio.curr > p->prio)
		pull_rt_task(rq);
	return (rq->stop && task_on_rq_queued(rq->stop)) || rq->rt.rt_queued;
}

static void task_woken_rt(struct rq *rq, struct task_struct *p)
{
	if (!p->on_cpu && !test_tsk_thread_flag(rq->curr, TIF_NEED_RESCHED) && p->nr_cpus_allowed > 1 &&
	    rt_task(rq->curr) && (rq->curr->nr_cpus_allowed < 2 || rq->curr->prio <= p->prio))
		push_rt_tasks(rq);
}

/* ---- the class ---- */
static void check_preempt_curr_rt(struct rq *rq, struct task_struct *p, int flags)
{
	if (p->prio < rq->curr->prio)
		resched_curr(rq);
}

static noinline void set_next_task_rt(struct rq *rq, struct task_struct *p, bool first)
{
	p->se.exec_start = rq_clock_task(rq);
	if (first)
		rt_queue_push_tasks(rq);
}

static struct task_struct *pick_next_task_rt(struct rq *rq)
{
	struct task_struct *p;

	if (!rq->rt.rt_queued)
		return NULL;
	p = rt_task_of(list_first_entry(&rq->rt.active.queue[rq->rt.highest_prio.curr], struct sched_rt_entity, run_list));
	set_next_task_rt(rq, p, true);
	return p;
}

static void put_prev_task_rt(struct rq *rq, struct task_struct *p)
{
	update_curr_rt(rq);
}

static void task_tick_rt(struct rq *rq, struct task_struct *p, int queued)
{
	update_curr_rt(rq);
	if (p->policy != SCHED_RR || --p->rt.time_slice)
		return;
	p->rt.time_slice = sched_rr_timeslice;
	if (p->rt.run_list.prev != p->rt.run_list.next) {
		requeue_task_rt(rq, p, 0);
		resched_curr(rq);
	}
}

static void switched_from_rt(struct rq *rq, struct task_struct *p)
{
	if (task_on_rq_queued(p) && !rq->rt.rt_nr_running)
		rt_queue_pull_task(rq);
}

static void switched_to_rt(struct rq *rq, struct task_struct *p)
{
	if (task_current(rq, p) || !task_on_rq_queued(p))
		return;
	if (p->nr_cpus_allowed > 1)
		rt_queue_push_tasks(rq);
	if (p->prio < rq->curr->prio)
		resched_curr(rq);
}

static void prio_changed_rt(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p))
		return;
	if (task_current(rq, p)) {
		if (oldprio < p->prio)
			rt_queue_pull_task(rq);
		if (p->prio > rq->rt.highest_prio.curr)
			resched_curr(rq);
	} else if (p->prio < rq->curr->prio) {
		resched_curr(rq);
	}
}

static unsigned int get_rr_interval_rt(struct rq *rq, struct task_struct *task)
{
	return task->policy == SCHED_RR ? sched_rr_timeslice : 0;
}

DEFINE_SCHED_CLASS(rt) = {
	.enqueue_task = enqueue_task_rt,
	.dequeue_task = dequeue_task_rt,
	.yield_task = yield_task_rt,
	.check_preempt_curr = check_preempt_curr_rt,
	.pick_next_task = pick_next_task_rt,
	.put_prev_task = put_prev_task_rt,
	.set_next_task = set_next_task_rt,
	.balance = balance_rt,
	.select_task_rq = select_task_rq_rt,
	.task_woken = task_woken_rt,
	.task_tick = task_tick_rt,
	.switched_from = switched_from_rt,
	.switched_to = switched_to_rt,
	.prio_changed = prio_changed_rt,
	.get_rr_interval = get_rr_interval_rt,
	.update_curr = update_curr_rt,
};

/* The limits must fit together; a new one counts from the next period on. */
static int sched_rt_handler(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	int old_period = sysctl_sched_rt_period, old_runtime = sysctl_sched_rt_runtime;
	int ret = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	if (ret || !write)
		return ret;
	if (sysctl_sched_rt_period <= 0 || sysctl_sched_rt_runtime > (int)sysctl_sched_rt_period) {
		sysctl_sched_rt_period = old_period;
		sysctl_sched_rt_runtime = old_runtime;
		return -EINVAL;
	}
	def_rt_bandwidth.rt_period = (u64)sysctl_sched_rt_period * NSEC_PER_USEC;
	return 0;
}

static int sysctl_sched_rr_timeslice = 1000 / 10;	/* ms */

static int sched_rr_handler(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	int ret = proc_dointvec(table, write, buffer, lenp, ppos);

	if (!ret && write) {
		sched_rr_timeslice = sysctl_sched_rr_timeslice <= 0 ? HZ / 10 : (int)msecs_to_jiffies(sysctl_sched_rr_timeslice);
		if (sysctl_sched_rr_timeslice <= 0)
			sysctl_sched_rr_timeslice = 1000 / 10;
	}
	return ret;
}

static const int minus_one = -1;
static struct ctl_table sched_rt_sysctls[] = {
	{ "sched_rr_timeslice_ms", &sysctl_sched_rr_timeslice, sizeof(int), 0644, sched_rr_handler, NULL, NULL },
	{ "sched_rt_period_us", &sysctl_sched_rt_period, sizeof(int), 0644, sched_rt_handler, SYSCTL_ONE, SYSCTL_INT_MAX },
	{ "sched_rt_runtime_us", &sysctl_sched_rt_runtime, sizeof(int), 0644, sched_rt_handler, &minus_one, SYSCTL_INT_MAX },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL },
};

static int __init sched_rt_sysctl_init(void)
{
	return register_sysctl("kernel", sched_rt_sysctls);
}
late_initcall(sched_rt_sysctl_init);

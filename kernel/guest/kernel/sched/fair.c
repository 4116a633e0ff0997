/*
 * The fair class: the runnable task with the least virtual runtime runs next (kernel/sched/fair.c). No groups and no
 * bandwidth control.
 */
#include "sched.h"
#include "tracepoint.h"

/* nice -20 … 19: each step is about 10 % of CPU. See sched_prio_to_weight in kernel/sched/core.c. */
const int sched_prio_to_weight[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
};
unsigned int sysctl_sched_latency = 6000000;
unsigned int sysctl_sched_min_granularity = 750000;
unsigned int sysctl_sched_wakeup_granularity = 1000000;
static unsigned int sched_nr_latency = 8;

/* The three above grow with 1 + log2(CPUs), at most 8 CPUs counted: sched_init_granularity(). */
static void update_sysctl(void)
{
	unsigned int factor = 1 + ilog2(min(nr_cpu_ids, 8u));

	sysctl_sched_latency = 6000000 * factor;
	sysctl_sched_min_granularity = 750000 * factor;
	sysctl_sched_wakeup_granularity = 1000000 * factor;
}

/* Some queue had a task that waits, when one was last put on it or looked for (root_domain's overload): others may pull. */
static bool rd_overload;

void init_cfs_rq(struct cfs_rq *cfs_rq)
{
	cfs_rq->tasks_timeline = RB_ROOT_CACHED;
	cfs_rq->min_vruntime = (u64)(-(1LL << 20));
}

static inline bool entity_before(struct sched_entity *a, struct sched_entity *b)
{
	return (s64)(a->vruntime - b->vruntime) < 0;
}

static u64 calc_delta_fair(u64 delta, struct sched_entity *se)
{
	if (unlikely(se->load.weight != NICE_0_LOAD))
		delta = delta * NICE_0_LOAD / se->load.weight;
	return delta;
}

static u64 max_vruntime(u64 max_v, u64 v)
{
	return (s64)(v - max_v) > 0 ? v : max_v;
}

static noinline void update_min_vruntime(struct cfs_rq *cfs_rq)
{
	struct sched_entity *curr = cfs_rq->curr;
	struct rb_node *leftmost = rb_first_cached(&cfs_rq->tasks_timeline);
	u64 vruntime = cfs_rq->min_vruntime;

	if (curr) {
		if (curr->on_rq)
			vruntime = curr->vruntime;
		else
			curr = NULL;
	}
	if (leftmost) {
		struct sched_entity *se = rb_entry(leftmost, struct sched_entity, run_node);

		if (!curr || (s64)(se->vruntime - vruntime) < 0)
			vruntime = se->vruntime;
	}
	cfs_rq->min_vruntime = max_vruntime(cfs_rq->min_vruntime, vruntime);
}

static void __enqueue_entity(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	struct rb_node **link = &cfs_rq->tasks_timeline.rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (entity_before(se, rb_entry(parent, struct sched_entity, run_node))) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(&se->run_node, parent, link);
	rb_insert_color_cached(&se->run_node, &cfs_rq->tasks_timeline, leftmost);
}

static void __dequeue_entity(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	rb_erase_cached(&se->run_node, &cfs_rq->tasks_timeline);
}

static noinline void update_curr(struct cfs_rq *cfs_rq)
{
	struct sched_entity *curr = cfs_rq->curr;
	u64 now = rq_clock_task(rq_of(cfs_rq)), delta_exec;

	if (unlikely(!curr))
		return;
	delta_exec = now - curr->exec_start;
	if (unlikely((s64)delta_exec <= 0))
		return;
	curr->exec_start = now;
	curr->sum_exec_runtime += delta_exec;
	curr->vruntime += calc_delta_fair(delta_exec, curr);
	update_min_vruntime(cfs_rq);
	trace_sched_stat_runtime(container_of(curr, struct task_struct, se), delta_exec, curr->vruntime);
}

static void update_curr_fair(struct rq *rq)
{
	update_curr(&rq->cfs);
}

/* The period in which each runnable task runs once. */
static u64 __sched_period(unsigned long nr_running)
{
	if (unlikely(nr_running > sched_nr_latency))
		return nr_running * sysctl_sched_min_granularity;
	return sysctl_sched_latency;
}

static noinline u64 sched_slice(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	unsigned long load = cfs_rq->load.weight;

	if (!se->on_rq)
		load += se->load.weight;
	return max(__sched_period(cfs_rq->nr_running + !se->on_rq) * se->load.weight / max(load, 1UL),
		   (u64)sysctl_sched_min_granularity);
}

static u64 sched_vslice(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	return calc_delta_fair(sched_slice(cfs_rq, se), se);
}

/* Sleepers get half a latency's credit, newcomers start one slice behind. */
static noinline void place_entity(struct cfs_rq *cfs_rq, struct sched_entity *se, int initial)
{
	u64 vruntime = cfs_rq->min_vruntime;

	if (initial)
		vruntime += sched_vslice(cfs_rq, se);
	else
		vruntime -= sysctl_sched_latency >> 1;
	se->vruntime = max_vruntime(se->vruntime, vruntime);
}

/* A new task counts as if it had always run, until it shows what it does. */
void init_entity_runnable_average(struct sched_entity *se)
{
	se->avg = (struct sched_avg){ .load_avg = se->load.weight };
}

void post_init_entity_util_avg(struct task_struct *p)
{
	p->se.avg.last_update_time = rq_clock_task(task_rq(p));
	p->se.avg.load_sum = 47742UL - 1024;
}

static noinline void attach_entity_load_avg(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	cfs_rq->avg.load_avg += se->avg.load_avg;
	cfs_rq->avg.load_sum += se->load.weight * se->avg.load_sum;
}

/* It leaves the queue, whose lock is held: its load goes with it. */
static noinline void detach_entity_load_avg(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	cfs_rq->avg.load_avg -= min(cfs_rq->avg.load_avg, se->avg.load_avg);
	cfs_rq->avg.load_sum -= min(cfs_rq->avg.load_sum, se->load.weight * se->avg.load_sum);
}

/* It has slept, and moves away or is dead; the queue's lock is not held, so the queue takes its load off later. */
static noinline void remove_entity_load_avg(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	unsigned long flags;

	__update_load_avg_blocked_se(READ_ONCE(cfs_rq->avg.last_update_time), se);
	raw_spin_lock_irqsave(&cfs_rq->removed.lock, flags);
	cfs_rq->removed.nr++;
	cfs_rq->removed.load_avg += se->avg.load_avg;
	cfs_rq->removed.load_sum += se->load.weight * se->avg.load_sum;
	raw_spin_unlock_irqrestore(&cfs_rq->removed.lock, flags);
}

static __always_inline void update_cfs_rq_load_avg(u64 now, struct cfs_rq *cfs_rq)
{
	if (cfs_rq->removed.nr) {
		raw_spin_lock(&cfs_rq->removed.lock);
		cfs_rq->avg.load_avg -= min(cfs_rq->avg.load_avg, cfs_rq->removed.load_avg);
		cfs_rq->avg.load_sum -= min(cfs_rq->avg.load_sum, cfs_rq->removed.load_sum);
		cfs_rq->removed.load_avg = cfs_rq->removed.load_sum = 0;
		cfs_rq->removed.nr = 0;
		raw_spin_unlock(&cfs_rq->removed.lock);
	}
	__update_load_avg_cfs_rq(now, cfs_rq);
}

static __always_inline void update_load_avg(struct cfs_rq *cfs_rq, struct sched_entity *se, bool attach)
{
	u64 now = rq_clock_task(rq_of(cfs_rq));

	if (se->avg.last_update_time && !attach)
		__update_load_avg_se(now, cfs_rq, se);
	update_cfs_rq_load_avg(now, cfs_rq);
	if (attach) {
		se->avg.last_update_time = now;
		attach_entity_load_avg(cfs_rq, se);
	}
}

static noinline void update_stats_enqueue_fair(struct cfs_rq *cfs_rq, struct sched_entity *se, int flags)
{
	if (se != cfs_rq->curr)
		__update_stats_wait_start(rq_of(cfs_rq), task_of(se));
	if (flags & ENQUEUE_WAKEUP)
		__update_stats_enqueue_sleeper(rq_of(cfs_rq), task_of(se));
}

static noinline void update_stats_dequeue_fair(struct cfs_rq *cfs_rq, struct sched_entity *se, int flags)
{
	if (se != cfs_rq->curr)
		__update_stats_wait_end(rq_of(cfs_rq), task_of(se));
	if (flags & DEQUEUE_SLEEP)
		__update_stats_dequeue_sleep(rq_of(cfs_rq), task_of(se));
}

static noinline void enqueue_entity(struct cfs_rq *cfs_rq, struct sched_entity *se, int flags)
{
	bool renorm = !(flags & ENQUEUE_WAKEUP) || (flags & ENQUEUE_MIGRATED);
	bool curr = cfs_rq->curr == se;

	/* Off the queue a migrating or new task's vruntime is relative to its queue's minimum. */
	if (renorm && curr)
		se->vruntime += cfs_rq->min_vruntime;
	update_curr(cfs_rq);
	if (renorm && !curr)
		se->vruntime += cfs_rq->min_vruntime;
	update_load_avg(cfs_rq, se, renorm);
	cfs_rq->load.weight += se->load.weight;
	cfs_rq->nr_running++;
	if (flags & ENQUEUE_WAKEUP)
		place_entity(cfs_rq, se, 0);
	if (schedstat_enabled())
		update_stats_enqueue_fair(cfs_rq, se, flags);
	if (!curr)
		__enqueue_entity(cfs_rq, se);
	se->on_rq = 1;
}

static noinline void clear_buddies(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	if (cfs_rq->last == se)
		cfs_rq->last = NULL;
	if (cfs_rq->next == se)
		cfs_rq->next = NULL;
	if (cfs_rq->skip == se)
		cfs_rq->skip = NULL;
}

static noinline void dequeue_entity(struct cfs_rq *cfs_rq, struct sched_entity *se, int flags)
{
	update_curr(cfs_rq);
	update_load_avg(cfs_rq, se, false);
	if (schedstat_enabled())
		update_stats_dequeue_fair(cfs_rq, se, flags);
	clear_buddies(cfs_rq, se);
	if (se != cfs_rq->curr)
		__dequeue_entity(cfs_rq, se);
	se->on_rq = 0;
	cfs_rq->load.weight -= se->load.weight;
	cfs_rq->nr_running--;
	if (!(flags & DEQUEUE_SLEEP)) {
		se->vruntime -= cfs_rq->min_vruntime;
		detach_entity_load_avg(cfs_rq, se);
	}
	update_min_vruntime(cfs_rq);
}

static void enqueue_task_fair(struct rq *rq, struct task_struct *p, int flags)
{
	enqueue_entity(&rq->cfs, &p->se, flags);
	rq->nr_running++;
	if (rq->cfs.nr_running > 1 && !READ_ONCE(rd_overload))
		WRITE_ONCE(rd_overload, true);
}

static void set_next_buddy(struct sched_entity *se)
{
	cfs_rq_of(se)->next = se;
}

static void dequeue_task_fair(struct rq *rq, struct task_struct *p, int flags)
{
	dequeue_entity(&rq->cfs, &p->se, flags);
	rq->nr_running--;
}

static noinline void set_next_entity(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	clear_buddies(cfs_rq, se);
	if (se->on_rq) {
		if (schedstat_enabled())
			__update_stats_wait_end(rq_of(cfs_rq), task_of(se));
		__dequeue_entity(cfs_rq, se);
		update_load_avg(cfs_rq, se, false);
	}
	se->exec_start = rq_clock_task(rq_of(cfs_rq));
	cfs_rq->curr = se;
	se->prev_sum_exec_runtime = se->sum_exec_runtime;
}

static unsigned long wakeup_gran(struct sched_entity *se)
{
	return calc_delta_fair(sysctl_sched_wakeup_granularity, se);
}

/* 1: se should preempt curr; 0: it is ahead, but not by enough; -1: it is not. */
static int wakeup_preempt_entity(struct sched_entity *curr, struct sched_entity *se)
{
	s64 vdiff = curr->vruntime - se->vruntime;

	if (vdiff <= 0)
		return -1;
	return vdiff > (s64)wakeup_gran(se) ? 1 : 0;
}

static noinline struct sched_entity *pick_next_entity(struct cfs_rq *cfs_rq, struct sched_entity *curr)
{
	struct rb_node *node = rb_first_cached(&cfs_rq->tasks_timeline);
	struct sched_entity *left = node ? rb_entry(node, struct sched_entity, run_node) : NULL, *se;

	if (!left || (curr && entity_before(curr, left)))
		left = curr;
	se = left;
	if (cfs_rq->skip && cfs_rq->skip == se) {
		struct rb_node *second = se == curr ? node : rb_next(&se->run_node);
		struct sched_entity *s = second ? rb_entry(second, struct sched_entity, run_node) : NULL;

		if (se != curr && (!s || (curr && entity_before(curr, s))))
			s = curr;
		if (s && wakeup_preempt_entity(s, left) < 1)
			se = s;
	}
	if (cfs_rq->next && wakeup_preempt_entity(cfs_rq->next, left) < 1)
		se = cfs_rq->next;
	return se;
}

static noinline void put_prev_entity(struct cfs_rq *cfs_rq, struct sched_entity *prev)
{
	if (prev->on_rq) {
		update_curr(cfs_rq);
		if (schedstat_enabled())
			__update_stats_wait_start(rq_of(cfs_rq), container_of(prev, struct task_struct, se));
		__enqueue_entity(cfs_rq, prev);
		update_load_avg(cfs_rq, prev, false);
	}
	cfs_rq->curr = NULL;
}

static void put_prev_task_fair(struct rq *rq, struct task_struct *prev)
{
	put_prev_entity(&rq->cfs, &prev->se);
}

static void set_next_task_fair(struct rq *rq, struct task_struct *p, bool first)
{
	set_next_entity(&rq->cfs, &p->se);
}

/* May task p be pulled to dst? Not while it runs, or was picked and has not left its CPU. */
static bool can_migrate_task(struct task_struct *p, int dst)
{
	return !p->on_cpu && cpumask_test_cpu(dst, &p->cpus_mask) && !(p->flags & PF_NO_SETAFFINITY);
}

static struct rq *find_busiest_queue(struct rq *this_rq)
{
	struct rq *busiest = NULL;
	unsigned int cpu, most = 1;

	for_each_online_cpu(cpu) {
		unsigned int nr = READ_ONCE(cpu_rq(cpu)->cfs.nr_running);

		if (cpu != this_rq->cpu && nr > most) {
			most = nr;
			busiest = cpu_rq(cpu);
		}
	}
	return busiest;
}

/* Both queues locked: moves one waiting task. */
static int detach_attach_one(struct rq *src, struct rq *dst)
{
	struct rb_node *n;

	for (n = rb_first_cached(&src->cfs.tasks_timeline); n; n = rb_next(n)) {
		struct task_struct *p = task_of(rb_entry(n, struct sched_entity, run_node));

		if (!can_migrate_task(p, dst->cpu))
			continue;
		deactivate_task(src, p, 0);
		set_task_cpu(p, dst->cpu);
		activate_task(dst, p, 0);
		check_preempt_curr(dst, p, 0);
		return 1;
	}
	return 0;
}

/* Locked: this_rq. Returns the number of tasks now on it. */
static noinline int load_balance(struct rq *this_rq)
{
	struct rq *busiest = find_busiest_queue(this_rq);

	if (!busiest) {
		WRITE_ONCE(rd_overload, false);
		return 0;
	}
	raw_spin_rq_unlock(this_rq);
	double_rq_lock(this_rq, busiest);
	if (busiest->cfs.nr_running > this_rq->cfs.nr_running + 1)
		detach_attach_one(busiest, this_rq);
	raw_spin_rq_unlock(busiest);
	return this_rq->cfs.nr_running;
}

/* About to idle: is there work waiting elsewhere? */
static noinline int sched_balance_newidle(struct rq *this_rq)
{
	if (!cpumask_test_cpu(this_rq->cpu, cpu_active_mask) || !READ_ONCE(rd_overload))
		return 0;
	load_balance(this_rq);
	/* The lock was dropped: a real-time task may have come. */
	return this_rq->nr_running != this_rq->cfs.nr_running ? -1 : (int)this_rq->cfs.nr_running;
}

struct task_struct *pick_next_task_fair(struct rq *rq, struct task_struct *prev)
{
	struct cfs_rq *cfs_rq = &rq->cfs;
	struct sched_entity *curr, *se;

	if (!cfs_rq->nr_running) {
		int new_tasks = prev ? sched_balance_newidle(rq) : 0;

		if (new_tasks < 0)
			return RETRY_TASK;
		if (!new_tasks)
			return NULL;
	}
	curr = cfs_rq->curr;
	if (curr) {
		if (curr->on_rq)
			update_curr(cfs_rq);
		else
			curr = NULL;
	}
	se = pick_next_entity(cfs_rq, curr);
	if (prev != task_of(se)) {
		if (prev)
			put_prev_task(rq, prev);
		set_next_entity(cfs_rq, se);
	}
	return task_of(se);
}

static void check_preempt_wakeup(struct rq *rq, struct task_struct *p, int wake_flags)
{
	struct sched_entity *se = &rq->curr->se, *pse = &p->se;
	struct cfs_rq *cfs_rq = &rq->cfs;

	if (unlikely(se == pse))
		return;
	if (unlikely(idle_policy(rq->curr->policy)) && !idle_policy(p->policy)) {
		resched_curr(rq);
		return;
	}
	if (cfs_rq->nr_running >= sched_nr_latency && !(wake_flags & WF_FORK))
		set_next_buddy(pse);
	if (test_tsk_thread_flag(rq->curr, TIF_NEED_RESCHED))
		return;
	if (unlikely(p->policy != SCHED_NORMAL))
		return;			/* batch and idle tasks wait for the tick */
	update_curr(cfs_rq);
	if (wakeup_preempt_entity(se, pse) == 1) {
		if (!(wake_flags & WF_FORK))
			set_next_buddy(pse);
		resched_curr(rq);
	}
}

static void check_preempt_tick(struct cfs_rq *cfs_rq, struct sched_entity *curr)
{
	u64 ideal_runtime = sched_slice(cfs_rq, curr);
	u64 delta_exec = curr->sum_exec_runtime - curr->prev_sum_exec_runtime;
	struct rb_node *left;
	s64 delta;

	if (delta_exec > ideal_runtime) {
		resched_curr(rq_of(cfs_rq));
		clear_buddies(cfs_rq, curr);
		return;
	}
	if (delta_exec < sysctl_sched_min_granularity)
		return;
	left = rb_first_cached(&cfs_rq->tasks_timeline);
	if (!left)
		return;
	delta = curr->vruntime - rb_entry(left, struct sched_entity, run_node)->vruntime;
	if (delta > (s64)ideal_runtime)
		resched_curr(rq_of(cfs_rq));
}

static void entity_tick(struct cfs_rq *cfs_rq, struct sched_entity *curr, int queued)
{
	update_curr(cfs_rq);
	update_load_avg(cfs_rq, curr, false);
	if (cfs_rq->nr_running > 1)
		check_preempt_tick(cfs_rq, curr);
}

static void task_tick_fair(struct rq *rq, struct task_struct *curr, int queued)
{
	entity_tick(&rq->cfs, &curr->se, queued);
}

static void task_fork_fair(struct task_struct *p)
{
	struct rq *rq = this_rq();
	struct cfs_rq *cfs_rq = &rq->cfs;
	struct sched_entity *curr;

	raw_spin_rq_lock(rq);
	update_rq_clock(rq);
	curr = cfs_rq->curr;
	if (curr) {
		update_curr(cfs_rq);
		p->se.vruntime = curr->vruntime;
	}
	place_entity(cfs_rq, &p->se, 1);
	p->se.vruntime -= cfs_rq->min_vruntime;
	raw_spin_rq_unlock(rq);
}

static void migrate_task_rq_fair(struct task_struct *p, int new_cpu)
{
	if (READ_ONCE(p->__state) == TASK_WAKING) {	/* its vruntime becomes relative */
		p->se.vruntime -= p->se.cfs_rq->min_vruntime;
		remove_entity_load_avg(p->se.cfs_rq, &p->se);
	}
	p->se.exec_start = 0;
}

static void task_dead_fair(struct task_struct *p)
{
	remove_entity_load_avg(p->se.cfs_rq, &p->se);
}

static void yield_task_fair(struct rq *rq)
{
	struct cfs_rq *cfs_rq = &rq->cfs;

	if (unlikely(rq->nr_running == 1))
		return;
	clear_buddies(cfs_rq, &rq->curr->se);
	update_rq_clock(rq);
	update_curr(cfs_rq);
	cfs_rq->skip = &rq->curr->se;
}

static noinline int available_idle_cpu(int cpu)
{
	return idle_cpu(cpu);
}

static int select_idle_cpu(struct task_struct *p, int target)
{
	unsigned int i, cpu = target;

	for (i = 1; i < nr_cpu_ids; i++) {
		cpu = cpu + 1 < nr_cpu_ids ? cpu + 1 : 0;
		if (cpumask_test_cpu(cpu, &p->cpus_mask) && cpu_active(cpu) && available_idle_cpu(cpu))
			return cpu;
	}
	return -1;
}

/* All CPUs share one cache here: any idle one will do, the target and the previous one first. */
static int select_idle_sibling(struct task_struct *p, int prev, int target)
{
	int recent_used_cpu, i;

	if (available_idle_cpu(target))
		return target;
	if (prev != target && available_idle_cpu(prev) && cpumask_test_cpu(prev, &p->cpus_mask))
		return prev;
	recent_used_cpu = p->recent_used_cpu;
	p->recent_used_cpu = prev;
	if (recent_used_cpu != prev && recent_used_cpu != target && available_idle_cpu(recent_used_cpu) &&
	    cpumask_test_cpu(recent_used_cpu, &p->cpus_mask))
		return recent_used_cpu;
	i = select_idle_cpu(p, target);
	return i >= 0 ? i : target;
}

static unsigned long cpu_load(int cpu)
{
	return READ_ONCE(cpu_rq(cpu)->cfs.avg.load_avg);
}

/* A waker that is alone on its CPU and will sleep (sync), or an idle CPU: the wakee may come here; else where it was. */
static int wake_affine(int this_cpu, int prev_cpu, int sync)
{
	if (available_idle_cpu(this_cpu))
		return available_idle_cpu(prev_cpu) ? prev_cpu : this_cpu;
	if (sync && cpu_rq(this_cpu)->nr_running == 1)
		return this_cpu;
	if (available_idle_cpu(prev_cpu))
		return prev_cpu;
	return cpu_load(this_cpu) < cpu_load(prev_cpu) ? this_cpu : prev_cpu;
}

/* For new tasks: the allowed CPU with the fewest tasks, this one when it ties. */
static int find_idlest_cpu(struct task_struct *p, int this_cpu)
{
	unsigned int cpu, best = this_cpu, least = UINT_MAX;

	for_each_cpu(cpu, &p->cpus_mask) {
		unsigned int nr = cpu_active(cpu) ? READ_ONCE(cpu_rq(cpu)->nr_running) : UINT_MAX;

		if (nr < least || (nr == least && cpu == this_cpu)) {
			least = nr;
			best = cpu;
		}
	}
	return best;
}

static int select_task_rq_fair(struct task_struct *p, int prev_cpu, int wake_flags)
{
	int cpu = smp_processor_id(), new_cpu = prev_cpu;

	if (wake_flags & WF_EXEC && cpu_rq(cpu)->nr_running == 1)
		return cpu;			/* itself: no CPU can be idler */
	if (!(wake_flags & WF_TTWU))
		return find_idlest_cpu(p, cpu);
	if (cpumask_test_cpu(cpu, &p->cpus_mask))
		new_cpu = wake_affine(cpu, prev_cpu, (wake_flags & WF_SYNC) && !(current->flags & PF_EXITING));
	return select_idle_sibling(p, prev_cpu, new_cpu);
}

static void run_rebalance_domains(struct softirq_action *h)
{
	struct rq *rq = this_rq();

	rq->nohz_balance = 0;
	local_irq_disable();
	raw_spin_rq_lock(rq);
	update_rq_clock(rq);
	load_balance(rq);
	raw_spin_rq_unlock(rq);
	local_irq_enable();
}

void nohz_csd_func(void *info)
{
	struct rq *rq = info;

	if (idle_cpu(rq->cpu))
		raise_softirq(SCHED_SOFTIRQ);
	else
		rq->nohz_balance = 0;
}

/* Two tasks here and an idle CPU there: ask the idle one to pull. */
static void nohz_balancer_kick(struct rq *rq)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct rq *idle = cpu_rq(cpu);

		if (cpu != rq->cpu && idle_cpu(cpu)) {
			if (!xchg(&idle->nohz_balance, 1UL))
				smp_call_function_single_async(cpu, &idle->nohz_csd);
			return;
		}
	}
}

void trigger_load_balance(struct rq *rq)
{
	if (rq->nr_running >= 2)
		nohz_balancer_kick(rq);
}

void __init init_sched_fair_class(void)
{
	update_sysctl();
	open_softirq(SCHED_SOFTIRQ, run_rebalance_domains);
}

/* Its load stands in the queue's while it sleeps or is queued, not between the two halves of a change of attributes. */
static noinline void reweight_entity(struct cfs_rq *cfs_rq, struct sched_entity *se, unsigned long weight)
{
	bool attached = se->on_rq || !task_of(se)->on_rq;

	if (se->on_rq) {
		if (cfs_rq->curr == se)
			update_curr(cfs_rq);
		cfs_rq->load.weight += weight - se->load.weight;
	}
	if (attached)
		detach_entity_load_avg(cfs_rq, se);
	se->load.weight = weight;
	se->avg.load_avg = weight * se->avg.load_sum / (47742UL - 1024 + se->avg.period_contrib);
	if (attached)
		attach_entity_load_avg(cfs_rq, se);
}

void reweight_task(struct task_struct *p)
{
	unsigned long weight = idle_policy(p->policy) ? 3 : sched_prio_to_weight[p->static_prio - MAX_RT_PRIO];

	reweight_entity(cfs_rq_of(&p->se), &p->se, weight);
}

/* Off the queue its vruntime is relative, as after a migration. */
static void detach_task_cfs_rq(struct task_struct *p)
{
	struct cfs_rq *cfs_rq = cfs_rq_of(&p->se);

	if (!p->on_rq) {
		place_entity(cfs_rq, &p->se, 0);
		p->se.vruntime -= cfs_rq->min_vruntime;
		detach_entity_load_avg(cfs_rq, &p->se);
	}
}

static void switched_from_fair(struct rq *rq, struct task_struct *p)
{
	detach_task_cfs_rq(p);
}

static void switched_to_fair(struct rq *rq, struct task_struct *p)
{
	if (!p->on_rq) {
		struct cfs_rq *cfs_rq = cfs_rq_of(&p->se);

		p->se.vruntime += cfs_rq->min_vruntime;
		attach_entity_load_avg(cfs_rq, &p->se);
	}
	if (task_on_rq_queued(p)) {
		if (task_current(rq, p))
			resched_curr(rq);
		else
			check_preempt_curr(rq, p, 0);
	}
}

static void prio_changed_fair(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p) || rq->cfs.nr_running == 1)
		return;
	if (task_current(rq, p)) {
		if (p->prio > oldprio)
			resched_curr(rq);
	} else {
		check_preempt_curr(rq, p, 0);
	}
}

static unsigned int get_rr_interval_fair(struct rq *rq, struct task_struct *task)
{
	return rq->cfs.load.weight ? sched_slice(cfs_rq_of(&task->se), &task->se) / TICK_NSEC : 0;
}

static int balance_fair(struct rq *rq, struct task_struct *prev)
{
	return rq->nr_running ? 1 : sched_balance_newidle(rq) != 0;
}

static struct task_struct *__pick_next_task_fair(struct rq *rq)
{
	return pick_next_task_fair(rq, NULL);
}

DEFINE_SCHED_CLASS(fair) = {
	.enqueue_task = enqueue_task_fair,
	.dequeue_task = dequeue_task_fair,
	.yield_task = yield_task_fair,
	.check_preempt_curr = check_preempt_wakeup,
	.balance = balance_fair,
	.pick_next_task = __pick_next_task_fair,
	.switched_from = switched_from_fair,
	.switched_to = switched_to_fair,
	.prio_changed = prio_changed_fair,
	.get_rr_interval = get_rr_interval_fair,
	.put_prev_task = put_prev_task_fair,
	.set_next_task = set_next_task_fair,
	.select_task_rq = select_task_rq_fair,
	.migrate_task_rq = migrate_task_rq_fair,
	.task_tick = task_tick_fair,
	.task_fork = task_fork_fair,
	.update_curr = update_curr_fair,
	.task_dead = task_dead_fair,
};

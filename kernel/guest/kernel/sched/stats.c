/*
 * How long tasks wait, sleep and are blocked (Linux's kernel/sched/stats.c): measured only while the sysctl
 * kernel.sched_schedstats is 1, and told by the events sched_stat_*.
 */
#include "sched.h"
#include "sysctl.h"
#include "tracepoint.h"
#include "init.h"

int sched_schedstats;

noinline void __update_stats_wait_start(struct rq *rq, struct task_struct *p)
{
	p->stats.wait_start = rq->clock_task;
}

noinline void __update_stats_wait_end(struct rq *rq, struct task_struct *p)
{
	u64 delta = rq->clock_task - p->stats.wait_start;

	if (!p->stats.wait_start)	/* since before they were switched on */
		return;
	p->stats.wait_start = 0;
	p->stats.wait_sum += delta;
	trace_sched_stat_wait(p, delta);
}

/* On waking: how it has slept, in which state. */
noinline void __update_stats_enqueue_sleeper(struct rq *rq, struct task_struct *p)
{
	s64 delta;

	if (p->stats.sleep_start) {
		delta = rq->clock_task - p->stats.sleep_start;
		p->stats.sleep_start = 0;
		p->stats.sum_sleep_runtime += max(delta, 0L);
		trace_sched_stat_sleep(p, max(delta, 0L));
	}
	if (p->stats.block_start) {
		delta = rq->clock_task - p->stats.block_start;
		p->stats.block_start = 0;
		p->stats.sum_block_runtime += max(delta, 0L);
		if (p->in_iowait)
			trace_sched_stat_iowait(p, max(delta, 0L));
		trace_sched_stat_blocked(p, max(delta, 0L));
	}
}

/* The task leaves the queue to sleep. */
noinline void __update_stats_dequeue_sleep(struct rq *rq, struct task_struct *p)
{
	unsigned int state = READ_ONCE(p->__state);

	if (state & TASK_INTERRUPTIBLE)
		p->stats.sleep_start = rq->clock_task;
	if (state & TASK_UNINTERRUPTIBLE)
		p->stats.block_start = rq->clock_task;
}

static struct ctl_table sched_schedstats_sysctls[] = {
	{ "sched_schedstats", &sched_schedstats, sizeof(int), 0644, proc_dointvec_minmax, SYSCTL_ZERO, SYSCTL_ONE },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL },
};

static int __init sched_schedstats_init(void)
{
	return register_sysctl("kernel", sched_schedstats_sysctls);
}
late_initcall(sched_schedstats_init);

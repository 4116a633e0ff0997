/*
 * Per-entity load tracking (kernel/sched/pelt.c): load_avg is the time that an entity was runnable, in units of 1024 us,
 * each weighed by y^age with y^32 = 1/2, over the sum of all weights. A queue's is the sum of its entities'.
 */
#include "sched.h"

#define LOAD_AVG_PERIOD	32
#define LOAD_AVG_MAX	47742		/* 1024 * (y^0 + y^1 + …) */

/* y^n * 2^32 for n < 32: 2^32 * 2^(-n/32). See runnable_avg_yN_inv in kernel/sched/sched-pelt.h. */
static const u32 runnable_avg_yN_inv[LOAD_AVG_PERIOD] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb, 0xdbfbb796,
	0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46,
	0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
	0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
};

static u64 decay_load(u64 val, u64 n)
{
	if (n > LOAD_AVG_PERIOD * 63)
		return 0;
	val >>= n / LOAD_AVG_PERIOD;
	return val * runnable_avg_yN_inv[n % LOAD_AVG_PERIOD] >> 32;
}

/* The full periods in between, each 1024, already decayed. */
static u32 __accumulate_pelt_segments(u64 periods, u32 d1, u32 d3)
{
	u32 c1 = decay_load(d1, periods);
	u32 c2 = LOAD_AVG_MAX - decay_load(LOAD_AVG_MAX, periods) - 1024;

	return c1 + c2 + d3;
}

static int ___update_load_sum(u64 now, struct sched_avg *sa, unsigned long load)
{
	u64 delta = now - sa->last_update_time, periods;
	u32 contrib;

	if ((s64)delta < 0) {
		sa->last_update_time = now;
		return 0;
	}
	delta >>= 10;			/* about us */
	if (!delta)
		return 0;
	sa->last_update_time += delta << 10;
	contrib = delta;
	delta += sa->period_contrib;
	periods = delta / 1024;
	if (periods) {
		sa->load_sum = decay_load(sa->load_sum, periods);
		delta %= 1024;
		contrib = __accumulate_pelt_segments(periods, 1024 - sa->period_contrib, delta);
	}
	sa->period_contrib = delta;
	sa->load_sum += load * contrib;
	return periods != 0;
}

static void ___update_load_avg(struct sched_avg *sa, unsigned long weight)
{
	sa->load_avg = weight * sa->load_sum / (LOAD_AVG_MAX - 1024 + sa->period_contrib);
}

/* Of a task that sleeps: it only fades. */
int __update_load_avg_blocked_se(u64 now, struct sched_entity *se)
{
	if (!___update_load_sum(now, &se->avg, 0))
		return 0;
	___update_load_avg(&se->avg, se->load.weight);
	return 1;
}

int __update_load_avg_se(u64 now, struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	if (!___update_load_sum(now, &se->avg, se->on_rq))
		return 0;
	___update_load_avg(&se->avg, se->load.weight);
	return 1;
}

/* The queue's own sum is of weights, so its average needs none. */
int __update_load_avg_cfs_rq(u64 now, struct cfs_rq *cfs_rq)
{
	if (!___update_load_sum(now, &cfs_rq->avg, cfs_rq->load.weight))
		return 0;
	___update_load_avg(&cfs_rq->avg, 1);
	return 1;
}

/* A task changes queues, whose clocks differ: it is aged to where the old one is, and goes on from where the new one is. */
noinline void set_task_rq_fair(struct sched_entity *se, struct cfs_rq *prev, struct cfs_rq *next)
{
	if (!se->avg.last_update_time || !prev)
		return;
	__update_load_avg_blocked_se(READ_ONCE(prev->avg.last_update_time), se);
	se->avg.last_update_time = READ_ONCE(next->avg.last_update_time);
}

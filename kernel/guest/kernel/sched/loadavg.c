/*
 * The load average (kernel/sched/loadavg.c): every 5 s and a tick each CPU adds what its number of runnable and
 * uninterruptible tasks has changed by to calc_load_tasks, and ten ticks later one CPU folds the sum into three averages that
 * decay over 1, 5 and 15 minutes. A CPU that stops its tick folds before.
 */
#include "sched.h"
#include "loadavg.h"
#include "timer.h"

static atomic_long_t calc_load_tasks;
static unsigned long calc_load_update = LOAD_FREQ;
unsigned long avenrun[3];

void get_avenrun(unsigned long *loads, unsigned long offset, int shift)
{
	int i;

	for (i = 0; i < 3; i++)
		loads[i] = (READ_ONCE(avenrun[i]) + offset) << shift;
}

static long calc_load_fold_active(struct rq *this_rq)
{
	long nr_active = this_rq->nr_running, delta;

	/* A task that slept here may wake elsewhere: only the sum over all CPUs is never negative. */
	nr_active += (int)this_rq->nr_uninterruptible;
	delta = nr_active - this_rq->calc_load_active;
	this_rq->calc_load_active = nr_active;
	return delta;
}

/* load' = load * e + active * (1 - e), fixed point; rising loads are rounded up. */
static unsigned long calc_load(unsigned long load, unsigned long exp, unsigned long active)
{
	unsigned long newload = load * exp + active * (FIXED_1 - exp);

	if (active >= load)
		newload += FIXED_1 - 1;
	return newload / FIXED_1;
}

/* From scheduler_tick(). */
void calc_global_load_tick(struct rq *this_rq)
{
	long delta;

	if (time_before(jiffies, this_rq->calc_load_update))
		return;
	delta = calc_load_fold_active(this_rq);
	if (delta)
		atomic_long_add(delta, &calc_load_tasks);
	this_rq->calc_load_update += LOAD_FREQ;
}

void calc_load_nohz_start(void)
{
	struct rq *rq = this_rq();
	long delta = calc_load_fold_active(rq);

	if (delta)
		atomic_long_add(delta, &calc_load_tasks);
}

void calc_load_nohz_stop(void)
{
	struct rq *rq = this_rq();

	if (time_before(jiffies, rq->calc_load_update))
		return;
	rq->calc_load_update = READ_ONCE(calc_load_update);
	if (time_before(jiffies, rq->calc_load_update + 10))
		rq->calc_load_update += LOAD_FREQ;
}

/* From tick_do_update_jiffies64(), jiffies_lock held: one round for each period that has passed. */
void calc_global_load(void)
{
	static const unsigned long exp[3] = { EXP_1, EXP_5, EXP_15 };
	unsigned long rounds = 0;
	long active;
	int i;

	if (time_before(jiffies, calc_load_update + 10))
		return;
	active = atomic_long_read(&calc_load_tasks);
	active = active > 0 ? active * FIXED_1 : 0;
	/* After 60 minutes of idleness all three are 0. */
	for (; time_after_eq(jiffies, calc_load_update + 10); rounds++) {
		if (rounds < 720) {
			for (i = 0; i < 3; i++)
				avenrun[i] = calc_load(avenrun[i], exp[i], active);
		}
		calc_load_update += LOAD_FREQ;
	}
}

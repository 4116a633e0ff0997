/*
 * The tick (kernel/time/tick-sched.c): an hrtimer on each CPU, 250 times a second, at multiples of 4 ms shifted a little
 * for each CPU. An idle CPU stops it (NO_HZ) and sets its next interrupt to the first timer it has, if any.
 */
#include "sched.h"
#include "interrupt.h"
#include "timer.h"
#include "apic.h"
#include "rcupdate.h"
#include "tracepoint.h"
#include "loadavg.h"
#include "cputime.h"

struct tick_sched {
	struct hrtimer sched_timer;
	bool inidle, tick_stopped;
	ktime_t last_tick, idle_entrytime, next_timer;
	u64 idle_sleeptime;			/* of the idle periods that are over */
	u64 idle_calls, idle_sleeps;
};
static DEFINE_PER_CPU(struct tick_sched, tick_cpu_sched);
static DEFINE_RAW_SPINLOCK(jiffies_lock);
static ktime_t last_jiffies_update;
void update_wall_time(void);

#define TICK_DO_TIMER_NONE	(-1)
static int tick_do_timer_cpu = TICK_DO_TIMER_NONE;	/* whose tick brings jiffies up to date; it leaves the duty when it stops its tick */

/* And whoever comes out of an idle period in which nobody had it. */
static noinline void tick_do_update_jiffies64(ktime_t now)
{
	s64 delta;

	if (now - READ_ONCE(last_jiffies_update) < TICK_NSEC)
		return;
	raw_spin_lock(&jiffies_lock);
	delta = now - last_jiffies_update;
	if (delta >= TICK_NSEC) {
		unsigned long ticks = delta / TICK_NSEC;

		WRITE_ONCE(last_jiffies_update, last_jiffies_update + ticks * TICK_NSEC);
		jiffies += ticks;
		calc_global_load();
	}
	raw_spin_unlock(&jiffies_lock);
	if (delta >= TICK_NSEC)
		update_wall_time();
}

static noinline void tick_sched_do_timer(struct tick_sched *ts, ktime_t now)
{
	int cpu = smp_processor_id();

	if (unlikely(READ_ONCE(tick_do_timer_cpu) == TICK_DO_TIMER_NONE))
		WRITE_ONCE(tick_do_timer_cpu, cpu);
	if (tick_do_timer_cpu == cpu)
		tick_do_update_jiffies64(now);
}

void run_posix_cpu_timers(void);

noinline void update_process_times(int user_tick)
{
	account_process_tick(current, user_tick);
	run_local_timers();
	rcu_sched_clock_irq(user_tick);
	scheduler_tick();
	run_posix_cpu_timers();
}

static noinline void tick_sched_handle(struct tick_sched *ts, struct pt_regs *regs)
{
	if (ts->tick_stopped)
		ts->next_timer = 0;	/* perhaps a little early: the same time must be set again then */
	update_process_times(user_mode(regs));
}

static enum hrtimer_restart tick_sched_timer(struct hrtimer *timer)
{
	struct tick_sched *ts = container_of(timer, struct tick_sched, sched_timer);
	struct pt_regs *regs = this_cpu_read(__irq_regs);
	ktime_t now = ktime_get();

	tick_sched_do_timer(ts, now);
	if (regs)
		tick_sched_handle(ts, regs);
	if (unlikely(ts->tick_stopped))
		return HRTIMER_NORESTART;
	hrtimer_forward(timer, now, TICK_NSEC);
	return HRTIMER_RESTART;
}

void tick_setup_sched_timer(void)
{
	struct tick_sched *ts = this_cpu_ptr(&tick_cpu_sched);
	ktime_t now = ktime_get();

	hrtimer_init(&ts->sched_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	ts->sched_timer.function = tick_sched_timer;
	/* Half a tick is shared out among the CPUs, so that their ticks do not fight for the same locks. */
	ts->sched_timer.node.expires = last_jiffies_update + TICK_NSEC / 2 / nr_cpu_ids * smp_processor_id();
	hrtimer_forward(&ts->sched_timer, now, TICK_NSEC);
	hrtimer_start(&ts->sched_timer, ts->sched_timer.node.expires, HRTIMER_MODE_ABS_PINNED);
}

static noinline ktime_t tick_nohz_next_event(struct tick_sched *ts)
{
	if (rcu_needs_cpu())
		return last_jiffies_update + TICK_NSEC;	/* it wants the next tick */
	return get_next_timer_interrupt(jiffies, last_jiffies_update);
}

static noinline void tick_nohz_stop_tick(struct tick_sched *ts)
{
	ktime_t expires = tick_nohz_next_event(ts);

	if (expires != KTIME_MAX && expires - ktime_get() < TICK_NSEC && !ts->tick_stopped)
		return;			/* not worth it */
	if (READ_ONCE(tick_do_timer_cpu) == smp_processor_id())
		WRITE_ONCE(tick_do_timer_cpu, TICK_DO_TIMER_NONE);	/* a timer's interrupt may have taken it */
	if (ts->tick_stopped && ts->next_timer == expires)
		return;
	if (!ts->tick_stopped)
		trace_tick_stop(1, 0);
	ts->next_timer = expires;
	if (!ts->tick_stopped)
		calc_load_nohz_start();
	ts->tick_stopped = true;
	ts->last_tick = ts->sched_timer.node.expires;
	ts->idle_sleeps++;
	if (expires == KTIME_MAX)
		hrtimer_cancel(&ts->sched_timer);
	else
		hrtimer_start(&ts->sched_timer, expires, HRTIMER_MODE_ABS_PINNED);
}

/* IRQs off, about to halt. */
void tick_nohz_idle_stop_tick(void)
{
	struct tick_sched *ts = this_cpu_ptr(&tick_cpu_sched);

	ts->idle_calls++;
	tick_nohz_stop_tick(ts);
}

void tick_nohz_idle_enter(void)
{
	struct tick_sched *ts = this_cpu_ptr(&tick_cpu_sched);

	local_irq_disable();
	ts->inidle = true;
	ts->idle_entrytime = ktime_get();
	local_irq_enable();
}

static noinline void tick_nohz_restart_sched_tick(struct tick_sched *ts, ktime_t now)
{
	tick_do_update_jiffies64(now);
	calc_load_nohz_stop();
	ts->tick_stopped = false;
	hrtimer_cancel(&ts->sched_timer);
	ts->sched_timer.node.expires = ts->last_tick;
	hrtimer_forward(&ts->sched_timer, now, TICK_NSEC);
	hrtimer_start(&ts->sched_timer, ts->sched_timer.node.expires, HRTIMER_MODE_ABS_PINNED);
}

void tick_nohz_idle_exit(void)
{
	struct tick_sched *ts = this_cpu_ptr(&tick_cpu_sched);

	local_irq_disable();
	ts->inidle = false;
	ts->idle_sleeptime += ktime_get() - ts->idle_entrytime;
	if (ts->tick_stopped)
		tick_nohz_restart_sched_tick(ts, ktime_get());
	local_irq_enable();
}

/* In nanoseconds, the present idle period included. */
u64 get_idle_time(int cpu)
{
	struct tick_sched *ts = &per_cpu(tick_cpu_sched, cpu);
	u64 sum = READ_ONCE(ts->idle_sleeptime);
	s64 now = ktime_get() - READ_ONCE(ts->idle_entrytime);

	return READ_ONCE(ts->inidle) && now > 0 ? sum + now : sum;
}

/* An interrupt in idle: jiffies may be far behind. */
void tick_irq_enter(void)
{
	if (this_cpu_ptr(&tick_cpu_sched)->tick_stopped)
		tick_do_update_jiffies64(ktime_get());
}

/* Still idle after the interrupt: its handler may have armed timers. */
void tick_nohz_irq_exit(void)
{
	struct tick_sched *ts = this_cpu_ptr(&tick_cpu_sched);

	if (ts->inidle && ts->tick_stopped && !in_interrupt())
		tick_nohz_stop_tick(ts);
}

void __init tick_init(void)
{
	last_jiffies_update = 0;
	jiffies = 0;
	tick_do_update_jiffies64(ktime_get());
}

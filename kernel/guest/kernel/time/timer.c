/*
 * Jiffies timers (kernel/time/timer.c): the timer wheel. Each CPU has LVL_DEPTH levels of 64 buckets; a bucket of level n is 8^n
 * jiffies wide, so a timer is queued in one step by how far away it is, and is never moved again:
 *
 *	level	granularity (250 Hz)	range
 *	0	4 ms			   4 ms …  251 ms
 *	1	32 ms			 252 ms …    2 s
 *	2	256 ms			   2 s  …   16 s
 *	…
 *	8	18.6 h			   6 d  …   49 d	(what is farther away goes in the last bucket)
 *
 * A timer fires with its bucket: up to a granule late, never early. pending_map has a bit for each bucket in use, so the next one
 * to expire is found without looking at timers. Expired buckets are run in TIMER_SOFTIRQ.
 */
#include "sched.h"
#include "interrupt.h"
#include "timer.h"
#include "bitops.h"
#include "tracepoint.h"

#define LVL_CLK_SHIFT	3
#define LVL_CLK_DIV	(1UL << LVL_CLK_SHIFT)
#define LVL_CLK_MASK	(LVL_CLK_DIV - 1)
#define LVL_SHIFT(n)	((n) * LVL_CLK_SHIFT)
#define LVL_GRAN(n)	(1UL << LVL_SHIFT(n))
#define LVL_START(n)	((LVL_SIZE - 1) << (((n) - 1) * LVL_CLK_SHIFT))		/* the first distance of level n */
#define LVL_BITS	6
#define LVL_SIZE	(1UL << LVL_BITS)
#define LVL_MASK	(LVL_SIZE - 1)
#define LVL_OFFS(n)	((n) * LVL_SIZE)
#define LVL_DEPTH	9
#define WHEEL_SIZE	(LVL_SIZE * LVL_DEPTH)
#define WHEEL_TIMEOUT_CUTOFF	(LVL_START(LVL_DEPTH))
#define WHEEL_TIMEOUT_MAX	(WHEEL_TIMEOUT_CUTOFF - LVL_GRAN(LVL_DEPTH - 1))
#define NEXT_TIMER_MAX_DELTA	((1UL << 30) - 1)

/* timer->flags: the CPU; on its way between two CPUs; the bucket. */
#define TIMER_CPUMASK	0x0003ffffu
#define TIMER_MIGRATING	0x00040000u
#define TIMER_ARRAYSHIFT 22
#define TIMER_ARRAYMASK	0xffc00000u

struct timer_base {
	raw_spinlock_t lock;
	struct timer_list *running_timer;
	unsigned long clk;			/* buckets before it have been run */
	unsigned long next_expiry;		/* of the first bucket in use, in jiffies */
	unsigned int cpu;
	bool next_expiry_recalc;		/* that bucket may have become empty */
	bool timers_pending;
	unsigned long pending_map[WHEEL_SIZE / 64];
	struct hlist_head vectors[WHEEL_SIZE];
};
static DEFINE_PER_CPU_ALIGNED(struct timer_base, timer_bases);
unsigned long volatile jiffies;

static inline unsigned int timer_get_idx(struct timer_list *timer)
{
	return timer->flags >> TIMER_ARRAYSHIFT;
}

static inline void timer_set_idx(struct timer_list *timer, unsigned int idx)
{
	timer->flags = (timer->flags & ~TIMER_ARRAYMASK) | idx << TIMER_ARRAYSHIFT;
}

static inline bool timer_pending(const struct timer_list *timer)
{
	return !hlist_unhashed(&timer->entry);
}

void timer_setup(struct timer_list *timer, void (*fn)(struct timer_list *), u32 flags)
{
	INIT_HLIST_NODE(&timer->entry);
	timer->function = fn;
	timer->flags = flags | smp_processor_id();
	trace_timer_init(timer);
}

/* Rounded up to the level's granularity: a timer that is set just before a tick must not fire a tick early. */
static inline unsigned int calc_index(unsigned long expires, unsigned int lvl, unsigned long *bucket_expiry)
{
	expires = (expires >> LVL_SHIFT(lvl)) + 1;
	*bucket_expiry = expires << LVL_SHIFT(lvl);
	return LVL_OFFS(lvl) + (expires & LVL_MASK);
}

static noinline int calc_wheel_index(unsigned long expires, unsigned long clk, unsigned long *bucket_expiry)
{
	unsigned long delta = expires - clk;
	unsigned int lvl;

	if ((long)delta < 0) {			/* overdue: the bucket that is run next */
		*bucket_expiry = clk;
		return clk & LVL_MASK;
	}
	if (delta >= WHEEL_TIMEOUT_CUTOFF) {
		expires = clk + WHEEL_TIMEOUT_MAX;
		return calc_index(expires, LVL_DEPTH - 1, bucket_expiry);
	}
	for (lvl = 0; lvl < LVL_DEPTH - 1 && delta >= LVL_START(lvl + 1); lvl++)
		;
	return calc_index(expires, lvl, bucket_expiry);
}

static noinline void enqueue_timer(struct timer_base *base, struct timer_list *timer, unsigned int idx, unsigned long bucket_expiry)
{
	hlist_add_head(&timer->entry, base->vectors + idx);
	__set_bit(idx, base->pending_map);
	timer_set_idx(timer, idx);
	trace_timer_start(timer, timer->expires, timer->flags);
	if (time_before(bucket_expiry, base->next_expiry)) {
		base->next_expiry = bucket_expiry;
		base->timers_pending = true;
		base->next_expiry_recalc = false;
	}
}

static void internal_add_timer(struct timer_base *base, struct timer_list *timer)
{
	unsigned long bucket_expiry;
	unsigned int idx = calc_wheel_index(timer->expires, base->clk, &bucket_expiry);

	enqueue_timer(base, timer, idx, bucket_expiry);
}

static inline void detach_timer(struct timer_list *timer)
{
	trace_timer_cancel(timer);
	hlist_del_init(&timer->entry);
}

static int detach_if_pending(struct timer_list *timer, struct timer_base *base)
{
	unsigned int idx = timer_get_idx(timer);

	if (!timer_pending(timer))
		return 0;
	if (base->vectors[idx].first == &timer->entry && !timer->entry.next) {
		__clear_bit(idx, base->pending_map);
		base->next_expiry_recalc = true;
	}
	detach_timer(timer);
	return 1;
}

/* The base that holds the timer, locked; who moves it to another has marked it. */
static noinline struct timer_base *lock_timer_base(struct timer_list *timer, unsigned long *flags)
{
	for (;;) {
		u32 tf = READ_ONCE(timer->flags);

		if (!(tf & TIMER_MIGRATING)) {
			struct timer_base *base = &per_cpu(timer_bases, tf & TIMER_CPUMASK);

			raw_spin_lock_irqsave(&base->lock, *flags);
			if (timer->flags == tf)
				return base;
			raw_spin_unlock_irqrestore(&base->lock, *flags);
		}
		cpu_relax();
	}
}

/* An idle CPU's clk stands still. Before a distance is measured from it, it is brought up, but not past what has yet to be run. */
static inline void forward_timer_base(struct timer_base *base)
{
	unsigned long jnow = jiffies;

	if ((long)(jnow - base->clk) < 1)	/* while timers run, clk is one ahead */
		return;
	base->clk = time_after(base->next_expiry, jnow) ? jnow : base->next_expiry;
}

static noinline int __mod_timer(struct timer_list *timer, unsigned long expires)
{
	unsigned long flags, bucket_expiry, clk = 0;
	struct timer_base *base, *new_base;
	unsigned int idx = ~0u;
	int ret;

	base = lock_timer_base(timer, &flags);
	forward_timer_base(base);
	if (timer_pending(timer)) {
		/* Most who set a timer again do so all the time, and stay in the bucket. */
		clk = base->clk;
		idx = calc_wheel_index(expires, clk, &bucket_expiry);
		if (idx == timer_get_idx(timer)) {
			timer->expires = expires;
			raw_spin_unlock_irqrestore(&base->lock, flags);
			return 1;
		}
	}
	ret = detach_if_pending(timer, base);
	new_base = this_cpu_ptr(&timer_bases);
	if (base != new_base && likely(base->running_timer != timer)) {
		timer->flags |= TIMER_MIGRATING;
		raw_spin_unlock(&base->lock);
		base = new_base;
		raw_spin_lock(&base->lock);
		WRITE_ONCE(timer->flags, (timer->flags & ~(TIMER_CPUMASK | TIMER_MIGRATING)) | base->cpu);
		forward_timer_base(base);
	}
	timer->expires = expires;
	if (idx != ~0u && clk == base->clk)
		enqueue_timer(base, timer, idx, bucket_expiry);
	else
		internal_add_timer(base, timer);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	return __mod_timer(timer, expires);
}

void add_timer(struct timer_list *timer)
{
	__mod_timer(timer, timer->expires);
}

int del_timer(struct timer_list *timer)
{
	unsigned long flags;
	struct timer_base *base;
	int ret;

	if (!timer_pending(timer))
		return 0;
	base = lock_timer_base(timer, &flags);
	ret = detach_if_pending(timer, base);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

/* -1: its function is running. */
static noinline int try_to_del_timer_sync(struct timer_list *timer)
{
	unsigned long flags;
	struct timer_base *base = lock_timer_base(timer, &flags);
	int ret = base->running_timer != timer ? detach_if_pending(timer, base) : -1;

	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

int del_timer_sync(struct timer_list *timer)
{
	int ret;

	while ((ret = try_to_del_timer_sync(timer)) < 0)
		cpu_relax();
	return ret;
}

static noinline void call_timer_fn(struct timer_list *timer, void (*fn)(struct timer_list *), unsigned long baseclk)
{
	trace_timer_expire_entry(timer, baseclk);
	fn(timer);
	trace_timer_expire_exit(timer);
}

/* base->lock held, dropped around each function. */
static noinline void expire_timers(struct timer_base *base, struct hlist_head *head)
{
	unsigned long baseclk = base->clk - 1;
	struct timer_list *timer;

	while ((timer = hlist_entry_safe(head->first, struct timer_list, entry))) {
		void (*fn)(struct timer_list *) = timer->function;

		base->running_timer = timer;
		detach_timer(timer);
		raw_spin_unlock_irq(&base->lock);
		call_timer_fn(timer, fn, baseclk);
		raw_spin_lock_irq(&base->lock);
		base->running_timer = NULL;
	}
}

static void hlist_move_list(struct hlist_head *old, struct hlist_head *new)
{
	new->first = old->first;
	if (new->first)
		new->first->pprev = &new->first;
	old->first = NULL;
}

/* The buckets that are due at next_expiry: one of each level whose granule ends there. */
static int collect_expired_timers(struct timer_base *base, struct hlist_head *heads)
{
	unsigned long clk = base->clk = base->next_expiry;
	int lvl, levels = 0;

	for (lvl = 0; lvl < LVL_DEPTH; lvl++) {
		unsigned int idx = (clk & LVL_MASK) + LVL_OFFS(lvl);

		if (test_bit(idx, base->pending_map)) {
			__clear_bit(idx, base->pending_map);
			hlist_move_list(base->vectors + idx, heads + levels++);
		}
		if (clk & LVL_CLK_MASK)		/* the next level's granule goes on */
			break;
		clk >>= LVL_CLK_SHIFT;
	}
	return levels;
}

/* How many buckets from clk's on, round and round, until one is in use; -1 when none is. */
static int next_pending_bucket(struct timer_base *base, unsigned int offset, unsigned int clk)
{
	unsigned long pos, start = offset + clk, end = offset + LVL_SIZE;

	pos = find_next_bit(base->pending_map, end, start);
	if (pos < end)
		return pos - start;
	pos = find_next_bit(base->pending_map, start, offset);
	return pos < start ? (int)(pos + LVL_SIZE - start) : -1;
}

/* base->lock held. */
static noinline unsigned long __next_timer_interrupt(struct timer_base *base)
{
	unsigned long clk = base->clk, next = clk + NEXT_TIMER_MAX_DELTA;
	unsigned int lvl;

	for (lvl = 0; lvl < LVL_DEPTH; lvl++) {
		int pos = next_pending_bucket(base, LVL_OFFS(lvl), clk & LVL_MASK);
		unsigned long lvl_clk = clk & LVL_CLK_MASK;

		if (pos >= 0) {
			unsigned long at = (clk + pos) << LVL_SHIFT(lvl);

			if (time_before(at, next))
				next = at;
			/* before the next level's clock moves on: nothing there can be earlier */
			if ((unsigned long)pos <= ((LVL_CLK_DIV - lvl_clk) & LVL_CLK_MASK))
				break;
		}
		clk = (clk >> LVL_CLK_SHIFT) + !!lvl_clk;	/* a granule that has begun has been run */
	}
	base->next_expiry_recalc = false;
	base->timers_pending = next != base->clk + NEXT_TIMER_MAX_DELTA;
	return next;
}

static noinline void __run_timers(struct timer_base *base)
{
	struct hlist_head heads[LVL_DEPTH];
	int levels;

	if (time_before(jiffies, base->next_expiry))
		return;
	raw_spin_lock_irq(&base->lock);
	while (time_after_eq(jiffies, base->clk) && time_after_eq(jiffies, base->next_expiry)) {
		levels = collect_expired_timers(base, heads);
		base->clk++;
		base->next_expiry = __next_timer_interrupt(base);
		while (levels--)
			expire_timers(base, heads + levels);
	}
	raw_spin_unlock_irq(&base->lock);
}

static void run_timer_softirq(struct softirq_action *h)
{
	__run_timers(this_cpu_ptr(&timer_bases));
}

/* From the tick. */
void run_local_timers(void)
{
	if (time_after_eq(jiffies, this_cpu_ptr(&timer_bases)->next_expiry))
		raise_softirq(TIMER_SOFTIRQ);
}

/* In nanoseconds of ktime: when does this CPU need a tick for its timers? basem is the time of jiffy basej. */
u64 get_next_timer_interrupt(unsigned long basej, u64 basem)
{
	struct timer_base *base = this_cpu_ptr(&timer_bases);
	u64 expires = KTIME_MAX;
	unsigned long nextevt;

	raw_spin_lock(&base->lock);
	if (base->next_expiry_recalc)
		base->next_expiry = __next_timer_interrupt(base);
	nextevt = base->next_expiry;
	if (time_after(basej, base->clk)) {
		if (time_after(nextevt, basej))
			base->clk = basej;
		else if (time_after(nextevt, base->clk))
			base->clk = nextevt;
	}
	if (time_before_eq(nextevt, basej))
		expires = basem;
	else if (base->timers_pending)
		expires = basem + (nextevt - basej) * TICK_NSEC;
	raw_spin_unlock(&base->lock);
	return expires;
}

struct process_timer { struct timer_list timer; struct task_struct *task; };

static void process_timeout(struct timer_list *t)
{
	struct process_timer *timeout = from_timer(timeout, t, timer);

	wake_up_process(timeout->task);
}

/* Sleeps in the state that the caller has set; returns the jiffies left. */
long __sched schedule_timeout(long timeout)
{
	struct process_timer timer;
	unsigned long expire;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeout;
	}
	if (timeout < 0) {
		__set_current_state(TASK_RUNNING);
		return 0;
	}
	expire = timeout + jiffies;
	timer.task = current;
	timer_setup(&timer.timer, process_timeout, 0);
	__mod_timer(&timer.timer, expire);
	schedule();
	del_timer_sync(&timer.timer);
	timeout = expire - jiffies;
	return timeout < 0 ? 0 : timeout;
}

long __sched schedule_timeout_interruptible(long timeout)
{
	__set_current_state(TASK_INTERRUPTIBLE);
	return schedule_timeout(timeout);
}

long __sched schedule_timeout_uninterruptible(long timeout)
{
	__set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(timeout);
}

void msleep(unsigned int msecs)
{
	unsigned long timeout = msecs_to_jiffies(msecs) + 1;

	while (timeout)
		timeout = schedule_timeout_uninterruptible(timeout);
}

/* What is left of it, in milliseconds, when a signal came. */
unsigned long msleep_interruptible(unsigned int msecs)
{
	unsigned long timeout = msecs_to_jiffies(msecs) + 1;

	while (timeout && !signal_pending(current))
		timeout = schedule_timeout_interruptible(timeout);
	return jiffies_to_msecs(timeout);
}

void __init init_timers(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct timer_base *base = &per_cpu(timer_bases, cpu);

		base->cpu = cpu;
		base->clk = jiffies;
		base->next_expiry = base->clk + NEXT_TIMER_MAX_DELTA;
	}
	open_softirq(TIMER_SOFTIRQ, run_timer_softirq);
}

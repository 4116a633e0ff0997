/*
 * High-resolution timers (kernel/time/hrtimer.c). Each CPU has one queue ordered by expiry, protected by its lock; the
 * local APIC's deadline is set to the first. A callback runs in the timer interrupt, without the lock.
 */
#include "sched.h"
#include "apic.h"
#include "timer.h"
#include "syscalls.h"
#include "uaccess.h"
#include "tracepoint.h"

struct hrtimer_cpu_base;
struct hrtimer_clock_base { struct hrtimer_cpu_base *cpu_base; struct hrtimer *running; struct rb_root_cached active; };
struct hrtimer_cpu_base { raw_spinlock_t lock; unsigned int cpu; bool in_hrtirq; ktime_t expires_next; struct hrtimer_clock_base clock_base; };
static DEFINE_PER_CPU_ALIGNED(struct hrtimer_cpu_base, hrtimer_bases);

#define HRTIMER_STATE_ENQUEUED 1
#define hrtimer_of(n) container_of(n, struct hrtimer, node.node)

static __always_inline ktime_t hrtimer_get_expires(const struct hrtimer *t)
{
	return t->node.expires;
}

/* The base of a timer that is between two CPUs; never locked. */
static struct hrtimer_cpu_base migration_cpu_base;
static struct hrtimer_clock_base migration_base = { .cpu_base = &migration_cpu_base };

/* A timer belongs to the CPU that started it last; whoever locks must look again afterwards. */
static struct hrtimer_clock_base *lock_hrtimer_base(const struct hrtimer *timer, unsigned long *flags)
{
	for (;;) {
		struct hrtimer_clock_base *base = READ_ONCE(timer->base);

		if (unlikely(base == &migration_base)) {
			cpu_relax();
			continue;
		}
		raw_spin_lock_irqsave(&base->cpu_base->lock, *flags);
		if (likely(base == timer->base))
			return base;
		raw_spin_unlock_irqrestore(&base->cpu_base->lock, *flags);
	}
}

static void unlock_hrtimer_base(struct hrtimer_clock_base *base, unsigned long *flags)
{
	raw_spin_unlock_irqrestore(&base->cpu_base->lock, *flags);
}

static noinline int clockevents_program_event(ktime_t expires)
{
	s64 delta = expires - ktime_get();

	return lapic_next_deadline(delta > 1000 ? delta : 1000);
}

static noinline int tick_program_event(ktime_t expires)
{
	return clockevents_program_event(expires);
}

/* Where a timer is best queued: here, or, when this CPU idles (an interrupt starts the timer), on one that is awake anyway. */
static noinline int get_nohz_timer_target(void)
{
	int cpu = smp_processor_id();
	unsigned int i;

	if (!idle_cpu(cpu))
		return cpu;
	for_each_online_cpu(i) {
		if (!idle_cpu(i))
			return i;
	}
	return cpu;
}

/* Another CPU's deadline cannot be set from here: the timer must not be due before its next one. */
static bool hrtimer_check_target(struct hrtimer *timer, struct hrtimer_cpu_base *new)
{
	return hrtimer_get_expires(timer) < READ_ONCE(new->expires_next);
}

static struct hrtimer *first_timer(struct hrtimer_clock_base *base)
{
	struct rb_node *n = rb_first_cached(&base->active);

	return n ? hrtimer_of(n) : NULL;
}

static noinline void hrtimer_reprogram(struct hrtimer_cpu_base *cpu_base, ktime_t expires)
{
	if (cpu_base->in_hrtirq || expires >= cpu_base->expires_next)
		return;
	cpu_base->expires_next = expires;
	tick_program_event(expires);
}

/* Returns true when the timer is the first on its queue. */
static noinline bool enqueue_hrtimer(struct hrtimer *timer, struct hrtimer_clock_base *base, enum hrtimer_mode mode, bool was_armed)
{
	struct rb_node **link = &base->active.rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	trace_hrtimer_start(timer, mode, was_armed);
	while (*link) {
		parent = *link;
		if (hrtimer_get_expires(timer) < hrtimer_get_expires(hrtimer_of(parent))) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(&timer->node.node, parent, link);
	rb_insert_color_cached(&timer->node.node, &base->active, leftmost);
	timer->state = HRTIMER_STATE_ENQUEUED;
	return leftmost;
}

/* An early interrupt after a removal is harmless (it finds nothing and sets the deadline anew). */
static noinline void __remove_hrtimer(struct hrtimer *timer, struct hrtimer_clock_base *base)
{
	rb_erase_cached(&timer->node.node, &base->active);
	RB_CLEAR_NODE(&timer->node.node);
	timer->state = 0;
}

static noinline void __hrtimer_init(struct hrtimer *timer, int clock_id, enum hrtimer_mode mode)
{
	trace_hrtimer_init(timer, clock_id, mode);
	memset(timer, 0, sizeof(*timer));
	RB_CLEAR_NODE(&timer->node.node);
	timer->base = &this_cpu_ptr(&hrtimer_bases)->clock_base;
}

void hrtimer_init(struct hrtimer *timer, int clock_id, enum hrtimer_mode mode)
{
	__hrtimer_init(timer, clock_id, mode);
}

static struct hrtimer_clock_base *switch_hrtimer_base(struct hrtimer *timer, struct hrtimer_clock_base *base, bool pinned)
{
	int this_cpu = smp_processor_id(), cpu = pinned ? this_cpu : get_nohz_timer_target();
	struct hrtimer_clock_base *new_base = &per_cpu(hrtimer_bases, cpu).clock_base;

	if (cpu != this_cpu && hrtimer_check_target(timer, new_base->cpu_base))
		new_base = &per_cpu(hrtimer_bases, this_cpu).clock_base;

	if (base == new_base || base->running == timer)
		return base;
	WRITE_ONCE(timer->base, &migration_base);	/* others wait in lock_hrtimer_base() */
	raw_spin_unlock(&base->cpu_base->lock);
	raw_spin_lock(&new_base->cpu_base->lock);
	WRITE_ONCE(timer->base, new_base);
	return new_base;
}

static inline void remove_hrtimer(struct hrtimer *timer, struct hrtimer_clock_base *base)
{
	trace_hrtimer_cancel(timer);
	__remove_hrtimer(timer, base);
}

void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t tim, u64 delta_ns, const enum hrtimer_mode mode)
{
	struct hrtimer_clock_base *base;
	unsigned long flags;
	bool was_armed;

	base = lock_hrtimer_base(timer, &flags);
	was_armed = timer->state;
	if (was_armed)
		remove_hrtimer(timer, base);
	if (mode & HRTIMER_MODE_REL)
		tim += ktime_get();
	timer->_softexpires = tim;
	timer->node.expires = tim + delta_ns;
	base = switch_hrtimer_base(timer, base, mode & HRTIMER_MODE_PINNED);
	if (enqueue_hrtimer(timer, base, mode, was_armed) && base == &this_cpu_ptr(&hrtimer_bases)->clock_base)
		hrtimer_reprogram(base->cpu_base, hrtimer_get_expires(timer));
	unlock_hrtimer_base(base, &flags);
}

/* 1: was queued; 0: was not; -1: its callback is running. */
int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	struct hrtimer_clock_base *base;
	unsigned long flags;
	int ret = -1;

	if (!hrtimer_active(timer))
		return 0;
	base = lock_hrtimer_base(timer, &flags);
	if (base->running != timer) {
		ret = timer->state;
		if (ret)
			remove_hrtimer(timer, base);
	}
	unlock_hrtimer_base(base, &flags);
	return ret;
}

int hrtimer_cancel(struct hrtimer *timer)
{
	int ret;

	do {
		ret = hrtimer_try_to_cancel(timer);
		if (ret < 0)
			cpu_relax();
	} while (ret < 0);
	return ret;
}

bool hrtimer_active(const struct hrtimer *timer)
{
	return timer->state || READ_ONCE(timer->base)->running == timer;
}

u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval)
{
	s64 delta = now - hrtimer_get_expires(timer);
	u64 orun = 1;

	if (delta < 0)
		return 0;
	if (delta >= interval) {
		orun = delta / interval;
		timer->node.expires += orun * interval;
		if (timer->node.expires > now)
			goto out;
		orun++;
	}
	timer->node.expires += interval;
out:
	timer->_softexpires = timer->node.expires;
	return orun;
}

static void __run_hrtimer(struct hrtimer_cpu_base *cpu_base, struct hrtimer_clock_base *base, struct hrtimer *timer, ktime_t *now)
{
	enum hrtimer_restart (*fn)(struct hrtimer *) = timer->function;
	enum hrtimer_restart restart;

	base->running = timer;
	remove_hrtimer(timer, base);
	raw_spin_unlock(&cpu_base->lock);
	trace_hrtimer_expire_entry(timer, now);
	restart = fn(timer);
	trace_hrtimer_expire_exit(timer);
	raw_spin_lock(&cpu_base->lock);
	if (restart != HRTIMER_NORESTART && !timer->state)
		enqueue_hrtimer(timer, base, HRTIMER_MODE_ABS, false);
	base->running = NULL;
}

static noinline void __hrtimer_run_queues(struct hrtimer_cpu_base *cpu_base, ktime_t now)
{
	struct hrtimer_clock_base *base = &cpu_base->clock_base;
	struct hrtimer *timer;

	/* Soft expiry decides who may run, hard expiry when the interrupt comes. */
	while ((timer = first_timer(base)) && now >= timer->_softexpires)
		__run_hrtimer(cpu_base, base, timer, &now);
}

static noinline ktime_t __hrtimer_next_event_base(struct hrtimer_cpu_base *cpu_base)
{
	struct hrtimer *timer = first_timer(&cpu_base->clock_base);

	return timer ? hrtimer_get_expires(timer) : KTIME_MAX;
}

static noinline ktime_t hrtimer_update_next_event(struct hrtimer_cpu_base *cpu_base)
{
	return cpu_base->expires_next = __hrtimer_next_event_base(cpu_base);
}

void hrtimer_interrupt(void)
{
	struct hrtimer_cpu_base *cpu_base = this_cpu_ptr(&hrtimer_bases);
	unsigned long flags;
	ktime_t expires, offs_real;

	raw_spin_lock_irqsave(&cpu_base->lock, flags);
	cpu_base->in_hrtirq = true;
	cpu_base->expires_next = KTIME_MAX;
	__hrtimer_run_queues(cpu_base, ktime_get_update_offsets_now(&offs_real));
	expires = hrtimer_update_next_event(cpu_base);
	cpu_base->in_hrtirq = false;
	raw_spin_unlock_irqrestore(&cpu_base->lock, flags);
	if (expires != KTIME_MAX)
		tick_program_event(expires);
}

/* The first expiry on this CPU, leaving out one timer (the tick's). */
ktime_t hrtimer_next_event_without(const struct hrtimer *exclude)
{
	struct hrtimer_cpu_base *cpu_base = this_cpu_ptr(&hrtimer_bases);
	struct rb_node *n = rb_first_cached(&cpu_base->clock_base.active);

	if (n && hrtimer_of(n) == exclude)
		n = rb_next(n);
	return n ? hrtimer_get_expires(hrtimer_of(n)) : KTIME_MAX;
}

static enum hrtimer_restart hrtimer_wakeup(struct hrtimer *timer)
{
	struct hrtimer_sleeper *t = container_of(timer, struct hrtimer_sleeper, timer);
	struct task_struct *task = t->task;

	t->task = NULL;
	if (task)
		wake_up_process(task);
	return HRTIMER_NORESTART;
}

void hrtimer_init_sleeper(struct hrtimer_sleeper *sl, int clock_id, enum hrtimer_mode mode)
{
	__hrtimer_init(&sl->timer, clock_id, mode);
	sl->timer.function = hrtimer_wakeup;
	sl->task = current;
}

void hrtimer_sleeper_start_expires(struct hrtimer_sleeper *sl, enum hrtimer_mode mode)
{
	struct hrtimer *t = &sl->timer;

	hrtimer_start_range_ns(t, t->_softexpires, t->node.expires - t->_softexpires, mode);
}

/* The time left goes to the user when a signal ends the sleep. */
static int nanosleep_copyout(struct hrtimer_sleeper *t, struct __kernel_timespec __user *rmtp)
{
	s64 rem = hrtimer_get_expires(&t->timer) - ktime_get();
	struct timespec64 ts = ns_to_timespec64(rem > 0 ? rem : 0);

	if (rmtp && put_timespec64(&ts, rmtp))
		return -EFAULT;
	return -EINTR;
}

static noinline int __sched do_nanosleep(struct hrtimer_sleeper *t, enum hrtimer_mode mode)
{
	do {
		set_current_state(TASK_INTERRUPTIBLE);
		hrtimer_sleeper_start_expires(t, mode);
		if (likely(t->task))
			schedule();
		hrtimer_cancel(&t->timer);
		mode = HRTIMER_MODE_ABS;
	} while (t->task && !signal_pending(current));
	__set_current_state(TASK_RUNNING);
	return t->task ? -EINTR : 0;
}

static noinline long hrtimer_nanosleep(ktime_t rqtp, enum hrtimer_mode mode, int clockid, struct __kernel_timespec __user *rmtp)
{
	struct hrtimer_sleeper t;

	hrtimer_init_sleeper(&t, clockid, mode);
	if (clockid == CLOCK_REALTIME && mode == HRTIMER_MODE_ABS)
		rqtp -= ktime_get_real() - ktime_get();
	t.timer._softexpires = rqtp;
	t.timer.node.expires = rqtp + 50 * NSEC_PER_USEC;	/* the default timer slack */
	if (!do_nanosleep(&t, mode))
		return 0;
	return nanosleep_copyout(&t, mode == HRTIMER_MODE_ABS ? NULL : rmtp);
}

static bool timespec64_valid(const struct timespec64 *ts)
{
	return ts->tv_sec >= 0 && (unsigned long)ts->tv_nsec < NSEC_PER_SEC && ts->tv_sec < KTIME_MAX / NSEC_PER_SEC / 2;
}

SYSCALL_DEFINE2(nanosleep, struct __kernel_timespec *, rqtp, struct __kernel_timespec *, rmtp)
{
	struct timespec64 tu;

	if (get_timespec64(&tu, rqtp))
		return -EFAULT;
	if (!timespec64_valid(&tu))
		return -EINVAL;
	return hrtimer_nanosleep(timespec64_to_ns(&tu), HRTIMER_MODE_REL, CLOCK_MONOTONIC, rmtp);
}

static noinline int common_nsleep(int which_clock, int flags, const struct timespec64 *rqtp, struct __kernel_timespec __user *rmtp)
{
	return hrtimer_nanosleep(timespec64_to_ns(rqtp), flags & TIMER_ABSTIME ? HRTIMER_MODE_ABS : HRTIMER_MODE_REL, which_clock, rmtp);
}

SYSCALL_DEFINE4(clock_nanosleep, int, which_clock, int, flags, struct __kernel_timespec *, rqtp, struct __kernel_timespec *, rmtp)
{
	struct timespec64 t;

	if (which_clock != CLOCK_REALTIME && which_clock != CLOCK_MONOTONIC && which_clock != CLOCK_BOOTTIME)
		return -EINVAL;
	if (get_timespec64(&t, rqtp))
		return -EFAULT;
	if (!timespec64_valid(&t))
		return -EINVAL;
	return common_nsleep(which_clock, flags, &t, rmtp);
}

void __init hrtimers_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct hrtimer_cpu_base *base = &per_cpu(hrtimer_bases, cpu);

		base->cpu = cpu;
		base->clock_base.cpu_base = base;
		base->clock_base.active = RB_ROOT_CACHED;
		base->expires_next = KTIME_MAX;
	}
}

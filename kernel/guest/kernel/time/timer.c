/*
 * Jiffies timers (kernel/time/timer.c): one ordered list for each CPU, run in TIMER_SOFTIRQ. (Linux hashes them into
 * wheels for tens of thousands of timers; here there are a handful.)
 */
#include "sched.h"
#include "interrupt.h"
#include "timer.h"
#include "tracepoint.h"

struct timer_base { raw_spinlock_t lock; struct timer_list *running_timer; unsigned int cpu; struct hlist_head timers; };
static DEFINE_PER_CPU_ALIGNED(struct timer_base, timer_bases);
unsigned long volatile jiffies;
#define TIMER_CPUMASK 0xffu

void timer_setup(struct timer_list *timer, void (*fn)(struct timer_list *), u32 flags)
{
	INIT_HLIST_NODE(&timer->entry);
	timer->function = fn;
	timer->flags = flags | smp_processor_id();
	trace_timer_init(timer);
}

static struct timer_base *lock_timer_base(struct timer_list *timer, unsigned long *flags)
{
	for (;;) {
		u32 tf = READ_ONCE(timer->flags);
		struct timer_base *base = &per_cpu(timer_bases, tf & TIMER_CPUMASK);

		raw_spin_lock_irqsave(&base->lock, *flags);
		if (timer->flags == tf)
			return base;
		raw_spin_unlock_irqrestore(&base->lock, *flags);
	}
}

static void enqueue_timer(struct timer_base *base, struct timer_list *timer)
{
	struct timer_list *pos, *last = NULL;

	trace_timer_start(timer, timer->expires, timer->flags);

	hlist_for_each_entry(pos, &base->timers, entry) {
		if (time_after(pos->expires, timer->expires))
			break;
		last = pos;
	}
	if (!last) {
		hlist_add_head(&timer->entry, &base->timers);
		return;
	}
	timer->entry.next = last->entry.next;
	timer->entry.pprev = &last->entry.next;
	if (timer->entry.next)
		timer->entry.next->pprev = &timer->entry.next;
	last->entry.next = &timer->entry;
}

static inline void detach_timer(struct timer_list *timer)
{
	trace_timer_cancel(timer);
	hlist_del_init(&timer->entry);
}

static noinline int __mod_timer(struct timer_list *timer, unsigned long expires)
{
	unsigned long flags;
	struct timer_base *base = lock_timer_base(timer, &flags), *new_base = this_cpu_ptr(&timer_bases);
	int ret = !hlist_unhashed(&timer->entry);

	if (ret)
		detach_timer(timer);
	if (base != new_base && base->running_timer != timer) {
		raw_spin_unlock(&base->lock);
		base = new_base;
		raw_spin_lock(&base->lock);
		WRITE_ONCE(timer->flags, (timer->flags & ~TIMER_CPUMASK) | base->cpu);
	}
	timer->expires = expires;
	enqueue_timer(base, timer);
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

	if (hlist_unhashed(&timer->entry))
		return 0;
	base = lock_timer_base(timer, &flags);
	ret = !hlist_unhashed(&timer->entry);
	if (ret)
		detach_timer(timer);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

int del_timer_sync(struct timer_list *timer)
{
	int ret = del_timer(timer);

	while (READ_ONCE(per_cpu(timer_bases, timer->flags & TIMER_CPUMASK).running_timer) == timer)
		cpu_relax();
	return ret;
}

static noinline void call_timer_fn(struct timer_list *timer, void (*fn)(struct timer_list *), unsigned long baseclk)
{
	trace_timer_expire_entry(timer, baseclk);
	fn(timer);
	trace_timer_expire_exit(timer);
}

static noinline void __run_timers(struct timer_base *base)
{
	struct timer_list *timer;

	raw_spin_lock_irq(&base->lock);
	while ((timer = hlist_entry_safe(base->timers.first, struct timer_list, entry)) && time_after_eq(jiffies, timer->expires)) {
		base->running_timer = timer;
		detach_timer(timer);
		raw_spin_unlock_irq(&base->lock);
		call_timer_fn(timer, timer->function, jiffies);
		raw_spin_lock_irq(&base->lock);
		base->running_timer = NULL;
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
	struct timer_base *base = this_cpu_ptr(&timer_bases);
	struct timer_list *timer = hlist_entry_safe(READ_ONCE(base->timers.first), struct timer_list, entry);

	if (timer && time_after_eq(jiffies, timer->expires))
		raise_softirq_irqoff(TIMER_SOFTIRQ);
}

static noinline struct timer_list *__next_timer_interrupt(struct timer_base *base)
{
	return hlist_entry_safe(base->timers.first, struct timer_list, entry);
}

/* In nanoseconds of ktime: when does this CPU need a tick for its timers? basem is the time of jiffy basej. */
u64 get_next_timer_interrupt(unsigned long basej, u64 basem)
{
	struct timer_base *base = this_cpu_ptr(&timer_bases);
	struct timer_list *timer;
	u64 next = KTIME_MAX;

	raw_spin_lock(&base->lock);
	timer = __next_timer_interrupt(base);
	if (timer)
		next = time_after(timer->expires, basej) ? basem + (timer->expires - basej) * TICK_NSEC : basem;
	raw_spin_unlock(&base->lock);
	return next;
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

void __init init_timers(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(timer_bases, cpu).cpu = cpu;
	open_softirq(TIMER_SOFTIRQ, run_timer_softirq);
}

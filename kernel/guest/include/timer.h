#pragma once
/* Two kinds of timers: jiffies (timer_list, run in softirq) and nanoseconds (hrtimer, run in the interrupt). */
#include "ktime.h"
#include "list.h"
#include "rbtree.h"
struct timer_list { struct hlist_node entry; unsigned long expires; void (*function)(struct timer_list *); u32 flags; };
void timer_setup(struct timer_list *timer, void (*fn)(struct timer_list *), u32 flags);
void add_timer(struct timer_list *timer);
int mod_timer(struct timer_list *timer, unsigned long expires);
int del_timer(struct timer_list *timer);
int del_timer_sync(struct timer_list *timer);
#define from_timer(v, cb, f)	container_of(cb, typeof(*v), f)
void init_timers(void);
void run_local_timers(void);
u64 get_next_timer_interrupt(unsigned long basej, u64 basem);

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_ABS, HRTIMER_MODE_REL, HRTIMER_MODE_PINNED, HRTIMER_MODE_ABS_PINNED = 2, HRTIMER_MODE_REL_PINNED };
struct timerqueue_node { struct rb_node node; ktime_t expires; };
struct hrtimer_clock_base;
struct hrtimer {
	struct timerqueue_node node;
	ktime_t _softexpires;
	enum hrtimer_restart (*function)(struct hrtimer *);
	struct hrtimer_clock_base *base;
	u8 state, is_rel;
};
struct hrtimer_sleeper { struct hrtimer timer; struct task_struct *task; };
void hrtimer_init(struct hrtimer *timer, int clock_id, enum hrtimer_mode mode);
void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t tim, u64 delta_ns, const enum hrtimer_mode mode);
int hrtimer_try_to_cancel(struct hrtimer *timer);
int hrtimer_cancel(struct hrtimer *timer);
u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval);
bool hrtimer_active(const struct hrtimer *timer);
void hrtimer_interrupt(void);
void hrtimer_init_sleeper(struct hrtimer_sleeper *sl, int clock_id, enum hrtimer_mode mode);
void hrtimer_sleeper_start_expires(struct hrtimer_sleeper *sl, enum hrtimer_mode mode);
ktime_t hrtimer_next_event_without(const struct hrtimer *exclude);
ktime_t hrtimer_get_next_event(void);
ktime_t ktime_get_update_offsets_now(ktime_t *offs_real);
void hrtimers_init(void);
#define hrtimer_start(t, tim, mode) hrtimer_start_range_ns(t, tim, 0, mode)

void tick_init(void);
void tick_setup_sched_timer(void);
void tick_nohz_idle_enter(void);
void tick_nohz_idle_exit(void);
void tick_nohz_idle_stop_tick(void);
void tick_irq_enter(void);
void tick_nohz_irq_exit(void);
long schedule_timeout(long timeout);
long schedule_timeout_interruptible(long timeout);
long schedule_timeout_uninterruptible(long timeout);
struct itimerspec64 { struct timespec64 it_interval, it_value; };
void msleep(unsigned int msecs);
#define jiffies_to_msecs(j)	((unsigned int)((j) * (1000 / HZ)))
unsigned long msleep_interruptible(unsigned int msecs);
#define ssleep(s)	msleep((s) * 1000)
#define MAX_SCHEDULE_TIMEOUT LONG_MAX

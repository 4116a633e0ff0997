/* Clocks (kernel/time/timekeeping.c, sched/clock.c, posix-timers.c). The TSC counts nanoseconds. */
#include "sched.h"
#include "mm.h"
#include "seqlock.h"
#include "syscalls.h"
#include "uaccess.h"
#include "timer.h"

/* What the time of day is made from: written at boot, and by each tick for the coarse clocks. */
static struct {
	seqcount_t seq;
	u64 cycle_last;		/* TSC at the last update */
	u64 base;		/* CLOCK_MONOTONIC then */
	u64 offs_real;		/* CLOCK_REALTIME = monotonic + this */
	struct timespec64 xtime; /* CLOCK_REALTIME at the last update: what the coarse clock says */
} tk_core;
static DEFINE_RAW_SPINLOCK(timekeeper_lock);	/* of its writers */

u64 notrace sched_clock(void)
{
	return rdtsc();
}

u64 notrace local_clock(void)
{
	return sched_clock();
}

static u64 notrace read_tsc(void)
{
	return rdtsc();
}

/* CPUs' counters may be a slice behind the last update: never go below it. */
static __always_inline u64 timekeeping_get_ns(u64 *offs_real)
{
	unsigned int seq;
	u64 now;
	s64 delta;

	do {
		seq = read_seqcount_begin(&tk_core.seq);
		delta = read_tsc() - tk_core.cycle_last;
		now = tk_core.base + (delta > 0 ? delta : 0);
		*offs_real = tk_core.offs_real;
	} while (read_seqcount_retry(&tk_core.seq, seq));
	return now;
}

ktime_t ktime_get(void)
{
	u64 offs;

	return timekeeping_get_ns(&offs);
}

ktime_t ktime_get_update_offsets_now(ktime_t *offs_real)
{
	u64 offs, now = timekeeping_get_ns(&offs);

	*offs_real = offs;
	return now;
}

ktime_t ktime_get_with_offset(int base)
{
	u64 offs, now = timekeeping_get_ns(&offs);

	return base ? now + offs : now;
}

ktime_t ktime_get_real(void)
{
	u64 offs, now = timekeeping_get_ns(&offs);

	return now + offs;
}

struct timespec64 ns_to_timespec64(s64 ns)
{
	return (struct timespec64){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

void ktime_get_real_ts64(struct timespec64 *ts)
{
	*ts = ns_to_timespec64(ktime_get_real());
}

void ktime_get_ts64(struct timespec64 *ts)
{
	*ts = ns_to_timespec64(ktime_get());
}

void ktime_get_coarse_real_ts64(struct timespec64 *ts)
{
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&tk_core.seq);
		*ts = tk_core.xtime;
	} while (read_seqcount_retry(&tk_core.seq, seq));
}

time64_t ktime_get_real_seconds(void)
{
	return ktime_get_real() / NSEC_PER_SEC;
}

/* timekeeper_lock held. */
static noinline void timekeeping_update(s64 delta)
{
	write_seqcount_begin(&tk_core.seq);
	tk_core.cycle_last += delta;
	tk_core.base += delta;
	tk_core.xtime = ns_to_timespec64(tk_core.base + tk_core.offs_real);
	write_seqcount_end(&tk_core.seq);
}

/* CPUs that come out of idle at the same time may all be here. */
static noinline void timekeeping_advance(void)
{
	unsigned long flags;
	s64 delta;

	raw_spin_lock_irqsave(&timekeeper_lock, flags);
	delta = read_tsc() - tk_core.cycle_last;
	if (delta > 0)
		timekeeping_update(delta);
	raw_spin_unlock_irqrestore(&timekeeper_lock, flags);
}

void update_wall_time(void);
void update_wall_time(void)
{
	timekeeping_advance();
}

/* The clock of CLOCK_MONOTONIC is the TSC itself: CPU 0's counter starts at 0. */
void __init timekeeping_init(void)
{
	tk_core.cycle_last = tk_core.base = read_tsc();
	tk_core.offs_real = boot_params.boot_time_s * NSEC_PER_SEC;
	tk_core.xtime = ns_to_timespec64(tk_core.base + tk_core.offs_real);
}

int get_timespec64(struct timespec64 *ts, const struct __kernel_timespec __user *uts)
{
	struct __kernel_timespec kts;

	if (copy_from_user(&kts, uts, sizeof(kts)))
		return -EFAULT;
	ts->tv_sec = kts.tv_sec;
	ts->tv_nsec = kts.tv_nsec;
	return 0;
}

int put_timespec64(const struct timespec64 *ts, struct __kernel_timespec __user *uts)
{
	struct __kernel_timespec kts = { ts->tv_sec, ts->tv_nsec };

	return copy_to_user(uts, &kts, sizeof(kts)) ? -EFAULT : 0;
}

static int clock_get(int which, struct timespec64 *ts)
{
	switch (which) {
	case CLOCK_REALTIME:
		ktime_get_real_ts64(ts);
		return 0;
	case CLOCK_REALTIME_COARSE:
		ktime_get_coarse_real_ts64(ts);
		return 0;
	case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_RAW: case CLOCK_MONOTONIC_COARSE: case CLOCK_BOOTTIME:
		ktime_get_ts64(ts);
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID: case CLOCK_THREAD_CPUTIME_ID:
		*ts = ns_to_timespec64(task_sched_runtime(current));
		return 0;
	}
	return -EINVAL;
}

SYSCALL_DEFINE2(clock_gettime, int, which, struct __kernel_timespec *, tp)
{
	struct timespec64 ts;
	int err = clock_get(which, &ts);

	return err ? err : put_timespec64(&ts, tp);
}

SYSCALL_DEFINE2(clock_getres, int, which, struct __kernel_timespec *, tp)
{
	struct timespec64 ts = { 0, which == CLOCK_REALTIME_COARSE || which == CLOCK_MONOTONIC_COARSE ? TICK_NSEC : 1 };

	if (which < 0 || which > CLOCK_BOOTTIME)
		return -EINVAL;
	return tp ? put_timespec64(&ts, tp) : 0;
}

SYSCALL_DEFINE2(gettimeofday, struct __kernel_old_timeval *, tv, void *, tz)
{
	struct timespec64 ts;

	ktime_get_real_ts64(&ts);
	if (tv && (put_user(ts.tv_sec, &tv->tv_sec) || put_user(ts.tv_nsec / 1000, &tv->tv_usec)))
		return -EFAULT;
	return 0;
}

SYSCALL_DEFINE1(time, time64_t *, tloc)
{
	time64_t now = ktime_get_real_seconds();

	if (tloc && put_user(now, tloc))
		return -EFAULT;
	return now;
}

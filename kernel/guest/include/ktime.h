#pragma once
#include "types.h"
#define NSEC_PER_SEC	1000000000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_USEC	1000L
#define USEC_PER_SEC	1000000L
#define HZ		250
#define TICK_NSEC	(NSEC_PER_SEC / HZ)
#define KTIME_MAX	((s64)~(1UL << 63))
struct timespec64 { time64_t tv_sec; long tv_nsec; };
struct __kernel_timespec { long tv_sec; long tv_nsec; };
struct __kernel_old_timeval { long tv_sec; long tv_usec; };
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define CLOCK_REALTIME_COARSE 5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME 7
#define TIMER_ABSTIME 1
extern unsigned long volatile jiffies;
u64 sched_clock(void);
u64 local_clock(void);
ktime_t ktime_get(void);
ktime_t ktime_get_real(void);
ktime_t ktime_get_with_offset(int base);	/* 0: since boot, suspends included; there are none */
void ktime_get_real_ts64(struct timespec64 *ts);
void ktime_get_ts64(struct timespec64 *ts);
void ktime_get_coarse_real_ts64(struct timespec64 *ts);
time64_t ktime_get_real_seconds(void);
struct timespec64 ns_to_timespec64(s64 ns);
static __always_inline s64 timespec64_to_ns(const struct timespec64 *ts) { return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec; }
int get_timespec64(struct timespec64 *ts, const struct __kernel_timespec __user *uts);
int put_timespec64(const struct timespec64 *ts, struct __kernel_timespec __user *uts);
void timekeeping_init(void);
static __always_inline u64 rdtsc(void) { u32 lo, hi; asm volatile("rdtsc" : "=a"(lo), "=d"(hi)); return (u64)hi << 32 | lo; }
#define msecs_to_jiffies(m)	(((unsigned long)(m) * HZ + 999) / 1000)
#define nsecs_to_jiffies(n)	((unsigned long)(n) / TICK_NSEC)
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before(a, b)	time_after(b, a)
#define time_before_eq(a, b)	time_after_eq(b, a)

/* Timers: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

DECLARE_EVENT_CLASS(timer_class,
	TP_PROTO(struct timer_list *timer), TP_ARGS(timer),
	TP_FIELDS(
		__field(void *, timer, T_ARG(0))),
	TP_printk("\"timer=%p\", REC->timer"))

DEFINE_EVENT(timer_class, timer, timer_init, 380, TP_PROTO(struct timer_list *timer), TP_ARGS(timer))

TRACE_EVENT(timer, timer_start, 379,
	TP_PROTO(struct timer_list *timer, unsigned long expires, unsigned int flags), TP_ARGS(timer, expires, flags),
	TP_FIELDS(
		__field(void *, timer, T_ARG(0))
		__field(void *, function, T_ARG(0), T_LD(8, struct timer_list, function))
		__field(unsigned long, expires, T_ARG(1))
		__field(unsigned long, now, T_SYM(jiffies), T_LOAD(8))
		__field(unsigned int, flags, T_ARG(2))),
	TP_printk("\"timer=%p function=%ps expires=%lu [timeout=%ld] cpu=%u idx=%u flags=%s\", REC->timer, REC->function, "
		"REC->expires, (long)REC->expires - REC->now, REC->flags & 0x0003FFFF, REC->flags >> 22, "
		"__print_flags(REC->flags & (0x00040000 | 0x00080000 | 0x00100000 | 0x00200000), \"|\", { 0x00040000, "
		"\"M\" }, { 0x00080000, \"D\" }, { 0x00100000, \"P\" }, { 0x00200000, \"I\" })"))

TRACE_EVENT(timer, timer_expire_entry, 378,
	TP_PROTO(struct timer_list *timer, unsigned long baseclk), TP_ARGS(timer, baseclk),
	TP_FIELDS(
		__field(void *, timer, T_ARG(0))
		__field(unsigned long, now, T_SYM(jiffies), T_LOAD(8))
		__field(void *, function, T_ARG(0), T_LD(8, struct timer_list, function))
		__field(unsigned long, baseclk, T_ARG(1))),
	TP_printk("\"timer=%p function=%ps now=%lu baseclk=%lu\", REC->timer, REC->function, REC->now, REC->baseclk"))

DEFINE_EVENT(timer_class, timer, timer_expire_exit, 377, TP_PROTO(struct timer_list *timer), TP_ARGS(timer))
DEFINE_EVENT(timer_class, timer, timer_cancel, 376, TP_PROTO(struct timer_list *timer), TP_ARGS(timer))

TRACE_EVENT(timer, hrtimer_init, 375,
	TP_PROTO(struct hrtimer *hrtimer, int clockid, enum hrtimer_mode mode), TP_ARGS(hrtimer, clockid, mode),
	TP_FIELDS(
		__field(void *, hrtimer, T_ARG(0))
		__field(clockid_t, clockid, T_ARG(1))
		__field(enum hrtimer_mode, mode, T_ARG(2))),
	TP_printk("\"hrtimer=%p clockid=%s mode=%s\", REC->hrtimer, __print_symbolic(REC->clockid, { 0, \"CLOCK_REALTIME\" "
		"}, { 1, \"CLOCK_MONOTONIC\" }, { 7, \"CLOCK_BOOTTIME\" }, { 11, \"CLOCK_TAI\" }), "
		"__print_symbolic(REC->mode, { HRTIMER_MODE_ABS, \"ABS\" }, { HRTIMER_MODE_REL, \"REL\" }, { "
		"HRTIMER_MODE_ABS_PINNED, \"ABS|PINNED\" }, { HRTIMER_MODE_REL_PINNED, \"REL|PINNED\" }, { "
		"HRTIMER_MODE_ABS_SOFT, \"ABS|SOFT\" }, { HRTIMER_MODE_REL_SOFT, \"REL|SOFT\" }, { "
		"HRTIMER_MODE_ABS_PINNED_SOFT, \"ABS|PINNED|SOFT\" }, { HRTIMER_MODE_REL_PINNED_SOFT, \"REL|PINNED|SOFT\" "
		"}, { HRTIMER_MODE_ABS_HARD, \"ABS|HARD\" }, { HRTIMER_MODE_REL_HARD, \"REL|HARD\" }, { "
		"HRTIMER_MODE_ABS_PINNED_HARD, \"ABS|PINNED|HARD\" }, { HRTIMER_MODE_REL_PINNED_HARD, \"REL|PINNED|HARD\" "
		"})"))

TRACE_EVENT(timer, hrtimer_start, 374,
	TP_PROTO(struct hrtimer *hrtimer, enum hrtimer_mode mode, bool was_armed), TP_ARGS(hrtimer, mode, was_armed),
	TP_FIELDS(
		__field(void *, hrtimer, T_ARG(0))
		__field(void *, function, T_ARG(0), T_LD(8, struct hrtimer, function))
		__field(s64, expires, T_ARG(0), T_LD(8, struct hrtimer, node.expires))
		__field(s64, softexpires, T_ARG(0), T_LD(8, struct hrtimer, _softexpires))
		__field(enum hrtimer_mode, mode, T_ARG(1))
		__field(bool, was_armed, T_ARG(2))),
	TP_printk("\"hrtimer=%p function=%ps expires=%llu softexpires=%llu mode=%s was_armed=%d\", REC->hrtimer, "
		"REC->function, (unsigned long long) REC->expires, (unsigned long long) REC->softexpires, "
		"__print_symbolic(REC->mode, { HRTIMER_MODE_ABS, \"ABS\" }, { HRTIMER_MODE_REL, \"REL\" }, { "
		"HRTIMER_MODE_ABS_PINNED, \"ABS|PINNED\" }, { HRTIMER_MODE_REL_PINNED, \"REL|PINNED\" }, { "
		"HRTIMER_MODE_ABS_SOFT, \"ABS|SOFT\" }, { HRTIMER_MODE_REL_SOFT, \"REL|SOFT\" }, { "
		"HRTIMER_MODE_ABS_PINNED_SOFT, \"ABS|PINNED|SOFT\" }, { HRTIMER_MODE_REL_PINNED_SOFT, \"REL|PINNED|SOFT\" "
		"}, { HRTIMER_MODE_ABS_HARD, \"ABS|HARD\" }, { HRTIMER_MODE_REL_HARD, \"REL|HARD\" }, { "
		"HRTIMER_MODE_ABS_PINNED_HARD, \"ABS|PINNED|HARD\" }, { HRTIMER_MODE_REL_PINNED_HARD, \"REL|PINNED|HARD\" "
		"}), REC->was_armed"))

TRACE_EVENT(timer, hrtimer_expire_entry, 373,
	TP_PROTO(struct hrtimer *hrtimer, ktime_t *now), TP_ARGS(hrtimer, now),
	TP_FIELDS(
		__field(void *, hrtimer, T_ARG(0))
		__field(s64, now, T_ARG(1), T_LOAD(8))
		__field(void *, function, T_ARG(0), T_LD(8, struct hrtimer, function))),
	TP_printk("\"hrtimer=%p function=%ps now=%llu\", REC->hrtimer, REC->function, (unsigned long long) REC->now"))

DECLARE_EVENT_CLASS(hrtimer_class,
	TP_PROTO(struct hrtimer *hrtimer), TP_ARGS(hrtimer),
	TP_FIELDS(
		__field(void *, hrtimer, T_ARG(0))),
	TP_printk("\"hrtimer=%p\", REC->hrtimer"))

DEFINE_EVENT(hrtimer_class, timer, hrtimer_expire_exit, 372, TP_PROTO(struct hrtimer *hrtimer), TP_ARGS(hrtimer))
DEFINE_EVENT(hrtimer_class, timer, hrtimer_cancel, 371, TP_PROTO(struct hrtimer *hrtimer), TP_ARGS(hrtimer))

TRACE_EVENT(timer, tick_stop, 368,
	TP_PROTO(int success, int dependency), TP_ARGS(success, dependency),
	TP_FIELDS(
		__field(int, success, T_ARG(0))
		__field(int, dependency, T_ARG(1))),
	TP_printk("\"success=%d dependency=%s\", REC->success, __print_symbolic(REC->dependency, { 0, \"NONE\" }, { (1 << "
		"0), \"POSIX_TIMER\" }, { (1 << 1), \"PERF_EVENTS\" }, { (1 << 2), \"SCHED\" }, { (1 << 3), "
		"\"CLOCK_UNSTABLE\" }, { (1 << 4), \"RCU\" }, { (1 << 5), \"RCU_EXP\" })"))

TRACE_EVENT(timer, itimer_state, 370,
	TP_PROTO(int which, const struct itimerspec64 *const value, unsigned long long expires), TP_ARGS(which, value, expires),
	TP_FIELDS(
		__field(int, which, T_ARG(0))
		__field(unsigned long long, expires, T_ARG(2))
		__field(long, value_sec, T_ARG(1), T_LD(8, struct itimerspec64, it_value.tv_sec))
		__field(long, value_nsec, T_ARG(1), T_LD(8, struct itimerspec64, it_value.tv_nsec))
		__field(long, interval_sec, T_ARG(1), T_LD(8, struct itimerspec64, it_interval.tv_sec))
		__field(long, interval_nsec, T_ARG(1), T_LD(8, struct itimerspec64, it_interval.tv_nsec))),
	TP_printk("\"which=%d expires=%llu it_value=%ld.%06ld it_interval=%ld.%06ld\", REC->which, REC->expires, REC->value_sec, "
		"REC->value_nsec / 1000L, REC->interval_sec, REC->interval_nsec / 1000L"))

TRACE_EVENT(timer, itimer_expire, 369,
	TP_PROTO(int which, struct pid *pid, unsigned long long now), TP_ARGS(which, pid, now),
	TP_FIELDS(
		__field(int, which, T_ARG(0))
		__field(pid_t, pid, T_ARG(1), T_LD(4, struct pid, nr))
		__field(unsigned long long, now, T_ARG(2))),
	TP_printk("\"which=%d pid=%d now=%llu\", REC->which, (int) REC->pid, REC->now"))

/* The interval timer of real time: setitimer() and alarm() (Linux's kernel/time/itimer.c). */
#include "sched.h"
#include "signal.h"
#include "syscalls.h"
#include "timer.h"
#include "tracepoint.h"
#include "uaccess.h"

#define ITIMER_REAL 0

struct __kernel_old_itimerval {
	struct __kernel_old_timeval it_interval;
	struct __kernel_old_timeval it_value;
};

enum hrtimer_restart it_real_fn(struct hrtimer *timer);
enum hrtimer_restart it_real_fn(struct hrtimer *timer)
{
	struct signal_struct *sig = container_of(timer, struct signal_struct, real_timer);
	struct task_struct *p = pid_task(sig->pids[PIDTYPE_TGID], PIDTYPE_TGID);

	trace_itimer_expire(ITIMER_REAL, sig->pids[PIDTYPE_TGID], 0);
	if (p)
		do_send_sig_info(SIGALRM, SEND_SIG_PRIV, p, true);
	if (!sig->it_real_incr)
		return HRTIMER_NORESTART;
	hrtimer_forward(timer, ktime_get(), sig->it_real_incr);
	return HRTIMER_RESTART;
}

/* itimer_get_remtime returns the time until the timer fires: at least a microsecond while it is armed. */
static ktime_t itimer_get_remtime(struct hrtimer *timer)
{
	s64 left;

	if (!hrtimer_active(timer))
		return 0;
	left = timer->node.expires - ktime_get();
	return left > 0 ? left : NSEC_PER_USEC;
}

static ktime_t timespec64_to_ktime(struct timespec64 t)
{
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void set_itimer_real(const struct itimerspec64 *set, ktime_t *oldvalue, ktime_t *oldincr)
{
	struct signal_struct *sig = current->signal;
	ktime_t value = timespec64_to_ktime(set->it_value);

	*oldvalue = itimer_get_remtime(&sig->real_timer);
	*oldincr = sig->it_real_incr;
	hrtimer_cancel(&sig->real_timer);
	sig->it_real_incr = value ? timespec64_to_ktime(set->it_interval) : 0;
	if (value)
		hrtimer_start(&sig->real_timer, value, HRTIMER_MODE_REL);
	trace_itimer_state(ITIMER_REAL, set, 0);
}

static int get_itimerval(struct timespec64 *value, const struct __kernel_old_timeval __user *tv)
{
	struct __kernel_old_timeval v;

	if (copy_from_user(&v, tv, sizeof(v)))
		return -EFAULT;
	if (v.tv_sec < 0 || v.tv_usec < 0 || v.tv_usec >= 1000000)
		return -EINVAL;
	*value = (struct timespec64){ v.tv_sec, v.tv_usec * NSEC_PER_USEC };
	return 0;
}

static int put_itimerval(struct __kernel_old_itimerval __user *out, ktime_t value, ktime_t incr)
{
	struct __kernel_old_itimerval v = {
		.it_interval = { incr / NSEC_PER_SEC, incr % NSEC_PER_SEC / NSEC_PER_USEC },
		.it_value = { value / NSEC_PER_SEC, value % NSEC_PER_SEC / NSEC_PER_USEC },
	};

	return copy_to_user(out, &v, sizeof(v)) ? -EFAULT : 0;
}

/* Timers of the process's own CPU time are not kept. */
SYSCALL_DEFINE2(getitimer, int, which, struct __kernel_old_itimerval __user *, value)
{
	if (which != ITIMER_REAL)
		return -EINVAL;
	return put_itimerval(value, itimer_get_remtime(&current->signal->real_timer), current->signal->it_real_incr);
}

SYSCALL_DEFINE3(setitimer, int, which, struct __kernel_old_itimerval __user *, value, struct __kernel_old_itimerval __user *, ovalue)
{
	struct itimerspec64 set = { 0 };
	ktime_t oldvalue, oldincr;
	int err;

	if (value) {
		err = get_itimerval(&set.it_value, &value->it_value);
		if (!err)
			err = get_itimerval(&set.it_interval, &value->it_interval);
		if (err)
			return err;
	}
	if (which != ITIMER_REAL)
		return -EINVAL;
	set_itimer_real(&set, &oldvalue, &oldincr);
	return ovalue ? put_itimerval(ovalue, oldvalue, oldincr) : 0;
}

SYSCALL_DEFINE1(alarm, unsigned int, seconds)
{
	struct itimerspec64 set = { .it_value.tv_sec = seconds };
	ktime_t oldvalue, oldincr;

	set_itimer_real(&set, &oldvalue, &oldincr);
	return DIV_ROUND_UP(oldvalue, NSEC_PER_SEC);
}

/*
 * poll and select (Linux's fs/select.c). The first pass over the files puts an entry into each of their wait queues; a wake-up
 * marks the table triggered, so that one that comes between a pass and the sleep is not lost.
 */
#include "poll.h"
#include "fdtable.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "timer.h"
#include "syscalls.h"
#include "uaccess.h"

#define POLL_ENTRIES	64
#define FD_SETSIZE	1024

struct poll_table_entry {
	struct file *filp;
	wait_queue_entry_t wait;
	wait_queue_head_t *wait_address;
};

struct poll_wqueues {
	poll_table pt;
	struct task_struct *polling_task;
	int triggered, error, nr;
	struct poll_table_entry *entries;	/* POLL_ENTRIES of them */
};

static int pollwake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct poll_wqueues *pwq = wait->private;
	DECLARE_WAITQUEUE(dummy_wait, pwq->polling_task);

	smp_wmb();
	pwq->triggered = 1;
	return default_wake_function(&dummy_wait, mode, sync, key);
}

static void __pollwait(struct file *filp, wait_queue_head_t *q, poll_table *p)
{
	struct poll_wqueues *pwq = container_of(p, struct poll_wqueues, pt);
	struct poll_table_entry *entry;

	if (pwq->nr == POLL_ENTRIES) {
		pwq->error = -ENOMEM;
		return;
	}
	entry = &pwq->entries[pwq->nr++];
	entry->filp = get_file(filp);
	entry->wait_address = q;
	entry->wait = (wait_queue_entry_t){ .func = pollwake, .private = pwq };
	add_wait_queue(q, &entry->wait);
}

static int poll_initwait(struct poll_wqueues *pwq)
{
	*pwq = (struct poll_wqueues){ .pt._qproc = __pollwait, .polling_task = current };
	pwq->entries = kmalloc_array(POLL_ENTRIES, sizeof(*pwq->entries), GFP_KERNEL);
	return pwq->entries ? 0 : -ENOMEM;
}

static void poll_freewait(struct poll_wqueues *pwq)
{
	for (int i = 0; i < pwq->nr; i++) {
		remove_wait_queue(pwq->entries[i].wait_address, &pwq->entries[i].wait);
		fput(pwq->entries[i].filp);
	}
	kfree(pwq->entries);
}

/* Sleeps until a file wakes the table or @timeout jiffies are over; returns what is left of them, 0 at their end. */
static long poll_schedule_timeout(struct poll_wqueues *pwq, long timeout)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (!pwq->triggered)
		timeout = schedule_timeout(timeout);
	__set_current_state(TASK_RUNNING);
	xchg(&pwq->triggered, 0);
	return timeout;
}

static inline unsigned int do_pollfd(struct pollfd *pollfd, poll_table *pwait)
{
	unsigned int filter = (unsigned short)pollfd->events | POLLERR | POLLHUP, mask = 0;

	if (pollfd->fd >= 0) {
		struct fd f = fdget(pollfd->fd);

		mask = POLLNVAL;
		if (f.file) {
			pwait->_key = filter;
			mask = vfs_poll(f.file, pwait) & filter;
			fdput(f);
		}
	}
	pollfd->revents = mask;
	return mask;
}

static int do_poll(struct pollfd *fds, unsigned int nfds, struct poll_wqueues *wait, long timeout)
{
	poll_table *pt = &wait->pt;
	int count = 0;

	if (!timeout)
		pt->_qproc = NULL;
	for (;;) {
		for (unsigned int i = 0; i < nfds; i++) {
			if (do_pollfd(&fds[i], pt)) {
				count++;
				pt->_qproc = NULL;
			}
		}
		pt->_qproc = NULL;	/* all queues are known after one pass */
		if (!count) {
			count = wait->error;
			if (signal_pending(current))
				count = -ERESTARTNOHAND;
		}
		if (count || !timeout)
			break;
		timeout = poll_schedule_timeout(wait, timeout);
	}
	return count;
}

static noinline int do_sys_poll(struct pollfd __user *ufds, unsigned int nfds, long timeout)
{
	struct poll_wqueues table;
	struct pollfd *fds;
	int err = -ENOMEM;

	if (nfds > FD_SETSIZE)
		return -EINVAL;
	fds = kmalloc_array(max(nfds, 1u), sizeof(*fds), GFP_KERNEL);
	if (!fds)
		return err;
	if (copy_from_user(fds, ufds, nfds * sizeof(*fds))) {
		err = -EFAULT;
		goto out;
	}
	err = poll_initwait(&table);
	if (err)
		goto out;
	err = do_poll(fds, nfds, &table, timeout);
	poll_freewait(&table);
	for (unsigned int i = 0; i < nfds; i++) {
		if (put_user(fds[i].revents, &ufds[i].revents)) {
			err = -EFAULT;
			break;
		}
	}
out:
	kfree(fds);
	return err;
}

/* A negative time is for ever; schedule_timeout() takes LONG_MAX for that. */
static long ms_to_timeout(long msecs)
{
	return msecs < 0 ? LONG_MAX : (long)msecs_to_jiffies(msecs) + (msecs != 0);
}

static int ts_to_timeout(const struct __kernel_timespec __user *tsp, long *timeout)
{
	struct timespec64 ts;

	*timeout = LONG_MAX;
	if (!tsp)
		return 0;
	if (get_timespec64(&ts, tsp))
		return -EFAULT;
	if (ts.tv_sec < 0 || (unsigned long)ts.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*timeout = ts.tv_sec * HZ + (ts.tv_nsec + TICK_NSEC - 1) / TICK_NSEC;
	return 0;
}

SYSCALL_DEFINE3(poll, struct pollfd __user *, ufds, unsigned int, nfds, int, timeout_msecs)
{
	int ret = do_sys_poll(ufds, nfds, ms_to_timeout(timeout_msecs));

	return ret == -ERESTARTNOHAND ? -EINTR : ret;
}

/* The signal mask is not changed: a task here has no handlers that could run meanwhile. */
SYSCALL_DEFINE5(ppoll, struct pollfd __user *, ufds, unsigned int, nfds, struct __kernel_timespec __user *, tsp,
		const sigset_t __user *, sigmask, size_t, sigsetsize)
{
	long timeout;
	int ret = ts_to_timeout(tsp, &timeout);

	if (ret)
		return ret;
	ret = do_sys_poll(ufds, nfds, timeout);
	return ret == -ERESTARTNOHAND ? -EINTR : ret;
}

#define POLLIN_SET	(POLLRDNORM | POLLIN | POLLHUP | POLLERR)
#define POLLOUT_SET	(POLLWRNORM | POLLOUT | POLLERR)
#define POLLEX_SET	POLLPRI

struct fd_sets {
	unsigned long in[FD_SETSIZE / 64], out[FD_SETSIZE / 64], ex[FD_SETSIZE / 64];
};

static bool fd_isset(const unsigned long *set, int i)
{
	return set[i / 64] >> (i % 64) & 1;
}

/* One pass over the sets: what is ready goes to @res. Returns how many bits it set there. */
static int select_pass(int n, const struct fd_sets *want, struct fd_sets *res, poll_table *wait)
{
	int retval = 0;

	memset(res, 0, sizeof(*res));
	for (int i = 0; i < n; i++) {
		bool in = fd_isset(want->in, i), out = fd_isset(want->out, i), ex = fd_isset(want->ex, i);
		unsigned int mask;
		struct fd f;

		if (!in && !out && !ex)
			continue;
		f = fdget(i);
		if (!f.file)
			return -EBADF;
		mask = vfs_poll(f.file, wait);
		fdput(f);
		if (in && (mask & POLLIN_SET)) {
			__set_bit(i, res->in);
			retval++;
		}
		if (out && (mask & POLLOUT_SET)) {
			__set_bit(i, res->out);
			retval++;
		}
		if (ex && (mask & POLLEX_SET)) {
			__set_bit(i, res->ex);
			retval++;
		}
		if (retval)
			wait->_qproc = NULL;
	}
	return retval;
}

static noinline int do_select(int n, const struct fd_sets *want, struct fd_sets *res, long timeout)
{
	struct poll_wqueues table;
	int retval = poll_initwait(&table);

	if (retval)
		return retval;
	if (!timeout)
		table.pt._qproc = NULL;
	for (;;) {
		retval = select_pass(n, want, res, &table.pt);
		table.pt._qproc = NULL;
		if (retval || !timeout)
			break;
		if (table.error || signal_pending(current)) {
			retval = table.error ? table.error : -ERESTARTNOHAND;
			break;
		}
		timeout = poll_schedule_timeout(&table, timeout);
	}
	poll_freewait(&table);
	return retval;
}

static inline int get_fd_set(int n, const void __user *ufdset, unsigned long *fdset)
{
	memset(fdset, 0, FD_SETSIZE / 8);
	return ufdset && copy_from_user(fdset, ufdset, BITS_TO_LONGS(n) * 8) ? -EFAULT : 0;
}

static inline int set_fd_set(int n, void __user *ufdset, const unsigned long *fdset)
{
	return ufdset && copy_to_user(ufdset, fdset, BITS_TO_LONGS(n) * 8) ? -EFAULT : 0;
}

static noinline int core_sys_select(int n, void __user *inp, void __user *outp, void __user *exp, long timeout)
{
	struct fd_sets *sets;
	int ret;

	if (n < 0)
		return -EINVAL;
	n = min(n, FD_SETSIZE);
	sets = kmalloc(2 * sizeof(*sets), GFP_KERNEL);
	if (!sets)
		return -ENOMEM;
	ret = -EFAULT;
	if (get_fd_set(n, inp, sets[0].in) || get_fd_set(n, outp, sets[0].out) || get_fd_set(n, exp, sets[0].ex))
		goto out;
	ret = do_select(n, &sets[0], &sets[1], timeout);
	if (ret >= 0 && (set_fd_set(n, inp, sets[1].in) || set_fd_set(n, outp, sets[1].out) || set_fd_set(n, exp, sets[1].ex)))
		ret = -EFAULT;
out:
	kfree(sets);
	return ret == -ERESTARTNOHAND ? -EINTR : ret;
}

SYSCALL_DEFINE5(select, int, n, void __user *, inp, void __user *, outp, void __user *, exp,
		struct __kernel_old_timeval __user *, tvp)
{
	struct __kernel_old_timeval tv;
	long timeout = LONG_MAX;

	if (tvp) {
		if (copy_from_user(&tv, tvp, sizeof(tv)))
			return -EFAULT;
		if (tv.tv_sec < 0 || tv.tv_usec < 0)
			return -EINVAL;
		timeout = tv.tv_sec * HZ + (tv.tv_usec * NSEC_PER_USEC + TICK_NSEC - 1) / TICK_NSEC;
	}
	return core_sys_select(n, inp, outp, exp, timeout);
}

SYSCALL_DEFINE6(pselect6, int, n, void __user *, inp, void __user *, outp, void __user *, exp,
		struct __kernel_timespec __user *, tsp, void __user *, sig)
{
	long timeout;
	int ret = ts_to_timeout(tsp, &timeout);

	return ret ? ret : core_sys_select(n, inp, outp, exp, timeout);
}

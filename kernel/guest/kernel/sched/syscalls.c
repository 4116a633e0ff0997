/* Policies, priorities and CPU masks of tasks, and the system calls that change them (kernel/sched/core.c in 6.1). */
#include "sched.h"
#include "stop_machine.h"
#include "syscalls.h"
#include "uaccess.h"

static int __normal_prio(int policy, int rt_prio, int static_prio)
{
	return rt_policy(policy) ? MAX_RT_PRIO - 1 - rt_prio : static_prio;
}

static inline int normal_prio(struct task_struct *p)
{
	return __normal_prio(p->policy, p->rt_priority, p->static_prio);
}

/* The class is told what has become of the task: it may have to run at once, or to leave its CPU. */
static noinline void check_class_changed(struct rq *rq, struct task_struct *p, const struct sched_class *prev_class, int oldprio)
{
	if (prev_class != p->sched_class) {
		if (prev_class->switched_from)
			prev_class->switched_from(rq, p);
		p->sched_class->switched_to(rq, p);
	} else if (oldprio != p->prio) {
		p->sched_class->prio_changed(rq, p, oldprio);
	}
}

void set_user_nice(struct task_struct *p, long nice)
{
	bool queued, running;
	unsigned long flags;
	struct rq *rq;
	int old_prio;

	if (task_nice(p) == nice || nice < MIN_NICE || nice > MAX_NICE)
		return;
	rq = task_rq_lock(p, &flags);
	update_rq_clock(rq);
	if (rt_policy(p->policy)) {
		p->static_prio = NICE_TO_PRIO(nice);	/* for when it comes back */
		goto out_unlock;
	}
	queued = task_on_rq_queued(p);
	running = task_current(rq, p);
	if (queued)
		dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_NOCLOCK);
	if (running)
		put_prev_task(rq, p);
	p->static_prio = NICE_TO_PRIO(nice);
	set_load_weight(p, true);
	old_prio = p->prio;
	p->prio = p->normal_prio = normal_prio(p);
	if (queued)
		enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_NOCLOCK);
	if (running)
		set_next_task(rq, p);
	p->sched_class->prio_changed(rq, p, old_prio);
out_unlock:
	task_rq_unlock(rq, p, &flags);
}

static bool valid_policy(int policy)
{
	return idle_policy(policy) || fair_policy(policy) || rt_policy(policy);
}

struct sched_params { int policy, priority, nice; bool reset_on_fork; };

static noinline void __setscheduler_params(struct task_struct *p, const struct sched_params *attr)
{
	p->policy = attr->policy;
	if (fair_policy(attr->policy))
		p->static_prio = NICE_TO_PRIO(attr->nice);
	p->rt_priority = attr->priority;
	p->normal_prio = normal_prio(p);
	set_load_weight(p, true);
}

static noinline int __sched_setscheduler(struct task_struct *p, const struct sched_params *attr)
{
	int oldprio, newprio, queue_flags = DEQUEUE_SAVE | DEQUEUE_MOVE | DEQUEUE_NOCLOCK;
	const struct sched_class *prev_class;
	bool queued, running;
	unsigned long flags;
	struct rq *rq;

	if (!valid_policy(attr->policy) || attr->priority < 0 || attr->priority > MAX_RT_PRIO - 1 ||
	    rt_policy(attr->policy) != (attr->priority != 0))
		return -EINVAL;
	rq = task_rq_lock(p, &flags);
	update_rq_clock(rq);
	if (p == rq->stop) {
		task_rq_unlock(rq, p, &flags);
		return -EINVAL;			/* changing the policy of the stop threads is a bad idea */
	}
	p->sched_reset_on_fork = attr->reset_on_fork;
	oldprio = p->prio;
	prev_class = p->sched_class;
	newprio = __normal_prio(attr->policy, attr->priority, NICE_TO_PRIO(attr->nice));
	if (newprio == oldprio)
		queue_flags &= ~DEQUEUE_MOVE;
	queued = task_on_rq_queued(p);
	running = task_current(rq, p);
	if (queued)
		dequeue_task(rq, p, queue_flags);
	if (running)
		put_prev_task(rq, p);
	__setscheduler_params(p, attr);
	__setscheduler_prio(p, newprio);
	if (queued) {
		/* One that becomes less urgent goes before its new equals. */
		if (oldprio < p->prio)
			queue_flags |= ENQUEUE_HEAD;
		enqueue_task(rq, p, queue_flags);
	}
	if (running)
		set_next_task(rq, p);
	check_class_changed(rq, p, prev_class, oldprio);
	preempt_disable();
	task_rq_unlock(rq, p, &flags);
	balance_callbacks(rq);
	preempt_enable();
	return 0;
}

static noinline int _sched_setscheduler(struct task_struct *p, int policy, int priority)
{
	struct sched_params attr = {
		.policy = policy & ~SCHED_RESET_ON_FORK, .priority = priority, .nice = task_nice(p),
		.reset_on_fork = policy & SCHED_RESET_ON_FORK,
	};

	return __sched_setscheduler(p, &attr);
}

int sched_setscheduler_nocheck(struct task_struct *p, int policy, int priority)
{
	return _sched_setscheduler(p, policy, priority);
}

/* A kernel thread that must not wait for others: the middle of the range. */
int sched_set_fifo(struct task_struct *p)
{
	return sched_setscheduler_nocheck(p, SCHED_FIFO, MAX_RT_PRIO / 2);
}

static struct task_struct *find_process_by_pid(pid_t pid)
{
	return pid ? find_task_by_vpid(pid) : current;
}

/* Counted; NULL: there is none. */
static struct task_struct *find_get_task(pid_t pid)
{
	struct task_struct *p;

	rcu_read_lock();
	p = find_process_by_pid(pid);
	if (p)
		get_task_struct(p);
	rcu_read_unlock();
	return p;
}

static noinline int do_sched_setscheduler(pid_t pid, int policy, const int __user *param)
{
	struct task_struct *p;
	int priority, retval;

	if (!param || pid < 0)
		return -EINVAL;
	if (get_user(priority, param))
		return -EFAULT;
	p = find_get_task(pid);
	if (!p)
		return -ESRCH;
	retval = _sched_setscheduler(p, policy < 0 ? (int)p->policy | (p->sched_reset_on_fork ? SCHED_RESET_ON_FORK : 0) : policy, priority);
	put_task_struct(p);
	return retval;
}

SYSCALL_DEFINE3(sched_setscheduler, pid_t, pid, int, policy, const int *, param)
{
	return policy < 0 ? -EINVAL : do_sched_setscheduler(pid, policy, param);
}

SYSCALL_DEFINE2(sched_setparam, pid_t, pid, const int *, param)
{
	return do_sched_setscheduler(pid, -1, param);
}

SYSCALL_DEFINE1(sched_getscheduler, pid_t, pid)
{
	struct task_struct *p;
	int retval = -ESRCH;

	if (pid < 0)
		return -EINVAL;
	rcu_read_lock();
	p = find_process_by_pid(pid);
	if (p)
		retval = p->policy | (p->sched_reset_on_fork ? SCHED_RESET_ON_FORK : 0);
	rcu_read_unlock();
	return retval;
}

SYSCALL_DEFINE2(sched_getparam, pid_t, pid, int *, param)
{
	struct task_struct *p;
	int priority = 0;

	if (!param || pid < 0)
		return -EINVAL;
	rcu_read_lock();
	p = find_process_by_pid(pid);
	if (p && rt_policy(p->policy))
		priority = p->rt_priority;
	rcu_read_unlock();
	if (!p)
		return -ESRCH;
	return put_user(priority, param) ? -EFAULT : 0;
}

/* uapi/linux/sched/types.h; the last words are of the deadline class and of utilisation clamps, which are not here. */
struct sched_attr {
	u32 size, sched_policy;
	u64 sched_flags;
	s32 sched_nice;
	u32 sched_priority;
	u64 sched_runtime, sched_deadline, sched_period;
	u32 sched_util_min, sched_util_max;
};
#define SCHED_ATTR_SIZE_VER0	48
#define SCHED_FLAG_RESET_ON_FORK 1
#define SCHED_FLAG_KEEP_POLICY	8
#define SCHED_FLAG_KEEP_PARAMS	0x10

/* A caller from another time may know fewer words, or more: then those must be 0. */
static int sched_copy_attr(struct sched_attr __user *uattr, struct sched_attr *attr)
{
	u32 size, i;
	u8 more;

	memset(attr, 0, sizeof(*attr));
	if (get_user(size, &uattr->size))
		return -EFAULT;
	size = size ? size : SCHED_ATTR_SIZE_VER0;
	if (size < SCHED_ATTR_SIZE_VER0 || size > PAGE_SIZE)
		goto err_size;
	for (i = sizeof(*attr); i < size; i++) {
		if (get_user(more, (u8 __user *)uattr + i))
			return -EFAULT;
		if (more)
			goto err_size;
	}
	if (copy_from_user(attr, uattr, min_t(u32, size, sizeof(*attr))))
		return -EFAULT;
	attr->sched_nice = clamp(attr->sched_nice, MIN_NICE, MAX_NICE);
	return 0;
err_size:
	return put_user((u32)sizeof(*attr), &uattr->size) ? -EFAULT : -E2BIG;
}

SYSCALL_DEFINE3(sched_setattr, pid_t, pid, struct sched_attr __user *, uattr, unsigned int, flags)
{
	struct sched_params params;
	struct task_struct *p;
	struct sched_attr attr;
	int retval;

	if (!uattr || pid < 0 || flags)
		return -EINVAL;
	retval = sched_copy_attr(uattr, &attr);
	if (retval)
		return retval;
	if ((int)attr.sched_policy < 0 ||
	    attr.sched_flags & ~(u64)(SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_KEEP_POLICY | SCHED_FLAG_KEEP_PARAMS))
		return -EINVAL;
	p = find_get_task(pid);
	if (!p)
		return -ESRCH;
	params = (struct sched_params){ .policy = attr.sched_policy, .priority = attr.sched_priority, .nice = attr.sched_nice,
		.reset_on_fork = attr.sched_flags & SCHED_FLAG_RESET_ON_FORK };
	if (attr.sched_flags & SCHED_FLAG_KEEP_POLICY)
		params.policy = p->policy;
	if (attr.sched_flags & SCHED_FLAG_KEEP_PARAMS) {
		params.priority = rt_policy(p->policy) ? p->rt_priority : 0;
		params.nice = task_nice(p);
	}
	retval = __sched_setscheduler(p, &params);
	put_task_struct(p);
	return retval;
}

SYSCALL_DEFINE4(sched_getattr, pid_t, pid, struct sched_attr __user *, uattr, unsigned int, usize, unsigned int, flags)
{
	struct sched_attr attr = { .size = min_t(u32, usize, sizeof(attr)) };
	struct task_struct *p;

	if (!uattr || pid < 0 || usize > PAGE_SIZE || usize < SCHED_ATTR_SIZE_VER0 || flags)
		return -EINVAL;
	rcu_read_lock();
	p = find_process_by_pid(pid);
	if (p) {
		attr.sched_policy = p->policy;
		attr.sched_flags = p->sched_reset_on_fork ? SCHED_FLAG_RESET_ON_FORK : 0;
		if (rt_policy(p->policy))
			attr.sched_priority = p->rt_priority;
		else
			attr.sched_nice = task_nice(p);
	}
	rcu_read_unlock();
	if (!p)
		return -ESRCH;
	return copy_to_user(uattr, &attr, attr.size) ? -EFAULT : 0;
}

SYSCALL_DEFINE1(sched_get_priority_max, int, policy)
{
	return rt_policy(policy) ? MAX_RT_PRIO - 1 : valid_policy(policy) ? 0 : -EINVAL;
}

SYSCALL_DEFINE1(sched_get_priority_min, int, policy)
{
	return rt_policy(policy) ? 1 : valid_policy(policy) ? 0 : -EINVAL;
}

SYSCALL_DEFINE2(sched_rr_get_interval, pid_t, pid, struct __kernel_timespec *, interval)
{
	struct timespec64 t;
	struct task_struct *p;
	unsigned long flags;
	struct rq *rq;

	if (pid < 0)
		return -EINVAL;
	p = find_get_task(pid);
	if (!p)
		return -ESRCH;
	rq = task_rq_lock(p, &flags);
	t = ns_to_timespec64(p->sched_class->get_rr_interval ? p->sched_class->get_rr_interval(rq, p) * TICK_NSEC : 0);
	task_rq_unlock(rq, p, &flags);
	put_task_struct(p);
	return put_timespec64(&t, interval);
}

/* ---- nice values of a process, a group or a user (kernel/sys.c) ---- */
#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2

static bool prio_selects(struct task_struct *p, int which, int who)
{
	switch (which) {
	case PRIO_PROCESS:
		return who ? p->pid == who : p == current;
	case PRIO_PGRP:
		return who ? task_pgrp(p) == find_vpid(who) : task_pgrp(p) == task_pgrp(current);
	}
	return who == 0;			/* all users are root */
}

SYSCALL_DEFINE3(setpriority, int, which, int, who, int, niceval)
{
	struct task_struct *p;
	int error = -ESRCH;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	niceval = clamp(niceval, MIN_NICE, MAX_NICE);
	read_lock(&tasklist_lock);
	for_each_process(p) {
		if (prio_selects(p, which, who)) {
			set_user_nice(p, niceval);
			error = 0;
		}
	}
	read_unlock(&tasklist_lock);
	return error;
}

/* 20 - nice, so that no result looks like an error: 40 is the most favourable. */
SYSCALL_DEFINE2(getpriority, int, which, int, who)
{
	struct task_struct *p;
	long retval = -ESRCH;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	read_lock(&tasklist_lock);
	for_each_process(p) {
		if (prio_selects(p, which, who))
			retval = max(retval, (long)(MAX_NICE + 1 - task_nice(p)));
	}
	read_unlock(&tasklist_lock);
	return retval;
}

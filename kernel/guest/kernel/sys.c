/* System calls about the caller and the system (kernel/sys.c, sched/core.c). */
#include "mm.h"
#include "cputime.h"
#include "fdtable.h"
#include "syscalls.h"
#include "uaccess.h"
#include "utsname.h"
#include "tracepoint.h"
#include "loadavg.h"

SYSCALL_DEFINE0(getpid)
{
	return task_tgid_vnr(current);
}

SYSCALL_DEFINE0(gettid)
{
	return task_pid_vnr(current);
}

SYSCALL_DEFINE0(getppid)
{
	pid_t pid;

	rcu_read_lock();
	pid = task_tgid_vnr(READ_ONCE(current->real_parent));
	rcu_read_unlock();
	return pid;
}

void __set_task_comm(struct task_struct *tsk, const char *buf, bool exec)
{
	char comm[TASK_COMM_LEN] = "";

	strscpy(comm, buf, sizeof(comm));
	task_lock(tsk);
	trace_task_rename(tsk, comm);
	memcpy(tsk->comm, comm, sizeof(comm));	/* readers do not lock; the last byte is always NUL */
	task_unlock(tsk);
}

static struct task_struct *task_or_current(pid_t pid)
{
	return pid ? find_task_by_vpid(pid) : current;
}

/* A process may move itself or a child of its session into a group of that session, or into a new one. */
SYSCALL_DEFINE2(setpgid, pid_t, pid, pid_t, pgid)
{
	struct task_struct *p, *leader;
	struct pid *pgrp;
	int err = -ESRCH;

	if (pgid < 0)
		return -EINVAL;
	write_lock_irq(&tasklist_lock);
	p = task_or_current(pid);
	if (!p || (p != current && p->real_parent != current))
		goto out;
	err = -EPERM;
	pgrp = p->thread_pid;
	if (task_session(p) != task_session(current) || task_session(p) == p->thread_pid)
		goto out;
	if (pgid && pgid != p->pid) {
		pgrp = find_vpid(pgid);
		leader = pid_task(pgrp, PIDTYPE_PGID);
		if (!leader || task_session(leader) != task_session(current))
			goto out;
	}
	if (task_pgrp(p) != pgrp)
		change_pid(p, PIDTYPE_PGID, pgrp);
	err = 0;
out:
	write_unlock_irq(&tasklist_lock);
	return err;
}

static long do_getpgid(pid_t pid, enum pid_type type)
{
	struct task_struct *p;
	long ret = -ESRCH;

	read_lock(&tasklist_lock);
	p = task_or_current(pid);
	if (p)
		ret = __task_pid_nr_ns(p, type, NULL);
	read_unlock(&tasklist_lock);
	return ret;
}

SYSCALL_DEFINE1(getpgid, pid_t, pid)
{
	return do_getpgid(pid, PIDTYPE_PGID);
}

SYSCALL_DEFINE1(getsid, pid_t, pid)
{
	return do_getpgid(pid, PIDTYPE_SID);
}

SYSCALL_DEFINE0(getpgrp)
{
	return do_getpgid(0, PIDTYPE_PGID);
}

int ksys_setsid(void);
int ksys_setsid(void)
{
	struct pid *sid = current->thread_pid;
	int err = -EPERM;

	write_lock_irq(&tasklist_lock);
	if (!pid_task(sid, PIDTYPE_PGID) || task_pgrp(current) != sid) {
		if (task_session(current) != sid)
			change_pid(current, PIDTYPE_SID, sid);
		change_pid(current, PIDTYPE_PGID, sid);
		err = pid_vnr(sid);
	}
	write_unlock_irq(&tasklist_lock);
	return err;
}

SYSCALL_DEFINE0(setsid)
{
	return ksys_setsid();
}

SYSCALL_DEFINE1(newuname, struct new_utsname *, name)
{
	return copy_to_user(name, &init_uts, sizeof(init_uts)) ? -EFAULT : 0;
}

struct tms { long tms_utime, tms_stime, tms_cutime, tms_cstime; };
long nsec_to_clock_t(u64 n);
noinline long nsec_to_clock_t(u64 n)
{
	return n / (NSEC_PER_SEC / 100);
}

/* tasklist_lock held, or p is current or a zombie that is the caller's. */
noinline void getrusage(struct task_struct *p, int who, struct rusage *r)
{
	struct signal_struct *sig = p->signal;
	u64 utime = 0, stime = 0, tgutime, tgstime;
	unsigned long maxrss = 0;
	struct task_struct *t;

	memset(r, 0, sizeof(*r));
	if (who == RUSAGE_BOTH || who == RUSAGE_CHILDREN) {
		utime = sig->cutime;
		stime = sig->cstime;
		r->ru_nvcsw = sig->cnvcsw;
		r->ru_nivcsw = sig->cnivcsw;
		r->ru_minflt = sig->cmin_flt;
		maxrss = sig->cmaxrss;
	}
	if (who == RUSAGE_THREAD) {
		task_cputime(p, &utime, &stime);
		cputime_adjust(p->se.sum_exec_runtime, &utime, &stime);
		r->ru_nvcsw = p->nvcsw;
		r->ru_nivcsw = p->nivcsw;
		r->ru_minflt = p->min_flt;
		maxrss = sig->maxrss;
	} else if (who != RUSAGE_CHILDREN) {
		thread_group_cputime_adjusted(p, &tgutime, &tgstime);
		utime += tgutime;
		stime += tgstime;
		t = p->group_leader;
		r->ru_nvcsw += sig->nvcsw + t->nvcsw;
		r->ru_nivcsw += sig->nivcsw + t->nivcsw;
		r->ru_minflt += sig->min_flt + t->min_flt;
		list_for_each_entry(t, &p->group_leader->thread_group, thread_group) {
			r->ru_nvcsw += t->nvcsw;
			r->ru_nivcsw += t->nivcsw;
			r->ru_minflt += t->min_flt;
		}
		maxrss = max(maxrss, sig->maxrss);
	}
	if (who != RUSAGE_CHILDREN && p == current && p->mm)
		maxrss = max(maxrss, get_mm_hiwater_rss(p->mm));
	r->ru_maxrss = maxrss * (PAGE_SIZE / 1024);
	r->ru_utime.tv_sec = utime / NSEC_PER_SEC;
	r->ru_utime.tv_usec = utime % NSEC_PER_SEC / 1000;
	r->ru_stime.tv_sec = stime / NSEC_PER_SEC;
	r->ru_stime.tv_usec = stime % NSEC_PER_SEC / 1000;
}

SYSCALL_DEFINE2(getrusage, int, who, struct rusage *, ru)
{
	struct rusage r;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return -EINVAL;
	getrusage(current, who, &r);
	return copy_to_user(ru, &r, sizeof(r)) ? -EFAULT : 0;
}

SYSCALL_DEFINE1(times, struct tms *, tbuf)
{
	struct signal_struct *sig = current->signal;
	struct tms t = { .tms_cutime = nsec_to_clock_t(sig->cutime), .tms_cstime = nsec_to_clock_t(sig->cstime) };
	u64 utime, stime;

	thread_group_cputime_adjusted(current, &utime, &stime);
	t.tms_utime = nsec_to_clock_t(utime);
	t.tms_stime = nsec_to_clock_t(stime);

	if (tbuf && copy_to_user(tbuf, &t, sizeof(t)))
		return -EFAULT;
	return nsec_to_clock_t(ktime_get());
}

SYSCALL_DEFINE3(getcpu, unsigned int *, cpup, unsigned int *, nodep, void *, unused)
{
	int err = 0;

	if (cpup)
		err |= put_user(raw_smp_processor_id(), cpup);
	if (nodep)
		err |= put_user(0, nodep);
	return err ? -EFAULT : 0;
}

#define PR_SET_NAME 15
#define PR_GET_NAME 16
SYSCALL_DEFINE5(prctl, int, option, unsigned long, arg2, unsigned long, arg3, unsigned long, arg4, unsigned long, arg5)
{
	char comm[TASK_COMM_LEN];

	switch (option) {
	case PR_SET_NAME:
		comm[TASK_COMM_LEN - 1] = 0;
		if (strncpy_from_user(comm, (char *)arg2, TASK_COMM_LEN - 1) < 0)
			return -EFAULT;
		set_task_comm(current, comm);
		return 0;
	case PR_GET_NAME:
		return copy_to_user((char *)arg2, current->comm, TASK_COMM_LEN) ? -EFAULT : 0;
	}
	return -EINVAL;
}

struct sysinfo_user { long uptime; unsigned long loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap; u16 procs, pad;
	unsigned long totalhigh, freehigh; unsigned int mem_unit; };

SYSCALL_DEFINE1(sysinfo, struct sysinfo_user *, info)
{
	struct sysinfo_user v = { .uptime = ktime_get() / NSEC_PER_SEC, .totalram = totalram_pages() * PAGE_SIZE,
		.freeram = nr_free_pages() * PAGE_SIZE, .mem_unit = 1 };
	struct task_struct *p;

	get_avenrun(v.loads, 0, 16 - FSHIFT);
	read_lock(&tasklist_lock);
	for_each_process(p)
		v.procs++;
	read_unlock(&tasklist_lock);
	return copy_to_user(info, &v, sizeof(v)) ? -EFAULT : 0;
}

void update_rlimit_cpu(struct task_struct *task, unsigned long rlim_new);

static noinline int do_prlimit(struct task_struct *tsk, unsigned int resource, struct rlimit *new_rlim, struct rlimit *old_rlim)
{
	struct rlimit *rlim;
	int retval = 0;

	if (resource >= RLIM_NLIMITS || (new_rlim && new_rlim->rlim_cur > new_rlim->rlim_max))
		return -EINVAL;
	if (new_rlim && resource == RLIMIT_NOFILE && new_rlim->rlim_max > NR_OPEN_MAX)
		return -EPERM;		/* sysctl_nr_open */
	rlim = tsk->signal->rlim + resource;
	task_lock(tsk->group_leader);
	if (old_rlim)
		*old_rlim = *rlim;
	if (new_rlim)
		*rlim = *new_rlim;
	task_unlock(tsk->group_leader);
	if (new_rlim && resource == RLIMIT_CPU)
		update_rlimit_cpu(tsk, new_rlim->rlim_cur);
	return retval;
}

SYSCALL_DEFINE4(prlimit64, pid_t, pid, unsigned int, resource, const struct rlimit *, new_rlim, struct rlimit *, old_rlim)
{
	struct rlimit old, new;
	int ret;

	if (pid && pid != current->tgid)
		return find_task_by_vpid(pid) ? -EPERM : -ESRCH;
	if (new_rlim && copy_from_user(&new, new_rlim, sizeof(new)))
		return -EFAULT;
	ret = do_prlimit(current, resource, new_rlim ? &new : NULL, &old);
	return !ret && old_rlim && copy_to_user(old_rlim, &old, sizeof(old)) ? -EFAULT : ret;
}

SYSCALL_DEFINE2(getrlimit, unsigned int, resource, struct rlimit *, rlim)
{
	struct rlimit value;
	int ret = do_prlimit(current, resource, NULL, &value);

	return !ret && copy_to_user(rlim, &value, sizeof(value)) ? -EFAULT : ret;
}

SYSCALL_DEFINE2(setrlimit, unsigned int, resource, struct rlimit *, rlim)
{
	struct rlimit new;

	return copy_from_user(&new, rlim, sizeof(new)) ? -EFAULT : do_prlimit(current, resource, &new, NULL);
}

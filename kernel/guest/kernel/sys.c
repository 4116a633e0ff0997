/* System calls about the caller and the system (kernel/sys.c, sched/core.c). */
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"
#include "utsname.h"

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
	return READ_ONCE(current->real_parent)->tgid;
}

void __set_task_comm(struct task_struct *tsk, const char *buf, bool exec)
{
	char comm[TASK_COMM_LEN] = "";

	strscpy(comm, buf, sizeof(comm));
	task_lock(tsk);
	memcpy(tsk->comm, comm, sizeof(comm));	/* readers do not lock; the last byte is always NUL */
	task_unlock(tsk);
}

static struct task_struct *task_or_current(pid_t pid)
{
	return pid ? find_task_by_vpid(pid) : current;
}

SYSCALL_DEFINE2(setpgid, pid_t, pid, pid_t, pgid)
{
	struct task_struct *p;
	int err = -ESRCH;

	if (pgid < 0)
		return -EINVAL;
	write_lock_irq(&tasklist_lock);
	p = task_or_current(pid);
	if (p && (p == current || p->real_parent == current)) {
		p->signal->pgrp = pgid ? pgid : p->pid;
		err = 0;
	}
	write_unlock_irq(&tasklist_lock);
	return err;
}

SYSCALL_DEFINE1(getpgid, pid_t, pid)
{
	struct task_struct *p;
	long ret = -ESRCH;

	read_lock(&tasklist_lock);
	p = task_or_current(pid);
	if (p)
		ret = p->signal->pgrp;
	read_unlock(&tasklist_lock);
	return ret;
}

SYSCALL_DEFINE0(getpgrp)
{
	return current->signal->pgrp;
}

SYSCALL_DEFINE0(setsid)
{
	if (current->signal->pgrp == current->pid)
		return -EPERM;
	current->signal->session = current->signal->pgrp = current->pid;
	return current->pid;
}

SYSCALL_DEFINE1(newuname, struct new_utsname *, name)
{
	return copy_to_user(name, &init_uts, sizeof(init_uts)) ? -EFAULT : 0;
}

struct tms { long tms_utime, tms_stime, tms_cutime, tms_cstime; };
#define nsec_to_clock_t(n) ((long)((n) / (NSEC_PER_SEC / 100)))

SYSCALL_DEFINE1(times, struct tms *, tbuf)
{
	struct signal_struct *sig = current->signal;
	struct tms t = { nsec_to_clock_t(current->utime), nsec_to_clock_t(current->stime), nsec_to_clock_t(sig->cutime),
			 nsec_to_clock_t(sig->cstime) };

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

SYSCALL_DEFINE3(sched_setaffinity, pid_t, pid, unsigned int, len, unsigned long *, user_mask)
{
	struct task_struct *p;
	struct cpumask mask;
	int ret;

	if (len < sizeof(mask) || get_user(mask.bits[0], user_mask))
		return len < sizeof(mask) ? -EINVAL : -EFAULT;
	read_lock(&tasklist_lock);
	p = task_or_current(pid);
	if (p)
		get_task_struct(p);
	read_unlock(&tasklist_lock);
	if (!p)
		return -ESRCH;
	ret = p->flags & PF_NO_SETAFFINITY ? -EINVAL : set_cpus_allowed_ptr(p, &mask);
	put_task_struct(p);
	return ret;
}

SYSCALL_DEFINE3(sched_getaffinity, pid_t, pid, unsigned int, len, unsigned long *, user_mask)
{
	struct task_struct *p;
	unsigned long mask = 0;

	if (len < sizeof(mask))
		return -EINVAL;
	read_lock(&tasklist_lock);
	p = task_or_current(pid);
	if (p)
		mask = p->cpus_mask.bits[0] & cpu_active_mask->bits[0];
	read_unlock(&tasklist_lock);
	if (!p)
		return -ESRCH;
	return put_user(mask, user_mask) ? -EFAULT : (long)sizeof(mask);
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

	read_lock(&tasklist_lock);
	for_each_process(p)
		v.procs++;
	read_unlock(&tasklist_lock);
	return copy_to_user(info, &v, sizeof(v)) ? -EFAULT : 0;
}

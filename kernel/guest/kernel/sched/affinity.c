/*
 * The CPUs that a task may run on (set_cpus_allowed_ptr in kernel/sched/core.c). One that waits in a queue is moved; one
 * that runs cannot be, so its CPU's stopper thread takes its place and moves it.
 */
#include "sched.h"
#include "stop_machine.h"
#include "syscalls.h"
#include "uaccess.h"

struct migration_arg { struct task_struct *task; int dest_cpu; bool balance; };	/* balance: it may stay, but should not */

/* rq is locked, and dropped; returned is the new queue, locked. */
static noinline struct rq *move_queued_task(struct rq *rq, struct task_struct *p, int new_cpu)
{
	deactivate_task(rq, p, 0);
	set_task_cpu(p, new_cpu);
	raw_spin_rq_unlock(rq);
	rq = cpu_rq(new_cpu);
	raw_spin_rq_lock(rq);
	activate_task(rq, p, 0);
	check_preempt_curr(rq, p, 0);
	return rq;
}

static noinline struct rq *__migrate_task(struct rq *rq, struct task_struct *p, int dest_cpu)
{
	if (!cpumask_test_cpu(dest_cpu, &p->cpus_mask) || !cpu_active(dest_cpu))
		return rq;
	update_rq_clock(rq);
	return move_queued_task(rq, p, dest_cpu);
}

/* On the task's CPU, in its stopper, so the task does not run. */
static noinline int migration_cpu_stop(void *data)
{
	struct migration_arg *arg = data;
	struct task_struct *p = arg->task;
	struct rq *rq = this_rq();

	local_irq_disable();
	flush_smp_call_function_queue();
	raw_spin_lock(&p->pi_lock);
	raw_spin_rq_lock(rq);
	if (task_rq(p) == rq && (arg->balance || !cpumask_test_cpu(rq->cpu, &p->cpus_mask))) {
		if (task_on_rq_queued(p))
			rq = __migrate_task(rq, p, arg->dest_cpu);
		else
			p->wake_cpu = arg->dest_cpu;
	}
	raw_spin_rq_unlock(rq);
	raw_spin_unlock(&p->pi_lock);
	local_irq_enable();
	return 0;
}

/* An exec is the best moment for a task to move: it has the least memory in caches. */
void sched_exec(void)
{
	struct task_struct *p = current;
	struct migration_arg arg = { .task = p, .balance = true };
	unsigned long flags;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	arg.dest_cpu = p->sched_class->select_task_rq ? p->sched_class->select_task_rq(p, task_cpu(p), WF_EXEC) : task_cpu(p);
	if (arg.dest_cpu != smp_processor_id() && likely(cpu_active(arg.dest_cpu) && p->nr_cpus_allowed > 1)) {
		raw_spin_unlock_irqrestore(&p->pi_lock, flags);
		stop_one_cpu(task_cpu(p), migration_cpu_stop, &arg);
		return;
	}
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* p is locked, and its queue; both are dropped. */
static noinline int affine_move_task(struct rq *rq, struct task_struct *p, unsigned long *flags, int dest_cpu)
{
	struct migration_arg arg = { .task = p, .dest_cpu = dest_cpu };

	if (p->on_cpu || READ_ONCE(p->__state) == TASK_WAKING) {
		int cpu = rq->cpu;

		get_task_struct(p);
		task_rq_unlock(rq, p, flags);
		stop_one_cpu(cpu, migration_cpu_stop, &arg);
		put_task_struct(p);
		return 0;
	}
	if (task_on_rq_queued(p))
		rq = move_queued_task(rq, p, dest_cpu);
	else
		p->wake_cpu = dest_cpu;
	task_rq_unlock(rq, p, flags);
	return 0;
}

static noinline void __do_set_cpus_allowed(struct task_struct *p, const struct cpumask *new_mask)
{
	cpumask_and(&p->cpus_mask, new_mask, cpu_possible_mask);	/* those that come up later count too */
	p->nr_cpus_allowed = cpumask_weight(&p->cpus_mask);
}

static noinline int __set_cpus_allowed_ptr(struct task_struct *p, const struct cpumask *new_mask)
{
	unsigned long flags;
	struct cpumask valid;
	struct rq *rq;

	cpumask_and(&valid, new_mask, cpu_active_mask);
	if (cpumask_empty(&valid))
		return -EINVAL;
	rq = task_rq_lock(p, &flags);
	update_rq_clock(rq);
	__do_set_cpus_allowed(p, new_mask);
	if (cpumask_test_cpu(task_cpu(p), &valid)) {
		task_rq_unlock(rq, p, &flags);
		return 0;
	}
	return affine_move_task(rq, p, &flags, cpumask_first(&valid));
}

int set_cpus_allowed_ptr(struct task_struct *p, const struct cpumask *new_mask)
{
	return __set_cpus_allowed_ptr(p, new_mask);
}

static noinline long sched_setaffinity(pid_t pid, const struct cpumask *in_mask)
{
	struct task_struct *p;
	long retval;

	rcu_read_lock();
	p = pid ? find_task_by_vpid(pid) : current;
	if (p)
		get_task_struct(p);
	rcu_read_unlock();
	if (!p)
		return -ESRCH;
	retval = p->flags & PF_NO_SETAFFINITY ? -EINVAL : __set_cpus_allowed_ptr(p, in_mask);
	put_task_struct(p);
	return retval;
}

/* A shorter mask is taken for one with zeros behind, a longer one is cut. */
SYSCALL_DEFINE3(sched_setaffinity, pid_t, pid, unsigned int, len, unsigned long *, user_mask_ptr)
{
	struct cpumask new_mask = { { 0 } };

	if (copy_from_user(&new_mask, user_mask_ptr, min(len, (unsigned int)sizeof(new_mask))))
		return -EFAULT;
	return sched_setaffinity(pid, &new_mask);
}

static noinline long sched_getaffinity(pid_t pid, struct cpumask *mask)
{
	struct task_struct *p;
	unsigned long flags;

	rcu_read_lock();
	p = pid ? find_task_by_vpid(pid) : current;
	if (p) {
		raw_spin_lock_irqsave(&p->pi_lock, flags);
		cpumask_and(mask, &p->cpus_mask, cpu_active_mask);
		raw_spin_unlock_irqrestore(&p->pi_lock, flags);
	}
	rcu_read_unlock();
	return p ? 0 : -ESRCH;
}

SYSCALL_DEFINE3(sched_getaffinity, pid_t, pid, unsigned int, len, unsigned long *, user_mask_ptr)
{
	struct cpumask mask;
	long ret;

	if (len * 8 < nr_cpu_ids || len & (sizeof(long) - 1))
		return -EINVAL;
	ret = sched_getaffinity(pid, &mask);
	if (ret)
		return ret;
	return copy_to_user(user_mask_ptr, &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}

/*
 * Membership of tasks in control groups (kernel/cgroup/cgroup.c, pids.c): all are in the root, whose css_set lists them from the
 * end of their fork to their exit. css_set_lock protects the list. The pids controller counts from before the fork is certain to
 * the release of the task, so that zombies count.
 */
#include "cgroup.h"
#include "kernel.h"
#include "spinlock.h"
#include "seq_file.h"
#include "proc_internal.h"

struct css_set init_css_set = { .refcount = REFCOUNT_INIT(1), .tasks = LIST_HEAD_INIT(init_css_set.tasks) };
static DEFINE_SPINLOCK(css_set_lock);
static atomic_long_t pids_counter;	/* of the root */

/* The root has as many as there are numbers (kernel.pid_max). */
static noinline int pids_can_fork(struct task_struct *task, struct css_set *cset)
{
	if (likely(atomic_long_fetch_add(1, &pids_counter) < pid_max))
		return 0;
	atomic_long_dec(&pids_counter);
	return -EAGAIN;
}

static noinline void pids_cancel_fork(struct task_struct *task, struct css_set *cset)
{
	atomic_long_dec(&pids_counter);
}

static noinline void pids_release(struct task_struct *task)
{
	atomic_long_dec(&pids_counter);
}

/* css_set_lock held. NULL: the task is in none, from there or to there. */
static noinline void css_set_move_task(struct task_struct *task, struct css_set *from_cset, struct css_set *to_cset)
{
	if (from_cset) {
		list_del_init(&task->cg_list);
		from_cset->nr_tasks--;
	}
	if (to_cset) {
		list_add_tail(&task->cg_list, &to_cset->tasks);
		to_cset->nr_tasks++;
	}
}

static void put_css_set(struct css_set *cset)
{
	if (refcount_dec_and_test(&cset->refcount))
		BUG_ON(cset == &init_css_set);
}

/* Not a member yet: exit of a fork that fails must not take it off a list. */
void cgroup_fork(struct task_struct *child)
{
	child->cgroups = &init_css_set;
	INIT_LIST_HEAD(&child->cg_list);
}

/* What cgroup_can_fork() took, unless it is the child's by now. */
static noinline void cgroup_css_set_put_fork(struct kernel_clone_args *kargs)
{
	if (kargs->cset) {
		put_css_set(kargs->cset);
		kargs->cset = NULL;
	}
}

int cgroup_can_fork(struct task_struct *child, struct kernel_clone_args *kargs)
{
	struct css_set *cset;
	int ret;

	might_sleep();
	spin_lock_irq(&css_set_lock);
	cset = current->cgroups;
	refcount_inc(&cset->refcount);
	spin_unlock_irq(&css_set_lock);
	kargs->cset = cset;
	ret = pids_can_fork(child, cset);
	if (ret)
		cgroup_css_set_put_fork(kargs);
	return ret;
}

void cgroup_cancel_fork(struct task_struct *child, struct kernel_clone_args *kargs)
{
	pids_cancel_fork(child, kargs->cset);
	cgroup_css_set_put_fork(kargs);
}

/* The fork is certain: the reference of cgroup_can_fork() is the child's. */
void cgroup_post_fork(struct task_struct *child, struct kernel_clone_args *kargs)
{
	struct css_set *cset = kargs->cset;

	kargs->cset = NULL;
	spin_lock_irq(&css_set_lock);
	child->cgroups = cset;
	css_set_move_task(child, NULL, cset);
	spin_unlock_irq(&css_set_lock);
	cgroup_css_set_put_fork(kargs);
}

void cgroup_exit(struct task_struct *tsk)
{
	spin_lock_irq(&css_set_lock);
	css_set_move_task(tsk, tsk->cgroups, NULL);
	spin_unlock_irq(&css_set_lock);
}

void cgroup_release(struct task_struct *task)
{
	pids_release(task);
}

void cgroup_free(struct task_struct *task)
{
	put_css_set(task->cgroups);
}

/* /proc/PID/cgroup: the one hierarchy, and the path in it. */
int proc_cgroup_show(struct seq_file *m, void *v)
{
	seq_puts(m, "0::/\n");
	return 0;
}

void __init cgroup_init(void)
{
	cgroup_fork(&init_task);
	css_set_move_task(&init_task, NULL, &init_css_set);
}

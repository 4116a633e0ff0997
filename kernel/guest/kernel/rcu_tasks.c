/*
 * Grace periods of tasks (Linux's kernel/rcu/tasks.h): over when each task that was running or ready in the kernel has called
 * schedule() of its own will, sleeps, or has been seen in user mode. Code that a preempted task will return into may be
 * changed then.
 */
#include "kprobes.h"
#include "rcupdate.h"
#include "sched.h"
#include "timer.h"

static notrace bool rcu_tasks_is_holdout(struct task_struct *t)
{
	return t != current && READ_ONCE(t->on_rq) && !is_idle_task(t);
}

static notrace void rcu_tasks_pertask(struct task_struct *t)
{
	if (!rcu_tasks_is_holdout(t))
		return;
	t->rcu_tasks_nvcsw = READ_ONCE(t->nvcsw);
	WRITE_ONCE(t->rcu_tasks_holdout, true);
}

static notrace bool check_holdout_task(struct task_struct *t)
{
	if (READ_ONCE(t->rcu_tasks_holdout) && rcu_tasks_is_holdout(t) && t->rcu_tasks_nvcsw == READ_ONCE(t->nvcsw))
		return true;
	WRITE_ONCE(t->rcu_tasks_holdout, false);
	return false;
}

/* for_each_process() sees thread group leaders; their threads hang on thread_group. */
static notrace int rcu_tasks_scan(bool first)
{
	struct task_struct *g, *t;
	int holdouts = 0;

	read_lock(&tasklist_lock);
	for_each_process(g) {
		t = g;
		do {
			if (first)
				rcu_tasks_pertask(t);
			holdouts += check_holdout_task(t);
			t = list_entry(t->thread_group.next, struct task_struct, thread_group);
		} while (t != g);
	}
	read_unlock(&tasklist_lock);
	return holdouts;
}

/* Linux looks again every tenth of a second; a tick is cheap here. */
notrace void synchronize_rcu_tasks(void)
{
	synchronize_rcu();	/* what had its stack switched before is seen below */
	if (rcu_tasks_scan(true)) {
		do {
			schedule_timeout_uninterruptible(1);
		} while (rcu_tasks_scan(false));
	}
	synchronize_rcu();
}

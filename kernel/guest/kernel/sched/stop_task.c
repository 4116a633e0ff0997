/* The class above all others: a CPU's stopper thread, migration/N (kernel/sched/stop_task.c). */
#include "sched.h"

static bool sched_stop_runnable(struct rq *rq)
{
	return rq->stop && task_on_rq_queued(rq->stop);
}

static int balance_stop(struct rq *rq, struct task_struct *prev)
{
	return sched_stop_runnable(rq);
}

static void check_preempt_curr_stop(struct rq *rq, struct task_struct *p, int flags)
{
	/* There is one of them: nothing preempts it. */
}

static void set_next_task_stop(struct rq *rq, struct task_struct *stop, bool first)
{
	stop->se.exec_start = rq_clock_task(rq);
}

static struct task_struct *pick_next_task_stop(struct rq *rq)
{
	if (!sched_stop_runnable(rq))
		return NULL;
	set_next_task_stop(rq, rq->stop, true);
	return rq->stop;
}

static void enqueue_task_stop(struct rq *rq, struct task_struct *p, int flags)
{
	rq->nr_running++;
}

static void dequeue_task_stop(struct rq *rq, struct task_struct *p, int flags)
{
	rq->nr_running--;
}

static void put_prev_task_stop(struct rq *rq, struct task_struct *prev)
{
	s64 delta_exec = rq_clock_task(rq) - prev->se.exec_start;

	if (delta_exec > 0)
		prev->se.sum_exec_runtime += delta_exec;
	prev->se.exec_start = rq_clock_task(rq);
}

static void task_tick_stop(struct rq *rq, struct task_struct *curr, int queued)
{
	/* It runs until it sleeps. */
}

static void update_curr_stop(struct rq *rq)
{
}

/* Not by sched_setscheduler(): nobody else comes into this class. The thread sleeps. */
void sched_set_stop_task(int cpu, struct task_struct *stop)
{
	sched_setscheduler_nocheck(stop, SCHED_FIFO, MAX_RT_PRIO - 1);
	stop->sched_class = &stop_sched_class;
	cpu_rq(cpu)->stop = stop;
}

DEFINE_SCHED_CLASS(stop) = {
	.enqueue_task = enqueue_task_stop,
	.dequeue_task = dequeue_task_stop,
	.check_preempt_curr = check_preempt_curr_stop,
	.pick_next_task = pick_next_task_stop,
	.put_prev_task = put_prev_task_stop,
	.set_next_task = set_next_task_stop,
	.balance = balance_stop,
	.task_tick = task_tick_stop,
	.update_curr = update_curr_stop,
};

#pragma once
/* Simple wait queues: one kind of waiter, woken one by one (include/linux/swait.h, kernel/sched/swait.c). */
#include "list.h"
#include "spinlock.h"
#include "wait.h"
struct task_struct;
struct swait_queue_head { raw_spinlock_t lock; struct list_head task_list; };
struct swait_queue { struct task_struct *task; struct list_head task_list; };
#define __SWAIT_QUEUE_HEAD_INITIALIZER(name)	{ { { 0 } }, LIST_HEAD_INIT((name).task_list) }
void __init_swait_queue_head(struct swait_queue_head *q);
#define init_swait_queue_head(q)	__init_swait_queue_head(q)
void swake_up_one(struct swait_queue_head *q);
long prepare_to_swait_event(struct swait_queue_head *q, struct swait_queue *wait, int state);
void finish_swait(struct swait_queue_head *q, struct swait_queue *wait);
int wake_up_process(struct task_struct *p);

/* q->lock held. */
static __always_inline void swake_up_locked(struct swait_queue_head *q)
{
	struct swait_queue *curr;

	if (list_empty(&q->task_list))
		return;
	curr = list_first_entry(&q->task_list, struct swait_queue, task_list);
	wake_up_process(curr->task);
	list_del_init(&curr->task_list);
}

/* Users include sched.h for schedule() and timer.h for schedule_timeout(). */
#define ___swait_event(wq, cond, state, cmd) do {						\
	struct swait_queue __wait = { NULL, LIST_HEAD_INIT(__wait.task_list) };			\
	for (;;) {										\
		prepare_to_swait_event(&(wq), &__wait, state);					\
		if (cond)									\
			break;									\
		cmd;										\
	}											\
	finish_swait(&(wq), &__wait);								\
} while (0)
#define swait_event_idle_exclusive(wq, cond) do {						\
	if (!(cond))										\
		___swait_event(wq, cond, TASK_IDLE, schedule());				\
} while (0)
/* In jiffies; also ends when they are over. */
#define swait_event_idle_timeout_exclusive(wq, cond, timeout) do {				\
	long __left = (timeout);								\
	if (!(cond))										\
		___swait_event(wq, (cond) || !__left, TASK_IDLE, __left = schedule_timeout(__left));	\
} while (0)

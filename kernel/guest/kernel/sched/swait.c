/* See swait.h, and mutex.h for completions (kernel/sched/swait.c, completion.c). */
#include "sched.h"
#include "swait.h"
#include "timer.h"

void __init_swait_queue_head(struct swait_queue_head *q)
{
	raw_spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->task_list);
}

void swake_up_one(struct swait_queue_head *q)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&q->lock, flags);
	swake_up_locked(q);
	raw_spin_unlock_irqrestore(&q->lock, flags);
}

/* q->lock held. */
static __always_inline void __prepare_to_swait(struct swait_queue_head *q, struct swait_queue *wait)
{
	wait->task = current;
	if (list_empty(&wait->task_list))
		list_add_tail(&wait->task_list, &q->task_list);
}

long prepare_to_swait_event(struct swait_queue_head *q, struct swait_queue *wait, int state)
{
	unsigned long flags;
	long ret = 0;

	raw_spin_lock_irqsave(&q->lock, flags);
	if (signal_pending_state(state, current)) {
		list_del_init(&wait->task_list);
		ret = -ERESTARTSYS;
	} else {
		__prepare_to_swait(q, wait);
		set_current_state(state);
	}
	raw_spin_unlock_irqrestore(&q->lock, flags);
	return ret;
}

/* Who was woken is off the queue already. */
void finish_swait(struct swait_queue_head *q, struct swait_queue *wait)
{
	unsigned long flags;

	__set_current_state(TASK_RUNNING);
	if (list_empty_careful(&wait->task_list))
		return;
	raw_spin_lock_irqsave(&q->lock, flags);
	list_del_init(&wait->task_list);
	raw_spin_unlock_irqrestore(&q->lock, flags);
}

void complete(struct completion *x)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&x->wait.lock, flags);
	if (x->done != UINT_MAX)
		x->done++;
	swake_up_locked(&x->wait);
	raw_spin_unlock_irqrestore(&x->wait.lock, flags);
}

void complete_all(struct completion *x)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&x->wait.lock, flags);
	x->done = UINT_MAX;
	while (!list_empty(&x->wait.task_list))
		swake_up_locked(&x->wait);
	raw_spin_unlock_irqrestore(&x->wait.lock, flags);
}

void __sched wait_for_completion(struct completion *x)
{
	struct swait_queue wait = { NULL, LIST_HEAD_INIT(wait.task_list) };

	might_sleep();
	raw_spin_lock_irq(&x->wait.lock);
	if (!x->done) {
		do {
			__prepare_to_swait(&x->wait, &wait);
			__set_current_state(TASK_UNINTERRUPTIBLE);
			raw_spin_unlock_irq(&x->wait.lock);
			schedule_timeout(MAX_SCHEDULE_TIMEOUT);
			raw_spin_lock_irq(&x->wait.lock);
		} while (!x->done);
		list_del_init(&wait.task_list);
	}
	if (x->done != UINT_MAX)
		x->done--;
	raw_spin_unlock_irq(&x->wait.lock);
}

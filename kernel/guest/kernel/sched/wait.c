/* Wait queues (kernel/sched/wait.c). */
#include "sched.h"

void __init_waitqueue_head(struct wait_queue_head *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->head);
}

void add_wait_queue(struct wait_queue_head *q, struct wait_queue_entry *e)
{
	unsigned long flags;

	e->flags &= ~WQ_FLAG_EXCLUSIVE;
	spin_lock_irqsave(&q->lock, flags);
	list_add(&e->entry, &q->head);
	spin_unlock_irqrestore(&q->lock, flags);
}

void remove_wait_queue(struct wait_queue_head *q, struct wait_queue_entry *e)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	list_del(&e->entry);
	spin_unlock_irqrestore(&q->lock, flags);
}

/* The queue's lock is held. Exclusive waiters stand at the end; nr_exclusive of them are woken, 0 = all. */
static int __wake_up_common(struct wait_queue_head *q, unsigned int mode, int nr_exclusive, int wake_flags, void *key)
{
	struct wait_queue_entry *curr, *next;

	list_for_each_entry_safe(curr, next, &q->head, entry) {
		unsigned int flags = curr->flags;
		int ret = curr->func(curr, mode, wake_flags, key);

		if (ret < 0)
			break;
		if (ret && (flags & WQ_FLAG_EXCLUSIVE) && !--nr_exclusive)
			break;
	}
	return nr_exclusive;
}

static noinline int __wake_up_common_lock(struct wait_queue_head *q, unsigned int mode, int nr_exclusive, int wake_flags, void *key)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&q->lock, flags);
	ret = __wake_up_common(q, mode, nr_exclusive, wake_flags, key);
	spin_unlock_irqrestore(&q->lock, flags);
	return ret;
}

int __wake_up(struct wait_queue_head *q, unsigned int mode, int nr_exclusive, void *key)
{
	return __wake_up_common_lock(q, mode, nr_exclusive, 0, key);
}

void __wake_up_sync_key(struct wait_queue_head *q, unsigned int mode, void *key)
{
	__wake_up_common_lock(q, mode, 1, WF_SYNC, key);
}

void prepare_to_wait(struct wait_queue_head *q, struct wait_queue_entry *e, int state)
{
	unsigned long flags;

	e->flags &= ~WQ_FLAG_EXCLUSIVE;
	spin_lock_irqsave(&q->lock, flags);
	if (list_empty(&e->entry))
		list_add(&e->entry, &q->head);
	set_current_state(state);
	spin_unlock_irqrestore(&q->lock, flags);
}

bool prepare_to_wait_exclusive(struct wait_queue_head *q, struct wait_queue_entry *e, int state)
{
	unsigned long flags;
	bool was_empty = false;

	e->flags |= WQ_FLAG_EXCLUSIVE;
	spin_lock_irqsave(&q->lock, flags);
	if (list_empty(&e->entry)) {
		was_empty = list_empty(&q->head);
		list_add_tail(&e->entry, &q->head);
	}
	set_current_state(state);
	spin_unlock_irqrestore(&q->lock, flags);
	return was_empty;
}

void init_wait_entry(struct wait_queue_entry *e, int flags)
{
	e->flags = flags;
	e->private = current;
	e->func = autoremove_wake_function;
	INIT_LIST_HEAD(&e->entry);
}

long prepare_to_wait_event(struct wait_queue_head *q, struct wait_queue_entry *e, int state)
{
	unsigned long flags;
	long ret = 0;

	spin_lock_irqsave(&q->lock, flags);
	if (signal_pending_state(state, current)) {
		list_del_init(&e->entry);
		ret = -ERESTARTSYS;
	} else {
		if (list_empty(&e->entry)) {
			if (e->flags & WQ_FLAG_EXCLUSIVE)
				list_add_tail(&e->entry, &q->head);
			else
				list_add(&e->entry, &q->head);
		}
		set_current_state(state);
	}
	spin_unlock_irqrestore(&q->lock, flags);
	return ret;
}

void finish_wait(struct wait_queue_head *q, struct wait_queue_entry *e)
{
	unsigned long flags;

	__set_current_state(TASK_RUNNING);
	if (!list_empty_careful(&e->entry)) {	/* autoremove_wake_function has taken it off, to the end */
		spin_lock_irqsave(&q->lock, flags);
		list_del_init(&e->entry);
		spin_unlock_irqrestore(&q->lock, flags);
	}
}

int default_wake_function(struct wait_queue_entry *curr, unsigned mode, int wake_flags, void *key)
{
	return try_to_wake_up(curr->private, mode, wake_flags);
}

int autoremove_wake_function(struct wait_queue_entry *e, unsigned mode, int sync, void *key)
{
	int ret = default_wake_function(e, mode, sync, key);

	if (ret)
		list_del_init(&e->entry);
	return ret;
}

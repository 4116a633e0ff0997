/*
 * Sleeping reader-writer locks (kernel/locking/rwsem.c). count: bit 0 a writer holds it, bit 1 somebody waits, from bit 8
 * the number of readers. Waiters are served in order; readers at the head go together.
 */
#include "sched.h"

#define RWSEM_WRITER_LOCKED	1L
#define RWSEM_FLAG_WAITERS	2L
#define RWSEM_READER_BIAS	0x100L
#define RWSEM_READ_FAILED	(RWSEM_WRITER_LOCKED | RWSEM_FLAG_WAITERS)
struct rwsem_waiter { struct list_head list; struct task_struct *task; bool write; };

void __init_rwsem(struct rw_semaphore *sem)
{
	atomic_long_set(&sem->count, 0);
	raw_spin_lock_init(&sem->wait_lock);
	INIT_LIST_HEAD(&sem->wait_list);
}

/* wait_lock held: grants the lock to the head of the queue where possible, and wakes it. */
static void rwsem_mark_wake(struct rw_semaphore *sem)
{
	struct rwsem_waiter *w;

	while ((w = list_first_entry_or_null(&sem->wait_list, struct rwsem_waiter, list))) {
		struct task_struct *tsk = w->task;
		long count = atomic_long_read(&sem->count);

		if (count & RWSEM_WRITER_LOCKED || (w->write && count >= RWSEM_READER_BIAS))
			return;
		atomic_long_add(w->write ? RWSEM_WRITER_LOCKED : RWSEM_READER_BIAS, &sem->count);
		list_del(&w->list);
		if (list_empty(&sem->wait_list))
			atomic_long_add(-RWSEM_FLAG_WAITERS, &sem->count);
		get_task_struct(tsk);
		smp_store_release(&w->task, NULL);	/* its stack frame may be gone from here on */
		wake_up_process(tsk);
		put_task_struct(tsk);
	}
}

static noinline int __sched rwsem_down_slowpath(struct rw_semaphore *sem, bool write, int state)
{
	struct rwsem_waiter waiter = { .task = current, .write = write };

	raw_spin_lock_irq(&sem->wait_lock);
	if (list_empty(&sem->wait_list))
		atomic_long_add(RWSEM_FLAG_WAITERS, &sem->count);
	list_add_tail(&waiter.list, &sem->wait_list);
	rwsem_mark_wake(sem);
	raw_spin_unlock_irq(&sem->wait_lock);
	for (;;) {
		set_current_state(state);
		if (!smp_load_acquire(&waiter.task))
			break;
		if (signal_pending_state(state, current)) {
			raw_spin_lock_irq(&sem->wait_lock);
			if (waiter.task) {
				list_del(&waiter.list);
				if (list_empty(&sem->wait_list))
					atomic_long_add(-RWSEM_FLAG_WAITERS, &sem->count);
				rwsem_mark_wake(sem);
				raw_spin_unlock_irq(&sem->wait_lock);
				__set_current_state(TASK_RUNNING);
				return -EINTR;
			}
			raw_spin_unlock_irq(&sem->wait_lock);
			break;
		}
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static noinline void rwsem_wake(struct rw_semaphore *sem)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&sem->wait_lock, flags);
	rwsem_mark_wake(sem);
	raw_spin_unlock_irqrestore(&sem->wait_lock, flags);
}

int down_read_trylock(struct rw_semaphore *sem)
{
	long count = atomic_long_read(&sem->count);

	while (!(count & RWSEM_READ_FAILED)) {
		if (try_cmpxchg(&sem->count.counter, &count, count + RWSEM_READER_BIAS))
			return 1;
	}
	return 0;
}

static __always_inline bool rwsem_read_trylock(struct rw_semaphore *sem)
{
	long count = atomic_long_read(&sem->count);

	while (!(count & RWSEM_READ_FAILED)) {
		if (try_cmpxchg(&sem->count.counter, &count, count + RWSEM_READER_BIAS))
			return true;
	}
	return false;
}

void __sched down_read(struct rw_semaphore *sem)
{
	might_sleep();
	if (!rwsem_read_trylock(sem))
		rwsem_down_slowpath(sem, false, TASK_UNINTERRUPTIBLE);
}

int __sched down_read_killable(struct rw_semaphore *sem)
{
	might_sleep();
	return rwsem_read_trylock(sem) ? 0 : rwsem_down_slowpath(sem, false, TASK_KILLABLE);
}

void up_read(struct rw_semaphore *sem)
{
	long count = atomic_long_fetch_add(-RWSEM_READER_BIAS, &sem->count) - RWSEM_READER_BIAS;

	if (unlikely((count & ~0xfcL) == RWSEM_FLAG_WAITERS))
		rwsem_wake(sem);
}

static __always_inline bool rwsem_write_trylock(struct rw_semaphore *sem)
{
	long free = 0;

	return try_cmpxchg(&sem->count.counter, &free, RWSEM_WRITER_LOCKED);
}

void __sched down_write(struct rw_semaphore *sem)
{
	might_sleep();
	if (!rwsem_write_trylock(sem))
		rwsem_down_slowpath(sem, true, TASK_UNINTERRUPTIBLE);
}

int __sched down_write_killable(struct rw_semaphore *sem)
{
	might_sleep();
	return rwsem_write_trylock(sem) ? 0 : rwsem_down_slowpath(sem, true, TASK_KILLABLE);
}

int down_write_trylock(struct rw_semaphore *sem)
{
	return rwsem_write_trylock(sem);
}

void up_write(struct rw_semaphore *sem)
{
	long count = atomic_long_fetch_add(-RWSEM_WRITER_LOCKED, &sem->count);

	if (unlikely(count & RWSEM_FLAG_WAITERS))
		rwsem_wake(sem);
}

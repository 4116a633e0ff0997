/* Mutexes (kernel/locking/mutex.c): the owner in one word; waiters sleep in order, with spinning while the owner runs. */
#include "sched.h"

#define MUTEX_FLAG_WAITERS	1L
#define MUTEX_FLAGS		7L
struct mutex_waiter { struct list_head list; struct task_struct *task; };

void __mutex_init(struct mutex *lock)
{
	atomic_long_set(&lock->owner, 0);
	raw_spin_lock_init(&lock->wait_lock);
	INIT_LIST_HEAD(&lock->wait_list);
}

static __always_inline bool __mutex_trylock(struct mutex *lock)
{
	long owner = atomic_long_read(&lock->owner);

	while (!(owner & ~MUTEX_FLAGS)) {
		if (try_cmpxchg(&lock->owner.counter, &owner, (long)current | (owner & MUTEX_FLAGS)))
			return true;
	}
	return false;
}

static inline struct task_struct *__mutex_owner(struct mutex *lock)
{
	return (struct task_struct *)(atomic_long_read(&lock->owner) & ~MUTEX_FLAGS);
}

/* While the owner runs on another CPU the lock will soon be free. */
static bool mutex_optimistic_spin(struct mutex *lock)
{
	preempt_disable();
	for (;;) {
		struct task_struct *owner = __mutex_owner(lock);

		if (!owner) {
			if (__mutex_trylock(lock)) {
				preempt_enable();
				return true;
			}
			continue;
		}
		if (!READ_ONCE(owner->on_cpu) || need_resched() || !list_empty(&lock->wait_list))
			break;
		cpu_relax();
	}
	preempt_enable();
	return false;
}

static noinline int __sched __mutex_lock(struct mutex *lock, unsigned int state)
{
	struct mutex_waiter waiter = { .task = current };
	int ret = 0;

	if (mutex_optimistic_spin(lock))
		return 0;
	raw_spin_lock(&lock->wait_lock);
	list_add_tail(&waiter.list, &lock->wait_list);
	asm volatile("lock orq %1,%0" : "+m"(lock->owner.counter) : "i"(MUTEX_FLAG_WAITERS) : "memory", "cc");
	set_current_state(state);
	for (;;) {
		if (__mutex_trylock(lock))
			break;
		if (signal_pending_state(state, current)) {
			ret = -EINTR;
			break;
		}
		raw_spin_unlock(&lock->wait_lock);
		schedule();
		raw_spin_lock(&lock->wait_lock);
		set_current_state(state);
	}
	__set_current_state(TASK_RUNNING);
	list_del(&waiter.list);
	if (list_empty(&lock->wait_list))
		asm volatile("lock andq %1,%0" : "+m"(lock->owner.counter) : "i"(~MUTEX_FLAG_WAITERS) : "memory", "cc");
	raw_spin_unlock(&lock->wait_lock);
	return ret;
}

static noinline void __sched __mutex_lock_slowpath(struct mutex *lock)
{
	__mutex_lock(lock, TASK_UNINTERRUPTIBLE);
}

void __sched mutex_lock(struct mutex *lock)
{
	long zero = 0;

	might_sleep();
	if (!try_cmpxchg(&lock->owner.counter, &zero, (long)current))
		__mutex_lock_slowpath(lock);
}

int __sched mutex_lock_interruptible(struct mutex *lock)
{
	long zero = 0;

	might_sleep();
	return try_cmpxchg(&lock->owner.counter, &zero, (long)current) ? 0 : __mutex_lock(lock, TASK_INTERRUPTIBLE);
}

int __sched mutex_lock_killable(struct mutex *lock)
{
	long zero = 0;

	might_sleep();
	return try_cmpxchg(&lock->owner.counter, &zero, (long)current) ? 0 : __mutex_lock(lock, TASK_KILLABLE);
}

int __sched mutex_trylock(struct mutex *lock)
{
	return __mutex_trylock(lock);
}

/* There are waiters: free the lock, keep the flag, wake the first. */
static noinline void __sched __mutex_unlock_slowpath(struct mutex *lock)
{
	struct task_struct *next = NULL;

	raw_spin_lock(&lock->wait_lock);
	asm volatile("lock andq %1,%0" : "+m"(lock->owner.counter) : "i"(MUTEX_FLAGS) : "memory", "cc");
	if (!list_empty(&lock->wait_list))
		next = get_task_struct(list_first_entry(&lock->wait_list, struct mutex_waiter, list)->task);
	raw_spin_unlock(&lock->wait_lock);
	if (next) {
		wake_up_process(next);
		put_task_struct(next);
	}
}

void __sched mutex_unlock(struct mutex *lock)
{
	long owner = (long)current;

	if (try_cmpxchg(&lock->owner.counter, &owner, 0L))
		return;
	__mutex_unlock_slowpath(lock);
}

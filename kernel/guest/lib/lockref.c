/* See lockref.h. The fast paths change lock and count by one cmpxchg, as long as the lock is free (Linux's lib/lockref.c). */
#include "lockref.h"
#include "kernel.h"
#include "sched.h"

static __always_inline bool lock_is_free(const struct lockref *l)
{
	return l->lock.rlock.raw_lock.val == 0;
}

/* Runs CODE on a copy of the word until it could be stored; falls through when the lock is held. */
#define CMPXCHG_LOOP(CODE, SUCCESS)							\
do {											\
	struct lockref old;								\
											\
	old.lock_count = READ_ONCE(lockref->lock_count);				\
	while (likely(lock_is_free(&old))) {						\
		struct lockref new = old;						\
											\
		CODE									\
		if (likely(try_cmpxchg(&lockref->lock_count, &old.lock_count, new.lock_count))) {	\
			SUCCESS;							\
		}									\
	}										\
} while (0)

void lockref_get(struct lockref *lockref)
{
	CMPXCHG_LOOP(
		new.count++;
	,
		return
	);
	spin_lock(&lockref->lock);
	lockref->count++;
	spin_unlock(&lockref->lock);
}

int lockref_get_not_zero(struct lockref *lockref)
{
	int retval = 0;

	CMPXCHG_LOOP(
		new.count++;
		if (old.count <= 0)
			return 0;
	,
		return 1
	);
	spin_lock(&lockref->lock);
	if (lockref->count > 0) {
		lockref->count++;
		retval = 1;
	}
	spin_unlock(&lockref->lock);
	return retval;
}

int lockref_get_not_dead(struct lockref *lockref)
{
	int retval = 0;

	CMPXCHG_LOOP(
		new.count++;
		if (old.count < 0)
			return 0;
	,
		return 1
	);
	spin_lock(&lockref->lock);
	if (lockref->count >= 0) {
		lockref->count++;
		retval = 1;
	}
	spin_unlock(&lockref->lock);
	return retval;
}

/* The new count, or -1 when the lock is held or the count was not positive (nothing has changed then). */
int lockref_put_return(struct lockref *lockref)
{
	CMPXCHG_LOOP(
		new.count--;
		if (old.count <= 0)
			return -1;
	,
		return new.count
	);
	return -1;
}

/* 1: a reference dropped that was not the last; 0: it is the last, and the lock is held. */
int lockref_put_or_lock(struct lockref *lockref)
{
	CMPXCHG_LOOP(
		new.count--;
		if (old.count <= 1)
			break;
	,
		return 1
	);
	spin_lock(&lockref->lock);
	if (lockref->count <= 1)
		return 0;
	lockref->count--;
	spin_unlock(&lockref->lock);
	return 1;
}

/* The lock is held. */
void lockref_mark_dead(struct lockref *lockref)
{
	lockref->count = -128;
}

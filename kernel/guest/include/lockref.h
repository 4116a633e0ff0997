/*
 * A spinlock and a reference count in one 64-bit word, so that the count changes by one cmpxchg while the lock is free
 * (Linux's lib/lockref.c).
 */
#ifndef _LOCKREF_H
#define _LOCKREF_H
#include "types.h"
#include "spinlock.h"

struct lockref {
	union {
		u64 lock_count;
		struct {
			spinlock_t lock;
			int count;
		};
	};
} __attribute__((aligned(8)));

void lockref_get(struct lockref *lockref);
int lockref_get_not_zero(struct lockref *lockref);
int lockref_put_return(struct lockref *lockref);
int lockref_put_or_lock(struct lockref *lockref);
void lockref_mark_dead(struct lockref *lockref);
int lockref_get_not_dead(struct lockref *lockref);

/* The lock is held. */
static inline bool __lockref_is_dead(const struct lockref *l)
{
	return l->count < 0;
}
#endif

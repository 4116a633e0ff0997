#pragma once
/* Sleeping locks: mutex, rw_semaphore, completion. */
#include "swait.h"
struct mutex { atomic_long_t owner; raw_spinlock_t wait_lock; struct list_head wait_list; };	/* owner: task | MUTEX_FLAG_* */
#define __MUTEX_INITIALIZER(n)	{ { 0 }, { { 0 } }, LIST_HEAD_INIT((n).wait_list) }
#define DEFINE_MUTEX(n)		struct mutex n = __MUTEX_INITIALIZER(n)
void __mutex_init(struct mutex *lock);
#define mutex_init(l)		__mutex_init(l)
void mutex_lock(struct mutex *lock);
int mutex_lock_interruptible(struct mutex *lock);
int mutex_lock_killable(struct mutex *lock);
int mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
#define mutex_is_locked(l)	(atomic_long_read(&(l)->owner) & ~7L)

struct rw_semaphore { atomic_long_t count; raw_spinlock_t wait_lock; struct list_head wait_list; };
#define __RWSEM_INITIALIZER(n)	{ { 0 }, { { 0 } }, LIST_HEAD_INIT((n).wait_list) }
#define DECLARE_RWSEM(n)	struct rw_semaphore n = __RWSEM_INITIALIZER(n)
void __init_rwsem(struct rw_semaphore *sem);
#define init_rwsem(s)		__init_rwsem(s)
void down_read(struct rw_semaphore *sem);
int down_read_killable(struct rw_semaphore *sem);
int down_read_trylock(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);
void down_write(struct rw_semaphore *sem);
int down_write_killable(struct rw_semaphore *sem);
int down_write_trylock(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);

struct completion { unsigned int done; struct swait_queue_head wait; };
#define COMPLETION_INITIALIZER(n) { 0, __SWAIT_QUEUE_HEAD_INITIALIZER((n).wait) }
#define COMPLETION_INITIALIZER_ONSTACK(n) COMPLETION_INITIALIZER(n)
#define DECLARE_COMPLETION_ONSTACK(n) struct completion n = COMPLETION_INITIALIZER(n)
#define DECLARE_COMPLETION(n)	struct completion n = COMPLETION_INITIALIZER(n)
static __always_inline void init_completion(struct completion *x) { x->done = 0; init_swait_queue_head(&x->wait); }
void complete(struct completion *x);
void complete_all(struct completion *x);
void wait_for_completion(struct completion *x);

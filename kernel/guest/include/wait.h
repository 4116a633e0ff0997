#pragma once
#include "list.h"
#include "spinlock.h"
struct wait_queue_entry;
typedef int (*wait_queue_func_t)(struct wait_queue_entry *wq_entry, unsigned mode, int flags, void *key);
struct wait_queue_entry { unsigned int flags; void *private; wait_queue_func_t func; struct list_head entry; };
typedef struct wait_queue_entry wait_queue_entry_t;
struct wait_queue_head { spinlock_t lock; struct list_head head; };
typedef struct wait_queue_head wait_queue_head_t;
#define WQ_FLAG_EXCLUSIVE	1
#define __WAIT_QUEUE_HEAD_INITIALIZER(n) { { { { 0 } } }, LIST_HEAD_INIT((n).head) }
#define DECLARE_WAIT_QUEUE_HEAD(n)	wait_queue_head_t n = __WAIT_QUEUE_HEAD_INITIALIZER(n)
void __init_waitqueue_head(struct wait_queue_head *q);
#define init_waitqueue_head(q)	__init_waitqueue_head(q)
static __always_inline int waitqueue_active(wait_queue_head_t *q) { return !list_empty(&q->head); }
void init_wait_entry(struct wait_queue_entry *e, int flags);
void add_wait_queue(struct wait_queue_head *q, struct wait_queue_entry *e);
void remove_wait_queue(struct wait_queue_head *q, struct wait_queue_entry *e);
bool prepare_to_wait_exclusive(struct wait_queue_head *q, struct wait_queue_entry *e, int state);
void prepare_to_wait(struct wait_queue_head *q, struct wait_queue_entry *e, int state);
long prepare_to_wait_event(struct wait_queue_head *q, struct wait_queue_entry *e, int state);
void finish_wait(struct wait_queue_head *q, struct wait_queue_entry *e);
int autoremove_wake_function(struct wait_queue_entry *e, unsigned mode, int sync, void *key);
int default_wake_function(struct wait_queue_entry *e, unsigned mode, int flags, void *key);
int __wake_up(struct wait_queue_head *q, unsigned int mode, int nr_exclusive, void *key);
void __wake_up_sync_key(struct wait_queue_head *q, unsigned int mode, void *key);
#define TASK_RUNNING		0x0000
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define __TASK_STOPPED		0x0004
#define __TASK_TRACED		0x0008
#define EXIT_DEAD		0x0010
#define EXIT_ZOMBIE		0x0020
#define TASK_PARKED		0x0040
#define TASK_DEAD		0x0080
#define TASK_WAKEKILL		0x0100
#define TASK_WAKING		0x0200
#define TASK_NOLOAD		0x0400
#define TASK_NEW		0x0800
#define TASK_STOPPED		(TASK_WAKEKILL | __TASK_STOPPED)
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define TASK_NORMAL		(TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)
#define wake_up(q)			__wake_up(q, TASK_NORMAL, 1, NULL)
#define wake_up_all(q)			__wake_up(q, TASK_NORMAL, 0, NULL)
#define wake_up_interruptible(q)	__wake_up(q, TASK_INTERRUPTIBLE, 1, NULL)
#define wake_up_interruptible_all(q)	__wake_up(q, TASK_INTERRUPTIBLE, 0, NULL)
#define wake_up_interruptible_sync_poll(q, m) __wake_up_sync_key(q, TASK_INTERRUPTIBLE, (void *)(unsigned long)(m))
#define DECLARE_WAITQUEUE(n, tsk) \
	struct wait_queue_entry n = { .private = tsk, .func = default_wake_function, .entry = { NULL, NULL } }
#define DEFINE_WAIT_FUNC(n, fn) \
	struct wait_queue_entry n = { .private = current, .func = fn, .entry = LIST_HEAD_INIT((n).entry) }
#define DEFINE_WAIT(n)			DEFINE_WAIT_FUNC(n, autoremove_wake_function)
/* Users include sched.h for current and schedule(). The value: 0, or -ERESTARTSYS when a signal ended the wait. */
#define ___wait_event(wq, cond, state, excl, ret, cmd) ({ \
	__label__ __out; struct wait_queue_entry __e; long __ret = ret; \
	init_wait_entry(&__e, excl); \
	for (;;) { \
		long __int = prepare_to_wait_event(&(wq), &__e, state); \
		if (cond) break; \
		if (((state) & (TASK_INTERRUPTIBLE | TASK_WAKEKILL)) && __int) { __ret = __int; goto __out; } \
		cmd; \
	} \
	finish_wait(&(wq), &__e); \
__out:	__ret; })
#define wait_event(wq, cond) do { might_sleep(); if (!(cond)) \
	(void)___wait_event(wq, cond, TASK_UNINTERRUPTIBLE, 0, 0, schedule()); } while (0)
#define wait_event_idle(wq, cond) do { might_sleep(); if (!(cond)) \
	(void)___wait_event(wq, cond, TASK_IDLE, 0, 0, schedule()); } while (0)
#define __wait_event_int(wq, cond, excl) ({ int __r = 0; might_sleep(); if (!(cond)) { \
	__r = ___wait_event(wq, cond, TASK_INTERRUPTIBLE, excl, 0, schedule()); } __r; })
#define wait_event_interruptible(wq, cond) __wait_event_int(wq, cond, 0)
#define wait_event_interruptible_exclusive(wq, cond) __wait_event_int(wq, cond, WQ_FLAG_EXCLUSIVE)

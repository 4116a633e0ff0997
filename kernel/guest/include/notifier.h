#pragma once
/* Notifier chains that may sleep (include/linux/notifier.h). */
#include "mutex.h"
struct notifier_block;
typedef int (*notifier_fn_t)(struct notifier_block *nb, unsigned long action, void *data);
struct notifier_block { notifier_fn_t notifier_call; struct notifier_block *next; int priority; };
struct blocking_notifier_head { struct rw_semaphore rwsem; struct notifier_block *head; };
#define BLOCKING_NOTIFIER_HEAD(n) struct blocking_notifier_head n = { __RWSEM_INITIALIZER((n).rwsem), NULL }
#define NOTIFY_DONE		0
#define NOTIFY_OK		1
#define NOTIFY_STOP_MASK	0x8000
#define NOTIFY_BAD		(NOTIFY_STOP_MASK | 2)
static __always_inline int notifier_from_errno(int err) { return err ? NOTIFY_STOP_MASK | (NOTIFY_OK - err) : NOTIFY_OK; }
static __always_inline int notifier_to_errno(int ret)
{
	ret &= ~NOTIFY_STOP_MASK;
	return ret > NOTIFY_OK ? NOTIFY_OK - ret : 0;
}
int blocking_notifier_chain_register(struct blocking_notifier_head *nh, struct notifier_block *n);
int blocking_notifier_chain_unregister(struct blocking_notifier_head *nh, struct notifier_block *n);
int blocking_notifier_call_chain(struct blocking_notifier_head *nh, unsigned long val, void *v);
int blocking_notifier_call_chain_robust(struct blocking_notifier_head *nh, unsigned long val_up, unsigned long val_down, void *v);

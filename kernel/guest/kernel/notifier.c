/* Notifier chains that may sleep (kernel/notifier.c). The chain is ordered by falling priority; rwsem protects it. */
#include "kprobes.h"
#include "notifier.h"
#include "kernel.h"
#include "sched.h"

static int notifier_chain_register(struct notifier_block **nl, struct notifier_block *n)
{
	while (*nl) {
		if (*nl == n)
			return -EEXIST;
		if (n->priority > (*nl)->priority)
			break;
		nl = &(*nl)->next;
	}
	n->next = *nl;
	WRITE_ONCE(*nl, n);
	return 0;
}

static int notifier_chain_unregister(struct notifier_block **nl, struct notifier_block *n)
{
	for (; *nl; nl = &(*nl)->next) {
		if (*nl == n) {
			WRITE_ONCE(*nl, n->next);
			return 0;
		}
	}
	return -ENOENT;
}

/* Calls at most nr_to_call of them; nr_calls counts. */
static noinline int notifier_call_chain(struct notifier_block **nl, unsigned long val, void *v, int nr_to_call, int *nr_calls)
{
	struct notifier_block *nb = READ_ONCE(*nl), *next;
	int ret = NOTIFY_DONE;

	while (nb && nr_to_call) {
		next = READ_ONCE(nb->next);
		ret = nb->notifier_call(nb, val, v);
		if (nr_calls)
			(*nr_calls)++;
		if (ret & NOTIFY_STOP_MASK)
			break;
		nb = next;
		nr_to_call--;
	}
	return ret;
}
NOKPROBE_SYMBOL(notifier_call_chain);

/* When one of them objects, those before it hear val_down. */
static int notifier_call_chain_robust(struct notifier_block **nl, unsigned long val_up, unsigned long val_down, void *v)
{
	int nr = 0, ret = notifier_call_chain(nl, val_up, v, -1, &nr);

	if (ret & NOTIFY_STOP_MASK)
		notifier_call_chain(nl, val_down, v, nr - 1, NULL);
	return ret;
}

int blocking_notifier_chain_register(struct blocking_notifier_head *nh, struct notifier_block *n)
{
	int ret;

	down_write(&nh->rwsem);
	ret = notifier_chain_register(&nh->head, n);
	up_write(&nh->rwsem);
	return ret;
}

int blocking_notifier_chain_unregister(struct blocking_notifier_head *nh, struct notifier_block *n)
{
	int ret;

	down_write(&nh->rwsem);
	ret = notifier_chain_unregister(&nh->head, n);
	up_write(&nh->rwsem);
	return ret;
}

int blocking_notifier_call_chain(struct blocking_notifier_head *nh, unsigned long val, void *v)
{
	int ret = NOTIFY_DONE;

	if (READ_ONCE(nh->head)) {
		down_read(&nh->rwsem);
		ret = notifier_call_chain(&nh->head, val, v, -1, NULL);
		up_read(&nh->rwsem);
	}
	return ret;
}

int blocking_notifier_call_chain_robust(struct blocking_notifier_head *nh, unsigned long val_up, unsigned long val_down, void *v)
{
	int ret = NOTIFY_DONE;

	if (READ_ONCE(nh->head)) {
		down_read(&nh->rwsem);
		ret = notifier_call_chain_robust(&nh->head, val_up, val_down, v);
		up_read(&nh->rwsem);
	}
	return ret;
}

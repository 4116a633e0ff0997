/* Hash chains whose head pointer's bit 0 is the chain's lock (Linux's include/linux/list_bl.h). */
#ifndef _LIST_BL_H
#define _LIST_BL_H
#include "types.h"
#include "compiler.h"
#include "preempt.h"
#include "processor.h"

#define LIST_BL_LOCKMASK	1UL

struct hlist_bl_node {
	struct hlist_bl_node *next, **pprev;
};

struct hlist_bl_head {
	struct hlist_bl_node *first;
};

#define hlist_bl_entry(ptr, type, member)	container_of(ptr, type, member)

static __always_inline struct hlist_bl_node *hlist_bl_first(struct hlist_bl_head *h)
{
	return (struct hlist_bl_node *)((unsigned long)READ_ONCE(h->first) & ~LIST_BL_LOCKMASK);
}

static __always_inline bool hlist_bl_unhashed(const struct hlist_bl_node *n)
{
	return !READ_ONCE(n->pprev);
}

static __always_inline void hlist_bl_lock(struct hlist_bl_head *h)
{
	preempt_disable();
	for (;;) {
		bool was;

		asm volatile("lock btsq $0, %0" : "+m" (h->first), "=@ccc" (was) : : "memory");
		if (likely(!was))
			return;
		while ((unsigned long)READ_ONCE(h->first) & LIST_BL_LOCKMASK)
			cpu_relax();
	}
}

static __always_inline void hlist_bl_unlock(struct hlist_bl_head *h)
{
	asm volatile("lock btrq $0, %0" : "+m" (h->first) : : "memory", "cc");
	preempt_enable();
}

/* The chain's lock is held: the new first pointer keeps the lock bit. A node is complete before readers can see it. */
static __always_inline void hlist_bl_add_head_rcu(struct hlist_bl_node *n, struct hlist_bl_head *h)
{
	struct hlist_bl_node *first = hlist_bl_first(h);

	n->next = first;
	if (first)
		first->pprev = &n->next;
	n->pprev = &h->first;
	barrier();
	WRITE_ONCE(h->first, (struct hlist_bl_node *)((unsigned long)n | LIST_BL_LOCKMASK));
}

#define hlist_bl_add_head	hlist_bl_add_head_rcu

static __always_inline void __hlist_bl_del(struct hlist_bl_node *n)
{
	struct hlist_bl_node *next = n->next, **pprev = n->pprev;

	WRITE_ONCE(*pprev, (struct hlist_bl_node *)((unsigned long)next | ((unsigned long)*pprev & LIST_BL_LOCKMASK)));
	if (next)
		next->pprev = pprev;
}

#define hlist_bl_for_each_entry_rcu(tpos, pos, head, member)						\
	for (pos = hlist_bl_first(head);								\
	     pos && ({ tpos = hlist_bl_entry(pos, typeof(*tpos), member); 1; });			\
	     pos = READ_ONCE(pos->next))

#define hlist_bl_for_each_entry	hlist_bl_for_each_entry_rcu
#endif

#pragma once
/* Lock-less stack: many pushers, one taker of all (include/linux/llist.h). */
#include "list.h"
#include "atomic.h"
struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
static __always_inline bool llist_add(struct llist_node *n, struct llist_head *h)
{
	struct llist_node *first = READ_ONCE(h->first);
	do {
		n->next = first;
	} while (!try_cmpxchg(&h->first, &first, n));
	return !first;
}
static __always_inline struct llist_node *llist_del_all(struct llist_head *h) { return xchg(&h->first, NULL); }
static __always_inline bool llist_empty(const struct llist_head *h) { return !READ_ONCE(h->first); }
struct llist_node *llist_reverse_order(struct llist_node *head);
#define llist_entry(p, t, m)	container_of(p, t, m)

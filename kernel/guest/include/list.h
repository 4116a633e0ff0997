#pragma once
/* Doubly linked rings, hash chains and lock-less stacks (include/linux/list.h, llist.h). */
#include "types.h"
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define LIST_HEAD_INIT(n)	{ &(n), &(n) }
#define LIST_HEAD(n)		struct list_head n = LIST_HEAD_INIT(n)
static __always_inline void INIT_LIST_HEAD(struct list_head *h) { h->next = h; h->prev = h; }
static __always_inline void __list_add(struct list_head *n, struct list_head *prev, struct list_head *next)
{
	next->prev = n;
	n->next = next;
	n->prev = prev;
	WRITE_ONCE(prev->next, n);
}
static __always_inline void list_add(struct list_head *n, struct list_head *h) { __list_add(n, h, h->next); }
static __always_inline void list_add_tail(struct list_head *n, struct list_head *h) { __list_add(n, h->prev, h); }
static __always_inline void __list_del(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	WRITE_ONCE(prev->next, next);
}
static __always_inline void list_del(struct list_head *e)
{
	__list_del(e->prev, e->next);
	e->next = (void *)0xdead000000000100UL;		/* LIST_POISON1, 2 */
	e->prev = (void *)0xdead000000000122UL;
}
static __always_inline void list_del_init(struct list_head *e) { __list_del(e->prev, e->next); INIT_LIST_HEAD(e); }
static __always_inline int list_empty(const struct list_head *h) { return READ_ONCE(h->next) == h; }
static __always_inline int list_is_last(const struct list_head *e, const struct list_head *h) { return e->next == h; }
static __always_inline void list_move(struct list_head *e, struct list_head *h) { __list_del(e->prev, e->next); list_add(e, h); }
static __always_inline void list_move_tail(struct list_head *e, struct list_head *h) { __list_del(e->prev, e->next); list_add_tail(e, h); }
static __always_inline void list_splice_init(struct list_head *l, struct list_head *h)
{
	if (!list_empty(l)) {
		l->next->prev = h;
		l->prev->next = h->next;
		h->next->prev = l->prev;
		h->next = l->next;
		INIT_LIST_HEAD(l);
	}
}
static __always_inline void list_splice_tail_init(struct list_head *l, struct list_head *h)
{
	if (!list_empty(l)) {
		l->next->prev = h->prev;
		l->prev->next = h;
		h->prev->next = l->next;
		h->prev = l->prev;
		INIT_LIST_HEAD(l);
	}
}
static __always_inline int list_empty_careful(const struct list_head *h) { return READ_ONCE(h->next) == h && READ_ONCE(h->prev) == h; }
#define list_entry(p, t, m)		container_of(p, t, m)
#define list_first_entry(h, t, m)	list_entry((h)->next, t, m)
#define list_last_entry(h, t, m)	list_entry((h)->prev, t, m)
#define list_first_entry_or_null(h, t, m) (list_empty(h) ? NULL : list_first_entry(h, t, m))
#define list_next_entry(p, m)		list_entry((p)->m.next, typeof(*(p)), m)
#define list_prev_entry(p, m)		list_entry((p)->m.prev, typeof(*(p)), m)
#define list_for_each(p, h)		for (p = (h)->next; p != (h); p = p->next)
#define list_for_each_safe(p, n, h)	for (p = (h)->next, n = p->next; p != (h); p = n, n = p->next)
#define list_for_each_entry(p, h, m) \
	for (p = list_first_entry(h, typeof(*p), m); &p->m != (h); p = list_next_entry(p, m))
#define list_for_each_entry_reverse(p, h, m) \
	for (p = list_last_entry(h, typeof(*p), m); &p->m != (h); p = list_prev_entry(p, m))
#define list_for_each_entry_safe(p, n, h, m) \
	for (p = list_first_entry(h, typeof(*p), m), n = list_next_entry(p, m); &p->m != (h); \
	     p = n, n = list_next_entry(n, m))

#define HLIST_HEAD_INIT			{ NULL }
#define INIT_HLIST_HEAD(h)		((h)->first = NULL)
static __always_inline void INIT_HLIST_NODE(struct hlist_node *n) { n->next = NULL; n->pprev = NULL; }
static __always_inline int hlist_unhashed(const struct hlist_node *n) { return !n->pprev; }
static __always_inline int hlist_empty(const struct hlist_head *h) { return !READ_ONCE(h->first); }
static __always_inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	if (h->first)
		h->first->pprev = &n->next;
	n->pprev = &h->first;
	WRITE_ONCE(h->first, n);
}
static __always_inline void hlist_del_init(struct hlist_node *n)
{
	if (!n->pprev)
		return;
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	INIT_HLIST_NODE(n);
}
/* Readers under RCU may stand on the node: its next stays. */
static __always_inline void hlist_del_rcu(struct hlist_node *n)
{
	WRITE_ONCE(*n->pprev, n->next);
	if (n->next)
		n->next->pprev = n->pprev;
	n->pprev = (void *)0xdead000000000122UL;
}
#define hlist_entry(p, t, m)		container_of(p, t, m)
#define hlist_entry_safe(p, t, m)	({ typeof(p) ____p = (p); ____p ? hlist_entry(____p, t, m) : NULL; })
#define hlist_for_each_entry(p, h, m) \
	for (p = hlist_entry_safe((h)->first, typeof(*p), m); p; p = hlist_entry_safe(p->m.next, typeof(*p), m))
#define hlist_for_each_entry_safe(p, n, h, m) \
	for (p = hlist_entry_safe((h)->first, typeof(*p), m); p && ({ n = p->m.next; 1; }); \
	     p = hlist_entry_safe(n, typeof(*p), m))

#pragma once
/* Red-black trees with a cached leftmost node; lib/rbtree.c. */
#include "list.h"
struct rb_node { unsigned long __rb_parent_color; struct rb_node *rb_right, *rb_left; };
struct rb_root { struct rb_node *rb_node; };
struct rb_root_cached { struct rb_root rb_root; struct rb_node *rb_leftmost; };
#define RB_ROOT		(struct rb_root){ NULL }
#define RB_ROOT_CACHED	(struct rb_root_cached){ { NULL }, NULL }
#define rb_entry(p, t, m)	container_of(p, t, m)
#define rb_first_cached(r)	((r)->rb_leftmost)
#define RB_CLEAR_NODE(n)	((n)->__rb_parent_color = (unsigned long)(n))
#define RB_EMPTY_NODE(n)	((n)->__rb_parent_color == (unsigned long)(n))
static __always_inline void rb_link_node(struct rb_node *n, struct rb_node *parent, struct rb_node **link)
{
	n->__rb_parent_color = (unsigned long)parent;
	n->rb_left = n->rb_right = NULL;
	*link = n;
}
void rb_insert_color(struct rb_node *node, struct rb_root *root);
void rb_erase(struct rb_node *node, struct rb_root *root);
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
static __always_inline void rb_insert_color_cached(struct rb_node *n, struct rb_root_cached *r, bool leftmost)
{
	if (leftmost)
		r->rb_leftmost = n;
	rb_insert_color(n, &r->rb_root);
}
static __always_inline void rb_erase_cached(struct rb_node *n, struct rb_root_cached *r)
{
	if (r->rb_leftmost == n)
		r->rb_leftmost = rb_next(n);
	rb_erase(n, &r->rb_root);
}

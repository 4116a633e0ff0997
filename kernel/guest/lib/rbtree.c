/*
 * Red-black trees (the interface of lib/rbtree.c). __rb_parent_color = parent | colour in bit 0 (1 = black).
 * No two reds in a row, and every path from the root to a leaf has the same number of blacks; the balancing is the
 * textbook's (Cormen et al., chapter 13).
 */
#include "rbtree.h"

#define BLACK 1UL
#define rb_parent(n)	((struct rb_node *)((n)->__rb_parent_color & ~3UL))
#define rb_is_red(n)	((n) && !((n)->__rb_parent_color & BLACK))

static inline void set_parent(struct rb_node *n, struct rb_node *p)
{
	n->__rb_parent_color = (n->__rb_parent_color & BLACK) | (unsigned long)p;
}

static inline void set_color(struct rb_node *n, unsigned long c)
{
	n->__rb_parent_color = (n->__rb_parent_color & ~BLACK) | c;
}

static void replace_child(struct rb_node *old, struct rb_node *new, struct rb_node *parent, struct rb_root *root)
{
	if (!parent)
		root->rb_node = new;
	else if (parent->rb_left == old)
		parent->rb_left = new;
	else
		parent->rb_right = new;
}

static void rotate(struct rb_node *x, struct rb_root *root, bool left)
{
	struct rb_node *y = left ? x->rb_right : x->rb_left, *inner = left ? y->rb_left : y->rb_right;

	if (left)
		x->rb_right = inner;
	else
		x->rb_left = inner;
	if (inner)
		set_parent(inner, x);
	set_parent(y, rb_parent(x));
	replace_child(x, y, rb_parent(x), root);
	if (left)
		y->rb_left = x;
	else
		y->rb_right = x;
	set_parent(x, y);
}

/* The node is linked in, red. */
void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent, *gparent, *uncle;

	while ((parent = rb_parent(node)) && rb_is_red(parent)) {
		bool left;

		gparent = rb_parent(parent);
		left = parent == gparent->rb_left;
		uncle = left ? gparent->rb_right : gparent->rb_left;
		if (rb_is_red(uncle)) {
			set_color(uncle, BLACK);
			set_color(parent, BLACK);
			set_color(gparent, 0);
			node = gparent;
			continue;
		}
		if (node == (left ? parent->rb_right : parent->rb_left)) {
			rotate(parent, root, left);
			node = parent;
			parent = rb_parent(node);
		}
		set_color(parent, BLACK);
		set_color(gparent, 0);
		rotate(gparent, root, !left);
	}
	set_color(root->rb_node, BLACK);
}

/* A black node is missing above node (perhaps NULL), whose parent is parent. */
static void erase_color(struct rb_node *node, struct rb_node *parent, struct rb_root *root)
{
	while (node != root->rb_node && !rb_is_red(node)) {
		bool left = parent->rb_left == node;
		struct rb_node *s = left ? parent->rb_right : parent->rb_left;

		if (rb_is_red(s)) {
			set_color(s, BLACK);
			set_color(parent, 0);
			rotate(parent, root, left);
			s = left ? parent->rb_right : parent->rb_left;
		}
		if (!rb_is_red(s->rb_left) && !rb_is_red(s->rb_right)) {
			set_color(s, 0);
			node = parent;
			parent = rb_parent(node);
			continue;
		}
		if (!rb_is_red(left ? s->rb_right : s->rb_left)) {
			set_color(left ? s->rb_left : s->rb_right, BLACK);
			set_color(s, 0);
			rotate(s, root, !left);
			s = left ? parent->rb_right : parent->rb_left;
		}
		set_color(s, parent->__rb_parent_color & BLACK);
		set_color(parent, BLACK);
		set_color(left ? s->rb_right : s->rb_left, BLACK);
		rotate(parent, root, left);
		node = root->rb_node;
	}
	if (node)
		set_color(node, BLACK);
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *child, *parent;
	unsigned long color;

	if (!node->rb_left || !node->rb_right) {
		child = node->rb_left ? node->rb_left : node->rb_right;
		parent = rb_parent(node);
		color = node->__rb_parent_color & BLACK;
		if (child)
			set_parent(child, parent);
		replace_child(node, child, parent, root);
	} else {
		struct rb_node *next = node->rb_right;

		while (next->rb_left)
			next = next->rb_left;
		child = next->rb_right;
		parent = rb_parent(next);
		color = next->__rb_parent_color & BLACK;
		if (parent == node) {
			parent = next;
		} else {
			if (child)
				set_parent(child, parent);
			parent->rb_left = child;
			next->rb_right = node->rb_right;
			set_parent(next->rb_right, next);
		}
		replace_child(node, next, rb_parent(node), root);
		next->__rb_parent_color = node->__rb_parent_color;
		next->rb_left = node->rb_left;
		set_parent(next->rb_left, next);
	}
	if (color == BLACK)
		erase_color(child, parent, root);
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *parent;

	if (node->rb_right) {
		node = node->rb_right;
		while (node->rb_left)
			node = node->rb_left;
		return (struct rb_node *)node;
	}
	while ((parent = rb_parent(node)) && node == parent->rb_right)
		node = parent;
	return parent;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *n = root->rb_node;

	while (n && n->rb_left)
		n = n->rb_left;
	return n;
}

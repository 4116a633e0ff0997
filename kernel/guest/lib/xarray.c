/* A radix tree under the names of Linux's XArray; see xarray.h. Nodes are freed by RCU, so that readers need no lock. */
#include "xarray.h"
#include "kernel.h"
#include "slab.h"
#include "rcupdate.h"

void xa_init(struct xarray *xa)
{
	spin_lock_init(&xa->xa_lock);
	xa->xa_head = NULL;
}

static inline unsigned long max_index(const struct xa_node *node)
{
	unsigned int bits = node->shift + XA_CHUNK_SHIFT;

	return bits >= 64 ? ~0UL : (1UL << bits) - 1;
}

static inline unsigned int slot_of(const struct xa_node *node, unsigned long index)
{
	return (index >> node->shift) & XA_CHUNK_MASK;
}

void *xa_load(struct xarray *xa, unsigned long index)
{
	struct xa_node *node = READ_ONCE(xa->xa_head);

	if (!node || index > max_index(node))
		return NULL;
	while (node->shift) {
		node = READ_ONCE(node->slots[slot_of(node, index)]);
		if (!node)
			return NULL;
	}
	return READ_ONCE(node->slots[slot_of(node, index)]);
}

static struct xa_node *xa_node_alloc(unsigned int shift, gfp_t gfp)
{
	struct xa_node *node = kzalloc(sizeof(*node), gfp);

	if (node)
		node->shift = shift;
	return node;
}

int __xa_insert(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp)
{
	struct xa_node *node = xa->xa_head;
	void **slot;

	/* grow upwards until @index fits */
	while (!node || index > max_index(node)) {
		struct xa_node *up = xa_node_alloc(node ? node->shift + XA_CHUNK_SHIFT : 0, gfp);

		if (!up)
			return -ENOMEM;
		if (node) {
			up->slots[0] = node;
			up->count = 1;
		}
		smp_store_release(&xa->xa_head, up);
		node = up;
	}
	while (node->shift) {
		slot = &node->slots[slot_of(node, index)];
		if (!*slot) {
			struct xa_node *down = xa_node_alloc(node->shift - XA_CHUNK_SHIFT, gfp);

			if (!down)
				return -ENOMEM;
			smp_store_release(slot, (void *)down);
			node->count++;
		}
		node = *slot;
	}
	slot = &node->slots[slot_of(node, index)];
	if (*slot)
		return -EBUSY;
	node->count++;
	smp_store_release(slot, entry);
	return 0;
}

static void xa_node_free(struct rcu_head *head)
{
	kfree(container_of(head, struct xa_node, rcu));
}

/* An emptied node is kept until xa_destroy: a file that shrinks often grows again. */
void *__xa_erase(struct xarray *xa, unsigned long index)
{
	struct xa_node *node = xa->xa_head;
	void *entry;

	if (!node || index > max_index(node))
		return NULL;
	while (node->shift) {
		node = node->slots[slot_of(node, index)];
		if (!node)
			return NULL;
	}
	entry = node->slots[slot_of(node, index)];
	if (entry) {
		WRITE_ONCE(node->slots[slot_of(node, index)], NULL);
		node->count--;
	}
	return entry;
}

/* The first entry in the subtree of @node (which starts at index @base) that is not before @from. */
static void *find_in(struct xa_node *node, unsigned long base, unsigned long from, unsigned long max, unsigned long *index)
{
	unsigned int i = from > base ? slot_of(node, from) : 0;

	for (; i < XA_CHUNK_SIZE; i++) {
		unsigned long start = base + ((unsigned long)i << node->shift);
		void *p = READ_ONCE(node->slots[i]);

		if (start > max)
			return NULL;
		if (!p)
			continue;
		if (!node->shift) {
			*index = start;
			return p;
		}
		p = find_in(p, start, from, max, index);
		if (p)
			return p;
	}
	return NULL;
}

void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max)
{
	struct xa_node *node;
	void *entry = NULL;

	rcu_read_lock();
	node = READ_ONCE(xa->xa_head);
	if (node && *index <= max_index(node))
		entry = find_in(node, 0, *index, max, index);
	rcu_read_unlock();
	return entry;
}

static void destroy_node(struct xa_node *node)
{
	if (node->shift)
		for (unsigned int i = 0; i < XA_CHUNK_SIZE; i++)
			if (node->slots[i])
				destroy_node(node->slots[i]);
	call_rcu(&node->rcu, xa_node_free);
}

void xa_destroy(struct xarray *xa)
{
	struct xa_node *node = xa->xa_head;

	xa->xa_head = NULL;
	if (node)
		destroy_node(node);
}

/* A radix tree of 64-slot nodes indexed by unsigned long: the part of Linux's XArray that the page cache needs. */
#ifndef _XARRAY_H
#define _XARRAY_H
#include "types.h"
#include "spinlock.h"
#include "gfp.h"

#define XA_CHUNK_SHIFT	6
#define XA_CHUNK_SIZE	(1UL << XA_CHUNK_SHIFT)
#define XA_CHUNK_MASK	(XA_CHUNK_SIZE - 1)

struct xa_node {
	unsigned char shift;	/* bits of the index below this node */
	unsigned char count;	/* slots in use */
	struct rcu_head rcu;
	void *slots[XA_CHUNK_SIZE];
};

/* xa_lock serialises writers; readers walk under rcu_read_lock(). */
struct xarray {
	spinlock_t xa_lock;
	struct xa_node *xa_head;
};

void xa_init(struct xarray *xa);
void *xa_load(struct xarray *xa, unsigned long index);
int __xa_insert(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);	/* xa_lock held; -EBUSY, -ENOMEM */
void *__xa_erase(struct xarray *xa, unsigned long index);				/* xa_lock held */
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max);		/* first entry at or after *index */
void xa_destroy(struct xarray *xa);							/* frees the nodes, not the entries */

#define xa_lock_irq(xa)		spin_lock_irq(&(xa)->xa_lock)
#define xa_unlock_irq(xa)	spin_unlock_irq(&(xa)->xa_lock)
#endif

/*
 * A virtqueue: the split ring of virtio 1.0 (Linux's drivers/virtio/virtio_ring.c). The driver puts chains of descriptors
 * into the available ring and rings; the device (the host's kernel/virtio.go) reads them, moves the data when its time has
 * come, and puts the chain's head into the used ring before it raises the queue's interrupt.
 */
#include "virtio.h"
#include "mm.h"
#include "slab.h"

struct virtqueue *vring_create_virtqueue(unsigned int index, void (*callback)(struct virtqueue *), const char *name, void *priv)
{
	struct virtqueue *vq = kzalloc(sizeof(*vq), GFP_KERNEL);
	unsigned int i;

	if (!vq)
		return NULL;
	vq->desc = (struct vring_desc *)get_zeroed_page(GFP_KERNEL);
	vq->avail = (struct vring_avail *)get_zeroed_page(GFP_KERNEL);
	vq->used = (struct vring_used *)get_zeroed_page(GFP_KERNEL);
	if (!vq->desc || !vq->avail || !vq->used)
		return NULL;
	spin_lock_init(&vq->lock);
	vq->index = index;
	vq->callback = callback;
	vq->priv = priv;
	vq->num_free = VRING_SIZE;
	strscpy(vq->name, name, sizeof(vq->name));
	for (i = 0; i < VRING_SIZE - 1; i++)
		vq->desc[i].next = i + 1;
	vp_setup_vq(index, __pa(vq->desc), __pa(vq->avail), __pa(vq->used));
	return vq;
}

/* The buffers of @sgs: the first @out are read by the device, the @in behind it written. -ENOSPC: no room. */
static noinline int virtqueue_add(struct virtqueue *vq, const struct vring_sg *sgs, unsigned int out, unsigned int in, void *data)
{
	unsigned int n = out + in, i, at, last = 0, head = vq->free_head;

	if (vq->num_free < n)
		return -ENOSPC;
	for (i = 0, at = head; i < n; i++, at = vq->desc[at].next) {
		vq->desc[at].addr = sgs[i].addr;
		vq->desc[at].len = sgs[i].len;
		vq->desc[at].flags = (i < n - 1 ? VRING_DESC_F_NEXT : 0) | (i >= out ? VRING_DESC_F_WRITE : 0);
		last = at;
	}
	vq->free_head = vq->desc[last].next;
	vq->num_free -= n;
	vq->data[head] = data;
	vq->avail->ring[vq->avail_idx % VRING_SIZE] = head;
	smp_mb();		/* the chain before the index */
	WRITE_ONCE(vq->avail->idx, ++vq->avail_idx);
	vq->num_added++;
	return 0;
}

noinline int virtqueue_add_sgs(struct virtqueue *vq, const struct vring_sg *sgs, unsigned int out_sgs, unsigned int in_sgs, void *data)
{
	return virtqueue_add(vq, sgs, out_sgs, in_sgs, data);
}

/* Must the device be told? */
noinline bool virtqueue_kick_prepare(struct virtqueue *vq)
{
	bool needs_kick = vq->num_added > 0;

	vq->num_added = 0;
	return needs_kick;
}

static noinline bool vp_notify(struct virtqueue *vq)
{
	vp_doorbell(vq->index);
	return true;
}

noinline bool virtqueue_notify(struct virtqueue *vq)
{
	return vp_notify(vq);
}

static void detach_buf_split(struct virtqueue *vq, unsigned int head)
{
	unsigned int i = head, n = 1;

	while (vq->desc[i].flags & VRING_DESC_F_NEXT) {
		i = vq->desc[i].next;
		n++;
	}
	vq->desc[i].next = vq->free_head;
	vq->free_head = head;
	vq->num_free += n;
	vq->data[head] = NULL;
}

/* What the device is done with; NULL: nothing more. */
noinline void *virtqueue_get_buf(struct virtqueue *vq, unsigned int *len)
{
	unsigned int head;
	void *ret;

	if (vq->last_used_idx == READ_ONCE(vq->used->idx))
		return NULL;
	head = vq->used->ring[vq->last_used_idx % VRING_SIZE].id;
	*len = vq->used->ring[vq->last_used_idx % VRING_SIZE].len;
	ret = vq->data[head];
	detach_buf_split(vq, head);
	vq->last_used_idx++;
	return ret;
}

/* The queue's interrupt. */
noinline irqreturn_t vring_interrupt(int irq, void *_vq)
{
	struct virtqueue *vq = _vq;

	if (vq->last_used_idx == READ_ONCE(vq->used->idx))
		return IRQ_NONE;
	vq->callback(vq);
	return IRQ_HANDLED;
}

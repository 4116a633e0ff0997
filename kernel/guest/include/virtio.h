#pragma once
/* Virtqueues (include/linux/virtio.h, uapi/linux/virtio_ring.h); see drivers/virtio/virtio_ring.c. */
#include "irq.h"
#include "spinlock.h"
#define VRING_SIZE		128	/* descriptors: 2 KiB of them; both rings fit a page each */
#define VRING_DESC_F_NEXT	1
#define VRING_DESC_F_WRITE	2
struct vring_desc { u64 addr; u32 len; u16 flags, next; };
struct vring_avail { u16 flags, idx, ring[VRING_SIZE]; };
struct vring_used_elem { u32 id, len; };
struct vring_used { u16 flags, idx; struct vring_used_elem ring[VRING_SIZE]; };
struct vring_sg { u64 addr; u32 len; };
struct virtqueue {
	spinlock_t lock;
	unsigned int index, num_free, free_head, num_added;
	u16 avail_idx, last_used_idx;
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	void *data[VRING_SIZE];
	void (*callback)(struct virtqueue *vq);
	void *priv;
	char name[16];
};
struct virtqueue *vring_create_virtqueue(unsigned int index, void (*callback)(struct virtqueue *), const char *name, void *priv);
int virtqueue_add_sgs(struct virtqueue *vq, const struct vring_sg *sgs, unsigned int out_sgs, unsigned int in_sgs, void *data);
bool virtqueue_kick_prepare(struct virtqueue *vq);
bool virtqueue_notify(struct virtqueue *vq);
void *virtqueue_get_buf(struct virtqueue *vq, unsigned int *len);
irqreturn_t vring_interrupt(int irq, void *_vq);
/* The device's registers are gates. */
u64 vp_config(u64 which);						/* VP_CAPACITY: sectors, 0: there is no device */
void vp_setup_vq(u64 index, u64 desc, u64 avail, u64 used);		/* physical addresses */
void vp_doorbell(u64 index);						/* the available ring has more */
enum { VP_CAPACITY };

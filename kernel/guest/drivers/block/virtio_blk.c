/* The disk /dev/vda (Linux's drivers/block/virtio_blk.c): a queue, and an interrupt, for each CPU. */
#include "blkdev.h"
#include "virtio.h"
#include "slab.h"
#include "init.h"

#define VIRTIO_BLK_MAJOR	254
#define VIRTIO_BLK_IRQ		25	/* of queue 0; 24 would be the device's own */
#define VIRTIO_BLK_T_IN		0
#define VIRTIO_BLK_T_OUT	1
#define VIRTIO_BLK_T_FLUSH	4

/* What the device reads of a request, and where it writes how it went. */
struct virtblk_req {
	struct { u32 type, ioprio; u64 sector; } out_hdr;
	u8 status;
};

struct virtio_blk {
	struct gendisk *disk;
	struct virtqueue *vqs[NR_CPUS];
	struct virtblk_req *reqs[NR_CPUS];	/* by tag */
};

static struct virtblk_req *virtblk_req_of(struct request *rq)
{
	struct virtio_blk *vblk = rq->mq_hctx->driver_data;

	return &vblk->reqs[rq->mq_hctx->queue_num][rq->tag];
}

static noinline void virtblk_setup_cmd(struct virtblk_req *vbr, struct request *req)
{
	vbr->out_hdr.type = req->cmd_flags & REQ_PREFLUSH && !req->__data_len ? VIRTIO_BLK_T_FLUSH :
			    op_is_write(req_op(req)) ? VIRTIO_BLK_T_OUT : VIRTIO_BLK_T_IN;
	vbr->out_hdr.ioprio = 0;
	vbr->out_hdr.sector = vbr->out_hdr.type == VIRTIO_BLK_T_FLUSH ? 0 : blk_rq_pos(req);
	vbr->status = 0xff;
}

static noinline unsigned int blk_rq_map_sg(struct request *rq, struct vring_sg *sg)
{
	unsigned int n = 0;

	for (struct bio *bio = rq->bio; bio; bio = bio->bi_next)
		for (unsigned int i = 0; i < bio->bi_vcnt; i++)
			sg[n++] = (struct vring_sg){ page_to_phys(bio->bi_io_vec[i].bv_page) + bio->bi_io_vec[i].bv_offset, bio->bi_io_vec[i].bv_len };
	return n;
}

static noinline int virtblk_add_req(struct virtqueue *vq, struct virtblk_req *vbr, struct request *req)
{
	struct vring_sg sgs[BIO_MAX_VECS + 2];
	unsigned int n = blk_rq_map_sg(req, sgs + 1);
	bool write = vbr->out_hdr.type == VIRTIO_BLK_T_OUT;

	sgs[0] = (struct vring_sg){ __pa(&vbr->out_hdr), sizeof(vbr->out_hdr) };
	sgs[n + 1] = (struct vring_sg){ __pa(&vbr->status), 1 };
	return virtqueue_add_sgs(vq, sgs, write ? n + 1 : 1, write ? 1 : n + 1, req);
}

static noinline blk_status_t virtio_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct virtio_blk *vblk = hctx->driver_data;
	struct virtqueue *vq = vblk->vqs[hctx->queue_num];
	struct request *req = bd->rq;
	struct virtblk_req *vbr = virtblk_req_of(req);
	unsigned long flags;
	bool notify = false;
	int err;

	virtblk_setup_cmd(vbr, req);
	blk_mq_start_request(req);
	spin_lock_irqsave(&vq->lock, flags);
	err = virtblk_add_req(vq, vbr, req);
	if (err)
		blk_mq_stop_hw_queue(hctx);	/* under the lock: virtblk_done starts it again */
	if (err || bd->last)
		notify = virtqueue_kick_prepare(vq);
	spin_unlock_irqrestore(&vq->lock, flags);
	if (notify)
		virtqueue_notify(vq);
	return err ? BLK_STS_RESOURCE : BLK_STS_OK;
}

static noinline void virtblk_request_done(struct request *req)
{
	struct virtblk_req *vbr = virtblk_req_of(req);

	blk_mq_end_request(req, vbr->status ? BLK_STS_IOERR : BLK_STS_OK);
}

/* In the interrupt: everything that is done. Whoever found the ring full may go on. */
static noinline void virtblk_done(struct virtqueue *vq)
{
	struct virtio_blk *vblk = vq->priv;
	struct request *req;
	unsigned long flags;
	unsigned int len;

	spin_lock_irqsave(&vq->lock, flags);
	while ((req = virtqueue_get_buf(vq, &len)) != NULL) {
		spin_unlock_irqrestore(&vq->lock, flags);
		blk_mq_complete_request(req);
		spin_lock_irqsave(&vq->lock, flags);
	}
	spin_unlock_irqrestore(&vq->lock, flags);
	blk_mq_start_stopped_hw_queue(vblk->disk->queue->queue_hw_ctx[vq->index], true);
}

static const struct blk_mq_ops virtio_mq_ops = {
	.queue_rq = virtio_queue_rq,
	.complete = virtblk_request_done,
};

static int __init init_vq(struct virtio_blk *vblk, unsigned int cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "virtio0-req.%u", cpu);
	vblk->reqs[cpu] = kcalloc(BLK_MQ_DEPTH, sizeof(struct virtblk_req), GFP_KERNEL);
	vblk->vqs[cpu] = vring_create_virtqueue(cpu, virtblk_done, name, vblk);
	if (!vblk->reqs[cpu] || !vblk->vqs[cpu])
		return -ENOMEM;
	irq_set_affinity_cpu(VIRTIO_BLK_IRQ + cpu, cpu);
	return request_irq(VIRTIO_BLK_IRQ + cpu, vring_interrupt, 0, vblk->vqs[cpu]->name, vblk->vqs[cpu]);
}

static int __init virtblk_probe(void)
{
	u64 sectors = vp_config(VP_CAPACITY);
	struct virtio_blk *vblk;
	unsigned int cpu;
	int err;

	if (!sectors)
		return 0;
	vblk = kzalloc(sizeof(*vblk), GFP_KERNEL);
	if (!vblk)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		err = init_vq(vblk, cpu);
		if (err)
			return err;
	}
	vblk->disk = blk_mq_alloc_disk(&virtio_mq_ops, nr_cpu_ids, vblk);
	if (!vblk->disk)
		return -ENOMEM;
	vblk->disk->major = VIRTIO_BLK_MAJOR;
	strscpy(vblk->disk->disk_name, "vda", sizeof(vblk->disk->disk_name));
	if (!bdev_alloc(vblk->disk, sectors))
		return -ENOMEM;
	pr_info("virtio_blk virtio0: [vda] %llu 512-byte logical blocks (%llu MB/%llu MiB)\n", (unsigned long long)sectors,
		(unsigned long long)sectors * 512 / 1000000, (unsigned long long)sectors >> 11);
	return device_add_disk(vblk->disk);
}
late_initcall(virtblk_probe);

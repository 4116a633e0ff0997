/*
 * The multi-queue block layer (Linux's block/blk-mq.c, blk-mq-tag.c, blk-merge.c, blk-mq-sched.c), with no elevator: a
 * hardware queue for each CPU, a fixed set of requests in each, whose tags are a bitmap. A bio becomes a request (or joins
 * the last one in the task's plug), the request goes to the driver's queue_rq; the driver's interrupt ends it. What a plug
 * still held when its task went to sleep, and what the driver has had no room for, a worker of kblockd gives to the driver.
 */
#include "blkdev.h"
#include "sched.h"
#include "slab.h"
#include "smp.h"
#include "init.h"

static struct workqueue_struct *kblockd_workqueue;

/* ---- tags ---- */
static int __blk_mq_get_tag(struct blk_mq_hw_ctx *hctx)
{
	unsigned long tag;

	do {
		tag = find_first_zero_bit(hctx->tags, BLK_MQ_DEPTH);
		if (tag >= BLK_MQ_DEPTH)
			return -1;
	} while (test_and_set_bit(tag, hctx->tags));
	return tag;
}

/* Waits when all requests are under way; what the task holds back itself must go out first. */
static noinline int blk_mq_get_tag(struct blk_mq_hw_ctx *hctx)
{
	int tag = __blk_mq_get_tag(hctx);

	if (likely(tag >= 0))
		return tag;
	if (current->plug)
		__blk_flush_plug(current->plug, false);
	wait_event(hctx->tag_wait, (tag = __blk_mq_get_tag(hctx)) >= 0);
	return tag;
}

static noinline void blk_mq_put_tag(struct blk_mq_hw_ctx *hctx, int tag)
{
	clear_bit(tag, hctx->tags);
	smp_mb();
	if (waitqueue_active(&hctx->tag_wait))
		wake_up(&hctx->tag_wait);
}

/* ---- requests ---- */
static struct request *blk_mq_rq_ctx_init(struct blk_mq_hw_ctx *hctx, int tag, blk_opf_t opf)
{
	struct request *rq = &hctx->rqs[tag];

	*rq = (struct request){ .q = hctx->queue, .mq_hctx = hctx, .tag = tag, .cmd_flags = opf };
	INIT_LIST_HEAD(&rq->queuelist);
	return rq;
}

static noinline struct request *__blk_mq_alloc_requests(struct request_queue *q, blk_opf_t opf)
{
	struct blk_mq_hw_ctx *hctx = q->queue_hw_ctx[raw_smp_processor_id() % q->nr_hw_queues];

	return blk_mq_rq_ctx_init(hctx, blk_mq_get_tag(hctx), opf);
}

static noinline void blk_account_io_start(struct request *rq)
{
	rq->part = rq->bio ? rq->bio->bi_bdev : rq->q->disk->part0;
	rq->start_time_ns = ktime_get();
	atomic_inc(&rq->q->inflight);
}

static noinline void blk_account_io_done(struct request *rq, u64 now)
{
	int rw = op_is_write(req_op(rq));

	preempt_disable();	/* the counts are one disk's, from all CPUs: approximate, as its ticks are */
	rq->q->ios[rw]++;
	rq->q->ticks[rw] += (now - rq->start_time_ns) / 1000000;
	preempt_enable();
	atomic_dec(&rq->q->inflight);
}

static noinline void blk_mq_bio_to_request(struct request *rq, struct bio *bio)
{
	rq->__sector = bio->bi_iter.bi_sector;
	rq->__data_len = bio->bi_iter.bi_size;
	rq->bio = rq->biotail = bio;
	blk_account_io_start(rq);
}

static noinline void __blk_mq_free_request(struct request *rq)
{
	struct blk_mq_hw_ctx *hctx = rq->mq_hctx;

	rq->state = MQ_RQ_IDLE;
	blk_mq_put_tag(hctx, rq->tag);
}

static noinline void blk_mq_free_request(struct request *rq)
{
	__blk_mq_free_request(rq);
}

/* ---- merging into the plug ---- */
static noinline unsigned int rq_segments(struct request *rq)
{
	unsigned int n = 0;

	for (struct bio *b = rq->bio; b; b = b->bi_next)
		n += b->bi_vcnt;
	return n;
}

static bool blk_rq_merge_ok(struct request *rq, struct bio *bio)
{
	return req_op(rq) == bio_op(bio) && bio->bi_iter.bi_size && rq->__data_len && rq_segments(rq) + bio->bi_vcnt <= BIO_MAX_VECS;
}

static noinline void bio_attempt_back_merge(struct request *rq, struct bio *bio)
{
	trace_block_bio_backmerge(bio);
	rq->biotail->bi_next = bio;
	rq->biotail = bio;
	rq->__data_len += bio->bi_iter.bi_size;
}

static noinline void bio_attempt_front_merge(struct request *rq, struct bio *bio)
{
	trace_block_bio_frontmerge(bio);
	bio->bi_next = rq->bio;
	rq->bio = bio;
	rq->__sector = bio->bi_iter.bi_sector;
	rq->__data_len += bio->bi_iter.bi_size;
}

static noinline bool blk_attempt_bio_merge(struct request *rq, struct bio *bio)
{
	if (!blk_rq_merge_ok(rq, bio))
		return false;
	if (rq->__sector + (rq->__data_len >> SECTOR_SHIFT) == bio->bi_iter.bi_sector)
		bio_attempt_back_merge(rq, bio);
	else if (rq->__sector == bio_end_sector(bio))
		bio_attempt_front_merge(rq, bio);
	else
		return false;
	return true;
}

static noinline bool blk_attempt_plug_merge(struct request_queue *q, struct bio *bio)
{
	struct blk_plug *plug = current->plug;
	struct request *rq;

	if (!plug || list_empty(&plug->mq_list))
		return false;
	rq = list_last_entry(&plug->mq_list, struct request, queuelist);
	return rq->q == q && blk_attempt_bio_merge(rq, bio);
}

static noinline void blk_add_rq_to_plug(struct blk_plug *plug, struct request *rq)
{
	if (!plug->rq_count)
		trace_block_plug(rq->q);
	list_add_tail(&rq->queuelist, &plug->mq_list);
	plug->rq_count++;
}

/* ---- issue ---- */
noinline void blk_mq_start_request(struct request *rq)
{
	trace_block_rq_issue(rq);
	rq->io_start_time_ns = ktime_get();
	WRITE_ONCE(rq->state, MQ_RQ_IN_FLIGHT);
}

/* The driver has no room now. */
static noinline void __blk_mq_requeue_request(struct request *rq)
{
	trace_block_rq_requeue(rq);
	WRITE_ONCE(rq->state, MQ_RQ_IDLE);
}

static noinline void blk_mq_request_bypass_insert(struct request *rq)
{
	struct blk_mq_hw_ctx *hctx = rq->mq_hctx;
	unsigned long flags;

	spin_lock_irqsave(&hctx->lock, flags);
	list_add_tail(&rq->queuelist, &hctx->dispatch);
	spin_unlock_irqrestore(&hctx->lock, flags);
	blk_mq_run_hw_queue(hctx, false);		/* likewise */
}

static noinline blk_status_t __blk_mq_issue_directly(struct blk_mq_hw_ctx *hctx, struct request *rq, bool last)
{
	struct blk_mq_queue_data bd = { .rq = rq, .last = last };
	blk_status_t ret = hctx->queue->mq_ops->queue_rq(hctx, &bd);

	if (ret == BLK_STS_RESOURCE)
		__blk_mq_requeue_request(rq);
	return ret;
}

static noinline void blk_mq_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list)
{
	struct request *rq;
	unsigned long flags;

	list_for_each_entry(rq, list, queuelist)
		trace_block_rq_insert(rq);
	spin_lock_irqsave(&hctx->lock, flags);
	list_splice_tail_init(list, &hctx->rq_list);
	spin_unlock_irqrestore(&hctx->lock, flags);
}

/* True: there was no room. */
static noinline bool blk_mq_try_issue_directly(struct blk_mq_hw_ctx *hctx, struct request *rq, bool last)
{
	blk_status_t ret;

	if (unlikely(READ_ONCE(hctx->stopped))) {
		LIST_HEAD(list);

		list_add(&rq->queuelist, &list);
		blk_mq_insert_requests(hctx, &list);
		blk_mq_run_hw_queue(hctx, false);	/* it may have started again meanwhile */
		return true;
	}
	ret = __blk_mq_issue_directly(hctx, rq, last);
	if (ret == BLK_STS_RESOURCE)
		blk_mq_request_bypass_insert(rq);
	else if (unlikely(ret))
		blk_mq_end_request(rq, ret);
	return ret == BLK_STS_RESOURCE;
}

/* What is on the dispatch list, until the driver has no room again. */
static noinline bool blk_mq_dispatch_rq_list(struct blk_mq_hw_ctx *hctx)
{
	struct request *rq;
	unsigned long flags;

	for (;;) {
		spin_lock_irqsave(&hctx->lock, flags);
		rq = list_first_entry_or_null(&hctx->dispatch, struct request, queuelist);
		if (rq)
			list_del_init(&rq->queuelist);
		spin_unlock_irqrestore(&hctx->lock, flags);
		if (!rq)
			return true;
		if (__blk_mq_issue_directly(hctx, rq, true) == BLK_STS_RESOURCE) {
			spin_lock_irqsave(&hctx->lock, flags);
			list_add(&rq->queuelist, &hctx->dispatch);
			spin_unlock_irqrestore(&hctx->lock, flags);
			blk_mq_run_hw_queue(hctx, true);
			return false;
		}
	}
}

/* What waits goes behind what has waited longer. */
static noinline void blk_mq_sched_dispatch_requests(struct blk_mq_hw_ctx *hctx)
{
	unsigned long flags;

	spin_lock_irqsave(&hctx->lock, flags);
	list_splice_tail_init(&hctx->rq_list, &hctx->dispatch);
	spin_unlock_irqrestore(&hctx->lock, flags);
	blk_mq_dispatch_rq_list(hctx);
}

static noinline void __blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx)
{
	blk_mq_sched_dispatch_requests(hctx);
}

static noinline void blk_mq_run_work_fn(struct work_struct *work)
{
	__blk_mq_run_hw_queue(container_of(work, struct blk_mq_hw_ctx, run_work));
}

static noinline bool blk_mq_hctx_has_pending(struct blk_mq_hw_ctx *hctx)
{
	return !list_empty_careful(&hctx->dispatch) || !list_empty_careful(&hctx->rq_list);
}

/* @async: by a worker on the queue's CPU. */
noinline void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async)
{
	if (READ_ONCE(hctx->stopped) || !blk_mq_hctx_has_pending(hctx))
		return;
	if (async)
		queue_work_on(hctx->queue_num, kblockd_workqueue, &hctx->run_work);
	else
		__blk_mq_run_hw_queue(hctx);
}

noinline void blk_mq_stop_hw_queue(struct blk_mq_hw_ctx *hctx)
{
	WRITE_ONCE(hctx->stopped, true);
}

noinline void blk_mq_start_stopped_hw_queue(struct blk_mq_hw_ctx *hctx, bool async)
{
	if (!READ_ONCE(hctx->stopped))
		return;
	WRITE_ONCE(hctx->stopped, false);
	blk_mq_run_hw_queue(hctx, async);
}

/* Until the driver has no room. */
static noinline void blk_mq_plug_issue_direct(struct blk_plug *plug)
{
	struct request *rq, *next;

	while ((rq = list_first_entry_or_null(&plug->mq_list, struct request, queuelist))) {
		list_del_init(&rq->queuelist);
		plug->rq_count--;
		next = list_first_entry_or_null(&plug->mq_list, struct request, queuelist);
		/* the task may have moved between them: each queue is told of its last one */
		if (blk_mq_try_issue_directly(rq->mq_hctx, rq, !next || next->mq_hctx != rq->mq_hctx))
			return;
	}
}

/* The requests for one of the plug's queues, which wait: when the task goes to sleep, for a worker. */
static noinline void blk_mq_dispatch_plug_list(struct blk_plug *plug, bool from_sched)
{
	struct request *rq, *next, *first = list_first_entry(&plug->mq_list, struct request, queuelist);
	struct blk_mq_hw_ctx *hctx = first->mq_hctx;
	unsigned int depth = 0;
	LIST_HEAD(list);

	list_for_each_entry_safe(rq, next, &plug->mq_list, queuelist) {
		if (rq->mq_hctx != hctx)
			continue;
		list_move_tail(&rq->queuelist, &list);
		plug->rq_count--;
		depth++;
	}
	trace_block_unplug(first->q, depth, !from_sched);
	blk_mq_insert_requests(hctx, &list);
	blk_mq_run_hw_queue(hctx, from_sched);
}

noinline void blk_mq_flush_plug_list(struct blk_plug *plug, bool from_schedule)
{
	if (!from_schedule) {
		trace_block_unplug(list_first_entry(&plug->mq_list, struct request, queuelist)->q, plug->rq_count, true);
		blk_mq_plug_issue_direct(plug);
	}
	while (!list_empty(&plug->mq_list))
		blk_mq_dispatch_plug_list(plug, from_schedule);
}

static noinline struct request *blk_mq_get_new_requests(struct request_queue *q, struct bio *bio)
{
	if (blk_attempt_plug_merge(q, bio))
		return NULL;
	return __blk_mq_alloc_requests(q, bio->bi_opf);
}

noinline void blk_mq_submit_bio(struct bio *bio)
{
	struct request_queue *q = bio->bi_bdev->bd_queue;
	struct blk_plug *plug = current->plug;
	struct request *rq = blk_mq_get_new_requests(q, bio);

	if (!rq)
		return;
	trace_block_getrq(bio);
	blk_mq_bio_to_request(rq, bio);
	if (plug && !(bio->bi_opf & REQ_PREFLUSH)) {
		if (plug->rq_count >= 32)
			__blk_flush_plug(plug, false);
		blk_add_rq_to_plug(plug, rq);
		return;
	}
	blk_mq_try_issue_directly(rq->mq_hctx, rq, true);
}

/* ---- completion ---- */
static void req_bio_endio(struct bio *bio, unsigned int nbytes, blk_status_t error)
{
	if (unlikely(error))
		bio->bi_status = error;
	bio_advance(bio, nbytes);
	bio_endio(bio);
}

static noinline void blk_print_req_error(struct request *req, blk_status_t status)
{
	pr_err("%s error, dev %s, sector %llu op 0x%x:(%s) flags 0x%x phys_seg %u prio class 0\n", "I/O",
	       req->q->disk->disk_name, (unsigned long long)blk_rq_pos(req), req_op(req),
	       op_is_write(req_op(req)) ? "WRITE" : "READ", req->cmd_flags & ~REQ_OP_MASK, rq_segments(req));
}

/* True: something of it is left. */
noinline bool blk_update_request(struct request *req, blk_status_t error, unsigned int nr_bytes)
{
	trace_block_rq_complete(req, error, nr_bytes);
	if (unlikely(error)) {
		trace_block_rq_error(req, error, nr_bytes);
		blk_print_req_error(req, error);
	}
	req->q->sectors[op_is_write(req_op(req))] += nr_bytes >> SECTOR_SHIFT;
	while (req->bio) {
		struct bio *bio = req->bio;

		req->bio = bio->bi_next;
		bio->bi_next = NULL;
		bio->bi_flags &= ~BIO_TRACE_COMPLETION;	/* told above, by its request */
		req_bio_endio(bio, bio->bi_iter.bi_size, error);
	}
	req->__data_len = 0;
	return false;
}

static noinline void __blk_mq_end_request(struct request *rq, blk_status_t error)
{
	blk_account_io_done(rq, ktime_get());
	blk_mq_free_request(rq);
}

noinline void blk_mq_end_request(struct request *rq, blk_status_t error)
{
	BUG_ON(blk_update_request(rq, error, blk_rq_bytes(rq)));
	__blk_mq_end_request(rq, error);
}

/* The queue's interrupt comes to the CPU that submitted: nothing is ever completed elsewhere. */
static noinline bool blk_mq_complete_request_remote(struct request *rq)
{
	WRITE_ONCE(rq->state, MQ_RQ_COMPLETE);
	return false;
}

noinline void blk_mq_complete_request(struct request *rq)
{
	if (!blk_mq_complete_request_remote(rq))
		rq->q->mq_ops->complete(rq);
}

/* ---- queues ---- */
static struct blk_mq_hw_ctx *blk_mq_alloc_hctx(struct request_queue *q, unsigned int n)
{
	struct blk_mq_hw_ctx *hctx = kzalloc(sizeof(*hctx), GFP_KERNEL);

	if (!hctx)
		return NULL;
	hctx->rqs = kcalloc(BLK_MQ_DEPTH, sizeof(struct request), GFP_KERNEL);
	hctx->queue = q;
	hctx->queue_num = n;
	spin_lock_init(&hctx->lock);
	INIT_LIST_HEAD(&hctx->dispatch);
	INIT_LIST_HEAD(&hctx->rq_list);
	INIT_WORK(&hctx->run_work, blk_mq_run_work_fn);
	init_waitqueue_head(&hctx->tag_wait);
	return hctx->rqs ? hctx : NULL;
}

struct gendisk *blk_mq_alloc_disk(const struct blk_mq_ops *ops, unsigned int nr_hw_queues, void *queuedata)
{
	struct request_queue *q = kzalloc(sizeof(*q), GFP_KERNEL);
	struct gendisk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);

	if (!q || !disk)
		return NULL;
	q->mq_ops = ops;
	q->disk = disk;
	disk->queue = q;
	disk->private_data = queuedata;
	for (q->nr_hw_queues = 0; q->nr_hw_queues < nr_hw_queues; q->nr_hw_queues++) {
		struct blk_mq_hw_ctx *hctx = blk_mq_alloc_hctx(q, q->nr_hw_queues);

		if (!hctx)
			return NULL;
		hctx->driver_data = queuedata;
		q->queue_hw_ctx[q->nr_hw_queues] = hctx;
	}
	return disk;
}

static int __init blk_mq_init(void)
{
	kblockd_workqueue = alloc_workqueue("kblockd", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	return kblockd_workqueue ? 0 : -ENOMEM;
}
subsys_initcall(blk_mq_init);

/* Submitting I/O, and plugs that hold requests back until a task has collected some (Linux's block/blk-core.c). */
#include "blkdev.h"
#include "sched.h"

int blk_status_to_errno(blk_status_t status)
{
	return !status ? 0 : status == BLK_STS_RESOURCE ? -ENOMEM : -EIO;
}

static bool bio_check_eod(struct bio *bio)
{
	if (bio_end_sector(bio) <= bio->bi_bdev->bd_nr_sectors)
		return false;
	pr_info("%s: attempt to access beyond end of device\n%s: rw=%d, sector=%llu, nr_sectors = %u limit=%llu\n",
		current->comm, bio->bi_bdev->bd_disk->disk_name, bio->bi_opf, (unsigned long long)bio->bi_iter.bi_sector,
		bio->bi_iter.bi_size >> SECTOR_SHIFT, (unsigned long long)bio->bi_bdev->bd_nr_sectors);
	return true;
}

static noinline void __submit_bio(struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;

	if (disk->fops && disk->fops->submit_bio)
		disk->fops->submit_bio(bio);
	else
		blk_mq_submit_bio(bio);
}

noinline void submit_bio_noacct_nocheck(struct bio *bio);
noinline void submit_bio_noacct_nocheck(struct bio *bio)
{
	if (!(bio->bi_flags & BIO_TRACE_COMPLETION)) {
		trace_block_bio_queue(bio);
		bio->bi_flags |= BIO_TRACE_COMPLETION;
	}
	__submit_bio(bio);
}

noinline void submit_bio_noacct(struct bio *bio)
{
	might_sleep();
	if (unlikely(bio_check_eod(bio))) {
		bio->bi_status = BLK_STS_IOERR;
		bio_endio(bio);
		return;
	}
	submit_bio_noacct_nocheck(bio);
}

noinline void submit_bio(struct bio *bio)
{
	submit_bio_noacct(bio);
}

noinline void blk_start_plug(struct blk_plug *plug)
{
	struct task_struct *tsk = current;

	if (tsk->plug)		/* the outer one counts */
		return;
	INIT_LIST_HEAD(&plug->mq_list);
	plug->rq_count = 0;
	tsk->plug = plug;
}

noinline void __blk_flush_plug(struct blk_plug *plug, bool from_schedule)
{
	if (plug->rq_count)
		blk_mq_flush_plug_list(plug, from_schedule);
}

noinline void blk_finish_plug(struct blk_plug *plug)
{
	if (plug != current->plug)
		return;
	__blk_flush_plug(plug, false);
	current->plug = NULL;
}

/* The device has no cache of its own that could lose data: an empty write is all. */
noinline int blkdev_issue_flush(struct block_device *bdev)
{
	struct bio *bio = bio_alloc(bdev, 0, REQ_OP_WRITE | REQ_PREFLUSH, GFP_KERNEL);
	int ret;

	if (!bio)
		return -ENOMEM;
	ret = submit_bio_wait(bio);
	bio_put(bio);
	return ret;
}

/*
 * Block devices, bios and requests (Linux's blk_types.h, bio.h, blkdev.h, blk-mq.h). A bio is a piece of I/O as a file
 * system asks for it; a request is what a driver gets: one bio, or several that lie one behind the other.
 */
#ifndef _BLKDEV_H
#define _BLKDEV_H
#include "fs.h"
#include "mm.h"
#include "tracepoint.h"
#include "workqueue.h"
#include "mutex.h"

#define SECTOR_SHIFT	9
#define BIO_MAX_VECS	16

typedef u8 blk_status_t;
typedef u32 blk_opf_t;
#define BLK_STS_OK	0
#define BLK_STS_RESOURCE 9
#define BLK_STS_IOERR	10

enum { REQ_OP_READ, REQ_OP_WRITE, REQ_OP_FLUSH };
#define REQ_OP_MASK	0xffu
#define REQ_SYNC	(1u << 11)
#define REQ_META	(1u << 12)
#define REQ_PRIO	(1u << 13)
#define REQ_PREFLUSH	(1u << 18)
#define REQ_RAHEAD	(1u << 19)
#define op_is_write(op)	((op) & 1)

struct request;
struct request_queue;
struct blk_mq_hw_ctx;
struct bio;

struct block_device {
	dev_t bd_dev;
	u64 bd_nr_sectors;
	struct inode *bd_inode;
	struct gendisk *bd_disk;
	struct request_queue *bd_queue;
	void *bd_holder;		/* the file system that is mounted from it */
	int bd_openers;
	struct super_block *bd_super;	/* what is mounted from it; bd_super_lock */
	struct mutex bd_super_lock;	/* the super block stays mounted */
	struct delayed_work bd_wb;	/* writes back what has been dirty for long: fs/fs-writeback.c */
};

struct block_device_operations {
	void (*submit_bio)(struct bio *bio);	/* of a driver that takes bios as they are, without requests */
	struct module *owner;
};

struct gendisk {
	const struct block_device_operations *fops;
	int major, first_minor;
	char disk_name[32];
	struct block_device *part0;
	struct request_queue *queue;
	void *private_data;
	struct gendisk *next;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len, bv_offset;
};

struct bvec_iter {
	sector_t bi_sector;
	unsigned int bi_size, bi_idx;
};

typedef void (bio_end_io_t)(struct bio *);

struct bio {
	struct bio *bi_next;		/* in its request */
	struct block_device *bi_bdev;
	blk_opf_t bi_opf;
	blk_status_t bi_status;
	unsigned short bi_flags;
	struct bvec_iter bi_iter;
	bio_end_io_t *bi_end_io;
	void *bi_private;
	unsigned short bi_vcnt, bi_max_vecs;
	struct bio_vec bi_io_vec[];
};

#define BIO_TRACE_COMPLETION	1	/* no request will tell of its end */
#define bio_op(bio)		((bio)->bi_opf & REQ_OP_MASK)
#define bio_end_sector(bio)	((bio)->bi_iter.bi_sector + ((bio)->bi_iter.bi_size >> SECTOR_SHIFT))
#define bio_for_each_segment_all(bv, bio, i)	for (i = 0; i < (bio)->bi_vcnt && (bv = &(bio)->bi_io_vec[i], true); i++)

enum mq_rq_state { MQ_RQ_IDLE, MQ_RQ_IN_FLIGHT, MQ_RQ_COMPLETE };

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	blk_opf_t cmd_flags;
	int tag;
	enum mq_rq_state state;
	blk_status_t status;
	unsigned int __data_len;
	sector_t __sector;
	struct bio *bio, *biotail;
	struct list_head queuelist;	/* a plug, or the dispatch list */
	struct block_device *part;
	u64 start_time_ns, io_start_time_ns;
};

struct blk_mq_queue_data { struct request *rq; bool last; };

struct blk_mq_ops {
	blk_status_t (*queue_rq)(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd);
	void (*commit_rqs)(struct blk_mq_hw_ctx *hctx);
	void (*complete)(struct request *rq);
};

#define BLK_MQ_DEPTH	64

/* One hardware queue for each CPU, with its requests. */
struct blk_mq_hw_ctx {
	spinlock_t lock;		/* the two lists */
	struct list_head dispatch;	/* what the driver had no room for */
	struct list_head rq_list;	/* what waits for run_work: from plugs of tasks that went to sleep */
	struct work_struct run_work;
	struct request_queue *queue;
	unsigned int queue_num;
	bool stopped;			/* the driver has no room until its interrupt says so */
	unsigned long tags[BITS_TO_LONGS(BLK_MQ_DEPTH)];
	wait_queue_head_t tag_wait;
	struct request *rqs;
	void *driver_data;
};

struct request_queue {
	const struct blk_mq_ops *mq_ops;
	struct gendisk *disk;
	unsigned int nr_hw_queues;
	struct blk_mq_hw_ctx *queue_hw_ctx[NR_CPUS];
	unsigned long ios[2], sectors[2], ticks[2];	/* /proc/diskstats; reads, writes */
	atomic_t inflight;
};

struct blk_plug {
	struct list_head mq_list;
	unsigned short rq_count;
};

#define blk_rq_pos(rq)		((rq)->__sector)
#define blk_rq_bytes(rq)	((rq)->__data_len)
#define req_op(rq)		((rq)->cmd_flags & REQ_OP_MASK)

/* block/bio.c */
struct bio *bio_alloc(struct block_device *bdev, unsigned short nr_vecs, blk_opf_t opf, gfp_t gfp_mask);
void bio_put(struct bio *bio);
int bio_add_page(struct bio *bio, struct page *page, unsigned int len, unsigned int offset);
bool bio_add_folio(struct bio *bio, struct folio *folio, size_t len, size_t off);
void bio_advance(struct bio *bio, unsigned int nbytes);
void bio_endio(struct bio *bio);
int submit_bio_wait(struct bio *bio);
/* block/blk-core.c */
void submit_bio(struct bio *bio);
void submit_bio_noacct(struct bio *bio);
int blk_status_to_errno(blk_status_t status);
void blk_start_plug(struct blk_plug *plug);
void blk_finish_plug(struct blk_plug *plug);
void __blk_flush_plug(struct blk_plug *plug, bool from_schedule);
int blkdev_issue_flush(struct block_device *bdev);
/* block/blk-mq.c */
void blk_mq_submit_bio(struct bio *bio);
void blk_mq_flush_plug_list(struct blk_plug *plug, bool from_schedule);
void blk_mq_start_request(struct request *rq);
void blk_mq_complete_request(struct request *rq);
void blk_mq_end_request(struct request *rq, blk_status_t error);
bool blk_update_request(struct request *req, blk_status_t error, unsigned int nr_bytes);
void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async);
void blk_mq_stop_hw_queue(struct blk_mq_hw_ctx *hctx);
void blk_mq_start_stopped_hw_queue(struct blk_mq_hw_ctx *hctx, bool async);
struct gendisk *blk_mq_alloc_disk(const struct blk_mq_ops *ops, unsigned int nr_hw_queues, void *queuedata);
/* block/genhd.c, block/bdev.c */
int device_add_disk(struct gendisk *disk);
void del_gendisk(struct gendisk *disk);
struct gendisk *blk_alloc_disk(const struct block_device_operations *fops, void *private_data);
void put_disk(struct gendisk *disk);
struct gendisk *disk_by_dev(dev_t dev);
struct block_device *bdev_alloc(struct gendisk *disk, u64 sectors);
struct block_device *blkdev_get_by_path(const char *path, void *holder);
struct block_device *blkdev_get_by_dev(dev_t dev, void *holder);
void blkdev_put(struct block_device *bdev, void *holder);
int sync_blockdev(struct block_device *bdev);
void bdev_cache_init(void);
void wb_init(struct block_device *bdev);	/* fs/fs-writeback.c */
extern const struct file_operations def_blk_fops;
extern const struct address_space_operations def_blk_aops;
#define I_BDEV(inode)		((struct block_device *)(inode)->i_private)
#define bdev_nr_bytes(bdev)	((loff_t)(bdev)->bd_nr_sectors << SECTOR_SHIFT)
#endif

/* Disks by name and number, and what /proc tells of them (Linux's block/genhd.c). */
#include "blkdev.h"
#include "proc_fs.h"
#include "seq_file.h"
#include "init.h"
#include "slab.h"
#include "pagemap.h"

static struct gendisk *disks;
static DEFINE_MUTEX(disks_lock);

int device_add_disk(struct gendisk *disk)
{
	struct gendisk **p;

	mutex_lock(&disks_lock);
	for (p = &disks; *p && (*p)->major * 256 + (*p)->first_minor < disk->major * 256 + disk->first_minor; p = &(*p)->next)
		;	/* as /proc lists them */
	disk->next = *p;
	*p = disk;
	mutex_unlock(&disks_lock);
	return devtmpfs_create_node(disk->disk_name, S_IFBLK | 0660, MKDEV(disk->major, disk->first_minor));
}

/* A disk of a driver without requests. */
struct gendisk *blk_alloc_disk(const struct block_device_operations *fops, void *private_data)
{
	struct gendisk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	struct request_queue *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!disk || !q) {
		kfree(disk);
		kfree(q);
		return NULL;
	}
	disk->fops = fops;
	disk->private_data = private_data;
	disk->queue = q;
	q->disk = disk;
	return disk;
}

/* Nobody finds the disk any more; its file goes too. Whoever has it open keeps it: the driver's module cannot go before. */
void del_gendisk(struct gendisk *disk)
{
	struct gendisk **p;

	mutex_lock(&disks_lock);
	for (p = &disks; *p && *p != disk; p = &(*p)->next)
		;
	if (*p)
		*p = disk->next;
	mutex_unlock(&disks_lock);
	devtmpfs_delete_node(disk->disk_name);
}

void put_disk(struct gendisk *disk)
{
	struct block_device *bdev = disk->part0;

	if (bdev) {
		cancel_delayed_work_sync(&bdev->bd_wb);
		iput(bdev->bd_inode);
		kfree(bdev);
	}
	kfree(disk->queue);
	kfree(disk);
}

struct gendisk *disk_by_dev(dev_t dev)
{
	struct gendisk *disk;

	mutex_lock(&disks_lock);
	for (disk = disks; disk; disk = disk->next)
		if (MKDEV(disk->major, disk->first_minor) == dev)
			break;
	mutex_unlock(&disks_lock);
	return disk;
}

static int show_partition(struct seq_file *m, void *v)
{
	struct gendisk *d;

	seq_puts(m, "major minor  #blocks  name\n\n");
	for (d = disks; d; d = d->next)
		seq_printf(m, "%4d  %7d %10llu %s\n", d->major, d->first_minor, (unsigned long long)d->part0->bd_nr_sectors >> 1, d->disk_name);
	return 0;
}

static int diskstats_show(struct seq_file *m, void *v)
{
	struct gendisk *d;

	for (d = disks; d; d = d->next) {
		struct request_queue *q = d->queue;

		seq_printf(m, "%4d %7d %s %lu 0 %lu %lu %lu 0 %lu %lu %u %lu %lu 0 0 0 0 0 0\n", d->major, d->first_minor, d->disk_name,
			   q->ios[READ], q->sectors[READ], q->ticks[READ], q->ios[WRITE], q->sectors[WRITE], q->ticks[WRITE],
			   atomic_read(&q->inflight), q->ticks[READ] + q->ticks[WRITE], q->ticks[READ] + q->ticks[WRITE]);
	}
	return 0;
}

static int __init proc_genhd_init(void)
{
	proc_create_single("diskstats", 0444, NULL, diskstats_show);
	proc_create_single("partitions", 0444, NULL, show_partition);
	return 0;
}
late_initcall(proc_genhd_init);

/* Disks by name and number, and what /proc tells of them (Linux's block/genhd.c). */
#include "blkdev.h"
#include "proc_fs.h"
#include "seq_file.h"
#include "init.h"

static struct gendisk *disks;
static DEFINE_MUTEX(disks_lock);

int __init device_add_disk(struct gendisk *disk)
{
	char path[48];

	mutex_lock(&disks_lock);
	disk->next = disks;
	disks = disk;
	mutex_unlock(&disks_lock);
	snprintf(path, sizeof(path), "/dev/%s", disk->disk_name);
	return vfs_mknod_path(path, S_IFBLK | 0660, MKDEV(disk->major, disk->first_minor));
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

/*
 * Writing inodes and their pages back (Linux's fs/fs-writeback.c): for sync and unmount, and by a work item for each disk, which
 * comes dirty_writeback_centisecs after something became dirty, takes what has been so for dirty_expire_centisecs, and comes again
 * while there is more.
 */
#include "fs.h"
#include "pagemap.h"
#include "sched.h"
#include "blkdev.h"
#include "init.h"
#include "sysctl.h"

static noinline int write_inode(struct inode *inode, struct writeback_control *wbc)
{
	if (inode->i_sb->s_op->write_inode && !inode->i_bad)
		return inode->i_sb->s_op->write_inode(inode, wbc);
	return 0;
}

/* The pages, then the inode, which they may have changed. */
static noinline int __writeback_single_inode(struct inode *inode, struct writeback_control *wbc)
{
	int ret;

	spin_lock(&inode->i_lock);
	inode->i_state &= ~I_DIRTY_ALL;		/* what becomes dirty from now on says so again */
	spin_unlock(&inode->i_lock);
	wbc->pages_skipped = 0;
	ret = do_writepages(inode->i_mapping, wbc);
	if (wbc->sync_mode == WB_SYNC_ALL)
		filemap_fdatawait_range(inode->i_mapping, 0, S64_MAX);
	if (wbc->pages_skipped)
		__mark_inode_dirty(inode, I_DIRTY_PAGES);
	return write_inode(inode, wbc) ?: ret;
}

static noinline int writeback_single_inode(struct inode *inode, struct writeback_control *wbc)
{
	if (!(READ_ONCE(inode->i_state) & I_DIRTY_ALL) && wbc->sync_mode == WB_SYNC_NONE)
		return 0;
	return __writeback_single_inode(inode, wbc);
}

/* Only the inode itself, not its pages. */
int sync_inode_metadata(struct inode *inode, int wait)
{
	struct writeback_control wbc = { .sync_mode = wait ? WB_SYNC_ALL : WB_SYNC_NONE };

	spin_lock(&inode->i_lock);
	inode->i_state &= ~(I_DIRTY_SYNC | I_DIRTY_TIME);
	spin_unlock(&inode->i_lock);
	return write_inode(inode, &wbc);
}

/* The dirty inodes of a file system; with @wbc for a flusher those that were dirty at @before. How many others are there? */
static noinline unsigned long writeback_sb_inodes(struct super_block *sb, struct writeback_control *wbc, unsigned long before)
{
	struct inode *inode, *prev = NULL;
	unsigned long younger = 0;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		spin_lock(&inode->i_lock);
		if (inode->i_state & (I_FREEING | I_NEW) || !(inode->i_state & I_DIRTY_ALL)) {
			spin_unlock(&inode->i_lock);
			continue;
		}
		if (wbc->sync_mode == WB_SYNC_NONE && time_after(inode->dirtied_when, before)) {
			spin_unlock(&inode->i_lock);
			younger++;
			continue;
		}
		atomic_inc(&inode->i_count);
		spin_unlock(&inode->i_lock);
		spin_unlock(&sb->s_inode_list_lock);
		iput(prev);
		writeback_single_inode(inode, wbc);
		prev = inode;
		cond_resched();
		spin_lock(&sb->s_inode_list_lock);
	}
	spin_unlock(&sb->s_inode_list_lock);
	iput(prev);
	return younger;
}

noinline void sync_inodes_sb(struct super_block *sb)
{
	struct writeback_control wbc = { .sync_mode = WB_SYNC_ALL, .range_end = S64_MAX, .nr_to_write = S64_MAX };

	writeback_sb_inodes(sb, &wbc, 0);
}

/* ---- the flusher ---- */
static int dirty_writeback_interval = 5 * 100, dirty_expire_interval = 30 * 100;	/* centiseconds */
static struct workqueue_struct *bdi_wq;

/* Of a file on a disk, or of the disk's own blocks. */
static struct block_device *inode_to_bdev(struct inode *inode)
{
	if (inode->i_sb->s_bdev)
		return inode->i_sb->s_bdev;
	return S_ISBLK(inode->i_mode) && inode->i_mapping->a_ops == &def_blk_aops ? I_BDEV(inode) : NULL;
}

noinline void wb_wakeup_delayed(struct inode *inode)
{
	struct block_device *bdev = inode_to_bdev(inode);

	if (bdev && READ_ONCE(dirty_writeback_interval))
		queue_delayed_work(bdi_wq, &bdev->bd_wb, msecs_to_jiffies(dirty_writeback_interval * 10));
}

/* How many inodes are dirty, but not for long enough? */
static noinline unsigned long wb_writeback(struct block_device *bdev, unsigned long before)
{
	struct writeback_control wbc = { .sync_mode = WB_SYNC_NONE, .range_end = S64_MAX, .nr_to_write = 1024,
					 .for_kupdate = true, .range_cyclic = true };
	struct inode *blocks = bdev->bd_inode;
	unsigned long younger = 0;

	mutex_lock(&bdev->bd_super_lock);
	if (bdev->bd_super && !(bdev->bd_super->s_flags & SB_RDONLY))
		younger = writeback_sb_inodes(bdev->bd_super, &wbc, before);
	mutex_unlock(&bdev->bd_super_lock);
	if (READ_ONCE(blocks->i_state) & I_DIRTY_ALL) {
		if (time_after(blocks->dirtied_when, before))
			younger++;
		else
			writeback_single_inode(blocks, &wbc);
	}
	return younger;
}

static noinline unsigned long wb_check_old_data_flush(struct block_device *bdev)
{
	return wb_writeback(bdev, jiffies - msecs_to_jiffies(dirty_expire_interval * 10));
}

static noinline unsigned long wb_do_writeback(struct block_device *bdev)
{
	return wb_check_old_data_flush(bdev);
}

static noinline void wb_workfn(struct work_struct *work)
{
	struct block_device *bdev = container_of(to_delayed_work(work), struct block_device, bd_wb);

	if (wb_do_writeback(bdev))
		wb_wakeup_delayed(bdev->bd_inode);
}

void wb_init(struct block_device *bdev)
{
	mutex_init(&bdev->bd_super_lock);
	INIT_DELAYED_WORK(&bdev->bd_wb, wb_workfn);
}

static struct ctl_table vm_page_writeback_sysctls[] = {
	{ "dirty_expire_centisecs", &dirty_expire_interval, sizeof(int), 0644, proc_dointvec_minmax, SYSCTL_ZERO, SYSCTL_INT_MAX },
	{ "dirty_writeback_centisecs", &dirty_writeback_interval, sizeof(int), 0644, proc_dointvec_minmax, SYSCTL_ZERO, SYSCTL_INT_MAX },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL },
};

static int __init default_bdi_init(void)
{
	bdi_wq = alloc_workqueue("writeback", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!bdi_wq)
		return -ENOMEM;
	return register_sysctl("vm", vm_page_writeback_sysctls);
}
subsys_initcall(default_bdi_init);

/* Writing inodes and their pages back (Linux's fs/fs-writeback.c): for sync and unmount. */
#include "fs.h"
#include "pagemap.h"
#include "sched.h"

static noinline int write_inode(struct inode *inode, struct writeback_control *wbc)
{
	if (inode->i_sb->s_op->write_inode && !inode->i_bad)
		return inode->i_sb->s_op->write_inode(inode, wbc);
	return 0;
}

/* The pages, then the inode, which they may have changed. */
static noinline int __writeback_single_inode(struct inode *inode, struct writeback_control *wbc)
{
	int ret = do_writepages(inode->i_mapping, wbc);
	unsigned long dirty;

	if (wbc->sync_mode == WB_SYNC_ALL)
		filemap_fdatawait_range(inode->i_mapping, 0, S64_MAX);
	spin_lock(&inode->i_lock);
	dirty = inode->i_state & (I_DIRTY_SYNC | I_DIRTY_PAGES | I_DIRTY_TIME);
	inode->i_state &= ~dirty;
	spin_unlock(&inode->i_lock);
	return write_inode(inode, wbc) ?: ret;
}

static noinline int writeback_single_inode(struct inode *inode, struct writeback_control *wbc)
{
	if (!(READ_ONCE(inode->i_state) & (I_DIRTY_SYNC | I_DIRTY_PAGES | I_DIRTY_TIME)) && wbc->sync_mode == WB_SYNC_NONE)
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

noinline void sync_inodes_sb(struct super_block *sb)
{
	struct writeback_control wbc = { .sync_mode = WB_SYNC_ALL, .range_end = S64_MAX };
	struct inode *inode, *prev = NULL;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		spin_lock(&inode->i_lock);
		if (inode->i_state & (I_FREEING | I_NEW) || !(inode->i_state & (I_DIRTY_SYNC | I_DIRTY_PAGES | I_DIRTY_TIME))) {
			spin_unlock(&inode->i_lock);
			continue;
		}
		atomic_inc(&inode->i_count);
		spin_unlock(&inode->i_lock);
		spin_unlock(&sb->s_inode_list_lock);
		iput(prev);
		writeback_single_inode(inode, &wbc);
		prev = inode;
		cond_resched();
		spin_lock(&sb->s_inode_list_lock);
	}
	spin_unlock(&sb->s_inode_list_lock);
	iput(prev);
}

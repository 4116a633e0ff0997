/* fsync without a journal (Linux's fs/ext4/fsync.c): the pages, the inode, the device's blocks, and the device's cache. */
#include "ext4.h"
#include "ext4_trace.h"

static noinline int ext4_fsync_nojournal(struct inode *inode, int datasync)
{
	int ret = sync_blockdev(inode->i_sb->s_bdev);	/* Linux keeps a list of the buffers that are this file's */

	return ret ?: sync_inode_metadata(inode, 1);
}

noinline int ext4_sync_file(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file->f_mapping->host;
	int ret;

	trace_ext4_sync_file_enter(file, datasync);
	ret = file_write_and_wait_range(file, start, end);
	ret = ret ?: ext4_fsync_nojournal(inode, datasync);
	ret = ret ?: blkdev_issue_flush(inode->i_sb->s_bdev);
	trace_ext4_sync_file_exit(inode, ret);
	return ret;
}

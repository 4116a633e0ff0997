/* fsync, fdatasync, sync, syncfs (Linux's fs/sync.c): memory file systems have nothing to write, but files may say so. */
#include "fs.h"
#include "fdtable.h"
#include "syscalls.h"

static noinline int vfs_fsync_range(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file->f_mapping->host;

	if (!file->f_op->fsync)
		return -EINVAL;
	if (!datasync) {
		/* what a sync would have written is clean now */
		spin_lock(&inode->i_lock);
		inode->i_state &= ~(I_DIRTY_TIME | I_DIRTY_SYNC);
		spin_unlock(&inode->i_lock);
	}
	return file->f_op->fsync(file, start, end, datasync);
}

static __always_inline int vfs_fsync(struct file *file, int datasync)
{
	return vfs_fsync_range(file, 0, S64_MAX, datasync);
}

static __always_inline int do_fsync(unsigned int fd, int datasync)
{
	struct fd f = fdget(fd);
	int ret = -EBADF;

	if (f.file) {
		ret = vfs_fsync(f.file, datasync);
		fdput(f);
	}
	return ret;
}

SYSCALL_DEFINE1(fsync, unsigned int, fd)
{
	return do_fsync(fd, 0);
}

SYSCALL_DEFINE1(fdatasync, unsigned int, fd)
{
	return do_fsync(fd, 1);
}

SYSCALL_DEFINE1(syncfs, int, fd)
{
	struct fd f = fdget(fd);

	if (!f.file)
		return -EBADF;
	sync_filesystem(file_inode(f.file)->i_sb);
	fdput(f);
	return 0;
}

static void sync_one_sb(struct super_block *sb, void *arg)
{
	sync_filesystem(sb);
}

static noinline void ksys_sync(void)
{
	iterate_supers(sync_one_sb, NULL);
}

SYSCALL_DEFINE0(sync)
{
	ksys_sync();
	return 0;
}

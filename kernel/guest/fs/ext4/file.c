/* Files (Linux's fs/ext4/file.c). */
#include "ext4.h"
#include "ext4_trace.h"

static noinline ssize_t ext4_file_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	if (!iov_iter_count(to))
		return 0;
	return generic_file_read_iter(iocb, to);
}

static noinline ssize_t ext4_write_checks(struct kiocb *iocb, struct iov_iter *from)
{
	ssize_t ret = generic_write_checks(iocb, from);
	int err;

	if (ret <= 0)
		return ret;
	err = file_remove_privs(iocb->ki_filp) ?: file_update_time(iocb->ki_filp);
	return err ? err : ret;
}

static noinline ssize_t ext4_buffered_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t ret;

	inode_lock(inode);
	ret = ext4_write_checks(iocb, from);
	if (ret > 0)
		ret = generic_perform_write(iocb, from);
	inode_unlock(inode);
	if (ret <= 0)
		return ret;
	iocb->ki_pos += ret;
	if (iocb->ki_filp->f_flags & O_SYNC) {
		int err = ext4_sync_file(iocb->ki_filp, iocb->ki_pos - ret, iocb->ki_pos - 1, 0);

		return err ? err : ret;
	}
	return ret;
}

static noinline ssize_t ext4_file_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	return ext4_buffered_write_iter(iocb, from);
}

static noinline int ext4_file_open(struct inode *inode, struct file *filp)
{
	return generic_file_open(inode, filp);
}

static noinline int ext4_release_file(struct inode *inode, struct file *filp)
{
	return 0;
}

static const struct vm_operations_struct ext4_file_vm_ops = {
	.fault = filemap_fault, .map_pages = filemap_map_pages, .page_mkwrite = ext4_page_mkwrite,
};

static noinline int ext4_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	touch_atime(&file->f_path);
	vma->vm_ops = &ext4_file_vm_ops;
	return 0;
}

static noinline loff_t ext4_llseek(struct file *file, loff_t offset, int whence)
{
	struct inode *inode = file->f_mapping->host;

	return generic_file_llseek_size(file, offset, whence, inode->i_sb->s_maxbytes, i_size_read(inode));
}

const struct file_operations ext4_file_operations = {
	.llseek = ext4_llseek,
	.read_iter = ext4_file_read_iter,
	.write_iter = ext4_file_write_iter,
	.mmap = ext4_file_mmap,
	.open = ext4_file_open,
	.release = ext4_release_file,
	.fsync = ext4_sync_file,
	.splice_read = generic_file_splice_read,
	.splice_write = iter_file_splice_write,
};

const struct inode_operations ext4_file_inode_operations = {
	.setattr = ext4_setattr,
	.getattr = ext4_file_getattr,
};

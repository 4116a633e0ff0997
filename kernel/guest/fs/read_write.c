/* read, write, lseek and friends (Linux's fs/read_write.c). */
#include "fs.h"
#include "fdtable.h"
#include "security.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"
#include "uaccess.h"
#include "truth.h"

#define UIO_MAXIOV	1024

loff_t vfs_setpos(struct file *file, loff_t offset, loff_t maxsize)
{
	if (offset < 0 || offset > maxsize)
		return -EINVAL;
	if (offset != file->f_pos)
		file->f_pos = offset;
	return offset;
}

loff_t generic_file_llseek_size(struct file *file, loff_t offset, int whence, loff_t maxsize, loff_t eof)
{
	switch (whence) {
	case SEEK_END:
		offset += eof;
		break;
	case SEEK_CUR:
		if (offset == 0)
			return file->f_pos;
		/* another sharer of the file may move the position too */
		spin_lock(&file->f_lock);
		offset = vfs_setpos(file, file->f_pos + offset, maxsize);
		spin_unlock(&file->f_lock);
		return offset;
	case SEEK_DATA:
		if ((unsigned long long)offset >= (unsigned long long)eof)
			return -ENXIO;
		break;
	case SEEK_HOLE:
		if ((unsigned long long)offset >= (unsigned long long)eof)
			return -ENXIO;
		offset = eof;
		break;
	}
	return vfs_setpos(file, offset, maxsize);
}

loff_t generic_file_llseek(struct file *file, loff_t offset, int whence)
{
	struct inode *inode = file->f_mapping->host;

	return generic_file_llseek_size(file, offset, whence, inode->i_sb->s_maxbytes, i_size_read(inode));
}

loff_t noop_llseek(struct file *file, loff_t offset, int whence)
{
	return file->f_pos;
}

loff_t vfs_llseek(struct file *file, loff_t offset, int whence)
{
	if (!(file->f_mode & FMODE_LSEEK))
		return -ESPIPE;
	return file->f_op->llseek(file, offset, whence);
}

static noinline loff_t ksys_lseek(unsigned int fd, loff_t offset, unsigned int whence)
{
	struct fd f = fdget_pos(fd);
	loff_t retval;

	if (!f.file)
		return -EBADF;
	retval = -EINVAL;
	if (whence <= SEEK_HOLE)
		retval = vfs_llseek(f.file, offset, whence);
	fdput_pos(f);
	return retval;
}

SYSCALL_DEFINE3(lseek, unsigned int, fd, loff_t, offset, unsigned int, whence)
{
	return ksys_lseek(fd, offset, whence);
}

noinline int rw_verify_area(int read_write, struct file *file, const loff_t *ppos, size_t count)
{
	if (unlikely((ssize_t)count < 0))
		return -EINVAL;
	if (ppos) {
		loff_t pos = *ppos;

		if (unlikely(pos < 0))
			return -EINVAL;
		if (unlikely(count > (size_t)(S64_MAX - pos)))
			return -EOVERFLOW;
	}
	return security_file_permission(file, read_write == READ ? MAY_READ : MAY_WRITE);
}

static inline void init_sync_kiocb(struct kiocb *kiocb, struct file *filp)
{
	*kiocb = (struct kiocb){ .ki_filp = filp, .ki_ioprio = __get_task_ioprio(current) };
	if (filp->f_flags & O_APPEND)
		kiocb->ki_flags |= IOCB_APPEND;
}

static ssize_t new_sync_read(struct file *filp, char __user *buf, size_t len, loff_t *ppos)
{
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t ret;

	init_sync_kiocb(&kiocb, filp);
	kiocb.ki_pos = ppos ? *ppos : 0;
	iov_iter_ubuf(&iter, ITER_DEST, buf, len);
	ret = filp->f_op->read_iter(&kiocb, &iter);
	if (ppos)
		*ppos = kiocb.ki_pos;
	return ret;
}

/* Reads into kernel memory: by read_iter, since ->read knows only user memory. */
ssize_t __kernel_read(struct file *file, void *buf, size_t count, loff_t *pos)
{
	struct kvec iov = { .iov_base = buf, .iov_len = min_t(size_t, count, MAX_RW_COUNT) };
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t ret;

	if (!(file->f_mode & FMODE_READ))
		return -EINVAL;
	if (!(file->f_mode & FMODE_CAN_READ))
		return -EINVAL;
	if (unlikely(!file->f_op->read_iter))
		return -EINVAL;
	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = pos ? *pos : 0;
	iov_iter_kvec(&iter, ITER_DEST, &iov, 1, iov.iov_len);
	ret = file->f_op->read_iter(&kiocb, &iter);
	if (ret > 0 && pos)
		*pos = kiocb.ki_pos;
	return ret;
}

ssize_t kernel_read(struct file *file, void *buf, size_t count, loff_t *pos)
{
	ssize_t ret = rw_verify_area(READ, file, pos, count);

	if (ret)
		return ret;
	return __kernel_read(file, buf, count, pos);
}

ssize_t vfs_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	ssize_t ret;

	KSCOPE_TRUTH(vfs_read);
	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (!(file->f_mode & FMODE_CAN_READ))
		return -EINVAL;
	if (unlikely(!access_ok(buf, count)))
		return -EFAULT;
	ret = rw_verify_area(READ, file, pos, count);
	if (ret)
		return ret;
	if (count > MAX_RW_COUNT)
		count = MAX_RW_COUNT;
	if (file->f_op->read)
		ret = file->f_op->read(file, buf, count, pos);
	else if (file->f_op->read_iter)
		ret = new_sync_read(file, buf, count, pos);
	else
		ret = -EINVAL;
	if (ret > 0)
		current->ioac.rchar += ret;
	current->ioac.syscr++;
	return ret;
}

static ssize_t new_sync_write(struct file *filp, const char __user *buf, size_t len, loff_t *ppos)
{
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t ret;

	init_sync_kiocb(&kiocb, filp);
	kiocb.ki_pos = ppos ? *ppos : 0;
	iov_iter_ubuf(&iter, ITER_SOURCE, (void __user *)buf, len);
	ret = filp->f_op->write_iter(&kiocb, &iter);
	if (ret > 0 && ppos)
		*ppos = kiocb.ki_pos;
	return ret;
}

static ssize_t __kernel_write(struct file *file, const void *buf, size_t count, loff_t *pos)
{
	struct kvec iov = { .iov_base = (void *)buf, .iov_len = min_t(size_t, count, MAX_RW_COUNT) };
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t ret;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!(file->f_mode & FMODE_CAN_WRITE) || unlikely(!file->f_op->write_iter))
		return -EINVAL;
	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = pos ? *pos : 0;
	iov_iter_kvec(&iter, ITER_SOURCE, &iov, 1, iov.iov_len);
	ret = file->f_op->write_iter(&kiocb, &iter);
	if (ret > 0 && pos)
		*pos = kiocb.ki_pos;
	return ret;
}

ssize_t kernel_write(struct file *file, const void *buf, size_t count, loff_t *pos)
{
	ssize_t ret = rw_verify_area(WRITE, file, pos, count);

	if (ret)
		return ret;
	file_start_write(file);
	ret = __kernel_write(file, buf, count, pos);
	file_end_write(file);
	return ret;
}

ssize_t vfs_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	ssize_t ret;

	KSCOPE_TRUTH(vfs_write);
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!(file->f_mode & FMODE_CAN_WRITE))
		return -EINVAL;
	if (unlikely(!access_ok(buf, count)))
		return -EFAULT;
	ret = rw_verify_area(WRITE, file, pos, count);
	if (ret)
		return ret;
	if (count > MAX_RW_COUNT)
		count = MAX_RW_COUNT;
	file_start_write(file);
	if (file->f_op->write)
		ret = file->f_op->write(file, buf, count, pos);
	else if (file->f_op->write_iter)
		ret = new_sync_write(file, buf, count, pos);
	else
		ret = -EINVAL;
	if (ret > 0)
		current->ioac.wchar += ret;
	current->ioac.syscw++;
	file_end_write(file);
	return ret;
}

static inline loff_t *file_ppos(struct file *file)
{
	return file->f_mode & FMODE_STREAM ? NULL : &file->f_pos;
}

static __always_inline ssize_t vfs_rw(int rw, struct file *file, void __user *buf, size_t count, loff_t *pos)
{
	return rw == READ ? vfs_read(file, buf, count, pos) : vfs_write(file, buf, count, pos);
}

/* At the file's position, which it moves; a stream has none. */
static __always_inline ssize_t ksys_rw(int rw, unsigned int fd, void __user *buf, size_t count)
{
	struct fd f = fdget_pos(fd);
	ssize_t ret = -EBADF;

	if (f.file) {
		loff_t pos, *ppos = file_ppos(f.file);

		if (ppos) {
			pos = *ppos;
			ppos = &pos;
		}
		ret = vfs_rw(rw, f.file, buf, count, ppos);
		if (ret >= 0 && ppos)
			f.file->f_pos = pos;
		fdput_pos(f);
	}
	return ret;
}

ssize_t ksys_read(unsigned int fd, char __user *buf, size_t count)
{
	return ksys_rw(READ, fd, buf, count);
}

SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf, size_t, count)
{
	return ksys_read(fd, buf, count);
}

ssize_t ksys_write(unsigned int fd, const char __user *buf, size_t count)
{
	return ksys_rw(WRITE, fd, (char __user *)buf, count);
}

SYSCALL_DEFINE3(write, unsigned int, fd, const char __user *, buf, size_t, count)
{
	return ksys_write(fd, buf, count);
}

static __always_inline ssize_t ksys_prw(int rw, unsigned int fd, void __user *buf, size_t count, loff_t pos)
{
	struct fd f;
	ssize_t ret = -EBADF;

	if (pos < 0)
		return -EINVAL;
	f = fdget(fd);
	if (f.file) {
		ret = -ESPIPE;
		if (f.file->f_mode & (rw == READ ? FMODE_PREAD : FMODE_PWRITE))
			ret = vfs_rw(rw, f.file, buf, count, &pos);
		fdput(f);
	}
	return ret;
}

SYSCALL_DEFINE4(pread64, unsigned int, fd, char __user *, buf, size_t, count, loff_t, pos)
{
	return ksys_prw(READ, fd, buf, count, pos);
}

SYSCALL_DEFINE4(pwrite64, unsigned int, fd, const char __user *, buf, size_t, count, loff_t, pos)
{
	return ksys_prw(WRITE, fd, (char __user *)buf, count, pos);
}

/* Buffers one after the other, until one is not filled. Linux hands one iov_iter to the file; we call it once per buffer. */
static __always_inline ssize_t do_loop_readv_writev(struct file *file, const struct iovec __user *vec, unsigned long vlen,
						    loff_t *pos, int type)
{
	ssize_t ret = 0;

	if (vlen > UIO_MAXIOV)
		return -EINVAL;
	for (; vlen; vlen--, vec++) {
		struct iovec iov;
		ssize_t nr;

		if (copy_from_user(&iov, vec, sizeof(iov)))
			return ret ? ret : -EFAULT;
		nr = vfs_rw(type, file, iov.iov_base, iov.iov_len, pos);
		if (nr < 0)
			return ret ? ret : nr;
		ret += nr;
		if (nr != (ssize_t)iov.iov_len)
			break;
	}
	return ret;
}

static noinline ssize_t vfs_readv(struct file *file, const struct iovec __user *vec, unsigned long vlen, loff_t *pos)
{
	return do_loop_readv_writev(file, vec, vlen, pos, READ);
}

static noinline ssize_t vfs_writev(struct file *file, const struct iovec __user *vec, unsigned long vlen, loff_t *pos)
{
	return do_loop_readv_writev(file, vec, vlen, pos, WRITE);
}

static __always_inline ssize_t do_rwv(unsigned long fd, const struct iovec __user *vec, unsigned long vlen,
				      ssize_t (*rwv)(struct file *, const struct iovec __user *, unsigned long, loff_t *))
{
	struct fd f = fdget_pos(fd);
	ssize_t ret = -EBADF;

	if (f.file) {
		loff_t pos, *ppos = file_ppos(f.file);

		if (ppos) {
			pos = *ppos;
			ppos = &pos;
		}
		ret = rwv(f.file, vec, vlen, ppos);
		if (ret >= 0 && ppos)
			f.file->f_pos = pos;
		fdput_pos(f);
	}
	return ret;
}

static noinline ssize_t do_readv(unsigned long fd, const struct iovec __user *vec, unsigned long vlen)
{
	return do_rwv(fd, vec, vlen, vfs_readv);
}

static noinline ssize_t do_writev(unsigned long fd, const struct iovec __user *vec, unsigned long vlen)
{
	return do_rwv(fd, vec, vlen, vfs_writev);
}

SYSCALL_DEFINE3(readv, unsigned long, fd, const struct iovec __user *, vec, unsigned long, vlen)
{
	return do_readv(fd, vec, vlen);
}

SYSCALL_DEFINE3(writev, unsigned long, fd, const struct iovec __user *, vec, unsigned long, vlen)
{
	return do_writev(fd, vec, vlen);
}

static noinline int generic_write_check_limits(struct file *file, loff_t pos, loff_t *count)
{
	loff_t max_size = file->f_mapping->host->i_sb->s_maxbytes;

	if (unlikely(pos >= max_size))
		return -EFBIG;
	*count = min(*count, max_size - pos);
	return 0;
}

/* Where a write really starts and how much of it is allowed. */
ssize_t generic_write_checks(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	loff_t count;
	int ret;

	if (!iov_iter_count(from))
		return 0;
	if (iocb->ki_flags & IOCB_APPEND)
		iocb->ki_pos = i_size_read(file->f_mapping->host);
	count = iov_iter_count(from);
	ret = generic_write_check_limits(file, iocb->ki_pos, &count);
	if (ret)
		return ret;
	iov_iter_truncate(from, count);
	return iov_iter_count(from);
}

/* /dev/null, zero, full, random and urandom (Linux's drivers/char/mem.c). */
#include "fs.h"
#include "sched.h"
#include "mm.h"
#include "init.h"
#include "namei.h"
#include "uaccess.h"
#include "kmsg.h"
#include "random.h"
#include "splice.h"

#define MEM_MAJOR	1

static ssize_t read_null(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	return 0;
}

static ssize_t write_null(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	return count;
}

static ssize_t read_iter_null(struct kiocb *iocb, struct iov_iter *to)
{
	return 0;
}

static ssize_t write_iter_null(struct kiocb *iocb, struct iov_iter *from)
{
	size_t count = iov_iter_count(from);

	iov_iter_advance(from, count);
	return count;
}

static ssize_t read_zero(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	size_t cleared = 0;

	while (count) {
		size_t chunk = min_t(size_t, count, PAGE_SIZE), left = clear_user(buf + cleared, chunk);

		if (unlikely(left)) {
			cleared += chunk - left;
			return cleared ? cleared : -EFAULT;
		}
		cleared += chunk;
		count -= chunk;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return cleared;
}

static ssize_t read_iter_zero(struct kiocb *iocb, struct iov_iter *iter)
{
	size_t written = 0;

	while (iov_iter_count(iter)) {
		size_t chunk = min_t(size_t, iov_iter_count(iter), PAGE_SIZE), n = iov_iter_zero(chunk, iter);

		if (!n && chunk)
			return written ? written : -EFAULT;
		written += n;
		if (signal_pending(current))
			return written ? written : -ERESTARTSYS;
		cond_resched();
	}
	return written;
}

static ssize_t write_full(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	return -ENOSPC;
}

static ssize_t pipe_to_null(struct pipe_inode_info *pipe, struct pipe_buffer *buf, size_t len, struct splice_desc *sd)
{
	return len;
}

static noinline ssize_t splice_write_null(struct pipe_inode_info *pipe, struct file *out, loff_t *ppos, size_t len, unsigned int flags)
{
	return splice_from_pipe(pipe, out, ppos, len, flags, pipe_to_null);
}

/* Lengths and seeks mean nothing here, but programs that seek must not fail. */
static loff_t null_lseek(struct file *file, loff_t offset, int orig)
{
	return file->f_pos = 0;
}

static const struct file_operations null_fops = {
	.llseek = null_lseek, .read = read_null, .write = write_null, .read_iter = read_iter_null, .write_iter = write_iter_null,
	.splice_write = splice_write_null,
};

static const struct file_operations zero_fops = {
	.llseek = null_lseek, .read = read_zero, .write = write_null, .read_iter = read_iter_zero, .write_iter = write_iter_null,
};

static const struct file_operations full_fops = {
	.llseek = null_lseek, .read_iter = read_iter_zero, .write = write_full,
};

static const struct memdev {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
} devlist[] = {
	[3] = { "null", 0666, &null_fops },
	[5] = { "zero", 0666, &zero_fops },
	[7] = { "full", 0666, &full_fops },
	[8] = { "random", 0666, &urandom_fops },
	[9] = { "urandom", 0666, &urandom_fops },
	[11] = { "kmsg", 0644, &kmsg_fops },
};

static int memory_open(struct inode *inode, struct file *filp)
{
	unsigned int minor = MINOR(inode->i_rdev);

	if (minor >= ARRAY_SIZE(devlist) || !devlist[minor].fops)
		return -ENXIO;
	filp->f_op = devlist[minor].fops;
	if (filp->f_op->open)
		return filp->f_op->open(inode, filp);
	return 0;
}

static const struct file_operations memory_fops = { .open = memory_open, .llseek = noop_llseek };

static int __init chr_dev_init(void)
{
	register_chrdev(MEM_MAJOR, "mem", &memory_fops);
	for (unsigned int minor = 1; minor < ARRAY_SIZE(devlist); minor++) {
		char path[16];

		if (!devlist[minor].name)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", devlist[minor].name);
		vfs_mknod_path(path, S_IFCHR | devlist[minor].mode, MKDEV(MEM_MAJOR, minor));
	}
	return 0;
}
device_initcall(chr_dev_init);

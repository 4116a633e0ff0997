/* sendfile (Linux's fs/read_write.c, fs/splice.c): one page at a time through a page of the kernel's own, not a pipe. */
#include "fs.h"
#include "fdtable.h"
#include "pipe_fs_i.h"
#include "sched.h"
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"

static noinline long do_splice_direct(struct file *in, loff_t *ppos, struct file *out, loff_t *opos, size_t len)
{
	void *page = (void *)__get_free_page(GFP_KERNEL);
	long done = 0, ret = 0;

	if (!page)
		return -ENOMEM;
	while (len) {
		loff_t start = *ppos;
		long n;

		ret = kernel_read(in, page, min_t(size_t, len, PAGE_SIZE), ppos);
		if (ret <= 0)
			break;
		n = kernel_write(out, page, ret, opos);
		if (n <= 0) {
			*ppos = start;
			ret = n;
			break;
		}
		*ppos = start + n;
		done += n;
		len -= n;
		if (n < ret || signal_pending(current))
			break;
		cond_resched();
	}
	free_page((unsigned long)page);
	return done ? done : ret;
}

/* At least one buffer must be free; then as with any file. */
static noinline long splice_file_to_pipe(struct file *in, struct file *out, loff_t *offset, size_t len)
{
	int ret = wait_for_space(out);

	if (ret)
		return ret;
	if (!(in->f_mode & FMODE_LSEEK) || !in->f_op->read_iter)
		return -EINVAL;
	return do_splice_direct(in, offset, out, NULL, len);
}

static noinline ssize_t do_sendfile(int out_fd, int in_fd, loff_t *ppos, size_t count)
{
	struct fd in = fdget(in_fd), out;
	ssize_t retval = -EBADF;
	loff_t pos;

	if (!in.file)
		return retval;
	if (!(in.file->f_mode & FMODE_READ))
		goto fput_in;
	retval = -ESPIPE;
	if (ppos && !(in.file->f_mode & FMODE_PREAD))
		goto fput_in;
	pos = ppos ? *ppos : in.file->f_pos;
	retval = -EBADF;
	out = fdget(out_fd);
	if (!out.file)
		goto fput_in;
	if (!(out.file->f_mode & FMODE_WRITE))
		goto fput_out;
	retval = -EINVAL;
	retval = rw_verify_area(READ, in.file, &pos, count);
	if (retval < 0)
		goto fput_out;
	if (get_pipe_info(out.file, true)) {
		retval = splice_file_to_pipe(in.file, out.file, &pos, min_t(size_t, count, MAX_RW_COUNT));
		goto moved;
	}
	retval = -EINVAL;
	/* the input must be seekable: what is read and cannot be written would be lost */
	if (!(in.file->f_mode & FMODE_LSEEK) || !in.file->f_op->read_iter || !out.file->f_op->write_iter || out.file->f_flags & O_APPEND)
		goto fput_out;
	retval = do_splice_direct(in.file, &pos, out.file, &out.file->f_pos, min_t(size_t, count, MAX_RW_COUNT));
moved:
	if (retval > 0) {
		if (ppos)
			*ppos = pos;
		else
			in.file->f_pos = pos;
	}
fput_out:
	fdput(out);
fput_in:
	fdput(in);
	return retval;
}

SYSCALL_DEFINE4(sendfile64, int, out_fd, int, in_fd, loff_t __user *, offset, size_t, count)
{
	loff_t pos;
	ssize_t ret;

	if (!offset)
		return do_sendfile(out_fd, in_fd, NULL, count);
	if (copy_from_user(&pos, offset, sizeof(pos)))
		return -EFAULT;
	ret = do_sendfile(out_fd, in_fd, &pos, count);
	if (put_user(pos, offset))
		return -EFAULT;
	return ret;
}

/*
 * splice, and sendfile (Linux's fs/splice.c, fs/read_write.c). sendfile to a file goes one page at a time through a page of the
 * kernel's own, not a pipe.
 */
#include "fs.h"
#include "fdtable.h"
#include "splice.h"
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

/* A free buffer of a pipe that is locked. */
static noinline int wait_for_space(struct pipe_inode_info *pipe, unsigned int flags)
{
	for (;;) {
		if (unlikely(!pipe->readers)) {
			send_sig(SIGPIPE, current, 0);
			return -EPIPE;
		}
		if (!pipe_full(pipe->head, pipe->tail, pipe->max_usage))
			return 0;
		if (flags & SPLICE_F_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		pipe_wait_writable(pipe);
	}
}

/* From a locked pipe to any file that has a way. */
static noinline long do_splice_to(struct file *in, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	size_t p_space = (size_t)(pipe->max_usage - pipe_occupancy(pipe->head, pipe->tail)) << PAGE_SHIFT;
	int ret;

	len = min(len, p_space);
	ret = rw_verify_area(READ, in, ppos, len);
	if (unlikely(ret < 0))
		return ret;
	if (unlikely(!in->f_op->splice_read))
		return -EINVAL;
	return in->f_op->splice_read(in, ppos, pipe, min_t(size_t, len, MAX_RW_COUNT), flags);
}

static noinline long splice_file_to_pipe(struct file *in, struct pipe_inode_info *opipe, loff_t *offset, size_t len, unsigned int flags)
{
	long ret;

	pipe_lock(opipe);
	ret = wait_for_space(opipe, flags);
	if (!ret)
		ret = do_splice_to(in, offset, opipe, len, flags);
	pipe_unlock(opipe);
	if (ret > 0)
		wakeup_pipe_readers(opipe);
	return ret;
}

/* Copies, where Linux lends the pages of the page cache. One buffer holds what one page of the file has. */
noinline ssize_t generic_file_splice_read(struct file *in, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	ssize_t done = 0, ret = 0;

	while (len && !pipe_full(pipe->head, pipe->tail, pipe->max_usage)) {
		struct page *page = alloc_page(GFP_KERNEL);
		size_t want = min_t(size_t, len, PAGE_SIZE - (*ppos & (PAGE_SIZE - 1)));

		ret = page ? __kernel_read(in, page_address(page), want, ppos) : -ENOMEM;
		if (ret <= 0) {
			if (page)
				put_page(page);
			break;
		}
		pipe_push_page(pipe, page, 0, ret);
		done += ret;
		len -= ret;
		if ((size_t)ret < want)
			break;
	}
	return done ? done : ret;
}

/* Whether the locked pipe has a buffer: 1; 0: it will get none, or enough was moved; waits else. */
static noinline int splice_from_pipe_next(struct pipe_inode_info *pipe, struct splice_desc *sd)
{
	if (signal_pending(current))
		return -ERESTARTSYS;
	while (pipe_empty(pipe->head, pipe->tail)) {
		if (!pipe->writers || sd->num_spliced)
			return 0;
		if (sd->flags & SPLICE_F_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (sd->need_wakeup) {
			wakeup_pipe_writers(pipe);
			sd->need_wakeup = false;
		}
		pipe_wait_readable(pipe);
	}
	return 1;
}

/* Gives the pipe's buffers to @actor until it takes no more. */
noinline ssize_t splice_from_pipe(struct pipe_inode_info *pipe, struct file *out, loff_t *ppos, size_t len, unsigned int flags,
				  splice_actor *actor)
{
	struct splice_desc sd = { .total_len = len, .flags = flags, .file = out, .opos = ppos };
	ssize_t ret = 0;

	pipe_lock(pipe);
	while (sd.total_len) {
		struct pipe_buffer *buf;
		size_t want;

		ret = splice_from_pipe_next(pipe, &sd);
		if (ret <= 0)
			break;
		buf = &pipe->bufs[pipe->tail & (pipe->ring_size - 1)];
		want = min_t(size_t, buf->len, sd.total_len);
		ret = want ? actor(pipe, buf, want, &sd) : 0;
		if (ret < 0 || (want && !ret))
			break;
		buf->offset += ret;
		buf->len -= ret;
		sd.num_spliced += ret;
		sd.total_len -= ret;
		if (!buf->len) {
			pipe_pop(pipe);
			sd.need_wakeup = true;
		}
		if ((size_t)ret < want)
			break;
		cond_resched();
	}
	pipe_unlock(pipe);
	if (sd.need_wakeup)
		wakeup_pipe_writers(pipe);
	return sd.num_spliced ? (ssize_t)sd.num_spliced : ret;
}

static noinline ssize_t pipe_to_file(struct pipe_inode_info *pipe, struct pipe_buffer *buf, size_t len, struct splice_desc *sd)
{
	return kernel_write(sd->file, page_address(buf->page) + buf->offset, len, sd->opos);
}

ssize_t iter_file_splice_write(struct pipe_inode_info *pipe, struct file *out, loff_t *ppos, size_t len, unsigned int flags)
{
	return splice_from_pipe(pipe, out, ppos, len, flags, pipe_to_file);
}

static noinline long do_splice_from(struct pipe_inode_info *pipe, struct file *out, loff_t *ppos, size_t len, unsigned int flags)
{
	if (unlikely(!out->f_op->splice_write))
		return -EINVAL;
	return out->f_op->splice_write(pipe, out, ppos, len, flags);
}

static noinline int ipipe_prep(struct pipe_inode_info *pipe, unsigned int flags)
{
	int ret = 0;

	if (!pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail)))
		return 0;
	pipe_lock(pipe);
	while (!ret && pipe_empty(pipe->head, pipe->tail)) {
		if (signal_pending(current))
			ret = -ERESTARTSYS;
		else if (!pipe->writers)
			break;
		else if (flags & SPLICE_F_NONBLOCK)
			ret = -EAGAIN;
		else
			pipe_wait_readable(pipe);
	}
	pipe_unlock(pipe);
	return ret;
}

static noinline int opipe_prep(struct pipe_inode_info *pipe, unsigned int flags)
{
	int ret;

	if (!pipe_full(READ_ONCE(pipe->head), READ_ONCE(pipe->tail), pipe->max_usage))
		return 0;
	pipe_lock(pipe);
	ret = wait_for_space(pipe, flags);
	pipe_unlock(pipe);
	return ret;
}

/* Two pipes are locked in the order of their addresses. */
static void pipe_double_lock(struct pipe_inode_info *a, struct pipe_inode_info *b)
{
	pipe_lock(a < b ? a : b);
	pipe_lock(a < b ? b : a);
}

/* Hands the first buffer of @ipipe, or @len bytes of it, to @opipe. */
static noinline size_t splice_one_buffer(struct pipe_inode_info *ipipe, struct pipe_inode_info *opipe, size_t len)
{
	struct pipe_buffer *ibuf = &ipipe->bufs[ipipe->tail & (ipipe->ring_size - 1)];
	size_t n = min_t(size_t, len, ibuf->len);

	if (n == ibuf->len) {
		pipe_push_page(opipe, ibuf->page, ibuf->offset, n);
		ibuf->page = NULL;
		pipe_pop(ipipe);
	} else {
		get_page(ibuf->page);
		pipe_push_page(opipe, ibuf->page, ibuf->offset, n);
		ibuf->offset += n;
		ibuf->len -= n;
	}
	return n;
}

static noinline long splice_pipe_to_pipe(struct pipe_inode_info *ipipe, struct pipe_inode_info *opipe, size_t len, unsigned int flags)
{
	long ret, done = 0;
	bool again;

	do {
		again = false;
		ret = ipipe_prep(ipipe, flags);
		if (!ret)
			ret = opipe_prep(opipe, flags);
		if (ret)
			return ret;
		pipe_double_lock(ipipe, opipe);
		while (len) {
			size_t n;

			if (!opipe->readers) {
				send_sig(SIGPIPE, current, 0);
				ret = -EPIPE;
				break;
			}
			if (pipe_empty(ipipe->head, ipipe->tail) || pipe_full(opipe->head, opipe->tail, opipe->max_usage)) {
				/* somebody else was faster: begin anew */
				again = !done && !(flags & SPLICE_F_NONBLOCK) && (!pipe_empty(ipipe->head, ipipe->tail) || ipipe->writers);
				break;
			}
			n = splice_one_buffer(ipipe, opipe, len);
			done += n;
			len -= n;
		}
		pipe_unlock(ipipe);
		pipe_unlock(opipe);
	} while (again);
	if (done) {
		wakeup_pipe_readers(opipe);
		wakeup_pipe_writers(ipipe);
	}
	return done ? done : ret;
}

static noinline long splice_pipe_to_file(struct file *in, struct file *out, loff_t *off_out, size_t len, unsigned int flags)
{
	loff_t offset = off_out ? *off_out : out->f_pos;
	long ret;

	if (off_out && !(out->f_mode & FMODE_PWRITE))
		return -EINVAL;
	if (unlikely(out->f_flags & O_APPEND))
		return -EINVAL;
	ret = rw_verify_area(WRITE, out, &offset, len);
	if (unlikely(ret < 0))
		return ret;
	file_start_write(out);
	ret = do_splice_from(in->private_data, out, &offset, len, flags);
	file_end_write(out);
	if (off_out)
		*off_out = offset;
	else
		out->f_pos = offset;
	return ret;
}

noinline long do_splice(struct file *in, loff_t *off_in, struct file *out, loff_t *off_out, size_t len, unsigned int flags)
{
	struct pipe_inode_info *ipipe = get_pipe_info(in, true), *opipe = get_pipe_info(out, true);
	loff_t offset;
	long ret;

	if (unlikely(!(in->f_mode & FMODE_READ) || !(out->f_mode & FMODE_WRITE)))
		return -EBADF;
	if ((ipipe ? in->f_flags : 0) & O_NONBLOCK || (opipe ? out->f_flags : 0) & O_NONBLOCK)
		flags |= SPLICE_F_NONBLOCK;
	if (ipipe && opipe)
		return ipipe == opipe ? -EINVAL : splice_pipe_to_pipe(ipipe, opipe, len, flags);
	if (ipipe)
		return splice_pipe_to_file(in, out, off_out, len, flags);
	if (!opipe)
		return -EINVAL;
	if (off_in && !(in->f_mode & FMODE_PREAD))
		return -EINVAL;
	offset = off_in ? *off_in : in->f_pos;
	ret = splice_file_to_pipe(in, opipe, &offset, len, flags);
	if (off_in)
		*off_in = offset;
	else
		in->f_pos = offset;
	return ret;
}

static noinline long __do_splice(struct file *in, loff_t __user *off_in, struct file *out, loff_t __user *off_out, size_t len,
				 unsigned int flags)
{
	loff_t oin, oout;
	long ret;

	if ((off_in && get_pipe_info(in, true)) || (off_out && get_pipe_info(out, true)))
		return -ESPIPE;
	if (off_out && copy_from_user(&oout, off_out, sizeof(oout)))
		return -EFAULT;
	if (off_in && copy_from_user(&oin, off_in, sizeof(oin)))
		return -EFAULT;
	ret = do_splice(in, off_in ? &oin : NULL, out, off_out ? &oout : NULL, len, flags);
	if (ret < 0)
		return ret;
	if (off_out && copy_to_user(off_out, &oout, sizeof(oout)))
		return -EFAULT;
	if (off_in && copy_to_user(off_in, &oin, sizeof(oin)))
		return -EFAULT;
	return ret;
}

SYSCALL_DEFINE6(splice, int, fd_in, loff_t __user *, off_in, int, fd_out, loff_t __user *, off_out, size_t, len, unsigned int, flags)
{
	struct fd in, out;
	long error = -EBADF;

	if (unlikely(!len))
		return 0;
	if (unlikely(flags & ~SPLICE_F_ALL))
		return -EINVAL;
	in = fdget(fd_in);
	if (!in.file)
		return error;
	out = fdget(fd_out);
	if (out.file) {
		error = __do_splice(in.file, off_in, out.file, off_out, len, flags);
		fdput(out);
	}
	fdput(in);
	return error;
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
		retval = splice_file_to_pipe(in.file, out.file->private_data, &pos, min_t(size_t, count, MAX_RW_COUNT),
					     out.file->f_flags & O_NONBLOCK ? SPLICE_F_NONBLOCK : 0);
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

/* Pipes and FIFOs (Linux's fs/pipe.c). */
#include "splice.h"
#include "fdtable.h"
#include "poll.h"
#include "mm.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"
#include "uaccess.h"
#include "init.h"

#define PIPEFS_MAGIC	0x50495045


static struct vfsmount *pipe_mnt;

static inline void __pipe_lock(struct pipe_inode_info *pipe)
{
	mutex_lock(&pipe->mutex);
}

static inline void __pipe_unlock(struct pipe_inode_info *pipe)
{
	mutex_unlock(&pipe->mutex);
}

/* The first page that falls free is kept for the next write. */
static noinline void anon_pipe_buf_release(struct pipe_inode_info *pipe, struct pipe_buffer *buf)
{
	struct page *page = buf->page;

	buf->page = NULL;
	if (page_count(page) == 1 && !pipe->tmp_page)
		pipe->tmp_page = page;
	else
		put_page(page);
}

static inline bool pipe_readable(const struct pipe_inode_info *pipe)
{
	return !pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail)) || !READ_ONCE(pipe->writers);
}

static inline bool pipe_writable(const struct pipe_inode_info *pipe)
{
	return !pipe_full(READ_ONCE(pipe->head), READ_ONCE(pipe->tail), pipe->max_usage) || !READ_ONCE(pipe->readers);
}

/* Copies what is there, up to the reader's size. Returns bytes, or an error when nothing was copied. @was_full: a writer waits. */
static ssize_t pipe_drain(struct pipe_inode_info *pipe, struct iov_iter *to)
{
	ssize_t ret = 0;

	while (iov_iter_count(to) && !pipe_empty(pipe->head, pipe->tail)) {
		struct pipe_buffer *buf = &pipe->bufs[pipe->tail & (pipe->ring_size - 1)];
		size_t chars = min_t(size_t, buf->len, iov_iter_count(to));
		size_t written = copy_page_to_iter(buf->page, buf->offset, chars, to);

		if (unlikely(written < chars))
			return ret ? ret : -EFAULT;
		ret += chars;
		buf->offset += chars;
		buf->len -= chars;
		if (!buf->len) {
			anon_pipe_buf_release(pipe, buf);
			spin_lock_irq(&pipe->rd_wait.lock);
			pipe->tail++;
			spin_unlock_irq(&pipe->rd_wait.lock);
		}
	}
	return ret;
}

static ssize_t pipe_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *filp = iocb->ki_filp;
	struct pipe_inode_info *pipe = filp->private_data;
	bool was_full, wake_next_reader = false;
	ssize_t ret;

	if (unlikely(!iov_iter_count(to)))
		return 0;
	__pipe_lock(pipe);
	/* a writer was asleep only if the pipe was full: wake it once, at the end */
	was_full = pipe_full(pipe->head, pipe->tail, pipe->max_usage);
	for (;;) {
		ret = pipe_drain(pipe, to);
		if (ret || !pipe->writers)
			break;
		if (filp->f_flags & O_NONBLOCK) {
			ret = -EAGAIN;
			break;
		}
		__pipe_unlock(pipe);
		if (was_full)
			wake_up_interruptible_sync_poll(&pipe->wr_wait, POLLOUT | POLLWRNORM);
		if (wait_event_interruptible_exclusive(pipe->rd_wait, pipe_readable(pipe)) < 0)
			return -ERESTARTSYS;
		__pipe_lock(pipe);
		was_full = pipe_full(pipe->head, pipe->tail, pipe->max_usage);
		wake_next_reader = true;
	}
	if (pipe_empty(pipe->head, pipe->tail))
		wake_next_reader = false;
	__pipe_unlock(pipe);
	if (was_full)
		wake_up_interruptible_sync_poll(&pipe->wr_wait, POLLOUT | POLLWRNORM);
	if (wake_next_reader)
		wake_up_interruptible_sync_poll(&pipe->rd_wait, POLLIN | POLLRDNORM);
	if (ret > 0)
		touch_atime(&filp->f_path);
	return ret;
}

/* Small writes share the last page while it has room. */
static ssize_t pipe_merge(struct pipe_inode_info *pipe, struct iov_iter *from)
{
	size_t chars = iov_iter_count(from) & (PAGE_SIZE - 1);
	struct pipe_buffer *buf;
	unsigned int offset;
	ssize_t ret;

	if (!chars || pipe_empty(pipe->head, pipe->tail))
		return 0;
	buf = &pipe->bufs[(pipe->head - 1) & (pipe->ring_size - 1)];
	offset = buf->offset + buf->len;
	if (!(buf->flags & PIPE_BUF_FLAG_CAN_MERGE) || offset + chars > PAGE_SIZE)
		return 0;
	ret = copy_page_from_iter(buf->page, offset, chars, from);
	if (unlikely(ret < (ssize_t)chars))
		return -EFAULT;
	buf->len += ret;
	return ret;
}

/* One more page of data at the head, which has room. */
static ssize_t pipe_add_page(struct pipe_inode_info *pipe, struct iov_iter *from)
{
	struct page *page = pipe->tmp_page;
	struct pipe_buffer *buf;
	unsigned int head;
	size_t copied;

	if (!page) {
		page = alloc_page(GFP_HIGHUSER);
		if (unlikely(!page))
			return -ENOMEM;
		pipe->tmp_page = page;
	}
	/* the slot is claimed before the copy, under the readers' lock */
	spin_lock_irq(&pipe->rd_wait.lock);
	head = pipe->head++;
	spin_unlock_irq(&pipe->rd_wait.lock);
	buf = &pipe->bufs[head & (pipe->ring_size - 1)];
	buf->page = page;
	buf->offset = buf->len = 0;
	buf->flags = PIPE_BUF_FLAG_CAN_MERGE;
	pipe->tmp_page = NULL;
	copied = copy_page_from_iter(page, 0, PAGE_SIZE, from);
	if (unlikely(copied < PAGE_SIZE && iov_iter_count(from)) && !copied)
		return -EFAULT;
	buf->len = copied;
	return copied;
}

static ssize_t pipe_write(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *filp = iocb->ki_filp;
	struct pipe_inode_info *pipe = filp->private_data;
	bool was_empty, wake_next_writer = false;
	ssize_t ret = 0, n;

	if (unlikely(!iov_iter_count(from)))
		return 0;
	__pipe_lock(pipe);
	if (!pipe->readers) {
		send_sig(SIGPIPE, current, 0);
		ret = -EPIPE;
		goto out;
	}
	was_empty = pipe_empty(pipe->head, pipe->tail);
	n = was_empty ? 0 : pipe_merge(pipe, from);
	if (n < 0)
		ret = n;
	else
		ret += n;
	while (ret >= 0 && iov_iter_count(from)) {
		if (!pipe->readers) {
			send_sig(SIGPIPE, current, 0);
			if (!ret)
				ret = -EPIPE;
			break;
		}
		if (!pipe_full(pipe->head, pipe->tail, pipe->max_usage)) {
			n = pipe_add_page(pipe, from);
			if (n < 0) {
				if (!ret)
					ret = n;
				break;
			}
			ret += n;
			continue;
		}
		if (filp->f_flags & O_NONBLOCK) {
			if (!ret)
				ret = -EAGAIN;
			break;
		}
		if (signal_pending(current)) {
			if (!ret)
				ret = -ERESTARTSYS;
			break;
		}
		__pipe_unlock(pipe);
		if (was_empty)
			wake_up_interruptible_sync_poll(&pipe->rd_wait, POLLIN | POLLRDNORM);
		wait_event_interruptible_exclusive(pipe->wr_wait, pipe_writable(pipe));
		__pipe_lock(pipe);
		was_empty = pipe_empty(pipe->head, pipe->tail);
		wake_next_writer = true;
	}
out:
	if (pipe_full(pipe->head, pipe->tail, pipe->max_usage))
		wake_next_writer = false;
	__pipe_unlock(pipe);
	if (ret > 0)
		wake_up_interruptible_sync_poll(&pipe->rd_wait, POLLIN | POLLRDNORM);
	if (wake_next_writer)
		wake_up_interruptible_sync_poll(&pipe->wr_wait, POLLOUT | POLLWRNORM);
	if (ret > 0)
		file_update_time(filp);
	return ret;
}

/* The pipe that @file is an end of, if any. */
struct pipe_inode_info *get_pipe_info(struct file *file, bool for_splice)
{
	return file->f_op == &pipefifo_fops ? file->private_data : NULL;
}

void pipe_lock(struct pipe_inode_info *pipe)
{
	__pipe_lock(pipe);
}

void pipe_unlock(struct pipe_inode_info *pipe)
{
	__pipe_unlock(pipe);
}

/* Waits without the lock until there is something to read, or nobody who could write; or the other way round. */
#define PIPE_WAIT(fn, wait, ready)						\
noinline int fn(struct pipe_inode_info *pipe)					\
{										\
	int ret;								\
										\
	pipe_unlock(pipe);							\
	ret = wait_event_interruptible(wait, ready) ? -ERESTARTSYS : 0;		\
	pipe_lock(pipe);							\
	return ret;								\
}

PIPE_WAIT(pipe_wait_readable, pipe->rd_wait, pipe_readable(pipe))
PIPE_WAIT(pipe_wait_writable, pipe->wr_wait, pipe_writable(pipe))

/* One more buffer at the head, which has room: the caller's reference of @page goes along. */
noinline void pipe_push_page(struct pipe_inode_info *pipe, struct page *page, unsigned int offset, unsigned int len)
{
	pipe->bufs[pipe->head & (pipe->ring_size - 1)] = (struct pipe_buffer){ .page = page, .offset = offset, .len = len };
	spin_lock_irq(&pipe->rd_wait.lock);
	pipe->head++;
	spin_unlock_irq(&pipe->rd_wait.lock);
}

/* The buffer at the tail is gone; its page is the caller's or was given back. */
noinline void pipe_pop(struct pipe_inode_info *pipe)
{
	struct pipe_buffer *buf = &pipe->bufs[pipe->tail & (pipe->ring_size - 1)];

	if (buf->page)
		anon_pipe_buf_release(pipe, buf);
	spin_lock_irq(&pipe->rd_wait.lock);
	pipe->tail++;
	spin_unlock_irq(&pipe->rd_wait.lock);
}

noinline void wakeup_pipe_readers(struct pipe_inode_info *pipe)
{
	smp_mb();
	if (waitqueue_active(&pipe->rd_wait))
		wake_up_interruptible(&pipe->rd_wait);
}

noinline void wakeup_pipe_writers(struct pipe_inode_info *pipe)
{
	smp_mb();
	if (waitqueue_active(&pipe->wr_wait))
		wake_up_interruptible(&pipe->wr_wait);
}

static noinline struct pipe_inode_info *alloc_pipe_info(void)
{
	struct pipe_inode_info *pipe = kzalloc(sizeof(*pipe), GFP_KERNEL_ACCOUNT);

	if (!pipe)
		return NULL;
	pipe->bufs = kcalloc(PIPE_DEF_BUFFERS, sizeof(struct pipe_buffer), GFP_KERNEL_ACCOUNT);
	if (!pipe->bufs) {
		kfree(pipe);
		return NULL;
	}
	init_waitqueue_head(&pipe->rd_wait);
	init_waitqueue_head(&pipe->wr_wait);
	pipe->r_counter = pipe->w_counter = 1;
	pipe->max_usage = pipe->ring_size = PIPE_DEF_BUFFERS;
	mutex_init(&pipe->mutex);
	return pipe;
}

static noinline void free_pipe_info(struct pipe_inode_info *pipe)
{
	for (unsigned int i = pipe->tail; i != pipe->head; i++)
		put_page(pipe->bufs[i & (pipe->ring_size - 1)].page);
	if (pipe->tmp_page)
		put_page(pipe->tmp_page);
	kfree(pipe->bufs);
	kfree(pipe);
}

static void put_pipe_info(struct inode *inode, struct pipe_inode_info *pipe)
{
	bool kill = false;

	spin_lock(&inode->i_lock);
	if (!--pipe->files) {
		inode->i_pipe = NULL;
		kill = true;
	}
	spin_unlock(&inode->i_lock);
	if (kill)
		free_pipe_info(pipe);
}

static int pipe_release(struct inode *inode, struct file *file)
{
	struct pipe_inode_info *pipe = file->private_data;

	__pipe_lock(pipe);
	if (file->f_mode & FMODE_READ)
		pipe->readers--;
	if (file->f_mode & FMODE_WRITE)
		pipe->writers--;
	/* the other side must see that this one is gone */
	if (!pipe->readers != !pipe->writers) {
		wake_up_interruptible_all(&pipe->rd_wait);
		wake_up_interruptible_all(&pipe->wr_wait);
	}
	__pipe_unlock(pipe);
	put_pipe_info(inode, pipe);
	return 0;
}

static int wait_for_partner(struct pipe_inode_info *pipe, unsigned int *cnt)
{
	wait_queue_head_t *q = cnt == &pipe->r_counter ? &pipe->rd_wait : &pipe->wr_wait;
	unsigned int cur = *cnt;
	int ret;

	__pipe_unlock(pipe);
	ret = wait_event_interruptible(*q, READ_ONCE(*cnt) != cur);
	__pipe_lock(pipe);
	return ret ? -ERESTARTSYS : 0;
}

static void wake_up_partner(struct pipe_inode_info *pipe)
{
	wake_up_interruptible_all(&pipe->rd_wait);
	wake_up_interruptible_all(&pipe->wr_wait);
}

/* The pipe of a FIFO's inode, which the first open makes. */
static struct pipe_inode_info *fifo_get_pipe(struct inode *inode)
{
	struct pipe_inode_info *pipe, *new = alloc_pipe_info();

	if (!new)
		return NULL;
	spin_lock(&inode->i_lock);
	pipe = inode->i_pipe;
	if (!pipe) {
		pipe = inode->i_pipe = new;
		new = NULL;
	}
	pipe->files++;
	spin_unlock(&inode->i_lock);
	if (new)
		free_pipe_info(new);
	return pipe;
}

static int fifo_open_read(struct pipe_inode_info *pipe, struct file *filp, bool is_pipe)
{
	pipe->r_counter++;
	if (pipe->readers++ == 0)
		wake_up_partner(pipe);
	if (!is_pipe && !pipe->writers && !(filp->f_flags & O_NONBLOCK) && wait_for_partner(pipe, &pipe->w_counter)) {
		if (!--pipe->readers)
			wake_up_interruptible(&pipe->wr_wait);
		return -ERESTARTSYS;
	}
	return 0;
}

static int fifo_open_write(struct pipe_inode_info *pipe, struct file *filp, bool is_pipe)
{
	if (!is_pipe && (filp->f_flags & O_NONBLOCK) && !pipe->readers)
		return -ENXIO;
	pipe->w_counter++;
	if (!pipe->writers++)
		wake_up_partner(pipe);
	if (!is_pipe && !pipe->readers && wait_for_partner(pipe, &pipe->r_counter)) {
		if (!--pipe->writers)
			wake_up_interruptible_all(&pipe->rd_wait);
		return -ERESTARTSYS;
	}
	return 0;
}

static int fifo_open(struct inode *inode, struct file *filp)
{
	bool is_pipe = inode->i_sb->s_magic == PIPEFS_MAGIC;
	struct pipe_inode_info *pipe = fifo_get_pipe(inode);
	int ret = -EINVAL;

	if (!pipe)
		return -ENOMEM;
	filp->private_data = pipe;
	__pipe_lock(pipe);
	stream_open(inode, filp);
	switch (filp->f_mode & (FMODE_READ | FMODE_WRITE)) {
	case FMODE_READ:
		ret = fifo_open_read(pipe, filp, is_pipe);
		break;
	case FMODE_WRITE:
		ret = fifo_open_write(pipe, filp, is_pipe);
		break;
	case FMODE_READ | FMODE_WRITE:
		pipe->readers++;
		pipe->writers++;
		pipe->r_counter++;
		pipe->w_counter++;
		if (pipe->readers == 1 || pipe->writers == 1)
			wake_up_partner(pipe);
		ret = 0;
		break;
	}
	__pipe_unlock(pipe);
	if (ret)
		put_pipe_info(inode, pipe);
	return ret;
}

static unsigned int pipe_poll(struct file *filp, poll_table *wait)
{
	struct pipe_inode_info *pipe = filp->private_data;
	unsigned int mask = 0;

	if (filp->f_mode & FMODE_READ)
		poll_wait(filp, &pipe->rd_wait, wait);
	if (filp->f_mode & FMODE_WRITE)
		poll_wait(filp, &pipe->wr_wait, wait);
	if (filp->f_mode & FMODE_READ) {
		if (!pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail)))
			mask |= POLLIN | POLLRDNORM;
		if (!pipe->writers)
			mask |= POLLHUP;
	}
	if (filp->f_mode & FMODE_WRITE) {
		if (!pipe_full(READ_ONCE(pipe->head), READ_ONCE(pipe->tail), pipe->max_usage))
			mask |= POLLOUT | POLLWRNORM;
		if (!pipe->readers)
			mask |= POLLERR;
	}
	return mask;
}

/* FIONREAD: the bytes that a read would get now. */
static long pipe_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct pipe_inode_info *pipe = filp->private_data;
	int count = 0;

	if (cmd != 0x541B)
		return -ENOIOCTLCMD;
	__pipe_lock(pipe);
	for (unsigned int i = pipe->tail; i != pipe->head; i++)
		count += pipe->bufs[i & (pipe->ring_size - 1)].len;
	__pipe_unlock(pipe);
	return put_user(count, (int __user *)arg);
}

const struct file_operations pipefifo_fops = {
	.poll = pipe_poll,
	.unlocked_ioctl = pipe_ioctl,
	.open = fifo_open,
	.read_iter = pipe_read,
	.write_iter = pipe_write,
	.release = pipe_release,
	.splice_write = iter_file_splice_write,
};

/* The number of buffers is a power of two of pages; only the superuser may pass 1 MiB (pipe_max_size). */
static long pipe_set_size(struct pipe_inode_info *pipe, unsigned int arg)
{
	unsigned int nr_slots = 1, used;
	struct pipe_buffer *bufs;

	if (arg > 1U << 31)
		return -EINVAL;
	while ((unsigned long)nr_slots << PAGE_SHIFT < arg)
		nr_slots *= 2;
	if (nr_slots > pipe->max_usage && nr_slots << PAGE_SHIFT > 1U << 20 && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	used = pipe->head - pipe->tail;
	if (nr_slots < used)
		return -EBUSY;
	bufs = kcalloc(nr_slots, sizeof(*bufs), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (unlikely(!bufs))
		return -ENOMEM;
	spin_lock_irq(&pipe->rd_wait.lock);
	for (unsigned int i = 0; i < used; i++)
		bufs[i] = pipe->bufs[(pipe->tail + i) & (pipe->ring_size - 1)];
	swap(pipe->bufs, bufs);
	pipe->tail = 0;
	pipe->head = used;
	pipe->ring_size = pipe->max_usage = nr_slots;
	spin_unlock_irq(&pipe->rd_wait.lock);
	kfree(bufs);
	wake_up_interruptible(&pipe->wr_wait);
	return nr_slots * PAGE_SIZE;
}

noinline long pipe_fcntl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pipe_inode_info *pipe = file->private_data;
	long ret;

	if (file->f_op != &pipefifo_fops)
		return -EBADF;
	__pipe_lock(pipe);
	ret = cmd == F_SETPIPE_SZ ? pipe_set_size(pipe, arg) : (long)(pipe->max_usage * PAGE_SIZE);
	__pipe_unlock(pipe);
	return ret;
}

static char *pipefs_dname(struct dentry *dentry, char *buffer, int buflen)
{
	char tmp[32];
	int n = snprintf(tmp, sizeof(tmp), "pipe:[%lu]", d_inode(dentry)->i_ino) + 1;

	if (n > buflen)
		return ERR_PTR(-ENAMETOOLONG);
	return memcpy(buffer + buflen - n, tmp, n);
}

static const struct dentry_operations pipefs_dentry_operations = { .d_dname = pipefs_dname };

static struct inode *get_pipe_inode(void)
{
	struct inode *inode = new_inode_pseudo(pipe_mnt->mnt_sb);
	struct pipe_inode_info *pipe;

	if (!inode)
		return NULL;
	inode->i_ino = get_next_ino();
	pipe = alloc_pipe_info();
	if (!pipe) {
		iput(inode);
		return NULL;
	}
	inode->i_pipe = pipe;
	pipe->files = 2;
	pipe->readers = pipe->writers = 1;
	inode->i_fop = &pipefifo_fops;
	inode->i_mode = S_IFIFO | 0600;
	inode->i_uid = current_fsuid();
	inode->i_gid = current_fsgid();
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	return inode;
}

static noinline int create_pipe_files(struct file **res, int flags)
{
	struct inode *inode = get_pipe_inode();
	struct file *f;

	if (!inode)
		return -ENFILE;
	f = alloc_file_pseudo(inode, pipe_mnt, "", O_WRONLY | (flags & (O_NONBLOCK | O_DIRECT)), &pipefifo_fops);
	if (IS_ERR(f)) {
		free_pipe_info(inode->i_pipe);
		iput(inode);
		return PTR_ERR(f);
	}
	f->private_data = inode->i_pipe;
	res[0] = alloc_file_clone(f, O_RDONLY | (flags & O_NONBLOCK), &pipefifo_fops);
	if (IS_ERR(res[0])) {
		put_pipe_info(inode, inode->i_pipe);
		fput(f);
		return PTR_ERR(res[0]);
	}
	res[0]->private_data = inode->i_pipe;
	res[1] = f;
	stream_open(inode, res[0]);
	stream_open(inode, res[1]);
	return 0;
}

static noinline int __do_pipe_flags(int *fd, struct file **files, int flags)
{
	int fdw, fdr, error;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	error = create_pipe_files(files, flags);
	if (error)
		return error;
	fdr = get_unused_fd_flags(flags);
	fdw = fdr < 0 ? fdr : get_unused_fd_flags(flags);
	if (fdw < 0) {
		if (fdr >= 0)
			put_unused_fd(fdr);
		fput(files[0]);
		fput(files[1]);
		return fdw;
	}
	fd[0] = fdr;
	fd[1] = fdw;
	return 0;
}

static noinline int do_pipe2(int __user *fildes, int flags)
{
	struct file *files[2];
	int fd[2], error = __do_pipe_flags(fd, files, flags);

	if (error)
		return error;
	if (unlikely(copy_to_user(fildes, fd, sizeof(fd)))) {
		fput(files[0]);
		fput(files[1]);
		put_unused_fd(fd[0]);
		put_unused_fd(fd[1]);
		return -EFAULT;
	}
	fd_install(fd[0], files[0]);
	fd_install(fd[1], files[1]);
	return 0;
}

SYSCALL_DEFINE2(pipe2, int __user *, fildes, int, flags)
{
	return do_pipe2(fildes, flags);
}

SYSCALL_DEFINE1(pipe, int __user *, fildes)
{
	return do_pipe2(fildes, 0);
}

static int pipefs_fill_super(struct super_block *sb, void *data)
{
	return pseudo_fill_super(sb, PIPEFS_MAGIC, &pipefs_dentry_operations);
}

static struct file_system_type pipe_fs_type = { .name = "pipefs", .fill_super = pipefs_fill_super };

static int __init init_pipe_fs(void)
{
	register_filesystem(&pipe_fs_type);
	pipe_mnt = kern_mount(&pipe_fs_type);
	return IS_ERR(pipe_mnt) ? PTR_ERR(pipe_mnt) : 0;
}
fs_initcall(init_pipe_fs);

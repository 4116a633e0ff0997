/*
 * Files of tracefs. What they say and do is kscope's, behind the gates; the operations here are their way through the guest,
 * under the names, with the buffers and the locks that Linux has in its traces of them (kernel/trace/trace*.c).
 *
 *	seq files	text that is made at a reader's pace: a seq_file for a reader, whose private is the handle
 *	pipes		consumed: a struct trace_iterator, made when the file is opened
 *	others		the handle alone; a read's text is on the stack, or in memory for as long as the read
 *
 * trace_types_lock makes a command one thing: what the tracer decides and, behind it, the changes of text for it. Markers and
 * reads do without. As in Linux, none of this can be traced, but what it calls can.
 */
#include "kernel.h"
#include "sched.h"
#include "mutex.h"
#include "seq_file.h"
#include "splice.h"
#include "poll.h"
#include "tracefs.h"
#include "slab.h"
#include "mm.h"
#include "gates.h"
#include "uaccess.h"

#define CHUNK_MAX	(64UL << 10)

static DEFINE_MUTEX(trace_types_lock);

/* mutex: readers take turns with seq. */
struct trace_iterator {
	u64 handle;
	struct mutex mutex;
	char seq[PAGE_SIZE];
};

static inline bool is_seq(const struct file *filp)
{
	return filp->f_op->read == seq_read && filp->f_mode & FMODE_READ;
}

static inline u64 handle_of(const struct file *filp)
{
	return (u64)(is_seq(filp) ? ((struct seq_file *)filp->private_data)->private : filp->private_data);
}

/* ---- open and release ---- */

notrace noinline static int tracing_check_open_get_tr(struct inode *inode, struct file *filp, u64 *handle)
{
	long ret;

	mutex_lock(&trace_types_lock);
	ret = tracefs_open(tracefs_id(inode), filp->f_flags, handle);
	ftrace_run_update_code();
	mutex_unlock(&trace_types_lock);
	return ret < 0 ? ret : 0;
}

notrace noinline static int tracing_release_generic_tr(u64 handle)
{
	long ret;

	mutex_lock(&trace_types_lock);
	ret = tracefs_release(handle);
	ftrace_run_update_code();
	mutex_unlock(&trace_types_lock);
	return ret;
}

notrace static int tracing_open_generic(struct inode *inode, struct file *filp)
{
	u64 handle = 0;
	int ret = tracing_check_open_get_tr(inode, filp, &handle);

	filp->private_data = (void *)handle;
	return ret;
}

notrace static int tracing_mark_open(struct inode *inode, struct file *filp)
{
	stream_open(inode, filp);
	return tracing_open_generic(inode, filp);
}

notrace static int tracing_release(struct inode *inode, struct file *filp)
{
	return tracing_release_generic_tr(handle_of(filp));
}

/* What a reader may take at once, a page at most: whole lines of it, or a part of a longer one. */
notrace static int tracing_fill(struct seq_file *m, size_t want)
{
	long ret = tracefs_read((u64)m->private, m->buf, min(want, m->size), m->read_pos);

	ftrace_run_update_code();
	m->count = max(ret, 0L);
	return min(ret, 0L);
}

static const struct seq_operations tracing_seq_ops = { .fill = tracing_fill };

notrace static int tracing_open_seq(struct inode *inode, struct file *filp)
{
	u64 handle = 0;
	int ret = tracing_check_open_get_tr(inode, filp, &handle);

	filp->private_data = (void *)handle;
	if (ret || !(filp->f_mode & FMODE_READ))
		return ret;
	ret = seq_open(filp, &tracing_seq_ops);
	if (ret)
		tracing_release_generic_tr(handle);
	else
		((struct seq_file *)filp->private_data)->private = (void *)handle;
	return ret;
}

notrace static int tracing_release_seq(struct inode *inode, struct file *filp)
{
	int ret = tracing_release_generic_tr(handle_of(filp));

	if (is_seq(filp))
		seq_release(inode, filp);
	return ret;
}

/* A writer has no position. */
notrace static loff_t tracing_lseek(struct file *filp, loff_t offset, int whence)
{
	return is_seq(filp) ? seq_lseek(filp, offset, whence) : (filp->f_pos = 0);
}

/* Files that are consumed have no position: lseek and pread are ESPIPE. */
notrace static int tracing_open_pipe(struct inode *inode, struct file *filp)
{
	struct trace_iterator *iter;
	u64 handle = 0;
	int ret;

	nonseekable_open(inode, filp);
	ret = tracing_check_open_get_tr(inode, filp, &handle);
	if (ret)
		return ret;
	iter = kzalloc(sizeof(*iter), GFP_KERNEL);
	if (!iter) {
		tracing_release_generic_tr(handle);
		return -ENOMEM;
	}
	iter->handle = handle;
	mutex_init(&iter->mutex);
	filp->private_data = iter;
	return 0;
}

notrace static int tracing_release_pipe(struct inode *inode, struct file *filp)
{
	struct trace_iterator *iter = filp->private_data;
	int ret = tracing_release_generic_tr(iter->handle);

	kfree(iter);
	return ret;
}

/* ---- pipes ---- */

/* @how: as tracefs_readable() says. */
notrace noinline static int ring_buffer_wait(u64 handle, int how)
{
	return wait_event_interruptible(tracefs_wait, tracefs_readable(handle, how)) ? -EINTR : 0;
}

/* Without what its reader holds. */
static __always_inline int wait_on_pipe(struct file *filp)
{
	struct trace_iterator *iter = filp->private_data;
	int ret;

	ftrace_run_update_code();
	if (filp->f_flags & O_NONBLOCK)
		return -EAGAIN;
	mutex_unlock(&iter->mutex);
	ret = ring_buffer_wait(iter->handle, 0);
	mutex_lock(&iter->mutex);
	return ret;
}

notrace noinline static int tracing_wait_pipe(struct file *filp)
{
	return wait_on_pipe(filp);
}

static __always_inline ssize_t read_pipe(struct file *filp, struct iov_iter *to, int (*wait)(struct file *))
{
	struct trace_iterator *iter = filp->private_data;
	size_t len = min(iov_iter_count(to), sizeof(iter->seq));
	long ret;

	if (!len)
		return 0;
	mutex_lock(&iter->mutex);
	while ((ret = tracefs_read(iter->handle, iter->seq, len, 0)) == -EAGAIN) {
		ret = wait(filp);
		if (ret)
			break;
	}
	ftrace_run_update_code();
	if (ret > 0 && copy_to_iter(iter->seq, ret, to) != (size_t)ret)
		ret = -EFAULT;
	mutex_unlock(&iter->mutex);
	return ret;
}

#define PIPE_READER(fn, wait)									\
notrace static ssize_t fn(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)		\
{												\
	struct iov_iter to;									\
												\
	iov_iter_ubuf(&to, ITER_DEST, ubuf, cnt);						\
	return read_pipe(filp, &to, wait);							\
}

PIPE_READER(tracing_read_pipe, tracing_wait_pipe)
PIPE_READER(tracing_buffers_read, wait_on_pipe)

notrace static ssize_t tracing_read_pipe_iter(struct kiocb *iocb, struct iov_iter *to)
{
	return read_pipe(iocb->ki_filp, to, wait_on_pipe);
}

/* Pages, or whole lines, into a pipe that is locked and has room; waits when there are none. A wait ends with what is there then. */
notrace static ssize_t tracing_splice(struct file *filp, struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	u64 handle = ((struct trace_iterator *)filp->private_data)->handle, waited = 0;
	ssize_t done = 0;
	long ret;

	for (;;) {
		do {
			struct page *page = alloc_page(GFP_KERNEL);

			if (!page)
				return done ? done : -ENOMEM;
			ret = tracefs_splice(handle, page_address(page), len, waited);
			if (ret <= 0) {
				put_page(page);
				break;
			}
			pipe_push_page(pipe, page, 0, ret);
			done += ret;
			len -= ret;
		} while (len && !pipe_full(pipe->head, pipe->tail, pipe->max_usage));
		if (done || ret != -EAGAIN)
			return done ? done : ret;
		if (filp->f_flags & O_NONBLOCK || flags & SPLICE_F_NONBLOCK)
			return -EAGAIN;
		if (ring_buffer_wait(handle, 2))
			return -EINTR;
		waited = 1;
	}
}

notrace static ssize_t tracing_splice_read_pipe(struct file *filp, loff_t *ppos, struct pipe_inode_info *pipe, size_t len,
						unsigned int flags)
{
	return tracing_splice(filp, pipe, len, flags);
}

/* Whole pages of the ring only, and at whole pages of the position. */
notrace static ssize_t tracing_buffers_splice_read(struct file *filp, loff_t *ppos, struct pipe_inode_info *pipe, size_t len,
						   unsigned int flags)
{
	ssize_t ret;

	if (*ppos & (PAGE_SIZE - 1) || len < PAGE_SIZE)
		return -EINVAL;
	ret = tracing_splice(filp, pipe, len & PAGE_MASK, flags);
	if (ret > 0)
		*ppos += ret;
	return ret;
}

static __always_inline unsigned int poll_handle(struct file *filp, poll_table *pt, u64 handle)
{
	poll_wait(filp, &tracefs_wait, pt);
	return POLLOUT | POLLWRNORM | (tracefs_readable(handle, 1) ? POLLIN | POLLRDNORM : 0);
}

notrace static unsigned int tracing_poll_pipe(struct file *filp, poll_table *pt)
{
	return poll_handle(filp, pt, ((struct trace_iterator *)filp->private_data)->handle);
}

/* Always readable, but for those that the tracer has wait (hist). */
notrace static unsigned int tracing_poll(struct file *filp, poll_table *pt)
{
	return poll_handle(filp, pt, handle_of(filp));
}

/* ---- reads of the others ---- */

enum { LOCKED = 1, ONCE = 2, WHOLE = 4 };

/* A page at most. LOCKED: not while a command changes it; ONCE: only a read at 0 gets anything; WHOLE: none that takes but a part. */
static __always_inline ssize_t read_text(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos, char *buf, size_t size, int how)
{
	bool locked = how & LOCKED;
	long n;

	if (how & ONCE && *ppos)
		return 0;
	if (locked)
		mutex_lock(&trace_types_lock);
	n = tracefs_read(handle_of(filp), buf, size, 0);
	ftrace_run_update_code();
	if (locked)
		mutex_unlock(&trace_types_lock);
	if (how & WHOLE && n >= (long)cnt)
		return -EINVAL;
	return n > 0 ? simple_read_from_buffer(ubuf, cnt, ppos, buf, n) : n;
}

/* A word or a number. */
#define SMALL_READER(fn, how)									\
notrace static ssize_t fn(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)		\
{												\
	char buf[128];										\
												\
	return read_text(filp, ubuf, cnt, ppos, buf, sizeof(buf), how);			\
}

#define PAGE_READER(fn, how)									\
notrace static ssize_t fn(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)		\
{												\
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);						\
	ssize_t ret;										\
												\
	if (!buf)										\
		return -ENOMEM;									\
	ret = read_text(filp, ubuf, cnt, ppos, buf, PAGE_SIZE, how);				\
	kfree(buf);										\
	return ret;										\
}

SMALL_READER(tracing_set_trace_read, LOCKED)
SMALL_READER(tracing_entries_read, LOCKED)
SMALL_READER(tracing_total_entries_read, LOCKED)
SMALL_READER(event_enable_read, LOCKED)
SMALL_READER(rb_simple_read, 0)
SMALL_READER(event_id_read, 0)
SMALL_READER(tracing_nsecs_read, 0)
SMALL_READER(tracing_saved_cmdlines_size_read, 0)
PAGE_READER(event_filter_read, LOCKED | ONCE)
PAGE_READER(tracing_stats_read, 0)
PAGE_READER(tracing_cpumask_read, WHOLE)

/* Of any length, piece by piece. */
notrace static ssize_t tracing_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	size_t len = min(iov_iter_count(to), CHUNK_MAX);
	char *kbuf;
	long ret;

	if (!len)
		return 0;
	kbuf = kmalloc(len, GFP_KERNEL);
	if (!kbuf)
		return -ENOMEM;
	ret = tracefs_read(handle_of(iocb->ki_filp), kbuf, len, iocb->ki_pos);
	ftrace_run_update_code();
	if (ret > 0) {
		if (copy_to_iter(kbuf, ret, to) != (size_t)ret)
			ret = -EFAULT;
		else
			iocb->ki_pos += ret;
	}
	kfree(kbuf);
	return ret;
}

/* ---- writes: one is one command; the gate gets it whole, with its position, up to CHUNK_MAX ---- */

typedef long (*command_fn)(struct file *filp, const char *kbuf, size_t len, loff_t *ppos);

static __always_inline long write_text(struct file *filp, const char *kbuf, size_t len, loff_t *ppos)
{
	long ret = tracefs_write(handle_of(filp), kbuf, len, ppos ? *ppos : 0);

	ftrace_run_update_code();
	if (ret > 0 && ppos)
		*ppos += ret;
	return ret;
}

static __always_inline long command(struct file *filp, const char *kbuf, size_t len, loff_t *ppos)
{
	long ret;

	mutex_lock(&trace_types_lock);
	ret = write_text(filp, kbuf, len, ppos);
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* Those that have the lock in a function of their own. */
#define COMMAND(fn)										\
notrace noinline static long fn(struct file *filp, const char *kbuf, size_t len, loff_t *ppos)	\
{												\
	return command(filp, kbuf, len, ppos);							\
}

COMMAND(tracing_set_tracer)
COMMAND(tracing_resize_ring_buffer)
COMMAND(tracing_set_clock)
COMMAND(trace_set_options)
COMMAND(ftrace_set_clr_event)
COMMAND(event_pid_write)
COMMAND(pid_write)

/* Through @kbuf, freed by @put. */
static __always_inline ssize_t copied_command(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos, char *kbuf,
					      command_fn fn, void (*put)(const void *))
{
	ssize_t ret = -EFAULT;

	if (!kbuf)
		return -ENOMEM;
	if (!copy_from_user(kbuf, ubuf, cnt)) {
		kbuf[cnt] = 0;
		ret = fn(filp, kbuf, cnt, ppos);
	}
	if (put)
		put(kbuf);
	return ret;
}

/* A word or a number: on the stack, unless it is so long that it will be refused. */
#define STACK_WRITER(wr, size, fn)								\
notrace static ssize_t wr(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)	\
{												\
	char buf[size + 1];									\
												\
	cnt = min(cnt, CHUNK_MAX);								\
	if (cnt <= size)									\
		return copied_command(filp, ubuf, cnt, ppos, buf, fn, NULL);			\
	return copied_command(filp, ubuf, cnt, ppos, kmalloc(cnt + 1, GFP_KERNEL), fn, kfree);	\
}

STACK_WRITER(rb_simple_write, 64, command)
STACK_WRITER(event_enable_write, 64, command)
STACK_WRITER(tracing_write_stub, 64, command)
STACK_WRITER(tracing_write_generic, 64, command)
STACK_WRITER(tracing_set_trace_write, 100, tracing_set_tracer)
STACK_WRITER(tracing_entries_write, 64, tracing_resize_ring_buffer)
STACK_WRITER(tracing_clock_write, 64, tracing_set_clock)
STACK_WRITER(tracing_trace_options_write, 64, trace_set_options)
STACK_WRITER(tracing_mark_write, 1024, write_text)
STACK_WRITER(tracing_mark_raw_write, 1024, write_text)

notrace noinline static char *trace_parser_get_init(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}

notrace noinline static void trace_parser_put(const void *buffer)
{
	kfree(buffer);
}

/* Words, of any length. */
#define PARSED_WRITER(wr, fn)									\
notrace static ssize_t wr(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)	\
{												\
	cnt = min(cnt, CHUNK_MAX);								\
	return copied_command(filp, ubuf, cnt, ppos, trace_parser_get_init(cnt + 1), fn, trace_parser_put);	\
}

PARSED_WRITER(ftrace_filter_write, command)
PARSED_WRITER(ftrace_notrace_write, command)
PARSED_WRITER(ftrace_graph_write, command)
PARSED_WRITER(ftrace_event_write, ftrace_set_clr_event)
PARSED_WRITER(ftrace_event_pid_write, event_pid_write)
PARSED_WRITER(ftrace_pid_write, pid_write)

/* A line. */
#define LINE_WRITER(wr)										\
notrace static ssize_t wr(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)	\
{												\
	char *kbuf = memdup_user_nul(ubuf, cnt = min(cnt, CHUNK_MAX));				\
	long ret;										\
												\
	if (IS_ERR(kbuf))									\
		return PTR_ERR(kbuf);								\
	ret = command(filp, kbuf, cnt, ppos);							\
	kfree(kbuf);										\
	return ret;										\
}

LINE_WRITER(event_filter_write)
LINE_WRITER(event_trigger_write)
LINE_WRITER(tracing_cpumask_write)

notrace noinline static ssize_t trace_parse_run_command(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return copied_command(filp, ubuf, cnt, ppos, kmalloc(cnt + 1, GFP_KERNEL), command, kfree);
}

notrace static ssize_t probes_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_parse_run_command(filp, ubuf, min(cnt, CHUNK_MAX), ppos);
}

/* From kernel memory. */
notrace static ssize_t tracing_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	size_t len = min(iov_iter_count(from), CHUNK_MAX);
	char *kbuf = kmalloc(len + 1, GFP_KERNEL);
	long ret = -EFAULT;

	if (!kbuf)
		return -ENOMEM;
	if (copy_from_iter(kbuf, len, from) == len) {
		kbuf[len] = 0;
		ret = command(iocb->ki_filp, kbuf, len, &iocb->ki_pos);
	}
	kfree(kbuf);
	return ret;
}

/* ---- which file has which ---- */

#define SEQ_FOPS(wr, ...) {					\
	.open = tracing_open_seq,				\
	.read = seq_read,					\
	.read_iter = seq_read_iter,				\
	.write = wr,						\
	.write_iter = tracing_write_iter,			\
	.llseek = tracing_lseek,				\
	.poll = tracing_poll,					\
	.release = tracing_release_seq,				\
	__VA_ARGS__						\
}

#define FOPS(rd, wr, ...) {					\
	.open = tracing_open_generic,				\
	.read = rd,						\
	.read_iter = tracing_read_iter,				\
	.write = wr,						\
	.write_iter = tracing_write_iter,			\
	.llseek = generic_file_llseek,				\
	.poll = tracing_poll,					\
	.release = tracing_release,				\
	__VA_ARGS__						\
}

#define PIPE_FOPS(rd, splice) {					\
	.open = tracing_open_pipe,				\
	.read = rd,						\
	.read_iter = tracing_read_pipe_iter,			\
	.poll = tracing_poll_pipe,				\
	.release = tracing_release_pipe,			\
	.splice_read = splice,					\
}

#define MARK_FOPS(wr) FOPS(NULL, wr, .open = tracing_mark_open, .llseek = NULL)

static const struct tracefs_file {
	const char *name;
	struct file_operations fops;
} tracefs_files[] = {
	{ "trace", SEQ_FOPS(tracing_write_stub, .splice_read = generic_file_splice_read) },
	{ "trace_pipe", PIPE_FOPS(tracing_read_pipe, tracing_splice_read_pipe) },
	{ "trace_pipe_raw", PIPE_FOPS(tracing_buffers_read, tracing_buffers_splice_read) },
	{ "snapshot_raw", PIPE_FOPS(tracing_buffers_read, tracing_buffers_splice_read) },
	{ "tracing_on", FOPS(rb_simple_read, rb_simple_write) },
	{ "current_tracer", FOPS(tracing_set_trace_read, tracing_set_trace_write) },
	{ "set_ftrace_filter", SEQ_FOPS(ftrace_filter_write) },
	{ "set_ftrace_notrace", SEQ_FOPS(ftrace_notrace_write) },
	{ "set_graph_function", SEQ_FOPS(ftrace_graph_write) },
	{ "set_graph_notrace", SEQ_FOPS(ftrace_graph_write) },
	{ "set_ftrace_pid", SEQ_FOPS(ftrace_pid_write) },
	{ "set_event", SEQ_FOPS(ftrace_event_write) },
	{ "set_event_pid", SEQ_FOPS(ftrace_event_pid_write) },
	{ "available_tracers", SEQ_FOPS(tracing_write_generic) },
	{ "available_events", SEQ_FOPS(tracing_write_generic) },
	{ "available_filter_functions", SEQ_FOPS(tracing_write_generic) },
	{ "enabled_functions", SEQ_FOPS(tracing_write_generic) },
	{ "enable", FOPS(event_enable_read, event_enable_write) },
	{ "filter", FOPS(event_filter_read, event_filter_write) },
	{ "trigger", SEQ_FOPS(event_trigger_write) },
	{ "format", SEQ_FOPS(tracing_write_generic) },
	{ "hist", SEQ_FOPS(tracing_write_generic) },
	{ "id", FOPS(event_id_read, tracing_write_generic) },
	{ "trace_options", SEQ_FOPS(tracing_trace_options_write) },
	{ "trace_clock", SEQ_FOPS(tracing_clock_write) },
	{ "timestamp_mode", SEQ_FOPS(tracing_write_generic) },
	{ "tracing_cpumask", FOPS(tracing_cpumask_read, tracing_cpumask_write) },
	{ "tracing_thresh", FOPS(tracing_nsecs_read, tracing_write_generic) },
	{ "buffer_size_kb", FOPS(tracing_entries_read, tracing_entries_write) },
	{ "buffer_total_size_kb", FOPS(tracing_total_entries_read, tracing_write_generic) },
	{ "saved_cmdlines", SEQ_FOPS(tracing_write_generic) },
	{ "saved_cmdlines_size", FOPS(tracing_saved_cmdlines_size_read, tracing_write_generic) },
	{ "trace_marker", MARK_FOPS(tracing_mark_write) },
	{ "trace_marker_raw", MARK_FOPS(tracing_mark_raw_write) },
	{ "kprobe_events", SEQ_FOPS(probes_write) },
	{ "dynamic_events", SEQ_FOPS(probes_write) },
	{ "synthetic_events", SEQ_FOPS(probes_write) },
	{ "kprobe_profile", SEQ_FOPS(tracing_write_generic) },
	{ "error_log", SEQ_FOPS(tracing_write_generic) },
	{ "stats", FOPS(tracing_stats_read, tracing_write_generic) },
};

static const struct file_operations tracefs_generic_fops = FOPS(NULL, tracing_write_generic);

notrace const struct file_operations *tracefs_fops_of(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(tracefs_files); i++)
		if (!strcmp(tracefs_files[i].name, name))
			return &tracefs_files[i].fops;
	return &tracefs_generic_fops;
}

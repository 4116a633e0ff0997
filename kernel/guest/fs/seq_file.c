/* See seq_file.h. */
#include "seq_file.h"
#include "init.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "uaccess.h"

static struct kmem_cache *seq_file_cache;

void __init seq_file_init(void)
{
	seq_file_cache = KMEM_CACHE(seq_file, SLAB_ACCOUNT | SLAB_PANIC);
}

int seq_open(struct file *file, const struct seq_operations *op)
{
	struct seq_file *p = kmem_cache_zalloc(seq_file_cache, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	mutex_init(&p->lock);
	p->op = op;
	file->private_data = p;
	return 0;
}

static void *single_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : (void *)1;
}

static void *single_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void single_stop(struct seq_file *m, void *v)
{
}

/* A file of one record; single_release() undoes it. */
int single_open(struct file *file, int (*show)(struct seq_file *, void *), void *data)
{
	struct seq_operations *op = kmalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
	int res = -ENOMEM;

	if (op) {
		*op = (struct seq_operations){ .start = single_start, .next = single_next, .stop = single_stop, .show = show };
		res = seq_open(file, op);
		if (!res)
			((struct seq_file *)file->private_data)->private = data;
		else
			kfree(op);
	}
	return res;
}

static __always_inline int seq_grow(struct seq_file *m)
{
	if (m->buf)
		kvfree(m->buf);
	m->count = m->from = 0;
	m->size = m->size ? m->size * 2 : PAGE_SIZE;
	m->buf = kvmalloc(m->size, GFP_KERNEL_ACCOUNT);
	return m->buf ? 0 : -ENOMEM;
}

/* Makes the record at m->index, in a buffer that is large enough; @p: its iterator, NULL at the end of all. */
static __always_inline int first_record(struct seq_file *m, void **p)
{
	for (;;) {
		int err;

		*p = m->op->start(m, &m->index);
		if (!*p || IS_ERR(*p))
			return IS_ERR(*p) ? PTR_ERR(*p) : 0;
		err = m->op->show(m, *p);
		if (err < 0)
			return err;
		if (err == SEQ_SKIP)
			m->count = 0;
		if (!m->count) {		/* an empty record: the next one */
			*p = m->op->next(m, *p, &m->index);
			m->op->stop(m, *p);
			continue;
		}
		if (!seq_has_overflowed(m))
			return 0;
		m->op->stop(m, *p);
		err = seq_grow(m);
		if (err)
			return err;
	}
}

/* Adds more whole records behind the first, as long as they fit and the reader wants them. */
static __always_inline void more_records(struct seq_file *m, void **p, size_t want)
{
	for (;;) {
		size_t offs = m->count;

		*p = m->op->next(m, *p, &m->index);
		if (!*p || IS_ERR(*p) || m->count >= want)
			return;
		if (m->op->show(m, *p) || seq_has_overflowed(m)) {
			m->count = offs;	/* shown again by the next read */
			if (!seq_has_overflowed(m))
				return;
		}
	}
}

static __always_inline size_t seq_copy(struct seq_file *m, struct iov_iter *iter)
{
	size_t n = copy_to_iter(m->buf + m->from, min(m->count, iov_iter_count(iter)), iter);

	m->count -= n;
	m->from += n;
	return n;
}

/* Goes to byte @offset by making everything before it. */
static int traverse(struct seq_file *m, loff_t offset)
{
	loff_t pos = 0;

	m->index = 0;
	m->count = m->from = 0;
	if (m->op->fill)
		return 0;
	if (!m->buf && seq_grow(m))
		return -ENOMEM;
	while (pos < offset) {
		void *p = NULL;
		int err;

		m->count = m->from = 0;
		err = first_record(m, &p);
		if (p && !IS_ERR(p))
			p = m->op->next(m, p, &m->index);
		m->op->stop(m, p);
		if (err)
			return err;
		if (!m->count)
			return 0;
		if (pos + (loff_t)m->count > offset) {
			m->from = offset - pos;
			m->count -= m->from;
			return 0;
		}
		pos += m->count;
	}
	m->count = m->from = 0;
	return 0;
}

ssize_t seq_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct seq_file *m = iocb->ki_filp->private_data;
	size_t copied = 0;
	void *p = NULL;
	int err = 0;

	if (!iov_iter_count(iter))
		return 0;
	mutex_lock(&m->lock);
	if (!iocb->ki_pos) {
		m->index = 0;
		m->count = 0;
	}
	if (unlikely(iocb->ki_pos != m->read_pos)) {
		err = traverse(m, iocb->ki_pos);
		if (err) {
			m->read_pos = m->index = 0;
			m->count = 0;
			goto done;
		}
		m->read_pos = iocb->ki_pos;
	}
	if (!m->buf && (err = seq_grow(m)))
		goto done;
	if (m->count) {		/* what the last read left */
		copied = seq_copy(m, iter);
		if (m->count)
			goto done;
	}
	m->from = 0;
	if (iov_iter_count(iter) && m->op->fill) {
		err = m->op->fill(m, iov_iter_count(iter));
		copied += seq_copy(m, iter);
	} else if (iov_iter_count(iter)) {
		err = first_record(m, &p);
		if (!err && p)
			more_records(m, &p, iov_iter_count(iter));
		m->op->stop(m, p);
		copied += seq_copy(m, iter);
	}
done:
	if (copied) {
		iocb->ki_pos += copied;
		m->read_pos += copied;
		err = copied;
	}
	mutex_unlock(&m->lock);
	return err;
}

ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *ppos)
{
	struct kiocb kiocb = { .ki_filp = file, .ki_pos = *ppos, .ki_ioprio = __get_task_ioprio(current) };
	struct iov_iter iter;
	ssize_t ret;

	iov_iter_ubuf(&iter, ITER_DEST, buf, size);
	ret = seq_read_iter(&kiocb, &iter);
	*ppos = kiocb.ki_pos;
	return ret;
}

loff_t seq_lseek(struct file *file, loff_t offset, int whence)
{
	struct seq_file *m = file->private_data;
	loff_t retval = -EINVAL;

	mutex_lock(&m->lock);
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	if ((whence == SEEK_SET || whence == SEEK_CUR) && offset >= 0) {
		retval = offset;
		if (offset != m->read_pos) {
			int err = traverse(m, offset);

			if (err) {
				retval = err;
				offset = 0;
				m->index = 0;
				m->count = 0;
			}
			m->read_pos = offset;
		}
		file->f_pos = offset;
	}
	mutex_unlock(&m->lock);
	return retval;
}

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	kvfree(m->buf);
	kmem_cache_free(seq_file_cache, m);
	return 0;
}

int single_release(struct inode *inode, struct file *file)
{
	const struct seq_operations *op = ((struct seq_file *)file->private_data)->op;
	int res = seq_release(inode, file);

	kfree(op);
	return res;
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;
	size_t n;

	if (m->count >= m->size)
		return;
	va_start(args, fmt);
	n = vsnprintf(m->buf + m->count, m->size - m->count, fmt, args);
	va_end(args);
	m->count = m->count + n < m->size ? m->count + n : m->size;
}

int seq_write(struct seq_file *m, const void *data, size_t len)
{
	if (m->count + len < m->size) {
		memcpy(m->buf + m->count, data, len);
		m->count += len;
		return 0;
	}
	m->count = m->size;
	return -1;
}

void seq_puts(struct seq_file *m, const char *s)
{
	seq_write(m, s, strlen(s));
}

void seq_putc(struct seq_file *m, char c)
{
	seq_write(m, &c, 1);
}

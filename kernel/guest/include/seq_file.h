/* Files whose text is made record by record (Linux's include/linux/seq_file.h, fs/seq_file.c). */
#ifndef _SEQ_FILE_H
#define _SEQ_FILE_H
#include "fs.h"

struct seq_file;

struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos);
	void (*stop)(struct seq_file *m, void *v);
	void *(*next)(struct seq_file *m, void *v, loff_t *pos);
	int (*show)(struct seq_file *m, void *v);
	int (*fill)(struct seq_file *m, size_t want);	/* instead of records: text made elsewhere, from read_pos on, count bytes into buf */
};

/* buf[from, from+count) is made but not yet read; lock serialises readers of one open file. */
struct seq_file {
	char *buf;
	size_t size, from, count;
	loff_t index, read_pos;
	struct mutex lock;
	const struct seq_operations *op;
	void *private;
};

#define SEQ_SKIP	1

void seq_file_init(void);
int seq_open(struct file *file, const struct seq_operations *op);
int single_open(struct file *file, int (*show)(struct seq_file *, void *), void *data);
ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *ppos);
ssize_t seq_read_iter(struct kiocb *iocb, struct iov_iter *iter);
loff_t seq_lseek(struct file *file, loff_t offset, int whence);
int seq_release(struct inode *inode, struct file *file);
int single_release(struct inode *inode, struct file *file);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);
void seq_puts(struct seq_file *m, const char *s);
void seq_putc(struct seq_file *m, char c);
int seq_write(struct seq_file *m, const void *data, size_t len);

/* Overflow leaves count == size: the record is shown again into a larger buffer. */
static inline bool seq_has_overflowed(struct seq_file *m)
{
	return m->count == m->size;
}
#endif

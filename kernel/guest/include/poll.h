/* Waiting for files to become ready (Linux's include/linux/poll.h, fs/select.c). */
#ifndef _POLL_H
#define _POLL_H
#include "fs.h"

#define POLLIN		0x0001
#define POLLPRI		0x0002
#define POLLOUT		0x0004
#define POLLERR		0x0008
#define POLLHUP		0x0010
#define POLLNVAL	0x0020
#define POLLRDNORM	0x0040
#define POLLWRNORM	0x0100
#define DEFAULT_POLLMASK (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)

struct pollfd {
	int fd;
	short events, revents;
};

/* ->poll names its wait queues by poll_wait() and returns what is ready now; _qproc NULL: do not wait. */
typedef struct poll_table_struct {
	void (*_qproc)(struct file *filp, wait_queue_head_t *q, struct poll_table_struct *pt);
	unsigned int _key;
} poll_table;

static inline void poll_wait(struct file *filp, wait_queue_head_t *q, poll_table *p)
{
	if (p && p->_qproc && q)
		p->_qproc(filp, q, p);
}

static inline unsigned int vfs_poll(struct file *file, poll_table *pt)
{
	if (unlikely(!file->f_op->poll))
		return DEFAULT_POLLMASK;
	return file->f_op->poll(file, pt);
}
#endif

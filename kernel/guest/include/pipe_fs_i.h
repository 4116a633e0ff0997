/* A pipe: a ring of page buffers between head (writers) and tail (readers) (Linux's include/linux/pipe_fs_i.h). */
#ifndef _PIPE_FS_I_H
#define _PIPE_FS_I_H
#include "fs.h"

#define PIPE_DEF_BUFFERS	16
#define PIPE_BUF		4096

#define PIPE_BUF_FLAG_CAN_MERGE	0x10

struct pipe_buffer {
	struct page *page;
	unsigned int offset, len;
	unsigned int flags;
};

/* mutex guards everything but the two wait queues, whose own locks also guard head and tail for the waiters' checks. */
struct pipe_inode_info {
	struct mutex mutex;
	wait_queue_head_t rd_wait, wr_wait;
	unsigned int head, tail;
	unsigned int max_usage, ring_size;
	unsigned int readers, writers, files;
	unsigned int r_counter, w_counter;
	struct page *tmp_page;		/* one spare page, to save allocations */
	struct pipe_buffer *bufs;
};

static inline bool pipe_empty(unsigned int head, unsigned int tail)
{
	return head == tail;
}

static inline bool pipe_full(unsigned int head, unsigned int tail, unsigned int limit)
{
	return head - tail >= limit;
}

static inline unsigned int pipe_occupancy(unsigned int head, unsigned int tail)
{
	return head - tail;
}

/* fs/pipe.c; all but the first two want the lock. */
void pipe_lock(struct pipe_inode_info *pipe);
void pipe_unlock(struct pipe_inode_info *pipe);
int pipe_wait_readable(struct pipe_inode_info *pipe);
int pipe_wait_writable(struct pipe_inode_info *pipe);
void pipe_push_page(struct pipe_inode_info *pipe, struct page *page, unsigned int offset, unsigned int len);
void pipe_pop(struct pipe_inode_info *pipe);
void wakeup_pipe_readers(struct pipe_inode_info *pipe);
void wakeup_pipe_writers(struct pipe_inode_info *pipe);
struct pipe_inode_info *get_pipe_info(struct file *file, bool for_splice);
#endif

/* splice(2) (Linux's include/linux/splice.h). */
#ifndef _SPLICE_H
#define _SPLICE_H
#include "pipe_fs_i.h"

#define SPLICE_F_MOVE		0x01
#define SPLICE_F_NONBLOCK	0x02
#define SPLICE_F_MORE		0x04
#define SPLICE_F_GIFT		0x08
#define SPLICE_F_ALL		(SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

struct splice_desc {
	size_t total_len;	/* bytes that are still wanted */
	unsigned int flags;
	struct file *file;
	loff_t *opos;
	size_t num_spliced;
	bool need_wakeup;	/* a buffer fell free and nobody was told yet */
};

/* Takes at most @len bytes of a buffer; returns how many. */
typedef ssize_t splice_actor(struct pipe_inode_info *pipe, struct pipe_buffer *buf, size_t len, struct splice_desc *sd);

ssize_t splice_from_pipe(struct pipe_inode_info *pipe, struct file *out, loff_t *ppos, size_t len, unsigned int flags, splice_actor *actor);
#endif

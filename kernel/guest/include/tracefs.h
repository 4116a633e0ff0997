/* The trace file system over native gates (fs/tracefs.c). */
#ifndef _TRACEFS_H
#define _TRACEFS_H
#include "fs.h"

#define TRACEFS_MAGIC	0x74726163

extern wait_queue_head_t tracefs_wait;		/* woken on vector 0xf6: some blocking file may be readable */
extern wait_queue_head_t hostcons_wait;		/* drivers/hostcons.c; the same for the host's console streams */

const struct file_operations *tracefs_fops_of(const char *name);
int tracing_open_generic(struct inode *inode, struct file *filp);
int tracing_open_pipe(struct inode *inode, struct file *filp);
int tracing_mark_open(struct inode *inode, struct file *filp);
int tracing_release_generic(struct inode *inode, struct file *filp);
loff_t tracing_lseek(struct file *file, loff_t offset, int whence);
ssize_t tracing_read_user(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos);
ssize_t tracing_write_user(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos);
unsigned int tracing_poll(struct file *filp, struct poll_table_struct *pt);
ssize_t tracing_read_iter(struct kiocb *iocb, struct iov_iter *to);
ssize_t tracing_write_iter(struct kiocb *iocb, struct iov_iter *from);
ssize_t tracing_splice_read_pipe(struct file *filp, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags);
ssize_t tracing_buffers_splice_read(struct file *filp, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags);
void ftrace_run_update_code(void);		/* kernel/ftrace.c: flushes queued text pokes */
#endif

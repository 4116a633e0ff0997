/* The trace file system over native gates (fs/tracefs.c). */
#ifndef _TRACEFS_H
#define _TRACEFS_H
#include "fs.h"

#define TRACEFS_MAGIC	0x74726163

extern wait_queue_head_t tracefs_wait;		/* woken on vector 0xf6: some blocking file may be readable */
extern wait_queue_head_t hostcons_wait;		/* drivers/hostcons.c; the same for the host's console streams */

/* A node's number on the Go side. */
static inline u64 tracefs_id(const struct inode *inode)
{
	return (u64)inode->i_private;
}

const struct file_operations *tracefs_fops_of(const char *name);
void ftrace_run_update_code(void);		/* kernel/ftrace.c: flushes queued text pokes */
#endif

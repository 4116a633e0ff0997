/* File locks: whole files by open file (flock) and byte ranges by process (fcntl) (Linux's fs/locks.c). */
#ifndef _FILELOCK_H
#define _FILELOCK_H
#include "fs.h"

#define F_RDLCK		0
#define F_WRLCK		1
#define F_UNLCK		2
#define OFFSET_MAX	S64_MAX

#define FL_POSIX	1
#define FL_FLOCK	2

/* fl_owner: the struct files_struct of a POSIX lock, the struct file of a flock. [fl_start, fl_end] is inclusive. */
struct file_lock {
	struct list_head fl_list;
	void *fl_owner;
	unsigned int fl_flags;
	unsigned char fl_type;
	pid_t fl_pid;
	loff_t fl_start, fl_end;
};

/* An inode's locks, made with its first. flc_lock guards the lists; flc_wait: somebody let a lock go. */
struct file_lock_context {
	spinlock_t flc_lock;
	struct list_head flc_flock, flc_posix;
	wait_queue_head_t flc_wait;
};

void locks_remove_posix(struct file *filp, void *owner);	/* from filp_close() */
void locks_remove_file(struct file *filp);			/* from __fput() */
void locks_free_lock_context(struct inode *inode);		/* from destroy_inode() */
int fcntl_getlk(struct file *filp, unsigned long arg);
int fcntl_setlk(struct file *filp, unsigned int cmd, unsigned long arg);
#endif

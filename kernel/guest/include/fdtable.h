/* Open-file tables (Linux's include/linux/fdtable.h, fs/file.c). file_lock guards changes; readers use RCU. */
#ifndef _FDTABLE_H
#define _FDTABLE_H
#include "types.h"
#include "atomic.h"
#include "spinlock.h"
#include "wait.h"
#include "rcupdate.h"
#include "bitops.h"

#define BITS_PER_LONG	64
#define NR_OPEN_DEFAULT	BITS_PER_LONG
#define NR_OPEN_MAX	1048576

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *close_on_exec;
	unsigned long *open_fds;
	struct rcu_head rcu;
};

struct files_struct {
	atomic_t count;
	bool resize_in_progress;		/* one at a time grows the table, without file_lock */
	wait_queue_head_t resize_wait;
	struct fdtable *fdt;
	struct fdtable fdtab;
	spinlock_t file_lock ____cacheline_aligned;
	unsigned int next_fd;
	unsigned long close_on_exec_init[1];
	unsigned long open_fds_init[1];
	struct file *fd_array[NR_OPEN_DEFAULT];
};

extern struct files_struct init_files;

static inline bool close_on_exec(unsigned int fd, const struct fdtable *fdt)
{
	return fdt->close_on_exec[fd / 64] >> (fd % 64) & 1;
}

static inline bool fd_is_open(unsigned int fd, const struct fdtable *fdt)
{
	return fdt->open_fds[fd / 64] >> (fd % 64) & 1;
}

int get_unused_fd_flags(unsigned int flags);
void put_unused_fd(unsigned int fd);
void set_close_on_exec(unsigned int fd, int flag);
void fd_install(unsigned int fd, struct file *file);
int close_fd(unsigned int fd);
int unshare_files(void);
struct files_struct *dup_fd(struct files_struct *oldf, unsigned int max_fds, int *errorp);
void put_files_struct(struct files_struct *files);
void exit_files(struct task_struct *tsk);
void do_close_on_exec(struct files_struct *files);
struct file *fget(unsigned int fd);
struct file *fget_raw(unsigned int fd);
unsigned long __fdget(unsigned int fd);
unsigned long __fdget_raw(unsigned int fd);
unsigned long __fdget_pos(unsigned int fd);
void __f_unlock_pos(struct file *file);

/* A file found by number, and what must be undone: bit 0 drop the reference, bit 1 unlock f_pos_lock. */
struct fd {
	struct file *file;
	unsigned int flags;
};

#define FDPUT_FPUT	1
#define FDPUT_POS_UNLOCK 2

void fput(struct file *file);

static inline struct fd __to_fd(unsigned long v)
{
	return (struct fd){ (struct file *)(v & ~3), v & 3 };
}

static inline struct fd fdget(unsigned int fd) { return __to_fd(__fdget(fd)); }
static inline struct fd fdget_raw(unsigned int fd) { return __to_fd(__fdget_raw(fd)); }
static inline struct fd fdget_pos(unsigned int fd) { return __to_fd(__fdget_pos(fd)); }

static inline void fdput(struct fd fd)
{
	if (fd.flags & FDPUT_FPUT)
		fput(fd.file);
}

static inline void fdput_pos(struct fd f)
{
	if (f.flags & FDPUT_POS_UNLOCK)
		__f_unlock_pos(f.file);
	fdput(f);
}
#endif

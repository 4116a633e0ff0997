/*
 * A task's table of open files (Linux's fs/file.c). Slots change under file_lock; fget reads a slot under RCU and takes its
 * reference only while the count is not zero, then checks the slot again.
 */
#include "fs.h"
#include "filelock.h"
#include "security.h"
#include "fdtable.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "syscalls.h"

static struct kmem_cache *files_cachep;

struct files_struct init_files = {
	.count = ATOMIC_INIT(1),
	.fdt = &init_files.fdtab,
	.fdtab = {
		.max_fds = NR_OPEN_DEFAULT,
		.fd = &init_files.fd_array[0],
		.close_on_exec = init_files.close_on_exec_init,
		.open_fds = init_files.open_fds_init,
	},
	.resize_wait = __WAIT_QUEUE_HEAD_INITIALIZER(init_files.resize_wait),
	.file_lock = __SPIN_LOCK_UNLOCKED(init_files.file_lock),
};

static void __free_fdtable(struct fdtable *fdt)
{
	kfree(fdt->fd);
	kfree(fdt->open_fds);
	kfree(fdt);
}

static void free_fdtable_rcu(struct rcu_head *rcu)
{
	__free_fdtable(container_of(rcu, struct fdtable, rcu));
}

/* A table for at least @slots numbers, a power of two, with both bitmaps in one block. */
static struct fdtable *alloc_fdtable(unsigned int slots)
{
	struct fdtable *fdt;
	unsigned int nr = 256;

	while (nr < slots)
		nr *= 2;
	if (nr > NR_OPEN_MAX)
		return ERR_PTR(-EMFILE);
	fdt = kzalloc(sizeof(*fdt), GFP_KERNEL_ACCOUNT);
	if (!fdt)
		return ERR_PTR(-ENOMEM);
	fdt->max_fds = nr;
	fdt->fd = kcalloc(nr, sizeof(struct file *), GFP_KERNEL_ACCOUNT);
	fdt->open_fds = kcalloc(2 * nr / BITS_PER_LONG, sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!fdt->fd || !fdt->open_fds) {
		__free_fdtable(fdt);
		return ERR_PTR(-ENOMEM);
	}
	fdt->close_on_exec = fdt->open_fds + nr / BITS_PER_LONG;
	return fdt;
}

static void copy_fdtable(struct fdtable *nfdt, struct fdtable *ofdt)
{
	memcpy(nfdt->fd, ofdt->fd, ofdt->max_fds * sizeof(struct file *));
	memcpy(nfdt->open_fds, ofdt->open_fds, ofdt->max_fds / 8);
	memcpy(nfdt->close_on_exec, ofdt->close_on_exec, ofdt->max_fds / 8);
}

/* file_lock is held, dropped for the allocation, and held again. */
static int expand_fdtable(struct files_struct *files, unsigned int nr)
{
	struct fdtable *new_fdt, *cur_fdt;

	spin_unlock(&files->file_lock);
	new_fdt = alloc_fdtable(nr + 1);
	spin_lock(&files->file_lock);
	if (IS_ERR(new_fdt))
		return PTR_ERR(new_fdt);
	cur_fdt = files->fdt;
	if (nr < cur_fdt->max_fds) {
		__free_fdtable(new_fdt);
		return 1;
	}
	copy_fdtable(new_fdt, cur_fdt);
	rcu_assign_pointer(files->fdt, new_fdt);
	if (cur_fdt != &files->fdtab)
		call_rcu(&cur_fdt->rcu, free_fdtable_rcu);
	return 1;
}

static noinline int expand_files(struct files_struct *files, unsigned int nr)
{
	int expanded = 0;

	for (;;) {
		if (nr < files->fdt->max_fds)
			return expanded;
		if (nr >= NR_OPEN_MAX)
			return -EMFILE;
		if (likely(!files->resize_in_progress))
			break;
		spin_unlock(&files->file_lock);
		expanded = 1;
		wait_event(files->resize_wait, !files->resize_in_progress);
		spin_lock(&files->file_lock);
	}
	files->resize_in_progress = true;
	expanded = expand_fdtable(files, nr);
	files->resize_in_progress = false;
	wake_up_all(&files->resize_wait);
	return expanded;
}

static noinline int alloc_fd(unsigned int start, unsigned int end, unsigned int flags)
{
	struct files_struct *files = current->files;
	struct fdtable *fdt;
	unsigned int fd;
	int error;

	spin_lock(&files->file_lock);
repeat:
	fdt = files->fdt;
	fd = start;
	if (fd < files->next_fd)
		fd = files->next_fd;
	if (fd < fdt->max_fds)
		fd = find_next_zero_bit(fdt->open_fds, fdt->max_fds, fd);
	error = -EMFILE;
	if (unlikely(fd >= end))
		goto out;
	error = expand_files(files, fd);
	if (error < 0)
		goto out;
	if (error)
		goto repeat;
	if (start <= files->next_fd)
		files->next_fd = fd + 1;
	__set_bit(fd, fdt->open_fds);
	if (flags & O_CLOEXEC)
		__set_bit(fd, fdt->close_on_exec);
	else
		__clear_bit(fd, fdt->close_on_exec);
	error = fd;
out:
	spin_unlock(&files->file_lock);
	return error;
}

/* rlimit(RLIMIT_NOFILE), as far as a table can grow. */
static inline int nofile(void) { return min(READ_ONCE(current->signal->rlim[RLIMIT_NOFILE].rlim_cur), (unsigned long)NR_OPEN_MAX); }

int get_unused_fd_flags(unsigned int flags)
{
	return alloc_fd(0, nofile(), flags);
}

static void __put_unused_fd(struct files_struct *files, unsigned int fd)
{
	__clear_bit(fd, files->fdt->open_fds);
	if (fd < files->next_fd)
		files->next_fd = fd;
}

void put_unused_fd(unsigned int fd)
{
	struct files_struct *files = current->files;

	spin_lock(&files->file_lock);
	__put_unused_fd(files, fd);
	spin_unlock(&files->file_lock);
}

/* The number is ours (get_unused_fd_flags): only a resize of the table could interfere, and that copies under the lock. */
void fd_install(unsigned int fd, struct file *file)
{
	struct files_struct *files = current->files;

	spin_lock(&files->file_lock);
	BUG_ON(files->fdt->fd[fd] != NULL);
	rcu_assign_pointer(files->fdt->fd[fd], file);
	spin_unlock(&files->file_lock);
}

/* file_lock is held. */
static noinline struct file *pick_file(struct files_struct *files, unsigned int fd)
{
	struct fdtable *fdt = files->fdt;
	struct file *file;

	if (fd >= fdt->max_fds)
		return NULL;
	file = fdt->fd[fd];
	if (file) {
		rcu_assign_pointer(fdt->fd[fd], NULL);
		__put_unused_fd(files, fd);
	}
	return file;
}

int close_fd(unsigned int fd)
{
	struct files_struct *files = current->files;
	struct file *file;

	spin_lock(&files->file_lock);
	file = pick_file(files, fd);
	spin_unlock(&files->file_lock);
	if (!file)
		return -EBADF;
	return filp_close(file, files);
}

static void close_files(struct files_struct *files)
{
	struct fdtable *fdt = files->fdt;
	unsigned int fd;

	for_each_set_bit(fd, fdt->open_fds, fdt->max_fds) {
		struct file *file = xchg(&fdt->fd[fd], NULL);

		if (file) {
			filp_close(file, files);
			cond_resched();
		}
	}
}

void put_files_struct(struct files_struct *files)
{
	if (!atomic_dec_and_test(&files->count))
		return;
	close_files(files);
	if (files->fdt != &files->fdtab)
		__free_fdtable(files->fdt);
	kmem_cache_free(files_cachep, files);
}

void exit_files(struct task_struct *tsk)
{
	struct files_struct *files = tsk->files;

	if (!files)
		return;
	task_lock(tsk);
	tsk->files = NULL;
	task_unlock(tsk);
	put_files_struct(files);
}

static noinline unsigned int sane_fdtable_size(struct fdtable *fdt)
{
	for (unsigned int i = fdt->max_fds / BITS_PER_LONG; i > 0; i--)
		if (fdt->open_fds[i - 1])
			return i * BITS_PER_LONG;
	return NR_OPEN_DEFAULT;
}

/* dup_fd copies a table for fork. A number that is reserved but not yet installed is free in the copy. */
struct files_struct *dup_fd(struct files_struct *oldf, unsigned int max_fds, int *errorp)
{
	struct files_struct *newf;
	struct fdtable *new_fdt;
	unsigned int open;

	*errorp = -ENOMEM;
	if (!files_cachep)
		files_cachep = kmem_cache_create("files_cache", sizeof(struct files_struct), 64, SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	newf = kmem_cache_zalloc(files_cachep, GFP_KERNEL);
	if (!newf)
		return NULL;
	atomic_set(&newf->count, 1);
	init_waitqueue_head(&newf->resize_wait);
	spin_lock_init(&newf->file_lock);
	new_fdt = &newf->fdtab;
	new_fdt->max_fds = NR_OPEN_DEFAULT;
	new_fdt->close_on_exec = newf->close_on_exec_init;
	new_fdt->open_fds = newf->open_fds_init;
	new_fdt->fd = &newf->fd_array[0];
	spin_lock(&oldf->file_lock);
	while ((open = sane_fdtable_size(oldf->fdt)) > new_fdt->max_fds) {
		spin_unlock(&oldf->file_lock);
		if (new_fdt != &newf->fdtab)
			__free_fdtable(new_fdt);
		new_fdt = alloc_fdtable(open);
		if (IS_ERR(new_fdt)) {
			*errorp = PTR_ERR(new_fdt);
			kmem_cache_free(files_cachep, newf);
			return NULL;
		}
		spin_lock(&oldf->file_lock);
	}
	memcpy(new_fdt->open_fds, oldf->fdt->open_fds, open / 8);
	memcpy(new_fdt->close_on_exec, oldf->fdt->close_on_exec, open / 8);
	/* The new table's pointers are NULL. A number may be reserved and have no file yet. */
	for (unsigned int w = 0; w < open / BITS_PER_LONG; w++) {
		for (unsigned long bits = new_fdt->open_fds[w]; bits; bits &= bits - 1) {
			unsigned int i = w * BITS_PER_LONG + __ffs(bits);
			struct file *f = oldf->fdt->fd[i];

			if (f)
				new_fdt->fd[i] = get_file(f);
			else
				__clear_bit(i, new_fdt->open_fds);
		}
	}
	spin_unlock(&oldf->file_lock);
	rcu_assign_pointer(newf->fdt, new_fdt);
	return newf;
}

/* A table of our own, before exec changes it. */
int unshare_files(void)
{
	struct task_struct *task = current;
	struct files_struct *old = task->files, *copy;
	int error;

	if (atomic_read(&old->count) <= 1)
		return 0;
	copy = dup_fd(old, NR_OPEN_MAX, &error);
	if (!copy)
		return error;
	task_lock(task);
	task->files = copy;
	task_unlock(task);
	put_files_struct(old);
	return 0;
}

void set_close_on_exec(unsigned int fd, int flag)
{
	struct files_struct *files = current->files;

	spin_lock(&files->file_lock);
	if (flag)
		__set_bit(fd, files->fdt->close_on_exec);
	else
		__clear_bit(fd, files->fdt->close_on_exec);
	spin_unlock(&files->file_lock);
}

void do_close_on_exec(struct files_struct *files)
{
	struct fdtable *fdt;
	unsigned int fd;

	spin_lock(&files->file_lock);
	fdt = files->fdt;
	for_each_set_bit(fd, fdt->close_on_exec, fdt->max_fds) {
		struct file *file = fdt->fd[fd];

		__clear_bit(fd, fdt->close_on_exec);
		if (!file)
			continue;
		rcu_assign_pointer(fdt->fd[fd], NULL);
		__put_unused_fd(files, fd);
		spin_unlock(&files->file_lock);
		filp_close(file, files);
		cond_resched();
		spin_lock(&files->file_lock);
		fdt = files->fdt;
	}
	spin_unlock(&files->file_lock);
}

static bool get_file_rcu(struct file *f)
{
	long c = atomic_long_read(&f->f_count);

	while (c)
		if (try_cmpxchg(&f->f_count.counter, &c, c + 1))
			return true;
	return false;
}

static inline struct file *__fget_files(struct files_struct *files, unsigned int fd, fmode_t mask)
{
	struct file *file;

	rcu_read_lock();
	for (;;) {
		struct fdtable *fdt = rcu_dereference(files->fdt);

		file = fd < fdt->max_fds ? rcu_dereference(fdt->fd[fd]) : NULL;
		if (!file)
			break;
		if (file->f_mode & mask) {
			file = NULL;
			break;
		}
		if (!get_file_rcu(file))
			continue;
		/* the slot may have been closed and the struct used again */
		if (likely(rcu_dereference(files->fdt) == fdt && rcu_dereference(fdt->fd[fd]) == file))
			break;
		fput(file);
	}
	rcu_read_unlock();
	return file;
}

static inline struct file *__fget(unsigned int fd, fmode_t mask)
{
	return __fget_files(current->files, fd, mask);
}

struct file *fget(unsigned int fd)
{
	return __fget(fd, FMODE_PATH);
}

noinline struct file *fget_raw(unsigned int fd)
{
	return __fget(fd, 0);
}

/* A task that alone uses its table needs no reference: nobody can close the file during the call. */
static noinline unsigned long __fget_light(unsigned int fd, fmode_t mask)
{
	struct files_struct *files = current->files;
	struct file *file;

	if (likely(atomic_read(&files->count) == 1)) {
		struct fdtable *fdt = files->fdt;

		file = fd < fdt->max_fds ? fdt->fd[fd] : NULL;
		if (!file || unlikely(file->f_mode & mask))
			return 0;
		return (unsigned long)file;
	}
	file = __fget_files(files, fd, mask);
	if (!file)
		return 0;
	return FDPUT_FPUT | (unsigned long)file;
}

noinline unsigned long __fdget(unsigned int fd)
{
	return __fget_light(fd, FMODE_PATH);
}

unsigned long __fdget_raw(unsigned int fd)
{
	return __fget_light(fd, 0);
}

/* Regular files and directories keep one position: reads and writes of sharers take turns. */
noinline unsigned long __fdget_pos(unsigned int fd)
{
	unsigned long v = __fget_light(fd, FMODE_PATH);
	struct file *file = (struct file *)(v & ~3UL);

	if (file && (file->f_mode & FMODE_ATOMIC_POS) &&
	    (atomic_long_read(&file->f_count) > 1 || file->f_op->iterate_shared)) {
		v |= FDPUT_POS_UNLOCK;
		mutex_lock(&file->f_pos_lock);
	}
	return v;
}

void __f_unlock_pos(struct file *f)
{
	mutex_unlock(&f->f_pos_lock);
}

/* file_lock is held and dropped. */
static noinline int do_dup2(struct files_struct *files, struct file *file, unsigned int fd, unsigned int flags)
{
	struct fdtable *fdt = files->fdt;
	struct file *tofree = fdt->fd[fd];

	/* reserved by an open that is under way: it would be overwritten */
	if (!tofree && fd_is_open(fd, fdt)) {
		spin_unlock(&files->file_lock);
		return -EBUSY;
	}
	get_file(file);
	rcu_assign_pointer(fdt->fd[fd], file);
	__set_bit(fd, fdt->open_fds);
	if (flags & O_CLOEXEC)
		__set_bit(fd, fdt->close_on_exec);
	else
		__clear_bit(fd, fdt->close_on_exec);
	spin_unlock(&files->file_lock);
	if (tofree)
		filp_close(tofree, files);
	return fd;
}

static noinline int ksys_dup3(unsigned int oldfd, unsigned int newfd, int flags)
{
	struct files_struct *files = current->files;
	struct file *file;
	int err;

	if ((flags & ~O_CLOEXEC) != 0)
		return -EINVAL;
	if (unlikely(oldfd == newfd))
		return -EINVAL;
	if (newfd >= nofile())
		return -EBADF;
	spin_lock(&files->file_lock);
	err = expand_files(files, newfd);
	file = oldfd < files->fdt->max_fds ? files->fdt->fd[oldfd] : NULL;
	if (unlikely(!file))
		err = -EBADF;
	if (unlikely(err < 0)) {
		spin_unlock(&files->file_lock);
		return err == -EMFILE ? -EBADF : err;
	}
	return do_dup2(files, file, newfd, flags);
}

#define CLOSE_RANGE_UNSHARE	2
#define CLOSE_RANGE_CLOEXEC	4

SYSCALL_DEFINE3(close_range, unsigned int, fd, unsigned int, max_fd, unsigned int, flags)
{
	struct files_struct *files;
	int ret;

	if (flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) || fd > max_fd)
		return -EINVAL;
	if (flags & CLOSE_RANGE_UNSHARE) {
		ret = unshare_files();
		if (ret)
			return ret;
	}
	files = current->files;
	max_fd = min(max_fd, files->fdt->max_fds - 1);
	for (; fd <= max_fd; fd++) {
		struct file *file;

		spin_lock(&files->file_lock);
		if (flags & CLOSE_RANGE_CLOEXEC) {
			if (fd_is_open(fd, files->fdt))
				__set_bit(fd, files->fdt->close_on_exec);
			spin_unlock(&files->file_lock);
			continue;
		}
		file = pick_file(files, fd);
		spin_unlock(&files->file_lock);
		if (file) {
			filp_close(file, files);
			cond_resched();
		}
	}
	return 0;
}

SYSCALL_DEFINE3(dup3, unsigned int, oldfd, unsigned int, newfd, int, flags)
{
	return ksys_dup3(oldfd, newfd, flags);
}

SYSCALL_DEFINE2(dup2, unsigned int, oldfd, unsigned int, newfd)
{
	if (unlikely(newfd == oldfd)) {
		struct file *f = fget_raw(oldfd);

		if (!f)
			return -EBADF;
		fput(f);
		return oldfd;
	}
	return ksys_dup3(oldfd, newfd, 0);
}

SYSCALL_DEFINE1(dup, unsigned int, fildes)
{
	struct file *file = fget_raw(fildes);
	int ret = -EBADF;

	if (file) {
		ret = alloc_fd(0, nofile(), 0);
		if (ret >= 0)
			fd_install(ret, file);
		else
			fput(file);
	}
	return ret;
}

int f_dupfd(unsigned int from, struct file *file, unsigned int flags)
{
	int err;

	if (from >= nofile())
		return -EINVAL;
	err = alloc_fd(from, nofile(), flags);
	if (err >= 0) {
		get_file(file);
		fd_install(err, file);
	}
	return err;
}

/* What an O_PATH descriptor may be asked. */
static bool check_fcntl_cmd(unsigned int cmd)
{
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC || cmd == F_GETFD || cmd == F_SETFD || cmd == F_GETFL;
}

#define SETFL_MASK	(O_APPEND | O_NONBLOCK | O_NOATIME)

static noinline long do_fcntl(int fd, unsigned int cmd, unsigned long arg, struct file *filp)
{
	struct files_struct *files = current->files;
	long err = -EINVAL;

	switch (cmd) {
	case F_DUPFD:
		err = f_dupfd(arg, filp, 0);
		break;
	case F_DUPFD_CLOEXEC:
		err = f_dupfd(arg, filp, O_CLOEXEC);
		break;
	case F_GETFD:
		err = close_on_exec(fd, files->fdt) ? FD_CLOEXEC : 0;
		break;
	case F_SETFD:
		err = 0;
		set_close_on_exec(fd, arg & FD_CLOEXEC);
		break;
	case F_GETLK:
		err = fcntl_getlk(filp, arg);
		break;
	case F_SETLK:
	case F_SETLKW:
		err = fcntl_setlk(filp, cmd, arg);
		break;
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		err = pipe_fcntl(filp, cmd, arg);
		break;
	case F_GETFL:
		err = filp->f_flags;
		break;
	case F_SETFL:
		err = 0;
		spin_lock(&filp->f_lock);
		filp->f_flags = (arg & SETFL_MASK) | (filp->f_flags & ~SETFL_MASK);
		spin_unlock(&filp->f_lock);
		break;
	}
	return err;
}

SYSCALL_DEFINE3(fcntl, unsigned int, fd, unsigned int, cmd, unsigned long, arg)
{
	struct fd f = fdget_raw(fd);
	long err = -EBADF;

	if (!f.file)
		return err;
	if (likely(!(f.file->f_mode & FMODE_PATH)) || check_fcntl_cmd(cmd)) {
		err = security_file_fcntl(f.file, cmd, arg);
		if (!err)
			err = do_fcntl(fd, cmd, arg, f.file);
	}
	fdput(f);
	return err;
}

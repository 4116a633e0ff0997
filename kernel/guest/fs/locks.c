/*
 * See filelock.h. A process's own ranges never overlap: a new one replaces, cuts or splits what it covers, and joins
 * neighbours of its kind. Waiters sleep on the inode's queue and try again when a lock goes; cycles of waiting processes are
 * not looked for (Linux answers EDEADLK).
 */
#include "filelock.h"
#include "fdtable.h"
#include "security.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"
#include "uaccess.h"

#define LOCK_SH	1
#define LOCK_EX	2
#define LOCK_NB	4
#define LOCK_UN	8

static noinline struct file_lock_context *locks_get_lock_context(struct inode *inode, int type)
{
	struct file_lock_context *ctx = smp_load_acquire(&inode->i_flctx);

	if (likely(ctx) || type == F_UNLCK)
		return ctx;
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return NULL;
	spin_lock_init(&ctx->flc_lock);
	INIT_LIST_HEAD(&ctx->flc_flock);
	INIT_LIST_HEAD(&ctx->flc_posix);
	init_waitqueue_head(&ctx->flc_wait);
	if (cmpxchg(&inode->i_flctx, NULL, ctx))
		kfree(ctx);
	return READ_ONCE(inode->i_flctx);
}

noinline void locks_free_lock_context(struct inode *inode)
{
	struct file_lock_context *ctx = inode->i_flctx;

	if (unlikely(ctx)) {
		WARN_ON(!list_empty(&ctx->flc_flock) || !list_empty(&ctx->flc_posix));
		kfree(ctx);
	}
}

static bool locks_overlap(const struct file_lock *a, const struct file_lock *b)
{
	return a->fl_end >= b->fl_start && b->fl_end >= a->fl_start;
}

static bool locks_conflict(const struct file_lock *a, const struct file_lock *b)
{
	return a->fl_owner != b->fl_owner && (a->fl_type == F_WRLCK || b->fl_type == F_WRLCK) && locks_overlap(a, b);
}

static struct file_lock *find_conflict(struct list_head *list, const struct file_lock *request)
{
	struct file_lock *fl;

	list_for_each_entry(fl, list, fl_list)
		if (locks_conflict(fl, request))
			return fl;
	return NULL;
}

static void locks_delete_lock(struct file_lock *fl)
{
	list_del(&fl->fl_list);
	kfree(fl);
}

/* Takes [start, end] out of the owner's locks; @spare is used when one is split in two, and then NULL. flc_lock is held. */
static bool cut_range(struct file_lock_context *ctx, const struct file_lock *r, struct file_lock **spare)
{
	struct file_lock *fl, *tmp;
	bool changed = false;

	list_for_each_entry_safe(fl, tmp, &ctx->flc_posix, fl_list) {
		if (fl->fl_owner != r->fl_owner || !locks_overlap(fl, r))
			continue;
		changed = true;
		if (fl->fl_start < r->fl_start && fl->fl_end > r->fl_end) {
			struct file_lock *right = *spare;

			*spare = NULL;
			*right = *fl;
			right->fl_start = r->fl_end + 1;
			fl->fl_end = r->fl_start - 1;
			list_add(&right->fl_list, &fl->fl_list);
			return true;
		}
		if (fl->fl_start < r->fl_start)
			fl->fl_end = r->fl_start - 1;
		else if (fl->fl_end > r->fl_end)
			fl->fl_start = r->fl_end + 1;
		else
			locks_delete_lock(fl);
	}
	return changed;
}

/* Neighbours of the same owner and kind become part of @new. */
static void join_neighbours(struct file_lock_context *ctx, struct file_lock *new)
{
	struct file_lock *fl, *tmp;

	list_for_each_entry_safe(fl, tmp, &ctx->flc_posix, fl_list) {
		if (fl->fl_owner != new->fl_owner || fl->fl_type != new->fl_type)
			continue;
		if (fl->fl_end != OFFSET_MAX && fl->fl_end + 1 == new->fl_start) {
			new->fl_start = fl->fl_start;
			locks_delete_lock(fl);
		} else if (new->fl_end != OFFSET_MAX && new->fl_end + 1 == fl->fl_start) {
			new->fl_end = fl->fl_end;
			locks_delete_lock(fl);
		}
	}
}

/* -EAGAIN: another process has a lock in the way. */
static noinline int posix_lock_inode(struct inode *inode, const struct file_lock *request)
{
	struct file_lock_context *ctx = locks_get_lock_context(inode, request->fl_type);
	struct file_lock *new, *spare;
	bool changed;
	int error = 0;

	if (!ctx)
		return request->fl_type == F_UNLCK ? 0 : -ENOMEM;
	new = kmalloc(sizeof(*new), GFP_KERNEL);
	spare = kmalloc(sizeof(*spare), GFP_KERNEL);
	if (!new || !spare) {
		kfree(new);
		kfree(spare);
		return -ENOLCK;
	}
	spin_lock(&ctx->flc_lock);
	if (request->fl_type != F_UNLCK && find_conflict(&ctx->flc_posix, request)) {
		error = -EAGAIN;
	} else {
		changed = cut_range(ctx, request, &spare);
		if (request->fl_type != F_UNLCK) {
			*new = *request;
			join_neighbours(ctx, new);
			list_add_tail(&new->fl_list, &ctx->flc_posix);
			new = NULL;
		}
		if (changed)
			wake_up_interruptible_all(&ctx->flc_wait);
	}
	spin_unlock(&ctx->flc_lock);
	kfree(new);
	kfree(spare);
	return error;
}

static noinline int flock_lock_inode(struct inode *inode, const struct file_lock *request)
{
	struct file_lock_context *ctx = locks_get_lock_context(inode, request->fl_type);
	struct file_lock *new, *fl, *tmp;
	int error = 0;

	if (!ctx)
		return request->fl_type == F_UNLCK ? 0 : -ENOMEM;
	new = kmalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	spin_lock(&ctx->flc_lock);
	list_for_each_entry_safe(fl, tmp, &ctx->flc_flock, fl_list) {
		if (fl->fl_owner != request->fl_owner)
			continue;
		if (fl->fl_type == request->fl_type)
			goto out;
		/* a change of kind gives the old lock up first, as in Linux: another may get in between */
		locks_delete_lock(fl);
		wake_up_interruptible_all(&ctx->flc_wait);
		break;
	}
	if (request->fl_type == F_UNLCK)
		goto out;
	if (find_conflict(&ctx->flc_flock, request)) {
		error = -EAGAIN;
		goto out;
	}
	*new = *request;
	list_add_tail(&new->fl_list, &ctx->flc_flock);
	new = NULL;
out:
	spin_unlock(&ctx->flc_lock);
	kfree(new);
	return error;
}

static noinline int locks_lock_inode_wait(struct inode *inode, const struct file_lock *fl, bool wait)
{
	for (;;) {
		int error = fl->fl_flags & FL_POSIX ? posix_lock_inode(inode, fl) : flock_lock_inode(inode, fl);
		struct file_lock_context *ctx = inode->i_flctx;
		struct list_head *list;

		if (error != -EAGAIN || !wait)
			return error;
		list = fl->fl_flags & FL_POSIX ? &ctx->flc_posix : &ctx->flc_flock;
		error = wait_event_interruptible(ctx->flc_wait, ({
			bool free;

			spin_lock(&ctx->flc_lock);
			free = !find_conflict(list, fl);
			spin_unlock(&ctx->flc_lock);
			free;
		}));
		if (error)
			return error;
	}
}

/* All that @owner holds of a kind: few files have any, so the lock that says so is made here. */
static noinline void remove_locks(struct inode *inode, void *owner, unsigned int kind)
{
	struct file_lock all = { .fl_owner = owner, .fl_flags = kind, .fl_type = F_UNLCK, .fl_end = OFFSET_MAX };

	if (kind == FL_POSIX)
		posix_lock_inode(inode, &all);
	else
		flock_lock_inode(inode, &all);
}

noinline void locks_remove_posix(struct file *filp, void *owner)
{
	struct inode *inode = file_inode(filp);
	struct file_lock_context *ctx = smp_load_acquire(&inode->i_flctx);

	/* closing any descriptor of a file takes all of the process's locks on it */
	if (!ctx || list_empty(&ctx->flc_posix))
		return;
	remove_locks(inode, owner, FL_POSIX);
}

noinline void locks_remove_file(struct file *filp)
{
	struct inode *inode = file_inode(filp);
	struct file_lock_context *ctx = smp_load_acquire(&inode->i_flctx);

	if (ctx && !list_empty(&ctx->flc_flock))
		remove_locks(inode, filp, FL_FLOCK);
}

SYSCALL_DEFINE2(flock, unsigned int, fd, unsigned int, cmd)
{
	struct file_lock fl = { .fl_flags = FL_FLOCK, .fl_end = OFFSET_MAX, .fl_pid = current->tgid };
	struct fd f;
	int error;

	switch (cmd & ~LOCK_NB) {
	case LOCK_SH:
		fl.fl_type = F_RDLCK;
		break;
	case LOCK_EX:
		fl.fl_type = F_WRLCK;
		break;
	case LOCK_UN:
		fl.fl_type = F_UNLCK;
		break;
	default:
		return -EINVAL;
	}
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	error = security_file_lock(f.file, fl.fl_type);
	if (!error) {
		fl.fl_owner = f.file;
		error = locks_lock_inode_wait(file_inode(f.file), &fl, !(cmd & LOCK_NB));
	}
	fdput(f);
	return error;
}

struct flock {
	short l_type, l_whence;
	loff_t l_start, l_len;
	pid_t l_pid;
};

static int flock_to_posix_lock(struct file *filp, struct file_lock *fl, const struct flock *l)
{
	loff_t start = l->l_start;

	switch (l->l_whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		start += filp->f_pos;
		break;
	case SEEK_END:
		start += i_size_read(file_inode(filp));
		break;
	default:
		return -EINVAL;
	}
	if (start < 0)
		return -EINVAL;
	*fl = (struct file_lock){ .fl_flags = FL_POSIX, .fl_start = start, .fl_end = OFFSET_MAX, .fl_owner = current->files,
				  .fl_pid = current->tgid, .fl_type = l->l_type };
	if (l->l_len > 0) {
		if (l->l_len - 1 > OFFSET_MAX - start)
			return -EOVERFLOW;
		fl->fl_end = start + (l->l_len - 1);
	} else if (l->l_len < 0) {
		if (start + l->l_len < 0)
			return -EINVAL;
		fl->fl_end = start - 1;
		fl->fl_start = start + l->l_len;
	}
	return l->l_type == F_RDLCK || l->l_type == F_WRLCK || l->l_type == F_UNLCK ? 0 : -EINVAL;
}

int fcntl_getlk(struct file *filp, unsigned long arg)
{
	struct file_lock_context *ctx;
	struct file_lock fl, *found = NULL;
	struct flock l;
	int error;

	if (copy_from_user(&l, (void __user *)arg, sizeof(l)))
		return -EFAULT;
	if (l.l_type != F_RDLCK && l.l_type != F_WRLCK)
		return -EINVAL;
	error = flock_to_posix_lock(filp, &fl, &l);
	if (error)
		return error;
	ctx = smp_load_acquire(&file_inode(filp)->i_flctx);
	l.l_type = F_UNLCK;
	if (ctx) {
		spin_lock(&ctx->flc_lock);
		found = find_conflict(&ctx->flc_posix, &fl);
		if (found) {
			l = (struct flock){ .l_type = found->fl_type, .l_whence = SEEK_SET, .l_start = found->fl_start,
					    .l_len = found->fl_end == OFFSET_MAX ? 0 : found->fl_end - found->fl_start + 1,
					    .l_pid = found->fl_pid };
		}
		spin_unlock(&ctx->flc_lock);
	}
	return copy_to_user((void __user *)arg, &l, sizeof(l)) ? -EFAULT : 0;
}

int fcntl_setlk(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct file_lock fl;
	struct flock l;
	int error;

	if (copy_from_user(&l, (void __user *)arg, sizeof(l)))
		return -EFAULT;
	error = flock_to_posix_lock(filp, &fl, &l);
	if (error)
		return error;
	if ((fl.fl_type == F_RDLCK && !(filp->f_mode & FMODE_READ)) || (fl.fl_type == F_WRLCK && !(filp->f_mode & FMODE_WRITE)))
		return -EBADF;
	error = security_file_lock(filp, fl.fl_type);
	return error ? error : locks_lock_inode_wait(file_inode(filp), &fl, cmd == F_SETLKW);
}

/* utimensat (Linux's fs/utimes.c). */
#include "namei.h"
#include "fdtable.h"
#include "syscalls.h"
#include "uaccess.h"

#define UTIME_NOW	((1L << 30) - 1)
#define UTIME_OMIT	((1L << 30) - 2)

static bool nsec_valid(long nsec)
{
	return nsec == UTIME_OMIT || nsec == UTIME_NOW || (nsec >= 0 && nsec <= 999999999);
}

static noinline int vfs_utimes(const struct path *path, struct timespec64 *times)
{
	struct inode *inode = path->dentry->d_inode;
	struct iattr newattrs = { .ia_valid = ATTR_CTIME | ATTR_MTIME | ATTR_ATIME };
	int error;

	if (times) {
		if (!nsec_valid(times[0].tv_nsec) || !nsec_valid(times[1].tv_nsec))
			return -EINVAL;
		if (times[0].tv_nsec == UTIME_NOW && times[1].tv_nsec == UTIME_NOW)
			times = NULL;
	}
	error = mnt_want_write(path->mnt);
	if (error)
		return error;
	if (times) {
		if (times[0].tv_nsec == UTIME_OMIT) {
			newattrs.ia_valid &= ~ATTR_ATIME;
		} else if (times[0].tv_nsec != UTIME_NOW) {
			newattrs.ia_atime = times[0];
			newattrs.ia_valid |= ATTR_ATIME_SET;
		}
		if (times[1].tv_nsec == UTIME_OMIT) {
			newattrs.ia_valid &= ~ATTR_MTIME;
		} else if (times[1].tv_nsec != UTIME_NOW) {
			newattrs.ia_mtime = times[1];
			newattrs.ia_valid |= ATTR_MTIME_SET;
		}
	}
	inode_lock(inode);
	error = notify_change(&init_user_ns, path->dentry, &newattrs, NULL);
	inode_unlock(inode);
	mnt_drop_write(path->mnt);
	return error;
}

static noinline long do_utimes(int dfd, const char __user *filename, struct timespec64 *times, int flags)
{
	struct path path;
	int error;

	if (!filename && dfd != AT_FDCWD) {	/* futimens */
		struct fd f = fdget(dfd);

		if (flags)
			return -EINVAL;
		if (!f.file)
			return -EBADF;
		error = vfs_utimes(&f.file->f_path, times);
		fdput(f);
		return error;
	}
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	error = user_path_at_empty(dfd, filename, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
				   (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &path, NULL);
	if (!error) {
		error = vfs_utimes(&path, times);
		path_put(&path);
	}
	return error;
}

SYSCALL_DEFINE4(utimensat, int, dfd, const char __user *, filename, struct __kernel_timespec __user *, utimes, int, flags)
{
	struct timespec64 tstimes[2];

	if (utimes) {
		if (get_timespec64(&tstimes[0], &utimes[0]) || get_timespec64(&tstimes[1], &utimes[1]))
			return -EFAULT;
		if (tstimes[0].tv_nsec == UTIME_OMIT && tstimes[1].tv_nsec == UTIME_OMIT)
			return 0;
	}
	return do_utimes(dfd, filename, utimes ? tstimes : NULL, flags);
}

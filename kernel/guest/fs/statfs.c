/* statfs, fstatfs (Linux's fs/statfs.c). */
#include "namei.h"
#include "fdtable.h"
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"

struct statfs {
	long f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int f_fsid[2];
	long f_namelen, f_frsize, f_flags, f_spare[4];
};

/* simple_statfs: a memory file system says only what it is. */
static noinline int vfs_statfs(const struct path *path, struct statfs *st)
{
	struct super_block *sb = path->mnt->mnt_sb;

	if (sb->s_op->statfs) {
		struct kstatfs k = { .f_type = sb->s_magic };
		int err = sb->s_op->statfs(path->dentry, &k);

		*st = (struct statfs){
			.f_type = k.f_type, .f_bsize = k.f_bsize, .f_frsize = k.f_frsize, .f_blocks = k.f_blocks, .f_bfree = k.f_bfree,
			.f_bavail = k.f_bavail, .f_files = k.f_files, .f_ffree = k.f_ffree, .f_namelen = PATH_MAX_NAME,
			.f_fsid = { sb->s_dev, 0 }, .f_flags = 0x20 | (path->mnt->mnt_flags & MNT_READONLY ? 1 : 0) | 0x1000,
		};
		return err;
	}
	*st = (struct statfs){
		.f_type = sb->s_magic, .f_bsize = PAGE_SIZE, .f_frsize = PAGE_SIZE, .f_namelen = PATH_MAX_NAME,
		.f_fsid = { sb->s_dev, 0 }, .f_flags = 0x20 | (path->mnt->mnt_flags & MNT_READONLY ? 1 : 0) | 0x1000,
	};
	return 0;
}

static int put_statfs(const struct path *path, struct statfs __user *buf)
{
	struct statfs st;
	int error = vfs_statfs(path, &st);

	if (!error && copy_to_user(buf, &st, sizeof(st)))
		error = -EFAULT;
	return error;
}

SYSCALL_DEFINE2(statfs, const char __user *, pathname, struct statfs __user *, buf)
{
	struct path path;
	int error = user_path_at_empty(AT_FDCWD, pathname, LOOKUP_FOLLOW, &path, NULL);

	if (!error) {
		error = put_statfs(&path, buf);
		path_put(&path);
	}
	return error;
}

SYSCALL_DEFINE2(fstatfs, unsigned int, fd, struct statfs __user *, buf)
{
	struct fd f = fdget_raw(fd);
	int error = -EBADF;

	if (f.file) {
		error = put_statfs(&f.file->f_path, buf);
		fdput(f);
	}
	return error;
}

/* stat, fstat, newfstatat, readlink (Linux's fs/stat.c). */
#include "namei.h"
#include "fdtable.h"
#include "security.h"
#include "sched.h"
#include "syscalls.h"
#include "uaccess.h"

noinline void generic_fillattr(struct user_namespace *ns, struct inode *inode, struct kstat *stat)
{
	stat->dev = inode->i_sb->s_dev;
	stat->ino = inode->i_ino;
	stat->mode = inode->i_mode;
	stat->nlink = inode->i_nlink;
	stat->uid = inode->i_uid;
	stat->gid = inode->i_gid;
	stat->rdev = inode->i_rdev;
	stat->size = i_size_read(inode);
	stat->atime = inode->i_atime;
	stat->mtime = inode->i_mtime;
	stat->ctime = inode->i_ctime;
	stat->blksize = PAGE_SIZE;
	stat->blocks = inode->i_blocks;
}

noinline int vfs_getattr_nosec(const struct path *path, struct kstat *stat, u32 request_mask, unsigned int query_flags)
{
	struct inode *inode = d_backing_inode(path->dentry);

	memset(stat, 0, sizeof(*stat));
	stat->result_mask |= STATX_BASIC_STATS;
	if (inode->i_op->getattr)
		return inode->i_op->getattr(&init_user_ns, path, stat, request_mask, query_flags);
	generic_fillattr(&init_user_ns, inode, stat);
	return 0;
}

int vfs_getattr(const struct path *path, struct kstat *stat, u32 request_mask, unsigned int query_flags)
{
	int retval = security_inode_getattr(path);

	if (retval)
		return retval;
	return vfs_getattr_nosec(path, stat, request_mask, query_flags);
}

static noinline int vfs_fstat(int fd, struct kstat *stat)
{
	struct fd f = fdget_raw(fd);
	int error;

	if (!f.file)
		return -EBADF;
	error = vfs_getattr(&f.file->f_path, stat, STATX_BASIC_STATS, 0);
	fdput(f);
	return error;
}

static noinline int vfs_statx(int dfd, struct filename *filename, int flags, struct kstat *stat, u32 request_mask)
{
	unsigned int lookup_flags = 0;
	struct path path;
	int error;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | 0x6000))
		return -EINVAL;
	if (!(flags & AT_SYMLINK_NOFOLLOW))
		lookup_flags |= LOOKUP_FOLLOW;
	if (flags & AT_EMPTY_PATH)
		lookup_flags |= LOOKUP_EMPTY;
	error = filename_lookup(dfd, filename, lookup_flags, &path, NULL);
	if (error)
		return error;
	error = vfs_getattr(&path, stat, request_mask, flags);
	path_put(&path);
	return error;
}

noinline int vfs_fstatat(int dfd, const char __user *filename, struct kstat *stat, int flags)
{
	int statx_flags = flags | AT_NO_AUTOMOUNT, ret;
	struct filename *name = getname_flags(filename, flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0, NULL);

	ret = vfs_statx(dfd, name, statx_flags, stat, STATX_BASIC_STATS);
	putname(name);
	return ret;
}

static u64 encode_dev(dev_t dev)
{
	unsigned int major = MAJOR(dev), minor = MINOR(dev);

	return (minor & 0xff) | (major << 8) | ((minor & ~0xffu) << 12);
}

static noinline int cp_new_stat(struct kstat *stat, struct stat __user *statbuf)
{
	struct stat tmp = {
		.st_dev = encode_dev(stat->dev),
		.st_ino = stat->ino,
		.st_nlink = stat->nlink,
		.st_mode = stat->mode,
		.st_uid = from_kuid_munged(current_user_ns(), stat->uid),
		.st_gid = from_kgid_munged(current_user_ns(), stat->gid),
		.st_rdev = encode_dev(stat->rdev),
		.st_size = stat->size,
		.st_blksize = stat->blksize,
		.st_blocks = stat->blocks,
		.st_atime = stat->atime.tv_sec, .st_atime_nsec = stat->atime.tv_nsec,
		.st_mtime = stat->mtime.tv_sec, .st_mtime_nsec = stat->mtime.tv_nsec,
		.st_ctime = stat->ctime.tv_sec, .st_ctime_nsec = stat->ctime.tv_nsec,
	};

	return copy_to_user(statbuf, &tmp, sizeof(tmp)) ? -EFAULT : 0;
}

SYSCALL_DEFINE2(newstat, const char __user *, filename, struct stat __user *, statbuf)
{
	struct kstat stat;
	int error = vfs_fstatat(AT_FDCWD, filename, &stat, 0);

	return error ? error : cp_new_stat(&stat, statbuf);
}

SYSCALL_DEFINE2(newlstat, const char __user *, filename, struct stat __user *, statbuf)
{
	struct kstat stat;
	int error = vfs_fstatat(AT_FDCWD, filename, &stat, AT_SYMLINK_NOFOLLOW);

	return error ? error : cp_new_stat(&stat, statbuf);
}

/* Out of line and not traced, as gcc leaves it in Debian's kernel: traces show vfs_fstatat <-__do_sys_newfstatat. */
static noinline notrace long __do_sys_newfstatat(int dfd, const char __user *filename, struct stat __user *statbuf, int flag)
{
	struct kstat stat;
	int error = vfs_fstatat(dfd, filename, &stat, flag);

	return error ? error : cp_new_stat(&stat, statbuf);
}

long __x64_sys_newfstatat(const struct pt_regs *regs);
long __x64_sys_newfstatat(const struct pt_regs *regs)
{
	return __do_sys_newfstatat(regs->di, (const char __user *)regs->si, (struct stat __user *)regs->dx, regs->r10);
}

SYSCALL_DEFINE2(newfstat, unsigned int, fd, struct stat __user *, statbuf)
{
	struct kstat stat;
	int error = vfs_fstat(fd, &stat);

	return error ? error : cp_new_stat(&stat, statbuf);
}

struct statx_timestamp {
	s64 tv_sec;
	u32 tv_nsec;
	s32 __reserved;
};

struct statx {
	u32 stx_mask, stx_blksize;
	u64 stx_attributes;
	u32 stx_nlink, stx_uid, stx_gid;
	u16 stx_mode, __spare0;
	u64 stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct statx_timestamp stx_atime, stx_btime, stx_ctime, stx_mtime;
	u32 stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	u64 __spare2[14];
};

static struct statx_timestamp statx_time(struct timespec64 t)
{
	return (struct statx_timestamp){ .tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec };
}

static noinline int cp_statx(const struct kstat *stat, struct statx __user *buffer)
{
	struct statx tmp = {
		.stx_mask = stat->result_mask, .stx_blksize = stat->blksize, .stx_nlink = stat->nlink,
		.stx_uid = from_kuid_munged(current_user_ns(), stat->uid),
		.stx_gid = from_kgid_munged(current_user_ns(), stat->gid),
		.stx_mode = stat->mode, .stx_ino = stat->ino, .stx_size = stat->size, .stx_blocks = stat->blocks,
		.stx_atime = statx_time(stat->atime), .stx_ctime = statx_time(stat->ctime), .stx_mtime = statx_time(stat->mtime),
		.stx_rdev_major = MAJOR(stat->rdev), .stx_rdev_minor = MINOR(stat->rdev),
		.stx_dev_major = MAJOR(stat->dev), .stx_dev_minor = MINOR(stat->dev),
	};

	return copy_to_user(buffer, &tmp, sizeof(tmp)) ? -EFAULT : 0;
}

static noinline int do_statx(int dfd, struct filename *filename, unsigned int flags, unsigned int mask, struct statx __user *buffer)
{
	struct kstat stat;
	int error;

	if (mask & 0x80000000 || (flags & 0x6000) == 0x6000)
		return -EINVAL;
	error = vfs_statx(dfd, filename, flags, &stat, mask);
	return error ? error : cp_statx(&stat, buffer);
}

SYSCALL_DEFINE5(statx, int, dfd, const char __user *, filename, unsigned int, flags, unsigned int, mask,
		struct statx __user *, buffer)
{
	struct filename *name = getname_flags(filename, flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0, NULL);
	int ret = do_statx(dfd, name, flags, mask, buffer);

	putname(name);
	return ret;
}

noinline int readlink_copy(char __user *buffer, int buflen, const char *link)
{
	int len = min_t(int, strlen(link), buflen);

	return copy_to_user(buffer, link, len) ? -EFAULT : len;
}

static noinline int vfs_readlink(struct dentry *dentry, char __user *buffer, int buflen)
{
	struct inode *inode = d_inode(dentry);
	const char *link = READ_ONCE(inode->i_link);

	if (inode->i_op->readlink)
		return inode->i_op->readlink(dentry, buffer, buflen);
	if (!link) {
		link = inode->i_op->get_link(dentry, inode);
		if (IS_ERR(link))
			return PTR_ERR(link);
	}
	return readlink_copy(buffer, buflen, link);
}

static noinline int do_readlinkat(int dfd, const char __user *pathname, char __user *buf, int bufsiz)
{
	struct path path;
	int error, empty = 0;

	if (bufsiz <= 0)
		return -EINVAL;
	error = user_path_at_empty(dfd, pathname, LOOKUP_EMPTY, &path, &empty);
	if (error)
		return error;
	error = empty ? -ENOENT : -EINVAL;
	if (d_is_symlink(path.dentry)) {
		error = security_inode_readlink(path.dentry);
		if (!error) {
			touch_atime(&path);
			error = vfs_readlink(path.dentry, buf, bufsiz);
		}
	}
	path_put(&path);
	return error;
}

SYSCALL_DEFINE4(readlinkat, int, dfd, const char __user *, pathname, char __user *, buf, int, bufsiz)
{
	return do_readlinkat(dfd, pathname, buf, bufsiz);
}

SYSCALL_DEFINE3(readlink, const char __user *, path, char __user *, buf, int, bufsiz)
{
	return do_readlinkat(AT_FDCWD, path, buf, bufsiz);
}

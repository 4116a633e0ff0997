/* open, close, truncate, access, chmod, chown (Linux's fs/open.c). */
#include "module.h"
#include "namei.h"
#include "filelock.h"
#include "fs_struct.h"
#include "fdtable.h"
#include "security.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"
#include "uaccess.h"
#include "truth.h"

noinline int do_truncate(struct user_namespace *ns, struct dentry *dentry, loff_t length, unsigned int time_attrs, struct file *filp)
{
	struct iattr newattrs = { .ia_valid = ATTR_SIZE | time_attrs, .ia_size = length };
	int ret;

	if (length < 0)
		return -EINVAL;
	if (filp) {
		newattrs.ia_file = filp;
		newattrs.ia_valid |= ATTR_FILE;
	}
	ret = dentry_needs_remove_privs(dentry);
	if (ret) {
		newattrs.ia_valid |= ATTR_MODE;
		newattrs.ia_mode = dentry->d_inode->i_mode & ~ret;
	}
	inode_lock(dentry->d_inode);
	ret = notify_change(ns, dentry, &newattrs, NULL);
	inode_unlock(dentry->d_inode);
	return ret;
}

static noinline long vfs_truncate(const struct path *path, loff_t length)
{
	struct inode *inode = path->dentry->d_inode;
	long error;

	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	error = mnt_want_write(path->mnt);
	if (error)
		return error;
	error = inode_permission(&init_user_ns, inode, MAY_WRITE);
	if (error)
		goto mnt_drop_write_and_out;
	error = get_write_access(inode);
	if (error)
		goto mnt_drop_write_and_out;
	error = security_path_truncate(path);
	if (!error)
		error = do_truncate(&init_user_ns, path->dentry, length, 0, NULL);
	put_write_access(inode);
mnt_drop_write_and_out:
	mnt_drop_write(path->mnt);
	return error;
}

static noinline long do_sys_truncate(const char __user *pathname, loff_t length)
{
	struct path path;
	int error;

	if (length < 0)
		return -EINVAL;
	error = user_path_at_empty(AT_FDCWD, pathname, LOOKUP_FOLLOW, &path, NULL);
	if (!error) {
		error = vfs_truncate(&path, length);
		path_put(&path);
	}
	return error;
}

SYSCALL_DEFINE2(truncate, const char __user *, path, long, length)
{
	return do_sys_truncate(path, length);
}

SYSCALL_DEFINE2(ftruncate, unsigned int, fd, long, length)
{
	struct fd f;
	int error = -EINVAL;

	if (length < 0)
		return error;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	if (S_ISREG(file_inode(f.file)->i_mode) && (f.file->f_mode & FMODE_WRITE)) {
		sb_start_write(file_inode(f.file)->i_sb);
		error = do_truncate(&init_user_ns, f.file->f_path.dentry, length, ATTR_MTIME | ATTR_CTIME, f.file);
		sb_end_write(file_inode(f.file)->i_sb);
	}
	fdput(f);
	return error;
}

/* access() asks with the real ids: credentials of the call alone carry them. */
static const struct cred *access_override_creds(void)
{
	struct cred *override_cred = prepare_creds();
	const struct cred *old_cred;

	if (!override_cred)
		return NULL;
	override_cred->fsuid = override_cred->uid;
	override_cred->fsgid = override_cred->gid;
	if (!uid_eq(override_cred->uid, make_kuid(&init_user_ns, 0)))
		override_cred->cap_effective = 0;
	override_cred->non_rcu = true;	/* nobody else ever sees it */
	old_cred = override_creds(override_cred);
	put_cred(override_cred);	/* override_creds took its own reference */
	return old_cred;
}

static noinline long do_faccessat(int dfd, const char __user *filename, int mode, int flags)
{
	unsigned int lookup_flags = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	const struct cred *old_cred = NULL;
	struct path path;
	struct inode *inode;
	int res;

	if (mode & ~7 || flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH)
		lookup_flags |= LOOKUP_EMPTY;
	if (!(flags & AT_EACCESS)) {
		old_cred = access_override_creds();
		if (!old_cred)
			return -ENOMEM;
	}
	res = user_path_at_empty(dfd, filename, lookup_flags, &path, NULL);
	if (res)
		goto out;
	inode = path.dentry->d_inode;
	res = -EACCES;
	if (!((mode & MAY_EXEC) && S_ISREG(inode->i_mode) && path_noexec(&path)))
		res = inode_permission(&init_user_ns, inode, mode | MAY_ACCESS);
	path_put(&path);
out:
	if (old_cred)
		revert_creds(old_cred);
	return res;
}

SYSCALL_DEFINE3(faccessat, int, dfd, const char __user *, filename, int, mode)
{
	return do_faccessat(dfd, filename, mode, 0);
}

SYSCALL_DEFINE4(faccessat2, int, dfd, const char __user *, filename, int, mode, int, flags)
{
	return do_faccessat(dfd, filename, mode, flags);
}

SYSCALL_DEFINE2(access, const char __user *, filename, int, mode)
{
	return do_faccessat(AT_FDCWD, filename, mode, 0);
}

static int change_attr(const struct path *path, struct iattr *attr)
{
	int error = mnt_want_write(path->mnt);

	if (error)
		return error;
	attr->ia_valid |= ATTR_CTIME;
	inode_lock(path->dentry->d_inode);
	error = notify_change(&init_user_ns, path->dentry, attr, NULL);
	inode_unlock(path->dentry->d_inode);
	mnt_drop_write(path->mnt);
	return error;
}

static noinline int chmod_common(const struct path *path, umode_t mode)
{
	struct inode *inode = path->dentry->d_inode;
	struct iattr newattrs = { .ia_valid = ATTR_MODE };

	newattrs.ia_mode = (mode & S_IALLUGO) | (inode->i_mode & ~S_IALLUGO);
	return change_attr(path, &newattrs);
}

static noinline int do_fchmodat(int dfd, const char __user *filename, umode_t mode)
{
	struct path path;
	int error = user_path_at_empty(dfd, filename, LOOKUP_FOLLOW, &path, NULL);

	if (!error) {
		error = chmod_common(&path, mode);
		path_put(&path);
	}
	return error;
}

SYSCALL_DEFINE2(fchmod, unsigned int, fd, umode_t, mode)
{
	struct fd f = fdget(fd);
	int err = -EBADF;

	if (f.file) {
		err = chmod_common(&f.file->f_path, mode);
		fdput(f);
	}
	return err;
}

SYSCALL_DEFINE3(fchmodat, int, dfd, const char __user *, filename, umode_t, mode)
{
	return do_fchmodat(dfd, filename, mode);
}

SYSCALL_DEFINE2(chmod, const char __user *, filename, umode_t, mode)
{
	return do_fchmodat(AT_FDCWD, filename, mode);
}

static noinline int chown_common(const struct path *path, uid_t user, gid_t group)
{
	struct iattr newattrs = { 0 };

	if (user != (uid_t)-1) {
		newattrs.ia_valid |= ATTR_UID;
		newattrs.ia_uid = make_kuid(&init_user_ns, user);
	}
	if (group != (gid_t)-1) {
		newattrs.ia_valid |= ATTR_GID;
		newattrs.ia_gid = make_kgid(&init_user_ns, group);
	}
	return change_attr(path, &newattrs);
}

SYSCALL_DEFINE5(fchownat, int, dfd, const char __user *, filename, uid_t, user, gid_t, group, int, flag)
{
	struct path path;
	int error = user_path_at_empty(dfd, filename, flag & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &path, NULL);

	if (!error) {
		error = chown_common(&path, user, group);
		path_put(&path);
	}
	return error;
}

SYSCALL_DEFINE3(chown, const char __user *, filename, uid_t, user, gid_t, group)
{
	struct path path;
	int error = user_path_at_empty(AT_FDCWD, filename, LOOKUP_FOLLOW, &path, NULL);

	if (!error) {
		error = chown_common(&path, user, group);
		path_put(&path);
	}
	return error;
}

static noinline int do_dentry_open(struct file *f, struct inode *inode, int (*open)(struct inode *, struct file *))
{
	static const struct file_operations empty_fops;
	int error;

	path_get(&f->f_path);
	f->f_inode = inode;
	f->f_mapping = inode->i_mapping;
	if (unlikely(f->f_flags & O_PATH)) {
		f->f_mode = FMODE_PATH | FMODE_OPENED;
		f->f_op = &empty_fops;
		return 0;
	}
	if (f->f_mode & FMODE_WRITE && !S_ISCHR(inode->i_mode) && !S_ISFIFO(inode->i_mode)) {
		error = get_write_access(inode);
		if (unlikely(error))
			goto cleanup_file;
		error = __mnt_want_write(f->f_path.mnt);
		if (unlikely(error)) {
			put_write_access(inode);
			goto cleanup_file;
		}
		f->f_mode |= FMODE_WRITER;
	}
	if (S_ISREG(inode->i_mode) || S_ISDIR(inode->i_mode))
		f->f_mode |= FMODE_ATOMIC_POS;
	f->f_op = fops_get(inode->i_fop);
	if (WARN_ON(!f->f_op)) {
		error = -ENODEV;
		goto cleanup_all;
	}
	error = security_file_open(f);
	if (error)
		goto cleanup_all;
	f->f_mode |= FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE;
	if (!open)
		open = f->f_op->open;
	if (open) {
		error = open(inode, f);
		if (error)
			goto cleanup_all;
	}
	f->f_mode |= FMODE_OPENED;
	if ((f->f_mode & FMODE_READ) && likely(f->f_op->read || f->f_op->read_iter))
		f->f_mode |= FMODE_CAN_READ;
	if ((f->f_mode & FMODE_WRITE) && likely(f->f_op->write || f->f_op->write_iter))
		f->f_mode |= FMODE_CAN_WRITE;
	if ((f->f_mode & FMODE_LSEEK) && !f->f_op->llseek)
		f->f_mode &= ~FMODE_LSEEK;
	f->f_flags &= ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC);
	return 0;
cleanup_all:
	if (f->f_mode & FMODE_WRITER) {
		put_write_access(inode);
		__mnt_drop_write(f->f_path.mnt);
		f->f_mode &= ~FMODE_WRITER;
	}
cleanup_file:
	path_put(&f->f_path);
	f->f_path.mnt = NULL;
	f->f_path.dentry = NULL;
	f->f_inode = NULL;
	return error;
}

int vfs_open(const struct path *path, struct file *file)
{
	file->f_path = *path;
	return do_dentry_open(file, d_backing_inode(path->dentry), NULL);
}

struct file *dentry_open(const struct path *path, int flags, const struct cred *cred)
{
	struct file *f = alloc_empty_file(flags, cred);
	int error;

	if (!IS_ERR(f)) {
		error = vfs_open(path, f);
		if (error) {
			fput(f);
			f = ERR_PTR(error);
		}
	}
	return f;
}

int generic_file_open(struct inode *inode, struct file *filp)
{
	return 0;
}

int nonseekable_open(struct inode *inode, struct file *filp)
{
	filp->f_mode &= ~(FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE);
	return 0;
}

int stream_open(struct inode *inode, struct file *filp)
{
	filp->f_mode &= ~(FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE | FMODE_ATOMIC_POS);
	filp->f_mode |= FMODE_STREAM;
	return 0;
}

static inline int build_open_flags(const struct open_how *how, struct open_flags *op)
{
	u64 flags = how->flags;
	int lookup_flags = 0, acc_mode = ACC_MODE(flags);

	if (flags & ~VALID_OPEN_FLAGS)
		return -EINVAL;
	flags &= ~(u64)O_CLOEXEC;	/* the descriptor's, not the file's */
	if (flags & (O_CREAT | __O_TMPFILE)) {
		if (how->mode & ~S_IALLUGO)
			return -EINVAL;
		op->mode = how->mode | S_IFREG;
	} else {
		if (how->mode != 0)
			return -EINVAL;
		op->mode = 0;
	}
	/* as 6.1.x since it stopped making regular files of this */
	if ((flags & (O_DIRECTORY | O_CREAT)) == (O_DIRECTORY | O_CREAT))
		return -EINVAL;
	if (flags & __O_TMPFILE)
		return -EOPNOTSUPP;
	if (flags & O_PATH) {
		if (flags & ~O_PATH_FLAGS)
			return -EINVAL;
		acc_mode = 0;
	}
	if (flags & __O_SYNC)
		flags |= O_DSYNC;
	op->open_flag = flags;
	if (flags & O_TRUNC)
		acc_mode |= MAY_WRITE;
	if (flags & O_APPEND)
		acc_mode |= MAY_APPEND;
	op->acc_mode = acc_mode;
	op->intent = flags & O_PATH ? 0 : LOOKUP_OPEN;
	if (flags & O_CREAT) {
		op->intent |= LOOKUP_CREATE;
		if (flags & O_EXCL) {
			op->intent |= LOOKUP_EXCL;
			flags |= O_NOFOLLOW;
		}
	}
	if (flags & O_DIRECTORY)
		lookup_flags |= LOOKUP_DIRECTORY;
	if (!(flags & O_NOFOLLOW))
		lookup_flags |= LOOKUP_FOLLOW;
	op->lookup_flags = lookup_flags;
	return 0;
}

static inline struct open_how build_open_how(int flags, umode_t mode)
{
	struct open_how how = { .flags = flags & VALID_OPEN_FLAGS, .mode = mode & S_IALLUGO };

	if (how.flags & O_PATH)
		how.flags &= O_PATH_FLAGS;
	if (!(how.flags & (O_CREAT | __O_TMPFILE)))
		how.mode = 0;
	return how;
}

struct file *file_open_name(struct filename *name, int flags, umode_t mode)
{
	struct open_how how = build_open_how(flags, mode);
	struct open_flags op;
	int err = build_open_flags(&how, &op);

	if (err)
		return ERR_PTR(err);
	return do_filp_open(AT_FDCWD, name, &op);
}

struct file *filp_open(const char *filename, int flags, umode_t mode)
{
	struct filename *name = getname_kernel(filename);
	struct file *file = ERR_CAST(name);

	if (!IS_ERR(name)) {
		file = file_open_name(name, flags, mode);
		putname(name);
	}
	return file;
}

long do_sys_openat2(int dfd, const char __user *filename, struct open_how *how)
{
	struct open_flags op;
	struct filename *tmp;
	int fd;

	KSCOPE_TRUTH(do_sys_openat2);
	fd = build_open_flags(how, &op);
	if (fd)
		return fd;
	tmp = getname(filename);
	if (IS_ERR(tmp))
		return PTR_ERR(tmp);
	fd = get_unused_fd_flags(how->flags);
	if (fd >= 0) {
		struct file *f = do_filp_open(dfd, tmp, &op);

		if (IS_ERR(f)) {
			put_unused_fd(fd);
			fd = PTR_ERR(f);
		} else {
			fd_install(fd, f);
		}
	}
	putname(tmp);
	return fd;
}

/* Linux 6.1 inlines do_sys_open; ours is a function, because the seeds probe it (a listed difference). */
noinline long do_sys_open(int dfd, const char __user *filename, int flags, umode_t mode)
{
	struct open_how how = build_open_how(flags, mode);

	return do_sys_openat2(dfd, filename, &how);
}

SYSCALL_DEFINE3(open, const char __user *, filename, int, flags, umode_t, mode)
{
	return do_sys_open(AT_FDCWD, filename, flags | O_LARGEFILE, mode);
}

SYSCALL_DEFINE4(openat, int, dfd, const char __user *, filename, int, flags, umode_t, mode)
{
	return do_sys_open(dfd, filename, flags | O_LARGEFILE, mode);
}

SYSCALL_DEFINE4(openat2, int, dfd, const char __user *, filename, struct open_how __user *, how, size_t, usize)
{
	struct open_how tmp;

	if (usize != sizeof(tmp))
		return usize < sizeof(tmp) ? -EINVAL : -E2BIG;
	if (copy_from_user(&tmp, how, sizeof(tmp)))
		return -EFAULT;
	if (tmp.resolve)
		return -EINVAL;
	return do_sys_openat2(dfd, filename, &tmp);
}

SYSCALL_DEFINE2(creat, const char __user *, pathname, umode_t, mode)
{
	return do_sys_open(AT_FDCWD, pathname, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode);
}

int filp_close(struct file *filp, void *id)
{
	int retval = 0;

	KSCOPE_TRUTH(filp_close);
	if (filp->f_op->flush)
		retval = filp->f_op->flush(filp, id);
	if (likely(!(filp->f_mode & FMODE_PATH)))
		locks_remove_posix(filp, id);
	fput(filp);
	return retval;
}

SYSCALL_DEFINE1(close, unsigned int, fd)
{
	int retval = close_fd(fd);

	/* the number is free already: the call cannot be restarted */
	if (unlikely(retval == -ERESTARTSYS || retval == -ERESTARTNOINTR || retval == -ERESTARTNOHAND))
		retval = -EINTR;
	return retval;
}

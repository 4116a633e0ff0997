/*
 * Making, removing and renaming names (Linux's fs/namei.c). Each system call walks to the parent, takes write access to the
 * mount and the directory's i_rwsem, looks the last component up under it, and calls the file system.
 */
#include "nameidata.h"
#include "syscalls.h"

static noinline struct dentry *lookup_dcache(const struct qstr *name, struct dentry *dir, unsigned int flags)
{
	struct dentry *dentry = d_lookup(dir, name);

	if (dentry) {
		int error = d_revalidate(dentry, flags);

		if (unlikely(error <= 0)) {
			if (!error)
				d_invalidate(dentry);
			dput(dentry);
			return ERR_PTR(error);
		}
	}
	return dentry;
}

/* The directory is locked exclusively. */
struct dentry *lookup_one_qstr_excl(const struct qstr *name, struct dentry *base, unsigned int flags)
{
	struct dentry *dentry = lookup_dcache(name, base, flags), *old;
	struct inode *dir = base->d_inode;

	if (dentry)
		return dentry;
	if (unlikely(IS_DEADDIR(dir)))
		return ERR_PTR(-ENOENT);
	dentry = d_alloc(base, name);
	if (unlikely(!dentry))
		return ERR_PTR(-ENOMEM);
	old = dir->i_op->lookup(dir, dentry, flags);
	if (unlikely(old)) {
		dput(dentry);
		dentry = old;
	}
	return dentry;
}

struct dentry *lookup_one_len(const char *name, struct dentry *base, int len)
{
	struct qstr this = { { { .hash = full_name_hash(base, name, len), .len = len } }, .name = (const unsigned char *)name };

	return lookup_one_qstr_excl(&this, base, 0);
}

struct dentry *filename_create(int dfd, struct filename *name, struct path *path, unsigned int lookup_flags)
{
	bool want_dir = lookup_flags & LOOKUP_DIRECTORY;
	struct dentry *dentry;
	struct qstr last;
	int type, err2, error = __filename_parentat(dfd, name, 0, path, &last, &type);

	if (error)
		return ERR_PTR(error);
	if (unlikely(type != LAST_NORM)) {
		path_put(path);
		return ERR_PTR(-EEXIST);
	}
	err2 = mnt_want_write(path->mnt);
	inode_lock_nested(path->dentry->d_inode, 1);
	dentry = lookup_one_qstr_excl(&last, path->dentry, LOOKUP_CREATE | LOOKUP_EXCL);
	if (IS_ERR(dentry))
		goto unlock;
	error = -EEXIST;
	if (d_is_positive(dentry))
		goto fail;
	/* "foo/" names a directory that is not there: only mkdir may make it */
	error = -ENOENT;
	if (unlikely(!want_dir && last.name[last.len]))
		goto fail;
	error = err2;
	if (unlikely(err2))
		goto fail;
	return dentry;
fail:
	dput(dentry);
	dentry = ERR_PTR(error);
unlock:
	inode_unlock(path->dentry->d_inode);
	if (!err2)
		mnt_drop_write(path->mnt);
	path_put(path);
	return dentry;
}

struct dentry *kern_path_create(int dfd, const char *pathname, struct path *path, unsigned int lookup_flags)
{
	struct filename *filename = getname_kernel(pathname);
	struct dentry *res = IS_ERR(filename) ? ERR_CAST(filename) : filename_create(dfd, filename, path, lookup_flags);

	putname(filename);
	return res;
}

void done_path_create(struct path *path, struct dentry *dentry)
{
	dput(dentry);
	inode_unlock(path->dentry->d_inode);
	mnt_drop_write(path->mnt);
	path_put(path);
}

int vfs_mknod(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, dev_t dev)
{
	int error = may_create(ns, dir, dentry);

	if (error)
		return error;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (!dir->i_op->mknod)
		return -EPERM;
	mode = mode_strip_sgid(ns, dir, mode);
	error = security_inode_create(dir, dentry, mode);
	if (error)
		return error;
	return dir->i_op->mknod(ns, dir, dentry, mode, dev);
}

int vfs_mkdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	int error = may_create(ns, dir, dentry);

	if (error)
		return error;
	if (!dir->i_op->mkdir)
		return -EPERM;
	mode = mode_strip_sgid(ns, dir, mode) & ~current_umask();
	error = security_inode_mkdir(dir, dentry, mode);
	if (error)
		return error;
	return dir->i_op->mkdir(ns, dir, dentry, mode & (S_IRWXUGO | S_ISVTX));
}

int do_mkdirat(int dfd, struct filename *name, umode_t mode)
{
	struct path path;
	struct dentry *dentry = filename_create(dfd, name, &path, LOOKUP_DIRECTORY);
	int error = PTR_ERR(dentry);

	if (!IS_ERR(dentry)) {
		mode &= ~current_umask();
		error = security_path_mkdir(&path, dentry, mode);
		if (!error)
			error = vfs_mkdir(&init_user_ns, path.dentry->d_inode, dentry, mode);
		done_path_create(&path, dentry);
	}
	putname(name);
	return error;
}

SYSCALL_DEFINE3(mkdirat, int, dfd, const char __user *, pathname, umode_t, mode)
{
	return do_mkdirat(dfd, getname(pathname), mode);
}

SYSCALL_DEFINE2(mkdir, const char __user *, pathname, umode_t, mode)
{
	return do_mkdirat(AT_FDCWD, getname(pathname), mode);
}

static int do_mknodat(int dfd, struct filename *name, umode_t mode, unsigned int dev)
{
	struct path path;
	struct dentry *dentry;
	int error = -EINVAL;

	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	if (S_ISDIR(mode)) {
		error = -EPERM;
		goto out;
	}
	dentry = filename_create(dfd, name, &path, 0);
	error = PTR_ERR(dentry);
	if (!IS_ERR(dentry)) {
		error = vfs_mknod(&init_user_ns, path.dentry->d_inode, dentry, mode & ~current_umask(),
				  MKDEV((dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)));
		done_path_create(&path, dentry);
	}
out:
	putname(name);
	return error;
}

SYSCALL_DEFINE4(mknodat, int, dfd, const char __user *, filename, umode_t, mode, unsigned int, dev)
{
	return do_mknodat(dfd, getname(filename), mode, dev);
}

SYSCALL_DEFINE3(mknod, const char __user *, filename, umode_t, mode, unsigned int, dev)
{
	return do_mknodat(AT_FDCWD, getname(filename), mode, dev);
}

/* A removed name keeps its dentry while somebody uses it; nothing may be mounted there any more. */
static inline void dont_mount(struct dentry *dentry)
{
	spin_lock(&dentry->d_lock);
	dentry->d_flags |= DCACHE_CANT_MOUNT;
	spin_unlock(&dentry->d_lock);
}

int vfs_rmdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry)
{
	int error = may_delete(ns, dir, dentry, true);

	if (error)
		return error;
	if (!dir->i_op->rmdir)
		return -EPERM;
	dget(dentry);
	inode_lock(dentry->d_inode);
	error = -EBUSY;
	if (d_mountpoint(dentry))
		goto out;
	error = security_inode_rmdir(dir, dentry);
	if (error)
		goto out;
	error = dir->i_op->rmdir(dir, dentry);
	if (error)
		goto out;
	shrink_dcache_parent(dentry);
	dentry->d_inode->i_flags |= S_DEAD;
	dont_mount(dentry);
out:
	inode_unlock(dentry->d_inode);
	dput(dentry);
	if (!error) {
		struct inode *inode = dentry->d_inode;

		ihold(inode);
		d_delete(dentry);
		iput(inode);
	}
	return error;
}

int do_rmdir(int dfd, struct filename *name)
{
	static const int err_of_type[] = { [LAST_ROOT] = -EBUSY, [LAST_DOT] = -EINVAL, [LAST_DOTDOT] = -ENOTEMPTY };
	struct dentry *dentry;
	struct path path;
	struct qstr last;
	int type, error = __filename_parentat(dfd, name, 0, &path, &last, &type);

	if (error)
		goto exit1;
	if (type != LAST_NORM) {
		error = err_of_type[type];
		goto exit2;
	}
	error = mnt_want_write(path.mnt);
	if (error)
		goto exit2;
	inode_lock_nested(path.dentry->d_inode, 1);
	dentry = lookup_one_qstr_excl(&last, path.dentry, 0);
	error = PTR_ERR(dentry);
	if (!IS_ERR(dentry)) {
		error = dentry->d_inode ? security_path_rmdir(&path, dentry) : -ENOENT;
		if (!error)
			error = vfs_rmdir(&init_user_ns, path.dentry->d_inode, dentry);
		dput(dentry);
	}
	inode_unlock(path.dentry->d_inode);
	mnt_drop_write(path.mnt);
exit2:
	path_put(&path);
exit1:
	putname(name);
	return error;
}

SYSCALL_DEFINE1(rmdir, const char __user *, pathname)
{
	return do_rmdir(AT_FDCWD, getname(pathname));
}

int vfs_unlink(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, struct inode **delegated)
{
	struct inode *target = dentry->d_inode;
	int error = may_delete(ns, dir, dentry, false);

	if (error)
		return error;
	if (!dir->i_op->unlink)
		return -EPERM;
	inode_lock(target);
	if (d_mountpoint(dentry))
		error = -EBUSY;
	else
		error = security_inode_unlink(dir, dentry);
	if (!error)
		error = dir->i_op->unlink(dir, dentry);
	if (!error)
		dont_mount(dentry);
	inode_unlock(target);
	if (!error) {
		ihold(target);
		d_delete(dentry);
		iput(target);
	}
	return error;
}

int do_unlinkat(int dfd, struct filename *name)
{
	struct inode *inode = NULL;
	struct dentry *dentry;
	struct path path;
	struct qstr last;
	int type, error = __filename_parentat(dfd, name, 0, &path, &last, &type);

	if (error)
		goto exit1;
	error = -EISDIR;
	if (type != LAST_NORM)
		goto exit2;
	error = mnt_want_write(path.mnt);
	if (error)
		goto exit2;
	inode_lock_nested(path.dentry->d_inode, 1);
	dentry = lookup_one_qstr_excl(&last, path.dentry, 0);
	error = PTR_ERR(dentry);
	if (!IS_ERR(dentry)) {
		inode = dentry->d_inode;
		if (d_is_negative(dentry)) {
			error = -ENOENT;
		} else if (last.name[last.len]) {
			error = d_is_dir(dentry) ? -EISDIR : -ENOTDIR;
			inode = NULL;
		} else {
			ihold(inode);
			error = security_path_unlink(&path, dentry);
			if (!error)
				error = vfs_unlink(&init_user_ns, path.dentry->d_inode, dentry, NULL);
		}
		dput(dentry);
	}
	inode_unlock(path.dentry->d_inode);
	if (inode)
		iput(inode);	/* truncates the contents here, outside the directory's lock */
	mnt_drop_write(path.mnt);
exit2:
	path_put(&path);
exit1:
	putname(name);
	return error;
}

SYSCALL_DEFINE3(unlinkat, int, dfd, const char __user *, pathname, int, flag)
{
	if ((flag & ~AT_REMOVEDIR) != 0)
		return -EINVAL;
	if (flag & AT_REMOVEDIR)
		return do_rmdir(dfd, getname(pathname));
	return do_unlinkat(dfd, getname(pathname));
}

SYSCALL_DEFINE1(unlink, const char __user *, pathname)
{
	return do_unlinkat(AT_FDCWD, getname(pathname));
}

int vfs_symlink(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, const char *oldname)
{
	int error = may_create(ns, dir, dentry);

	if (error)
		return error;
	if (!dir->i_op->symlink)
		return -EPERM;
	error = security_inode_symlink(dir, dentry, oldname);
	if (error)
		return error;
	return dir->i_op->symlink(ns, dir, dentry, oldname);
}

int do_symlinkat(struct filename *from, int newdfd, struct filename *to)
{
	struct dentry *dentry;
	struct path path;
	int error = PTR_ERR(from);

	if (IS_ERR(from))
		goto out;
	dentry = filename_create(newdfd, to, &path, 0);
	error = PTR_ERR(dentry);
	if (!IS_ERR(dentry)) {
		error = security_path_symlink(&path, dentry, from->name);
		if (!error)
			error = vfs_symlink(&init_user_ns, path.dentry->d_inode, dentry, from->name);
		done_path_create(&path, dentry);
	}
out:
	putname(to);
	putname(from);
	return error;
}

SYSCALL_DEFINE3(symlinkat, const char __user *, oldname, int, newdfd, const char __user *, newname)
{
	return do_symlinkat(getname(oldname), newdfd, getname(newname));
}

SYSCALL_DEFINE2(symlink, const char __user *, oldname, const char __user *, newname)
{
	return do_symlinkat(getname(oldname), AT_FDCWD, getname(newname));
}

int vfs_link(struct dentry *old_dentry, struct user_namespace *ns, struct inode *dir, struct dentry *new_dentry,
	     struct inode **delegated)
{
	struct inode *inode = old_dentry->d_inode;
	int error = may_create(ns, dir, new_dentry);

	if (error)
		return error;
	if (dir->i_sb != inode->i_sb)
		return -EXDEV;
	if (!dir->i_op->link || S_ISDIR(inode->i_mode))
		return -EPERM;
	inode_lock(inode);
	error = inode->i_nlink == 0 ? -ENOENT : dir->i_op->link(old_dentry, dir, new_dentry);
	inode_unlock(inode);
	return error;
}

int do_linkat(int olddfd, struct filename *old, int newdfd, struct filename *new, int flags)
{
	struct path old_path, new_path;
	struct dentry *new_dentry;
	int error = -EINVAL;

	if ((flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0)
		goto out_putnames;
	error = filename_lookup(olddfd, old, flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0, &old_path, NULL);
	if (error)
		goto out_putnames;
	new_dentry = filename_create(newdfd, new, &new_path, 0);
	error = PTR_ERR(new_dentry);
	if (!IS_ERR(new_dentry)) {
		error = old_path.mnt != new_path.mnt ? -EXDEV :
			vfs_link(old_path.dentry, &init_user_ns, new_path.dentry->d_inode, new_dentry, NULL);
		done_path_create(&new_path, new_dentry);
	}
	path_put(&old_path);
out_putnames:
	putname(old);
	putname(new);
	return error;
}

SYSCALL_DEFINE5(linkat, int, olddfd, const char __user *, oldname, int, newdfd, const char __user *, newname, int, flags)
{
	return do_linkat(olddfd, getname_uflags(oldname, flags), newdfd, getname(newname), flags);
}

SYSCALL_DEFINE2(link, const char __user *, oldname, const char __user *, newname)
{
	return do_linkat(AT_FDCWD, getname(oldname), AT_FDCWD, getname(newname), 0);
}

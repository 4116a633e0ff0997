/*
 * Open, and lookups that end at a path (Linux's fs/namei.c): do_filp_open() -> path_openat() -> open_last_lookups() ->
 * do_open(); filename_lookup() -> path_lookupat(); __filename_parentat() -> path_parentat().
 */
#include "nameidata.h"
#include "truth.h"

static noinline int path_lookupat(struct nameidata *nd, unsigned int flags, struct path *path)
{
	const char *s = path_init(nd, flags);
	int err;

	while (!(err = link_path_walk(s, nd))) {
		if (nd->last_type == LAST_NORM && nd->last.name[nd->last.len])
			nd->flags |= LOOKUP_FOLLOW | LOOKUP_DIRECTORY;
		s = walk_component(nd, WALK_TRAILING);
		if (!s)
			break;
		if (IS_ERR(s)) {
			err = PTR_ERR(s);
			break;
		}
	}
	if (!err)
		err = complete_walk(nd);
	if (!err && nd->flags & LOOKUP_DIRECTORY && !d_can_lookup(nd->path.dentry))
		err = -ENOTDIR;
	if (!err) {
		*path = nd->path;
		nd->path.mnt = NULL;
		nd->path.dentry = NULL;
	}
	terminate_walk(nd);
	return err;
}

int filename_lookup(int dfd, struct filename *name, unsigned int flags, struct path *path, struct path *root)
{
	struct nameidata nd;
	int retval;

	if (IS_ERR(name))
		return PTR_ERR(name);
	set_nameidata(&nd, dfd, name, root);
	retval = path_lookupat(&nd, flags | LOOKUP_RCU, path);
	if (unlikely(retval == -ECHILD))
		retval = path_lookupat(&nd, flags, path);
	restore_nameidata();
	return retval;
}

static noinline int path_parentat(struct nameidata *nd, unsigned int flags, struct path *parent)
{
	const char *s = path_init(nd, flags);
	int err = link_path_walk(s, nd);

	if (!err)
		err = complete_walk(nd);
	if (!err) {
		*parent = nd->path;
		nd->path.mnt = NULL;
		nd->path.dentry = NULL;
	}
	terminate_walk(nd);
	return err;
}

int __filename_parentat(int dfd, struct filename *name, unsigned int flags, struct path *parent, struct qstr *last, int *type)
{
	struct nameidata nd;
	int retval;

	if (IS_ERR(name))
		return PTR_ERR(name);
	set_nameidata(&nd, dfd, name, NULL);
	retval = path_parentat(&nd, flags | LOOKUP_RCU, parent);
	if (unlikely(retval == -ECHILD))
		retval = path_parentat(&nd, flags, parent);
	if (likely(!retval)) {
		*last = nd.last;
		*type = nd.last_type;
	}
	restore_nameidata();
	return retval;
}

int user_path_at_empty(int dfd, const char __user *name, unsigned int flags, struct path *path, int *empty)
{
	struct filename *filename = getname_flags(name, flags, empty);
	int ret = filename_lookup(dfd, filename, flags, path, NULL);

	putname(filename);
	return ret;
}

int kern_path(const char *name, unsigned int flags, struct path *path)
{
	struct filename *filename = getname_kernel(name);
	int ret = filename_lookup(AT_FDCWD, filename, flags, path, NULL);

	putname(filename);
	return ret;
}

/* May a new file be made at @dir, of which the mount's write access is already ours? */
static int may_o_create(struct user_namespace *ns, const struct path *dir, struct dentry *dentry, umode_t mode)
{
	int error = security_path_mknod(dir, dentry, mode, 0);

	if (error)
		return error;
	if (from_kuid(ns, current_fsuid()) == (uid_t)-1 || from_kgid(ns, current_fsgid()) == (gid_t)-1)
		return -EOVERFLOW;
	error = inode_permission(ns, dir->dentry->d_inode, MAY_WRITE | MAY_EXEC);
	if (error)
		return error;
	return security_inode_create(dir->dentry->d_inode, dentry, mode);
}

/* The last component's dentry, positive or not, or in lookup (then ours to finish). The directory is locked. */
static struct dentry *lookup_open_find(struct nameidata *nd, struct dentry *dir, wait_queue_head_t *wq)
{
	struct dentry *dentry = d_lookup(dir, &nd->last);

	for (;;) {
		int error;

		if (!dentry) {
			dentry = d_alloc_parallel(dir, &nd->last, wq);
			if (IS_ERR(dentry))
				return dentry;
		}
		if (d_in_lookup(dentry))
			return dentry;
		error = d_revalidate(dentry, nd->flags);
		if (likely(error > 0))
			return dentry;
		if (!error)
			d_invalidate(dentry);
		dput(dentry);
		if (error)
			return ERR_PTR(error);
		dentry = NULL;
	}
}

static inline umode_t vfs_prepare_mode(const struct inode *dir, umode_t mode)
{
	mode = mode_strip_sgid(&init_user_ns, dir, mode);
	return mode & ~current_umask();
}

/* lookup_open looks the last component up and, with O_CREAT, makes it. */
static struct dentry *lookup_open(struct nameidata *nd, struct file *file, const struct open_flags *op, bool got_write)
{
	struct dentry *dir = nd->path.dentry, *dentry, *res;
	struct inode *dir_inode = dir->d_inode;
	int open_flag = op->open_flag, error, create_error = 0;
	umode_t mode = op->mode;
	DECLARE_WAIT_QUEUE_HEAD(wq);

	if (unlikely(IS_DEADDIR(dir_inode)))
		return ERR_PTR(-ENOENT);
	file->f_mode &= ~FMODE_CREATED;
	dentry = lookup_open_find(nd, dir, &wq);
	if (IS_ERR(dentry) || dentry->d_inode)
		return dentry;
	if (open_flag & O_CREAT) {
		mode = vfs_prepare_mode(dir_inode, mode);
		create_error = got_write ? may_o_create(&init_user_ns, &nd->path, dentry, mode) : -EROFS;
		if (create_error)
			open_flag &= ~O_CREAT;
	}
	if (d_in_lookup(dentry)) {
		res = dir_inode->i_op->lookup(dir_inode, dentry, nd->flags);
		d_lookup_done(dentry);
		if (unlikely(res)) {
			error = PTR_ERR(res);
			if (IS_ERR(res))
				goto out_dput;
			dput(dentry);
			dentry = res;
		}
	}
	if (!dentry->d_inode && (open_flag & O_CREAT)) {
		error = -EACCES;
		if (!dir_inode->i_op->create)
			goto out_dput;
		file->f_mode |= FMODE_CREATED;
		error = dir_inode->i_op->create(&init_user_ns, dir_inode, dentry, mode, open_flag & O_EXCL);
		if (error)
			goto out_dput;
	}
	error = create_error;
	if (unlikely(create_error) && !dentry->d_inode)
		goto out_dput;
	return dentry;
out_dput:
	dput(dentry);
	return ERR_PTR(error);
}

static const char *open_last_lookups(struct nameidata *nd, struct file *file, const struct open_flags *op)
{
	struct dentry *dir = nd->path.dentry, *dentry;
	int open_flag = op->open_flag;
	bool got_write = false;
	const char *res;

	nd->flags |= op->intent;
	if (nd->last_type != LAST_NORM) {
		if (nd->depth)
			put_link(nd);
		return handle_dots(nd, nd->last_type);
	}
	if (!(open_flag & O_CREAT)) {
		if (nd->last.name[nd->last.len])
			nd->flags |= LOOKUP_FOLLOW | LOOKUP_DIRECTORY;
		dentry = lookup_fast(nd);
		if (IS_ERR(dentry))
			return ERR_CAST(dentry);
		if (likely(dentry))
			goto finish_lookup;
	} else {
		if (nd->flags & LOOKUP_RCU && !try_to_unlazy(nd))
			return ERR_PTR(-ECHILD);
		if (unlikely(nd->last.name[nd->last.len]))
			return ERR_PTR(-EISDIR);
	}
	if (open_flag & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR))
		got_write = !mnt_want_write(nd->path.mnt);
	if (open_flag & O_CREAT)
		inode_lock(dir->d_inode);
	else
		inode_lock_shared(dir->d_inode);
	dentry = lookup_open(nd, file, op, got_write);
	if (open_flag & O_CREAT)
		inode_unlock(dir->d_inode);
	else
		inode_unlock_shared(dir->d_inode);
	if (got_write)
		mnt_drop_write(nd->path.mnt);
	if (IS_ERR(dentry))
		return ERR_CAST(dentry);
	if (file->f_mode & FMODE_CREATED) {
		dput(nd->path.dentry);
		nd->path.dentry = dentry;
		return NULL;
	}
finish_lookup:
	if (nd->depth)
		put_link(nd);
	res = step_into(nd, WALK_TRAILING, dentry);
	if (unlikely(res))
		nd->flags &= ~(LOOKUP_OPEN | LOOKUP_CREATE | LOOKUP_EXCL);
	return res;
}

static int handle_truncate(struct user_namespace *ns, struct file *filp)
{
	struct inode *inode = filp->f_path.dentry->d_inode;
	int error = get_write_access(inode);

	if (error)
		return error;
	error = security_path_truncate(&filp->f_path);
	if (!error)
		error = do_truncate(ns, filp->f_path.dentry, 0, ATTR_MTIME | ATTR_CTIME | ATTR_OPEN, filp);
	put_write_access(inode);
	return error;
}

/* do_open opens what the walk has arrived at. */
static int do_open(struct nameidata *nd, struct file *file, const struct open_flags *op)
{
	int open_flag = op->open_flag, acc_mode = op->acc_mode, error;
	bool truncate = false;

	if (!(file->f_mode & (FMODE_OPENED | FMODE_CREATED))) {
		error = complete_walk(nd);
		if (error)
			return error;
	}
	if (open_flag & O_CREAT) {
		if ((open_flag & O_EXCL) && !(file->f_mode & FMODE_CREATED))
			return -EEXIST;
		if (d_is_dir(nd->path.dentry))
			return -EISDIR;
	}
	if ((nd->flags & LOOKUP_DIRECTORY) && !d_can_lookup(nd->path.dentry))
		return -ENOTDIR;
	if (file->f_mode & FMODE_CREATED) {
		open_flag &= ~O_TRUNC;
		acc_mode = 0;
	} else if (d_is_reg(nd->path.dentry) && open_flag & O_TRUNC) {
		error = mnt_want_write(nd->path.mnt);
		if (error)
			return error;
		truncate = true;
	}
	error = may_open(&init_user_ns, &nd->path, acc_mode, open_flag);
	if (!error && !(file->f_mode & FMODE_OPENED))
		error = vfs_open(&nd->path, file);
	if (!error && truncate)
		error = handle_truncate(&init_user_ns, file);
	if (truncate)
		mnt_drop_write(nd->path.mnt);
	return error;
}

static noinline struct file *path_openat(struct nameidata *nd, const struct open_flags *op, unsigned int flags)
{
	struct file *file = alloc_empty_file(op->open_flag, current_cred());
	const char *s;
	int error;

	if (IS_ERR(file))
		return file;
	s = path_init(nd, flags);
	while (!(error = link_path_walk(s, nd)) && (s = open_last_lookups(nd, file, op)) != NULL)
		;
	if (!error)
		error = do_open(nd, file, op);
	terminate_walk(nd);
	if (likely(!error)) {
		if (likely(file->f_mode & FMODE_OPENED))
			return file;
		error = -EINVAL;
	}
	fput(file);
	return ERR_PTR(error);
}

struct file *do_filp_open(int dfd, struct filename *pathname, const struct open_flags *op)
{
	struct nameidata nd;
	struct file *filp;

	KSCOPE_TRUTH(do_filp_open);
	set_nameidata(&nd, dfd, pathname, NULL);
	filp = path_openat(&nd, op, op->lookup_flags | LOOKUP_RCU);
	if (unlikely(filp == ERR_PTR(-ECHILD)))
		filp = path_openat(&nd, op, op->lookup_flags);
	restore_nameidata();
	return filp;
}

/* Names from user space, and who may do what to an inode (Linux's fs/namei.c). */
#define NAMEI_MAIN
#include "nameidata.h"

/* getname_flags copies a path from user memory; with LOOKUP_EMPTY an empty one is let through and *@empty set. */
noinline struct filename *getname_flags(const char __user *filename, int flags, int *empty)
{
	struct filename *result = kmem_cache_alloc(names_cachep, GFP_KERNEL);
	int len;

	if (unlikely(!result))
		return ERR_PTR(-ENOMEM);
	result->name = result->iname;
	len = strncpy_from_user(result->iname, filename, EMBEDDED_NAME_MAX);
	if (unlikely(len < 0)) {
		kmem_cache_free(names_cachep, result);
		return ERR_PTR(len);
	}
	if (unlikely(len == EMBEDDED_NAME_MAX)) {
		kmem_cache_free(names_cachep, result);
		return ERR_PTR(-ENAMETOOLONG);
	}
	result->refcnt = 1;
	result->uptr = filename;
	if (unlikely(!len)) {
		if (empty)
			*empty = 1;
		if (!(flags & LOOKUP_EMPTY)) {
			putname(result);
			return ERR_PTR(-ENOENT);
		}
	}
	return result;
}

struct filename *getname(const char __user *filename)
{
	return getname_flags(filename, 0, NULL);
}

struct filename *getname_uflags(const char __user *filename, int uflags)
{
	return getname_flags(filename, uflags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0, NULL);
}

struct filename *getname_kernel(const char *filename)
{
	int len = strlen(filename) + 1;
	struct filename *result;

	if (len > (int)EMBEDDED_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	result = kmem_cache_alloc(names_cachep, GFP_KERNEL);
	if (unlikely(!result))
		return ERR_PTR(-ENOMEM);
	result->name = result->iname;
	memcpy(result->iname, filename, len);
	result->uptr = NULL;
	result->refcnt = 1;
	return result;
}

void putname(struct filename *name)
{
	if (IS_ERR(name))
		return;
	if (--name->refcnt > 0)
		return;
	kmem_cache_free(names_cachep, name);
}

/* The nine mode bits, for the class that the caller is in. */
static int acl_permission_check(struct user_namespace *ns, struct inode *inode, int mask)
{
	unsigned int mode = inode->i_mode;

	if (likely(uid_eq(current_fsuid(), inode->i_uid)))
		mode >>= 6;
	else if (gid_eq(current_fsgid(), inode->i_gid))
		mode >>= 3;
	return mask & 7 & ~mode ? -EACCES : 0;
}

noinline int generic_permission(struct user_namespace *ns, struct inode *inode, int mask)
{
	int ret = acl_permission_check(ns, inode, mask);

	if (ret != -EACCES)
		return ret;
	if (S_ISDIR(inode->i_mode)) {
		if (!(mask & MAY_WRITE) && capable(CAP_DAC_READ_SEARCH))
			return 0;
		return capable(CAP_DAC_OVERRIDE) ? 0 : -EACCES;
	}
	mask &= MAY_READ | MAY_WRITE | MAY_EXEC;
	if (mask == MAY_READ && capable(CAP_DAC_READ_SEARCH))
		return 0;
	if (!(mask & MAY_EXEC) || inode->i_mode & S_IXUGO)
		if (capable(CAP_DAC_OVERRIDE))
			return 0;
	return -EACCES;
}

#define IOP_FASTPERM	1

static inline int do_inode_permission(struct user_namespace *ns, struct inode *inode, int mask)
{
	if (unlikely(!(inode->i_opflags & IOP_FASTPERM))) {
		if (likely(inode->i_op->permission))
			return inode->i_op->permission(ns, inode, mask);
		/* remember that there is no method, as Linux does */
		spin_lock(&inode->i_lock);
		inode->i_opflags |= IOP_FASTPERM;
		spin_unlock(&inode->i_lock);
	}
	return generic_permission(ns, inode, mask);
}

static int sb_permission(struct super_block *sb, struct inode *inode, int mask)
{
	if (unlikely(mask & MAY_WRITE)) {
		umode_t mode = inode->i_mode;

		if ((sb->s_flags & SB_RDONLY) && (S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode)))
			return -EROFS;
	}
	return 0;
}

noinline int inode_permission(struct user_namespace *ns, struct inode *inode, int mask)
{
	int retval = sb_permission(inode->i_sb, inode, mask);

	if (retval)
		return retval;
	retval = do_inode_permission(ns, inode, mask);
	if (retval)
		return retval;
	return security_inode_permission(inode, mask);
}

/* In a sticky directory only the owner of the file or of the directory may remove a name. */
static bool check_sticky(struct inode *dir, struct inode *inode)
{
	if (!(dir->i_mode & S_ISVTX))
		return false;
	if (uid_eq(inode->i_uid, current_fsuid()) || uid_eq(dir->i_uid, current_fsuid()))
		return false;
	return !capable(CAP_FOWNER);
}

int may_delete(struct user_namespace *ns, struct inode *dir, struct dentry *victim, bool isdir)
{
	struct inode *inode = d_backing_inode(victim);
	int error;

	if (d_is_negative(victim))
		return -ENOENT;
	error = inode_permission(ns, dir, MAY_WRITE | MAY_EXEC);
	if (error)
		return error;
	if (check_sticky(dir, inode))
		return -EPERM;
	if (isdir) {
		if (!d_is_dir(victim))
			return -ENOTDIR;
		if (IS_ROOT(victim))
			return -EBUSY;
	} else if (d_is_dir(victim)) {
		return -EISDIR;
	}
	if (IS_DEADDIR(dir))
		return -ENOENT;
	return 0;
}

int may_open(struct user_namespace *ns, const struct path *path, int acc_mode, int flag)
{
	struct inode *inode = path->dentry->d_inode;
	int error;

	if (!inode)
		return -ENOENT;
	switch (inode->i_mode & S_IFMT) {
	case S_IFLNK:
		return -ELOOP;
	case S_IFDIR:
		if (acc_mode & MAY_WRITE)
			return -EISDIR;
		if (acc_mode & MAY_EXEC)
			return -EACCES;
		break;
	case S_IFBLK:
	case S_IFCHR:
	case S_IFIFO:
	case S_IFSOCK:
		if (acc_mode & MAY_EXEC)
			return -EACCES;
		flag &= ~O_TRUNC;
		break;
	case S_IFREG:
		if ((acc_mode & MAY_EXEC) && path_noexec(path))
			return -EACCES;
		break;
	}
	error = inode_permission(ns, inode, MAY_OPEN | acc_mode);
	if (error)
		return error;
	if (flag & O_NOATIME && !inode_owner_or_capable(ns, inode))
		return -EPERM;
	return 0;
}

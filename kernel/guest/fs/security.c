/* See security.h: the hooks of Linux's security/security.c with one policy, the modes that were granted at open. */
#include "security.h"
#include "filelock.h"
#include "binfmts.h"
#include "sched.h"

/* A file serves only what it was opened for, at every use. */
int security_file_permission(struct file *file, int mask)
{
	if ((mask & MAY_READ) && !(file->f_mode & FMODE_READ))
		return -EACCES;
	if ((mask & (MAY_WRITE | MAY_APPEND)) && !(file->f_mode & FMODE_WRITE))
		return -EACCES;
	return 0;
}

/* A lock needs a file that is open for something. */
int security_file_lock(struct file *file, unsigned int cmd)
{
	return cmd == F_UNLCK || file->f_mode & (FMODE_READ | FMODE_WRITE) ? 0 : -EBADF;
}

/* Only the owner may hide his reads of a file from its access time. */
int security_file_fcntl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (cmd == F_SETFL && (arg & O_NOATIME) && !(file->f_flags & O_NOATIME) &&
	    !inode_owner_or_capable(&init_user_ns, file_inode(file)))
		return -EPERM;
	return 0;
}

int security_file_open(struct file *file)
{
	/* the credentials of the open are those that later checks go by */
	return file->f_cred ? 0 : -EACCES;
}

int security_file_alloc(struct file *file)
{
	return uid_valid(file->f_cred->fsuid) && gid_valid(file->f_cred->fsgid) ? 0 : -EACCES;
}

void security_file_free(struct file *file)
{
	file->private_data = NULL;
}

/* The path hooks see the mount: none of its names changes while it is read-only. */
static inline int path_writable(const struct path *path)
{
	return path->mnt->mnt_flags & MNT_READONLY ? -EROFS : 0;
}

int security_path_mknod(const struct path *dir, struct dentry *dentry, umode_t mode, unsigned int dev)
{
	return path_writable(dir);
}

int security_path_mkdir(const struct path *dir, struct dentry *dentry, umode_t mode)
{
	return path_writable(dir);
}

int security_path_unlink(const struct path *dir, struct dentry *dentry)
{
	return path_writable(dir);
}

int security_path_rmdir(const struct path *dir, struct dentry *dentry)
{
	return path_writable(dir);
}

int security_path_symlink(const struct path *dir, struct dentry *dentry, const char *old_name)
{
	return path_writable(dir);
}

int security_path_rename(const struct path *old_dir, struct dentry *old_dentry, const struct path *new_dir, struct dentry *new_dentry)
{
	int error = path_writable(old_dir);

	return error ? error : path_writable(new_dir);
}

int security_path_truncate(const struct path *path)
{
	return path_writable(path);
}

int security_inode_permission(struct inode *inode, int mask)
{
	if ((mask & MAY_WRITE) && (inode->i_state & I_CLEAR))
		return -EACCES;		/* nobody may reach a dead inode */
	return 0;
}

int security_inode_create(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return dentry->d_name.len > PATH_MAX_NAME ? -ENAMETOOLONG : 0;
}

int security_inode_symlink(struct inode *dir, struct dentry *dentry, const char *old_name)
{
	return *old_name ? 0 : -ENOENT;
}

int security_inode_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return dentry->d_name.len > PATH_MAX_NAME ? -ENAMETOOLONG : 0;
}

int security_inode_unlink(struct inode *dir, struct dentry *dentry)
{
	return IS_ROOT(dentry) ? -EBUSY : 0;
}

int security_inode_rmdir(struct inode *dir, struct dentry *dentry)
{
	return IS_ROOT(dentry) ? -EBUSY : 0;
}

int security_inode_rename(struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir, struct dentry *new_dentry)
{
	return IS_ROOT(old_dentry) || IS_ROOT(new_dentry) ? -EBUSY : 0;
}

int security_inode_getattr(const struct path *path)
{
	return d_really_is_negative(path->dentry) ? -ENOENT : 0;
}

int security_inode_setattr(struct dentry *dentry, struct iattr *attr)
{
	return attr->ia_valid & ATTR_UID && !uid_valid(attr->ia_uid) ? -EINVAL : 0;
}

int security_inode_readlink(struct dentry *dentry)
{
	return d_is_symlink(dentry) ? 0 : -EINVAL;
}

/* Set-id programs get their identity here, unless the mount forbids it. */
int security_bprm_creds_for_exec(struct linux_binprm *bprm)
{
	struct inode *inode = file_inode(bprm->file);

	if (!mnt_may_suid(bprm->file->f_path.mnt) || bprm->unsafe_share)
		return 0;
	if (inode->i_mode & S_ISUID)
		bprm->cred->euid = bprm->cred->fsuid = inode->i_uid;
	if ((inode->i_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		bprm->cred->egid = bprm->cred->fsgid = inode->i_gid;
	bprm->cred->cap_effective = bprm->cred->euid.val ? 0 : init_cred.cap_effective;
	return 0;
}

int security_bprm_check(struct linux_binprm *bprm)
{
	return bprm->file->f_mode & FMODE_EXEC ? 0 : -EACCES;
}

/* rename (Linux's fs/namei.c: do_renameat2, vfs_rename). */
#include "nameidata.h"
#include "syscalls.h"

#define RENAME_NOREPLACE	1

/* The deeper directory is locked last; renames across directories exclude each other by s_vfs_rename_mutex. */
static DEFINE_MUTEX(s_vfs_rename_mutex);

/* lock_rename locks both parents. Not NULL: the one that is an ancestor of the other's child on that side. */
static struct dentry *lock_rename(struct dentry *p1, struct dentry *p2)
{
	struct dentry *p;

	if (p1 == p2) {
		inode_lock_nested(p1->d_inode, 1);
		return NULL;
	}
	mutex_lock(&s_vfs_rename_mutex);
	for (p = p2; !IS_ROOT(p); p = p->d_parent) {
		if (p->d_parent == p1) {
			inode_lock_nested(p1->d_inode, 1);
			inode_lock_nested(p2->d_inode, 2);
			return p;
		}
	}
	for (p = p1; !IS_ROOT(p); p = p->d_parent) {
		if (p->d_parent == p2) {
			inode_lock_nested(p2->d_inode, 1);
			inode_lock_nested(p1->d_inode, 2);
			return p;
		}
	}
	inode_lock_nested(p1->d_inode, 1);
	inode_lock_nested(p2->d_inode, 2);
	return NULL;
}

static void unlock_rename(struct dentry *p1, struct dentry *p2)
{
	inode_unlock(p1->d_inode);
	if (p1 != p2) {
		inode_unlock(p2->d_inode);
		mutex_unlock(&s_vfs_rename_mutex);
	}
}

int vfs_rename(struct renamedata *rd)
{
	struct dentry *old_dentry = rd->old_dentry, *new_dentry = rd->new_dentry;
	struct inode *source = old_dentry->d_inode, *target = new_dentry->d_inode;
	struct inode *old_dir = rd->old_dir, *new_dir = rd->new_dir;
	bool is_dir = d_is_dir(old_dentry);
	int error;

	if (source == target)
		return 0;
	error = may_delete(&init_user_ns, old_dir, old_dentry, is_dir);
	if (error)
		return error;
	error = target ? may_delete(&init_user_ns, new_dir, new_dentry, is_dir) :
			 may_create(&init_user_ns, new_dir, new_dentry);
	if (error)
		return error;
	if (!old_dir->i_op->rename)
		return -EPERM;
	if (is_dir && new_dir != old_dir) {
		error = inode_permission(&init_user_ns, source, MAY_WRITE);
		if (error)
			return error;
	}
	error = security_inode_rename(old_dir, old_dentry, new_dir, new_dentry);
	if (error)
		return error;
	dget(new_dentry);
	lock_two_nondirectories(source, target);
	if (d_mountpoint(old_dentry) || d_mountpoint(new_dentry))
		error = -EBUSY;
	else
		error = old_dir->i_op->rename(&init_user_ns, old_dir, old_dentry, new_dir, new_dentry, rd->flags);
	if (!error && target) {
		if (is_dir) {
			shrink_dcache_parent(new_dentry);
			target->i_flags |= S_DEAD;
		}
	}
	if (!error)
		d_move(old_dentry, new_dentry);
	unlock_two_nondirectories(source, target);
	dput(new_dentry);
	return error;
}

/* Both parents are locked; @trap is what lock_rename found. */
static int rename_locked(struct path *old, struct qstr *old_last, struct path *new, struct qstr *new_last,
			 struct dentry *trap, unsigned int flags)
{
	struct renamedata rd = { .old_dir = old->dentry->d_inode, .new_dir = new->dentry->d_inode, .flags = flags };
	int error;

	rd.old_dentry = lookup_one_qstr_excl(old_last, old->dentry, 0);
	if (IS_ERR(rd.old_dentry))
		return PTR_ERR(rd.old_dentry);
	error = -ENOENT;
	if (d_is_negative(rd.old_dentry))
		goto exit4;
	rd.new_dentry = lookup_one_qstr_excl(new_last, new->dentry, LOOKUP_RENAME_TARGET);
	error = PTR_ERR(rd.new_dentry);
	if (IS_ERR(rd.new_dentry))
		goto exit4;
	error = -EEXIST;
	if ((flags & RENAME_NOREPLACE) && d_is_positive(rd.new_dentry))
		goto exit5;
	error = -ENOTDIR;
	if (!d_is_dir(rd.old_dentry) && (old_last->name[old_last->len] || new_last->name[new_last->len]))
		goto exit5;
	error = -EINVAL;
	if (rd.old_dentry == trap)
		goto exit5;
	error = -ENOTEMPTY;
	if (rd.new_dentry == trap)
		goto exit5;
	error = security_path_rename(old, rd.old_dentry, new, rd.new_dentry);
	if (!error)
		error = vfs_rename(&rd);
exit5:
	dput(rd.new_dentry);
exit4:
	dput(rd.old_dentry);
	return error;
}

int do_renameat2(int olddfd, struct filename *from, int newdfd, struct filename *to, unsigned int flags)
{
	struct path old_path, new_path;
	struct qstr old_last, new_last;
	struct dentry *trap;
	int old_type, new_type, error = -EINVAL;

	if (flags & ~RENAME_NOREPLACE)
		goto put_names;
	error = __filename_parentat(olddfd, from, 0, &old_path, &old_last, &old_type);
	if (error)
		goto put_names;
	error = __filename_parentat(newdfd, to, 0, &new_path, &new_last, &new_type);
	if (error)
		goto exit1;
	error = -EXDEV;
	if (old_path.mnt != new_path.mnt)
		goto exit2;
	error = -EBUSY;
	if (old_type != LAST_NORM)
		goto exit2;
	if (flags & RENAME_NOREPLACE)
		error = -EEXIST;
	if (new_type != LAST_NORM)
		goto exit2;
	error = mnt_want_write(old_path.mnt);
	if (error)
		goto exit2;
	trap = lock_rename(new_path.dentry, old_path.dentry);
	error = rename_locked(&old_path, &old_last, &new_path, &new_last, trap, flags);
	unlock_rename(new_path.dentry, old_path.dentry);
	mnt_drop_write(old_path.mnt);
exit2:
	path_put(&new_path);
exit1:
	path_put(&old_path);
put_names:
	putname(from);
	putname(to);
	return error;
}

SYSCALL_DEFINE5(renameat2, int, olddfd, const char __user *, oldname, int, newdfd, const char __user *, newname,
		unsigned int, flags)
{
	return do_renameat2(olddfd, getname(oldname), newdfd, getname(newname), flags);
}

SYSCALL_DEFINE4(renameat, int, olddfd, const char __user *, oldname, int, newdfd, const char __user *, newname)
{
	return do_renameat2(olddfd, getname(oldname), newdfd, getname(newname), 0);
}

SYSCALL_DEFINE2(rename, const char __user *, oldname, const char __user *, newname)
{
	return do_renameat2(AT_FDCWD, getname(oldname), AT_FDCWD, getname(newname), 0);
}

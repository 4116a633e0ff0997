/* Changing an inode's attributes (Linux's fs/attr.c). */
#include "namei.h"
#include "security.h"
#include "sched.h"

static bool chown_ok(const struct inode *inode, kuid_t uid)
{
	if (uid_eq(uid, inode->i_uid) && uid_eq(current_fsuid(), inode->i_uid))
		return true;
	return capable(CAP_CHOWN);
}

static bool chgrp_ok(const struct inode *inode, kgid_t gid)
{
	if (uid_eq(current_fsuid(), inode->i_uid) && (gid_eq(gid, inode->i_gid) || gid_eq(gid, current_fsgid())))
		return true;
	return capable(CAP_CHOWN);
}

/* setattr_prepare decides whether the caller may make this change. */
int setattr_prepare(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	unsigned int ia_valid = attr->ia_valid;

	if (ia_valid & ATTR_SIZE && attr->ia_size > inode->i_sb->s_maxbytes)
		return -EFBIG;
	if (ia_valid & ATTR_FORCE)
		return 0;
	if ((ia_valid & ATTR_UID) && !chown_ok(inode, attr->ia_uid))
		return -EPERM;
	if ((ia_valid & ATTR_GID) && !chgrp_ok(inode, attr->ia_gid))
		return -EPERM;
	if (ia_valid & ATTR_MODE) {
		if (!inode_owner_or_capable(ns, inode))
			return -EPERM;
		if (!gid_eq(inode->i_gid, current_fsgid()) && !capable(CAP_FSETID))
			attr->ia_mode &= ~S_ISGID;
	}
	if (ia_valid & (ATTR_MTIME_SET | ATTR_ATIME_SET) && !inode_owner_or_capable(ns, inode))
		return -EPERM;
	return 0;
}

void setattr_copy(struct user_namespace *ns, struct inode *inode, const struct iattr *attr)
{
	unsigned int ia_valid = attr->ia_valid;

	if (ia_valid & ATTR_UID)
		inode->i_uid = attr->ia_uid;
	if (ia_valid & ATTR_GID)
		inode->i_gid = attr->ia_gid;
	if (ia_valid & ATTR_ATIME)
		inode->i_atime = attr->ia_atime;
	if (ia_valid & ATTR_MTIME)
		inode->i_mtime = attr->ia_mtime;
	if (ia_valid & ATTR_CTIME)
		inode->i_ctime = attr->ia_ctime;
	if (ia_valid & ATTR_MODE)
		inode->i_mode = attr->ia_mode;
}

/* Which set-id bits a change of the contents takes away: those of a file that its group may run, unless the caller may keep them. */
noinline int setattr_should_drop_suidgid(struct user_namespace *ns, struct inode *inode)
{
	umode_t mode = inode->i_mode;
	int kill = 0;

	if (mode & S_ISUID)
		kill = S_ISUID;
	if ((mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		kill |= S_ISGID;
	return kill && !capable(CAP_FSETID) && S_ISREG(mode) ? kill : 0;
}

noinline int dentry_needs_remove_privs(struct dentry *dentry)
{
	return setattr_should_drop_suidgid(&init_user_ns, d_inode(dentry));
}

/* Touching to now needs only write access; anything else is setattr_prepare's to refuse. */
static noinline int may_setattr(struct user_namespace *ns, struct inode *inode, unsigned int ia_valid)
{
	unsigned int set = ATTR_ATIME_SET | ATTR_MTIME_SET;

	if (!(ia_valid & (ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_SIZE)) && (ia_valid & (ATTR_ATIME | ATTR_MTIME)) &&
	    !(ia_valid & set) && !inode_owner_or_capable(ns, inode))
		return inode_permission(ns, inode, MAY_WRITE);
	return 0;
}

/* The inode is locked. */
int notify_change(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr, struct inode **delegated)
{
	struct inode *inode = dentry->d_inode;
	unsigned int ia_valid = attr->ia_valid;
	struct timespec64 now;
	int error = may_setattr(ns, inode, ia_valid);

	if (error)
		return error;
	now = current_time(inode);
	attr->ia_ctime = now;
	if (!(ia_valid & ATTR_ATIME_SET))
		attr->ia_atime = now;
	if (!(ia_valid & ATTR_MTIME_SET))
		attr->ia_mtime = now;
	error = security_inode_setattr(dentry, attr);
	if (error)
		return error;
	if (inode->i_op->setattr)
		return inode->i_op->setattr(ns, dentry, attr);
	return simple_setattr(ns, dentry, attr);
}

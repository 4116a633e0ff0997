/* /proc/self (Linux's fs/proc/self.c): the text is in the inode, so a dentry found by another process is looked up anew. */
#include "proc_fs.h"
#include "namei.h"
#include "sched.h"
#include "string.h"

static int proc_self_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = d_inode_rcu(dentry);

	return inode && simple_strtoul(READ_ONCE(inode->i_link), NULL, 10) == (unsigned long)current->tgid;
}

static const struct dentry_operations proc_self_dentry_operations = {
	.d_revalidate = proc_self_revalidate,
	.d_delete = always_delete_dentry,
};

static const struct inode_operations proc_self_inode_operations = { .get_link = simple_get_link };

struct dentry *proc_self_lookup(struct dentry *dentry)
{
	struct inode *inode = new_inode(dentry->d_sb);

	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode->i_mode = S_IFLNK | 0777;
	inode->i_op = &proc_self_inode_operations;
	inode->i_ino = 2;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	inode->i_link = kasprintf(GFP_KERNEL, "%d", current->tgid);
	if (!inode->i_link) {
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	d_set_d_op(dentry, &proc_self_dentry_operations);
	d_add(dentry, inode);
	return NULL;
}

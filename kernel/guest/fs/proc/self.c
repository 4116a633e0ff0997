/* /proc/self and /proc/thread-self (Linux's fs/proc/self.c, thread_self.c): the text is in the inode, so a dentry found by another process is looked up anew. */
#include "proc_fs.h"
#include "namei.h"
#include "sched.h"
#include "string.h"

static char *self_text(bool thread)
{
	return thread ? kasprintf(GFP_KERNEL, "%d/task/%d", current->tgid, current->pid) : kasprintf(GFP_KERNEL, "%d", current->tgid);
}

static int proc_self_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = d_inode_rcu(dentry);
	const char *link, *slash;

	if (!inode)
		return 0;
	link = READ_ONCE(inode->i_link);
	slash = strrchr(link, '/');
	return simple_strtoul(link, NULL, 10) == (unsigned long)current->tgid &&
	       (!slash || simple_strtoul(slash + 1, NULL, 10) == (unsigned long)current->pid);
}

static const struct dentry_operations proc_self_dentry_operations = {
	.d_revalidate = proc_self_revalidate,
	.d_delete = always_delete_dentry,
};

static const struct inode_operations proc_self_inode_operations = { .get_link = simple_get_link };

struct dentry *proc_self_lookup(struct dentry *dentry, bool thread)
{
	struct inode *inode = new_inode(dentry->d_sb);

	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode->i_mode = S_IFLNK | 0777;
	inode->i_op = &proc_self_inode_operations;
	inode->i_ino = thread ? 3 : 2;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	inode->i_link = self_text(thread);
	if (!inode->i_link) {
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	d_set_d_op(dentry, &proc_self_dentry_operations);
	d_add(dentry, inode);
	return NULL;
}

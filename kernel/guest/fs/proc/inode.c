/*
 * Files of modules (Linux's fs/proc/inode.c, generic.c). A call is under way between use_pde() and unuse_pde(); who removes the
 * entry waits for those, and then closes what is open, so that nothing leads into the module when it goes.
 */
#include "proc_fs.h"
#include "completion.h"
#include "rcupdate.h"
#include "slab.h"
#include "sched.h"

#define BIAS	(-1 << 30)

/* Who has the file open and has a release function to be called. */
struct pde_opener {
	struct list_head lh;
	struct file *file;
	bool closing;
	struct completion *c;
};

void *pde_data(const struct inode *inode)
{
	return ((struct proc_dir_entry *)inode->i_private)->data;
}

void pde_put(struct proc_dir_entry *de)
{
	if (atomic_dec_return(&de->refcnt))
		return;
	kfree(de->name);
	kfree(de);
}

static noinline bool use_pde(struct proc_dir_entry *pde)
{
	int n = atomic_read(&pde->in_use);

	do {
		if (n < 0)
			return false;
	} while (!atomic_try_cmpxchg(&pde->in_use, &n, n + 1));
	return true;
}

static noinline void unuse_pde(struct proc_dir_entry *pde)
{
	if (atomic_dec_return(&pde->in_use) == BIAS)
		complete(pde->pde_unload_completion);
}

static noinline ssize_t proc_reg_read(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	struct proc_dir_entry *pde = file_inode(file)->i_private;
	ssize_t rv = -EIO;

	if (use_pde(pde)) {
		if (pde->proc_ops->proc_read)
			rv = pde->proc_ops->proc_read(file, buf, count, ppos);
		else if (pde->proc_ops->proc_read_iter == seq_read_iter)
			rv = seq_read(file, buf, count, ppos);
		unuse_pde(pde);
	}
	return rv;
}

static noinline ssize_t proc_reg_write(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	struct proc_dir_entry *pde = file_inode(file)->i_private;
	ssize_t rv = -EIO;

	if (use_pde(pde)) {
		if (pde->proc_ops->proc_write)
			rv = pde->proc_ops->proc_write(file, buf, count, ppos);
		unuse_pde(pde);
	}
	return rv;
}

static noinline loff_t proc_reg_llseek(struct file *file, loff_t offset, int whence)
{
	struct proc_dir_entry *pde = file_inode(file)->i_private;
	loff_t rv = -EINVAL;

	if (use_pde(pde)) {
		rv = pde->proc_ops->proc_lseek ? pde->proc_ops->proc_lseek(file, offset, whence) : -ESPIPE;
		unuse_pde(pde);
	}
	return rv;
}

static noinline long proc_reg_unlocked_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct proc_dir_entry *pde = file_inode(file)->i_private;
	long rv = -ENOTTY;

	if (use_pde(pde)) {
		if (pde->proc_ops->proc_ioctl)
			rv = pde->proc_ops->proc_ioctl(file, cmd, arg);
		unuse_pde(pde);
	}
	return rv;
}

/* pde_unload_lock held, and given back: whoever comes first closes, the other waits. */
static noinline void close_pdeo(struct proc_dir_entry *pde, struct pde_opener *pdeo)
{
	if (pdeo->closing) {
		DECLARE_COMPLETION_ONSTACK(c);

		pdeo->c = &c;
		spin_unlock(&pde->pde_unload_lock);
		wait_for_completion(&c);
		return;
	}
	pdeo->closing = true;
	spin_unlock(&pde->pde_unload_lock);
	pde->proc_ops->proc_release(file_inode(pdeo->file), pdeo->file);
	spin_lock(&pde->pde_unload_lock);
	list_del(&pdeo->lh);
	if (pdeo->c)
		complete(pdeo->c);
	spin_unlock(&pde->pde_unload_lock);
	kfree(pdeo);
}

static noinline int proc_reg_open(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *pde = inode->i_private;
	struct pde_opener *pdeo = NULL;
	int rv = 0;

	if (!use_pde(pde))
		return -ENOENT;
	if (pde->proc_ops->proc_release) {
		pdeo = kzalloc(sizeof(*pdeo), GFP_KERNEL);
		if (!pdeo) {
			rv = -ENOMEM;
			goto out;
		}
	}
	if (!pde->proc_ops->proc_lseek)
		file->f_mode &= ~FMODE_LSEEK;
	if (pde->proc_ops->proc_open)
		rv = pde->proc_ops->proc_open(inode, file);
	if (!rv && pdeo) {
		pdeo->file = file;
		spin_lock(&pde->pde_unload_lock);
		list_add(&pdeo->lh, &pde->pde_openers);
		spin_unlock(&pde->pde_unload_lock);
	} else {
		kfree(pdeo);
	}
out:
	unuse_pde(pde);
	return rv;
}

static noinline int proc_reg_release(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *pde = inode->i_private;
	struct pde_opener *pdeo;

	spin_lock(&pde->pde_unload_lock);
	list_for_each_entry(pdeo, &pde->pde_openers, lh) {
		if (pdeo->file == file) {
			close_pdeo(pde, pdeo);
			return 0;
		}
	}
	spin_unlock(&pde->pde_unload_lock);
	return 0;
}

const struct file_operations proc_reg_ops_file_ops = {
	.open = proc_reg_open, .read = proc_reg_read, .write = proc_reg_write, .llseek = proc_reg_llseek,
	.unlocked_ioctl = proc_reg_unlocked_ioctl, .release = proc_reg_release,
};

static noinline void proc_entry_rundown(struct proc_dir_entry *de)
{
	DECLARE_COMPLETION_ONSTACK(c);

	de->pde_unload_completion = &c;
	if (atomic_add_return(BIAS, &de->in_use) != BIAS)
		wait_for_completion(&c);
	spin_lock(&de->pde_unload_lock);
	while (!list_empty(&de->pde_openers)) {
		close_pdeo(de, list_first_entry(&de->pde_openers, struct pde_opener, lh));
		spin_lock(&de->pde_unload_lock);
	}
	spin_unlock(&de->pde_unload_lock);
}

struct proc_dir_entry *proc_create_data(const char *name, umode_t mode, struct proc_dir_entry *parent, const struct proc_ops *ops, void *data)
{
	char *copy = kstrdup(name, GFP_KERNEL);
	struct proc_dir_entry *de = copy ? proc_register(copy, 0, parent) : NULL;

	if (!de) {
		kfree(copy);
		return NULL;
	}
	de->proc_ops = ops;
	de->data = data;
	smp_store_release(&de->mode, (mode & S_IALLUGO ? mode : mode | 0444) | S_IFREG);
	return de;
}

struct proc_dir_entry *proc_create(const char *name, umode_t mode, struct proc_dir_entry *parent, const struct proc_ops *ops)
{
	return proc_create_data(name, mode, parent, ops, NULL);
}

void proc_remove(struct proc_dir_entry *de)
{
	if (de)
		remove_proc_entry(de->name, de->parent);
}

void remove_proc_entry(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *de = proc_unregister(name, parent);

	if (!de) {
		WARN(1, "name '%s'\n", name);
		return;
	}
	synchronize_rcu();	/* lookups that are on their way through the list */
	if (de->proc_ops)
		proc_entry_rundown(de);
	pde_put(de);
}

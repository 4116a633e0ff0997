/* Devices that share major number 10, each with a minor of its own (Linux's drivers/char/misc.c). */
#include "fs.h"
#include "init.h"
#include "list.h"
#include "module.h"
#include "mutex.h"
#include "proc_fs.h"
#include "seq_file.h"
#include "miscdevice.h"

#define DYNAMIC_MINORS	128

static LIST_HEAD(misc_list);
static DEFINE_MUTEX(misc_mtx);

static struct miscdevice *misc_find(int minor)
{
	struct miscdevice *c;

	list_for_each_entry(c, &misc_list, list)
		if (c->minor == minor)
			return c;
	return NULL;
}

static noinline int misc_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fops = NULL;
	struct miscdevice *c;

	mutex_lock(&misc_mtx);
	c = misc_find(MINOR(inode->i_rdev));
	if (c)
		fops = fops_get(c->fops);
	mutex_unlock(&misc_mtx);
	if (!fops)
		return -ENODEV;
	file->private_data = c;
	replace_fops(file, fops);
	return file->f_op->open ? file->f_op->open(inode, file) : 0;
}

static const struct file_operations misc_fops = { .open = misc_open, .llseek = noop_llseek };

noinline int misc_register(struct miscdevice *misc)
{
	bool dynamic = misc->minor == MISC_DYNAMIC_MINOR;
	int err = 0;

	INIT_LIST_HEAD(&misc->list);
	mutex_lock(&misc_mtx);
	if (dynamic) {
		for (misc->minor = DYNAMIC_MINORS - 1; misc->minor >= 0 && misc_find(misc->minor); misc->minor--)
			;
		if (misc->minor < 0)
			err = -EBUSY;
	} else if (misc_find(misc->minor)) {
		err = -EBUSY;
	}
	if (!err)
		err = devtmpfs_create_node(misc->nodename ?: misc->name, S_IFCHR | (misc->mode ?: 0600), MKDEV(MISC_MAJOR, misc->minor));
	if (!err)
		list_add(&misc->list, &misc_list);
	else if (dynamic)
		misc->minor = MISC_DYNAMIC_MINOR;
	mutex_unlock(&misc_mtx);
	return err;
}

noinline void misc_deregister(struct miscdevice *misc)
{
	if (WARN_ON(list_empty(&misc->list)))
		return;
	mutex_lock(&misc_mtx);
	list_del_init(&misc->list);
	devtmpfs_delete_node(misc->nodename ?: misc->name);
	mutex_unlock(&misc_mtx);
}

static int misc_seq_show(struct seq_file *seq, void *v)
{
	struct miscdevice *c;

	mutex_lock(&misc_mtx);
	list_for_each_entry(c, &misc_list, list)
		seq_printf(seq, "%3i %s\n", c->minor, c->name ?: "");
	mutex_unlock(&misc_mtx);
	return 0;
}

static int __init misc_init(void)
{
	proc_create_single("misc", 0, NULL, misc_seq_show);
	return register_chrdev(MISC_MAJOR, "misc", &misc_fops);
}
fs_initcall(misc_init);

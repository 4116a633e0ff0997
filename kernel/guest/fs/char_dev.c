/* Character devices by number (Linux's fs/char_dev.c): opening the inode hands the file over to the driver. */
#include "fs.h"
#include "slab.h"

struct char_device_struct {
	struct char_device_struct *next;
	unsigned int major;
	const char *name;
	const struct file_operations *fops;
};

static struct char_device_struct *chrdevs;
static DEFINE_MUTEX(chrdevs_lock);

int __register_chrdev(unsigned int major, const char *name, const struct file_operations *fops)
{
	struct char_device_struct *cd = kzalloc(sizeof(*cd), GFP_KERNEL);

	if (!cd)
		return -ENOMEM;
	cd->major = major;
	cd->name = name;
	cd->fops = fops;
	mutex_lock(&chrdevs_lock);
	cd->next = chrdevs;
	chrdevs = cd;
	mutex_unlock(&chrdevs_lock);
	return 0;
}

static const struct file_operations *cdev_get(unsigned int major)
{
	const struct file_operations *fops = NULL;
	struct char_device_struct *cd;

	mutex_lock(&chrdevs_lock);
	for (cd = chrdevs; cd; cd = cd->next) {
		if (cd->major == major) {
			fops = cd->fops;
			break;
		}
	}
	mutex_unlock(&chrdevs_lock);
	return fops;
}

static int chrdev_open(struct inode *inode, struct file *filp)
{
	const struct file_operations *fops = cdev_get(MAJOR(inode->i_rdev));

	if (!fops)
		return -ENXIO;
	filp->f_op = fops;
	if (filp->f_op->open)
		return filp->f_op->open(inode, filp);
	return 0;
}

const struct file_operations def_chr_fops = { .open = chrdev_open, .llseek = noop_llseek };

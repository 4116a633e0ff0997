/* Character devices by number (Linux's fs/char_dev.c): opening the inode hands the file over to the driver. */
#include "fs.h"
#include "module.h"
#include "slab.h"

#define CHRDEV_MAJOR_DYN_END	234

/* A driver has all minors of its number. */
struct char_device_struct {
	struct char_device_struct *next;
	unsigned int major;
	const char *name;
	const struct file_operations *fops;
};

static struct char_device_struct *chrdevs;
static DEFINE_MUTEX(chrdevs_lock);

static struct char_device_struct *find_chrdev(unsigned int major)
{
	struct char_device_struct *cd;

	for (cd = chrdevs; cd && cd->major != major; cd = cd->next)
		;
	return cd;
}

static int find_dynamic_major(void)
{
	for (int major = 254; major >= CHRDEV_MAJOR_DYN_END; major--)
		if (!find_chrdev(major))
			return major;
	return -EBUSY;
}

/* @major 0: one that is free, which is returned. */
int __register_chrdev(unsigned int major, const char *name, const struct file_operations *fops)
{
	struct char_device_struct *cd = kzalloc(sizeof(*cd), GFP_KERNEL);
	int ret = 0;

	if (!cd)
		return -ENOMEM;
	mutex_lock(&chrdevs_lock);
	if (!major)
		major = ret = find_dynamic_major();
	else if (find_chrdev(major))
		ret = -EBUSY;
	if (ret < 0) {
		mutex_unlock(&chrdevs_lock);
		kfree(cd);
		return ret;
	}
	cd->major = major;
	cd->name = name;
	cd->fops = fops;
	cd->next = chrdevs;
	chrdevs = cd;
	mutex_unlock(&chrdevs_lock);
	return ret;
}

void unregister_chrdev(unsigned int major, const char *name)
{
	struct char_device_struct **p, *cd = NULL;

	mutex_lock(&chrdevs_lock);
	for (p = &chrdevs; *p; p = &(*p)->next) {
		if ((*p)->major == major) {
			cd = *p;
			*p = cd->next;
			break;
		}
	}
	mutex_unlock(&chrdevs_lock);
	kfree(cd);
}

static const struct file_operations *cdev_get(unsigned int major)
{
	struct char_device_struct *cd;
	const struct file_operations *fops;

	mutex_lock(&chrdevs_lock);
	cd = find_chrdev(major);
	fops = cd ? fops_get(cd->fops) : NULL;
	mutex_unlock(&chrdevs_lock);
	return fops;
}

static int chrdev_open(struct inode *inode, struct file *filp)
{
	const struct file_operations *fops = cdev_get(MAJOR(inode->i_rdev));

	if (!fops)
		return -ENXIO;
	replace_fops(filp, fops);
	if (filp->f_op->open)
		return filp->f_op->open(inode, filp);
	return 0;
}

const struct file_operations def_chr_fops = { .open = chrdev_open, .llseek = noop_llseek };

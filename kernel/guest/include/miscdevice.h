#pragma once
/* Devices with one minor number each (include/linux/miscdevice.h; drivers/char/misc.c). */
#include "fs.h"

#define MISC_MAJOR		10
#define MISC_DYNAMIC_MINOR	255

struct miscdevice {
	int minor;			/* MISC_DYNAMIC_MINOR: any */
	const char *name;
	const struct file_operations *fops;
	struct list_head list;
	const char *nodename;		/* of /dev; NULL: name */
	umode_t mode;			/* 0: 0600 */
};

int misc_register(struct miscdevice *misc);
void misc_deregister(struct miscdevice *misc);
#define module_misc_device(dev)								\
	static int __init dev##_init(void) { return misc_register(&dev); }		\
	static void __exit dev##_exit(void) { misc_deregister(&dev); }			\
	module_init(dev##_init);							\
	module_exit(dev##_exit)

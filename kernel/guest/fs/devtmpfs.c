/* Device nodes that drivers make and remove, straight in the root file system (Linux's drivers/base/devtmpfs.c, init/noinitramfs.c). */
#include "namei.h"
#include "fdtable.h"
#include "sched.h"
#include "internal.h"

/* mknod of an absolute path with exactly @mode. */
int vfs_mknod_path(const char *path, umode_t mode, dev_t dev)
{
	struct path dir;
	struct dentry *dentry = kern_path_create(AT_FDCWD, path, &dir, 0);
	int err;

	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	err = vfs_mknod(&init_user_ns, dir.dentry->d_inode, dentry, mode, dev);
	done_path_create(&dir, dentry);
	return err;
}

int devtmpfs_create_node(const char *name, umode_t mode, dev_t dev)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/%s", name);
	return vfs_mknod_path(path, mode, dev);
}

int devtmpfs_delete_node(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/%s", name);
	return do_unlinkat(AT_FDCWD, getname_kernel(path));
}

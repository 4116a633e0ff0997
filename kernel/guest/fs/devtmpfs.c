/* Device nodes that drivers make at boot, straight in the root file system (Linux's drivers/base/devtmpfs.c, init/noinitramfs.c). */
#include "namei.h"
#include "fdtable.h"
#include "sched.h"
#include "init.h"

/* mknod of an absolute path with exactly @mode. */
int __init vfs_mknod_path(const char *path, umode_t mode, dev_t dev)
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

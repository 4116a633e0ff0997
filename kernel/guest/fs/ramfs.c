/* A file system whose only store is the page cache and the dentry cache; also the root (Linux's fs/ramfs, init/do_mounts.c). */
#include "fs.h"
#include "slab.h"
#include "sched.h"
#include "mm.h"
#include "pagemap.h"

#define RAMFS_MAGIC	0x858458f6

static const struct inode_operations ramfs_dir_inode_operations, ramfs_file_inode_operations, ramfs_symlink_inode_operations;
static const struct file_operations ramfs_file_operations;

static struct inode *ramfs_get_inode(struct super_block *sb, const struct inode *dir, umode_t mode, dev_t dev)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode->i_ino = get_next_ino();
	inode_init_owner(&init_user_ns, inode, dir, mode);
	inode->i_mapping->a_ops = &ram_aops;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	switch (mode & S_IFMT) {
	default:
		init_special_inode(inode, mode, dev);
		break;
	case S_IFREG:
		inode->i_op = &ramfs_file_inode_operations;
		inode->i_fop = &ramfs_file_operations;
		break;
	case S_IFDIR:
		inode->i_op = &ramfs_dir_inode_operations;
		inode->i_fop = &simple_dir_operations;
		inc_nlink(inode);	/* its own "." */
		break;
	case S_IFLNK:
		inode->i_op = &ramfs_symlink_inode_operations;
		break;
	}
	return inode;
}

static int ramfs_mknod(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct inode *inode = ramfs_get_inode(dir->i_sb, dir, mode, dev);

	if (!inode)
		return -ENOSPC;
	d_instantiate(dentry, inode);
	dget(dentry);	/* the file's own reference: it exists as long as its name */
	dir->i_mtime = dir->i_ctime = current_time(dir);
	return 0;
}

static int ramfs_mkdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	int retval = ramfs_mknod(ns, dir, dentry, mode | S_IFDIR, 0);

	if (!retval)
		inc_nlink(dir);
	return retval;
}

static int ramfs_create(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, bool excl)
{
	return ramfs_mknod(ns, dir, dentry, mode | S_IFREG, 0);
}

/* Linux keeps a ramfs link's text in a page; ours is in i_link, as in tmpfs. */
static int ramfs_symlink(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, const char *symname)
{
	struct inode *inode = ramfs_get_inode(dir->i_sb, dir, S_IFLNK | S_IRWXUGO, 0);

	if (!inode)
		return -ENOSPC;
	inode->i_link = kstrdup(symname, GFP_KERNEL);
	if (!inode->i_link) {
		iput(inode);
		return -ENOMEM;
	}
	inode->i_size = strlen(symname);
	d_instantiate(dentry, inode);
	dget(dentry);
	dir->i_mtime = dir->i_ctime = current_time(dir);
	return 0;
}

static const struct super_operations ramfs_ops = { .drop_inode = generic_delete_inode };

static const struct inode_operations ramfs_dir_inode_operations = {
	.create = ramfs_create,
	.lookup = simple_lookup,
	.link = simple_link,
	.unlink = simple_unlink,
	.symlink = ramfs_symlink,
	.mkdir = ramfs_mkdir,
	.rmdir = simple_rmdir,
	.mknod = ramfs_mknod,
	.rename = simple_rename,
};

static const struct inode_operations ramfs_file_inode_operations = {
	.setattr = simple_setattr,
	.getattr = simple_getattr,
};

static const struct inode_operations ramfs_symlink_inode_operations = { .get_link = simple_get_link };

static const struct file_operations ramfs_file_operations = {
	.read_iter = generic_file_read_iter,
	.write_iter = generic_file_write_iter,
	.mmap = generic_file_mmap,
	.fsync = noop_fsync,
	.llseek = generic_file_llseek,
	.splice_read = generic_file_splice_read,
	.splice_write = iter_file_splice_write,
};

static int ramfs_fill_super(struct super_block *sb, void *data)
{
	sb->s_magic = RAMFS_MAGIC;
	sb->s_op = &ramfs_ops;
	sb->s_root = d_make_root(ramfs_get_inode(sb, NULL, S_IFDIR | 0755, 0));
	return sb->s_root ? 0 : -ENOMEM;
}

struct file_system_type ramfs_fs_type = { .name = "ramfs", .fill_super = ramfs_fill_super };
struct file_system_type rootfs_fs_type = { .name = "rootfs", .fill_super = ramfs_fill_super };

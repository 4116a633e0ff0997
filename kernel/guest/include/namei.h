/* Path walking (Linux's include/linux/namei.h, fs/internal.h). */
#ifndef _NAMEI_H
#define _NAMEI_H
#include "fs.h"

#define MAXSYMLINKS	40

enum { LAST_NORM, LAST_ROOT, LAST_DOT, LAST_DOTDOT };

#define LOOKUP_FOLLOW		0x0001
#define LOOKUP_DIRECTORY	0x0002
#define LOOKUP_AUTOMOUNT	0x0004
#define LOOKUP_EMPTY		0x4000
#define LOOKUP_REVAL		0x0020
#define LOOKUP_RCU		0x0040
#define LOOKUP_OPEN		0x0100
#define LOOKUP_CREATE		0x0200
#define LOOKUP_EXCL		0x0400
#define LOOKUP_RENAME_TARGET	0x0800
#define LOOKUP_PARENT		0x0010

struct nameidata;

struct filename *getname_flags(const char __user *filename, int flags, int *empty);
struct filename *getname(const char __user *filename);
struct filename *getname_uflags(const char __user *filename, int uflags);
int nd_jump_link(const struct path *path);
int readlink_copy(char __user *buffer, int buflen, const char *link);
struct filename *getname_kernel(const char *filename);
void putname(struct filename *name);
struct file *do_filp_open(int dfd, struct filename *pathname, const struct open_flags *op);
int filename_lookup(int dfd, struct filename *name, unsigned int flags, struct path *path, struct path *root);
int user_path_at_empty(int dfd, const char __user *name, unsigned int flags, struct path *path, int *empty);
int kern_path(const char *name, unsigned int flags, struct path *path);
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name, unsigned int flags, struct path *path);
struct dentry *filename_create(int dfd, struct filename *name, struct path *path, unsigned int lookup_flags);
struct dentry *kern_path_create(int dfd, const char *pathname, struct path *path, unsigned int lookup_flags);
struct dentry *lookup_one_qstr_excl(const struct qstr *name, struct dentry *base, unsigned int flags);
struct dentry *lookup_one_len(const char *name, struct dentry *base, int len);
void done_path_create(struct path *path, struct dentry *dentry);
int __filename_parentat(int dfd, struct filename *name, unsigned int flags, struct path *parent, struct qstr *last, int *type);
int inode_permission(struct user_namespace *ns, struct inode *inode, int mask);
int generic_permission(struct user_namespace *ns, struct inode *inode, int mask);
int may_delete(struct user_namespace *ns, struct inode *dir, struct dentry *victim, bool isdir);
int may_open(struct user_namespace *ns, const struct path *path, int acc_mode, int flag);
int vfs_create(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, bool excl);
int vfs_mknod(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode, dev_t dev);
int vfs_mkdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode);
int vfs_rmdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry);
int vfs_unlink(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, struct inode **delegated);
int vfs_symlink(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, const char *oldname);
int vfs_link(struct dentry *old_dentry, struct user_namespace *ns, struct inode *dir, struct dentry *new_dentry,
	     struct inode **delegated);
struct renamedata {
	struct inode *old_dir, *new_dir;
	struct dentry *old_dentry, *new_dentry;
	unsigned int flags;
};
int vfs_rename(struct renamedata *rd);
int do_mkdirat(int dfd, struct filename *name, umode_t mode);
int do_rmdir(int dfd, struct filename *name);
int do_unlinkat(int dfd, struct filename *name);
int do_symlinkat(struct filename *from, int newdfd, struct filename *to);
int do_renameat2(int olddfd, struct filename *from, int newdfd, struct filename *to, unsigned int flags);
int do_linkat(int olddfd, struct filename *old, int newdfd, struct filename *new, int flags);

static inline bool lookup_dotdot(const char *s, unsigned int len)
{
	return s[0] == '.' && (len == 1 || (len == 2 && s[1] == '.'));
}
#endif

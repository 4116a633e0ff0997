/*
 * Security hooks: where Linux asks its security modules. Ours has one policy, the mode bits and open modes that the callers
 * have already been given, checked again at each use (security/security.c).
 */
#ifndef _SECURITY_H
#define _SECURITY_H
#include "fs.h"

struct linux_binprm;

int security_file_permission(struct file *file, int mask);
int security_file_lock(struct file *file, unsigned int cmd);
int security_file_fcntl(struct file *file, unsigned int cmd, unsigned long arg);
int security_file_open(struct file *file);
int security_file_alloc(struct file *file);
void security_file_free(struct file *file);
int security_path_mknod(const struct path *dir, struct dentry *dentry, umode_t mode, unsigned int dev);
int security_path_mkdir(const struct path *dir, struct dentry *dentry, umode_t mode);
int security_path_unlink(const struct path *dir, struct dentry *dentry);
int security_path_rmdir(const struct path *dir, struct dentry *dentry);
int security_path_symlink(const struct path *dir, struct dentry *dentry, const char *old_name);
int security_path_rename(const struct path *old_dir, struct dentry *old_dentry, const struct path *new_dir, struct dentry *new_dentry);
int security_path_truncate(const struct path *path);
int security_inode_permission(struct inode *inode, int mask);
int security_inode_create(struct inode *dir, struct dentry *dentry, umode_t mode);
int security_inode_unlink(struct inode *dir, struct dentry *dentry);
int security_inode_symlink(struct inode *dir, struct dentry *dentry, const char *old_name);
int security_inode_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode);
int security_inode_rmdir(struct inode *dir, struct dentry *dentry);
int security_inode_rename(struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir, struct dentry *new_dentry);
int security_inode_getattr(const struct path *path);
int security_inode_setattr(struct dentry *dentry, struct iattr *attr);
int security_inode_readlink(struct dentry *dentry);
int security_bprm_creds_for_exec(struct linux_binprm *bprm);
int security_bprm_check(struct linux_binprm *bprm);
#endif

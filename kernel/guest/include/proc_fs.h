/* procfs (Linux's include/linux/proc_fs.h, fs/proc). */
#ifndef _PROC_FS_H
#define _PROC_FS_H
#include "fs.h"
#include "seq_file.h"

#define PROC_SUPER_MAGIC	0x9fa0
#define PROC_ROOT_INO		1

/* A static entry, known by its name in its parent; a directory has children, a link a target. */
struct proc_dir_entry {
	const char *name;
	umode_t mode;
	unsigned int ino;
	struct proc_dir_entry *parent, *subdir, *next;
	int (*show)(struct seq_file *m, void *v);	/* of one record, or: */
	const struct seq_operations *seq_ops;
	const char *link;
	const struct file_operations *fops;		/* of the files of /proc/sys */
	struct ctl_table *ctl;
	/* of a module's file, fs/proc/inode.c: */
	const struct proc_ops *proc_ops;
	void *data;
	atomic_t refcnt;		/* inodes, and the tree */
	atomic_t in_use;		/* calls under way; far below zero: removed */
	struct completion *pde_unload_completion;
	struct list_head pde_openers;
	spinlock_t pde_unload_lock;	/* the openers */
};

/* A file of a module: the calls keep no reference to it, the entry waits for them when it goes. */
struct proc_ops {
	unsigned int proc_flags;
	int (*proc_open)(struct inode *, struct file *);
	ssize_t (*proc_read)(struct file *, char __user *, size_t, loff_t *);
	ssize_t (*proc_read_iter)(struct kiocb *, struct iov_iter *);
	ssize_t (*proc_write)(struct file *, const char __user *, size_t, loff_t *);
	loff_t (*proc_lseek)(struct file *, loff_t, int);
	int (*proc_release)(struct inode *, struct file *);
	unsigned int (*proc_poll)(struct file *, struct poll_table_struct *);
	long (*proc_ioctl)(struct file *, unsigned int, unsigned long);
};

extern struct proc_dir_entry proc_root;

struct proc_dir_entry *proc_create_data(const char *name, umode_t mode, struct proc_dir_entry *parent, const struct proc_ops *ops, void *data);
struct proc_dir_entry *proc_create(const char *name, umode_t mode, struct proc_dir_entry *parent, const struct proc_ops *ops);
void remove_proc_entry(const char *name, struct proc_dir_entry *parent);
void proc_remove(struct proc_dir_entry *de);
void *pde_data(const struct inode *inode);
void pde_put(struct proc_dir_entry *de);
struct proc_dir_entry *proc_register(const char *name, umode_t mode, struct proc_dir_entry *parent);
struct proc_dir_entry *proc_unregister(const char *name, struct proc_dir_entry *parent);
extern const struct file_operations proc_reg_ops_file_ops;

struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent);
#define proc_create_single(name, mode, parent, show)	proc_create_single_data(name, mode, parent, show)
#define proc_create_seq(name, mode, parent, ops)	proc_create_seq_private(name, mode, parent, ops)
struct proc_dir_entry *proc_create_single_data(const char *name, umode_t mode, struct proc_dir_entry *parent,
					  int (*show)(struct seq_file *, void *));
struct proc_dir_entry *proc_create_seq_private(const char *name, umode_t mode, struct proc_dir_entry *parent,
				       const struct seq_operations *ops);
struct proc_dir_entry *proc_symlink(const char *name, struct proc_dir_entry *parent, const char *dest);

struct inode *proc_get_inode(struct super_block *sb, struct proc_dir_entry *de);
struct dentry *proc_lookup_de(struct inode *dir, struct dentry *dentry, struct proc_dir_entry *de);
int proc_readdir_de(struct file *file, struct dir_context *ctx, struct proc_dir_entry *de);
struct dentry *proc_pid_lookup(struct dentry *dentry, unsigned int flags);
int proc_pid_readdir(struct file *file, struct dir_context *ctx);
void proc_misc_init(void);
struct dentry *proc_self_lookup(struct dentry *dentry, bool thread);
void proc_pid_evict_inode(struct inode *inode);
int filesystems_proc_show(struct seq_file *m, void *v);	/* fs/namespace.c */
int show_vfsmnt(struct seq_file *m, void *v);	/* fs/namespace.c */
#endif

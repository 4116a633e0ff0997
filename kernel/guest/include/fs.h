/*
 * The virtual file system's types: inode, file, super_block and their operations (Linux's include/linux/fs.h).
 * Names and structure are Linux 6.1's; fields that nothing here uses are left out.
 */
#ifndef _FS_H
#define _FS_H
#include "types.h"
#include "kernel.h"
#include "atomic.h"
#include "list.h"
#include "spinlock.h"
#include "mutex.h"
#include "rwsem.h"
#include "rbtree.h"
#include "wait.h"
#include "ktime.h"
#include "cred.h"
#include "stat.h"
#include "fcntl.h"
#include "xarray.h"
#include "uio.h"
#include "dcache.h"
#include "mount.h"

struct file;
struct iattr;
struct folio;
struct vm_area_struct;
struct filename;
struct seq_file;
struct module;
struct kstatfs;
struct super_block;
struct block_device;
struct pipe_inode_info;
struct poll_table_struct;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

void path_get(const struct path *path);
void path_put(const struct path *path);

#define MAY_EXEC	0x01
#define MAY_WRITE	0x02
#define MAY_READ	0x04
#define MAY_APPEND	0x08
#define MAY_ACCESS	0x10
#define MAY_OPEN	0x20
#define MAY_CHDIR	0x40
#define MAY_NOT_BLOCK	0x80

#define FMODE_READ	0x1
#define FMODE_WRITE	0x2
#define FMODE_LSEEK	0x4
#define FMODE_PREAD	0x8
#define FMODE_PWRITE	0x10
#define FMODE_EXEC	0x20
#define FMODE_PATH	0x4000
#define FMODE_ATOMIC_POS 0x8000
#define FMODE_WRITER	0x10000
#define FMODE_CAN_READ	0x20000
#define FMODE_CAN_WRITE	0x40000
#define FMODE_OPENED	0x80000
#define FMODE_CREATED	0x100000
#define FMODE_STREAM	0x200000
#define FMODE_NONOTIFY	0x4000000

#define OPEN_FMODE(flag)	((fmode_t)(((flag) + 1) & O_ACCMODE))
#define ACC_MODE(x)		("\004\002\006\006"[(x) & O_ACCMODE])

#define SB_RDONLY	1
#define SB_NOSUID	2
#define SB_NOEXEC	8
#define SB_NOATIME	1024

#define S_DEAD		16
#define S_NOATIME	2
#define IS_DEADDIR(inode)	((inode)->i_flags & S_DEAD)
#define IS_RDONLY(inode)	((inode)->i_sb->s_flags & SB_RDONLY)

#define I_DIRTY_TIME	2048
#define I_DIRTY_SYNC	1
#define I_DIRTY_PAGES	4
#define I_DIRTY_ALL	(I_DIRTY_SYNC | I_DIRTY_PAGES | I_DIRTY_TIME)
#define I_NEW		8
#define I_FREEING	32
#define I_CLEAR		64
#define I_CREATING	32768

#define MAX_LFS_FILESIZE	((loff_t)S64_MAX)
#define MAX_RW_COUNT		(INT_MAX & ~4095)
#define PATH_MAX_NAME		255

enum { WB_SYNC_NONE, WB_SYNC_ALL };

/* What is to be written: all dirty pages of a range of one file. */
struct writeback_control {
	int sync_mode;		/* WB_SYNC_ALL: what is being written already is waited for */
	loff_t range_start, range_end;
	long nr_to_write;	/* what ext4_writepages shows; all is written */
	long pages_skipped;	/* that stay dirty */
	bool for_kupdate, range_cyclic;	/* by the flusher: what is old */
};

/* How far a file has been read ahead; see mm/readahead.c. */
struct file_ra_state {
	unsigned long start, size, async_size;
};

struct readahead_control;

struct address_space_operations {
	int (*read_folio)(struct file *, struct folio *);
	void (*readahead)(struct readahead_control *);
	int (*writepages)(struct address_space *, struct writeback_control *);
	void (*invalidate_folio)(struct folio *);
	bool (*dirty_folio)(struct address_space *, struct folio *);
	int (*write_begin)(struct file *, struct address_space *mapping, loff_t pos, unsigned int len, struct page **pagep,
			   void **fsdata);
	int (*write_end)(struct file *, struct address_space *mapping, loff_t pos, unsigned int len, unsigned int copied,
			 struct page *page, void *fsdata);
};

struct address_space {
	struct inode *host;
	struct xarray i_pages;		/* the page cache, by page index */
	gfp_t gfp_mask;
	unsigned long nrpages;
	struct rb_root i_mmap;		/* areas that map it: mm/rmap.c */
	struct rw_semaphore i_mmap_rwsem;
	const struct address_space_operations *a_ops;
};

struct inode {
	umode_t i_mode;
	unsigned short i_opflags;
	kuid_t i_uid;
	kgid_t i_gid;
	unsigned int i_flags;
	const struct inode_operations *i_op;
	struct super_block *i_sb;
	struct address_space *i_mapping;
	unsigned long i_ino;
	unsigned int i_nlink;
	dev_t i_rdev;
	loff_t i_size;
	struct timespec64 i_atime, i_mtime, i_ctime;
	spinlock_t i_lock;		/* i_state, i_dentry, i_blocks */
	blkcnt_t i_blocks;
	unsigned long i_state, dirtied_when;	/* jiffies, when i_state became dirty */
	struct rw_semaphore i_rwsem;	/* contents, and a directory's names */
	bool i_bad;
	struct hlist_node i_hash;	/* by super block and number; inode_hash_lock */
	struct list_head i_sb_list;
	union {
		struct hlist_head i_dentry;
		struct rcu_head i_rcu;
	};
	atomic_t i_count;
	atomic_t i_writecount;
	const struct file_operations *i_fop;
	struct address_space i_data;
	struct file_lock_context *i_flctx;
	union {
		struct pipe_inode_info *i_pipe;
		char *i_link;
		unsigned int i_dir_seq;
	};
	union {
		void *i_private;
		void (*free_inode)(struct inode *);	/* at its end */
	};
};

struct file {
	union {
		struct rcu_head f_rcuhead;
		struct rcu_head f_task_work;	/* callback_head */
	};
	struct path f_path;
	struct inode *f_inode;
	const struct file_operations *f_op;
	spinlock_t f_lock;
	atomic_long_t f_count;
	unsigned int f_flags;
	fmode_t f_mode;
	struct mutex f_pos_lock;
	loff_t f_pos;
	const struct cred *f_cred;
	struct address_space *f_mapping;
	struct file_ra_state f_ra;
	void *private_data;
};

struct kiocb {
	struct file *ki_filp;
	loff_t ki_pos;
	int ki_flags;
	u16 ki_ioprio;
};

#define IOCB_APPEND	0x02
#define IOCB_NOWAIT	0x08
#define IOCB_DIRECT	0x20000

struct dir_context;
typedef bool (*filldir_t)(struct dir_context *, const char *, int, loff_t, u64, unsigned int);

struct dir_context {
	filldir_t actor;
	loff_t pos;
};

struct file_operations {
	struct module *owner;		/* that an open file keeps loaded */
	loff_t (*llseek)(struct file *, loff_t, int);
	ssize_t (*read)(struct file *, char __user *, size_t, loff_t *);
	ssize_t (*write)(struct file *, const char __user *, size_t, loff_t *);
	ssize_t (*read_iter)(struct kiocb *, struct iov_iter *);
	ssize_t (*write_iter)(struct kiocb *, struct iov_iter *);
	int (*iterate_shared)(struct file *, struct dir_context *);
	unsigned int (*poll)(struct file *, struct poll_table_struct *);
	long (*unlocked_ioctl)(struct file *, unsigned int, unsigned long);
	int (*mmap)(struct file *, struct vm_area_struct *);
	int (*open)(struct inode *, struct file *);
	int (*flush)(struct file *, void *id);
	int (*release)(struct inode *, struct file *);
	int (*fsync)(struct file *, loff_t, loff_t, int datasync);
	ssize_t (*splice_write)(struct pipe_inode_info *, struct file *, loff_t *, size_t, unsigned int);
	ssize_t (*splice_read)(struct file *, loff_t *, struct pipe_inode_info *, size_t, unsigned int);
};

struct inode_operations {
	struct dentry *(*lookup)(struct inode *, struct dentry *, unsigned int);
	const char *(*get_link)(struct dentry *, struct inode *);	/* NULL: it went there itself (nd_jump_link) */
	int (*readlink)(struct dentry *, char __user *, int);
	int (*permission)(struct user_namespace *, struct inode *, int);
	int (*create)(struct user_namespace *, struct inode *, struct dentry *, umode_t, bool);
	int (*link)(struct dentry *, struct inode *, struct dentry *);
	int (*unlink)(struct inode *, struct dentry *);
	int (*symlink)(struct user_namespace *, struct inode *, struct dentry *, const char *);
	int (*mkdir)(struct user_namespace *, struct inode *, struct dentry *, umode_t);
	int (*rmdir)(struct inode *, struct dentry *);
	int (*mknod)(struct user_namespace *, struct inode *, struct dentry *, umode_t, dev_t);
	int (*rename)(struct user_namespace *, struct inode *, struct dentry *, struct inode *, struct dentry *, unsigned int);
	int (*setattr)(struct user_namespace *, struct dentry *, struct iattr *);
	int (*getattr)(struct user_namespace *, const struct path *, struct kstat *, u32, unsigned int);
};

struct super_operations {
	struct inode *(*alloc_inode)(struct super_block *sb);
	void (*free_inode)(struct inode *);
	int (*drop_inode)(struct inode *);
	void (*evict_inode)(struct inode *);
	void (*dirty_inode)(struct inode *, int flags);
	int (*write_inode)(struct inode *, struct writeback_control *);
	void (*put_super)(struct super_block *);
	int (*sync_fs)(struct super_block *, int wait);
	int (*remount_fs)(struct super_block *, unsigned int sb_flags);	/* read-only or not; s_umount held */
	int (*statfs)(struct dentry *, struct kstatfs *);
	int (*show_options)(struct seq_file *, struct dentry *);
};

struct kstatfs {
	long f_type, f_bsize, f_frsize;
	u64 f_blocks, f_bfree, f_bavail, f_files, f_ffree;
};

/* A mount under way (include/linux/fs_context.h). */
struct fs_context {
	struct file_system_type *fs_type;
	const char *source;
	const char *data;		/* options of the file system, or NULL */
	unsigned long fs_private;	/* what it has made of them */
	unsigned int sb_flags;
	struct dentry *root;
	bool new_sb;			/* no other mount has it */
};

#define FS_REQUIRES_DEV	1

struct file_system_type {
	const char *name;
	int fs_flags;
	int (*get_tree)(struct fs_context *fc);		/* else fill_super makes one in memory */
	void (*kill_sb)(struct super_block *sb);
	struct module *owner;
	int (*fill_super)(struct super_block *sb, void *data);
	bool single;			/* one super block, however often it is mounted */
	struct super_block *sb;		/* that one */
	struct file_system_type *next;
};

struct super_block {
	struct list_head s_list;
	dev_t s_dev;
	unsigned long s_blocksize;
	loff_t s_maxbytes;
	struct file_system_type *s_type;
	const struct super_operations *s_op;
	unsigned long s_flags;
	unsigned long s_magic;
	struct dentry *s_root;
	atomic_t s_active;
	atomic_t s_writers;		/* tasks between sb_start_write and sb_end_write */
	const struct dentry_operations *s_d_op;
	spinlock_t s_inode_list_lock;
	struct list_head s_inodes;
	struct user_namespace *s_user_ns;
	void *s_fs_info;
	struct block_device *s_bdev;
	struct rw_semaphore s_umount;	/* written by whoever makes or ends it */
	char s_id[32];
};

struct iattr {
	unsigned int ia_valid;
	umode_t ia_mode;
	kuid_t ia_uid;
	kgid_t ia_gid;
	loff_t ia_size;
	struct timespec64 ia_atime, ia_mtime, ia_ctime;
	struct file *ia_file;
};

#define ATTR_MODE	(1 << 0)
#define ATTR_UID	(1 << 1)
#define ATTR_GID	(1 << 2)
#define ATTR_SIZE	(1 << 3)
#define ATTR_ATIME	(1 << 4)
#define ATTR_MTIME	(1 << 5)
#define ATTR_CTIME	(1 << 6)
#define ATTR_ATIME_SET	(1 << 7)
#define ATTR_MTIME_SET	(1 << 8)
#define ATTR_FORCE	(1 << 9)
#define ATTR_FILE	(1 << 13)
#define ATTR_OPEN	(1 << 15)

struct filename {
	const char *name;		/* the string, behind this struct or in the same page */
	const char __user *uptr;
	int refcnt;
	char iname[];
};

#define EMBEDDED_NAME_MAX	(PATH_MAX - sizeof(struct filename))

struct open_flags {
	int open_flag;
	umode_t mode;
	int acc_mode;
	int intent;
	int lookup_flags;
};

struct open_how {
	u64 flags, mode, resolve;
};

static inline struct inode *file_inode(const struct file *f)
{
	return f->f_inode;
}

static inline struct file *get_file(struct file *f)
{
	atomic_long_inc(&f->f_count);
	return f;
}

/*
 * i_writecount: how many have the file open for writing, or, below zero, how many run it. Neither is possible while the other
 * goes on (-ETXTBSY).
 */
static inline int get_write_access(struct inode *inode)
{
	int c = atomic_read(&inode->i_writecount);

	while (c >= 0)
		if (atomic_try_cmpxchg(&inode->i_writecount, &c, c + 1))
			return 0;
	return -ETXTBSY;
}

static inline void put_write_access(struct inode *inode)
{
	atomic_dec(&inode->i_writecount);
}

static inline int deny_write_access(struct file *file)
{
	int c = atomic_read(&file->f_inode->i_writecount);

	while (c <= 0)
		if (atomic_try_cmpxchg(&file->f_inode->i_writecount, &c, c - 1))
			return 0;
	return -ETXTBSY;
}

static inline void allow_write_access(struct file *file)
{
	if (file)
		atomic_inc(&file->f_inode->i_writecount);
}

static inline int call_mmap(struct file *file, struct vm_area_struct *vma)
{
	return file->f_op->mmap(file, vma);
}

static inline loff_t i_size_read(const struct inode *inode)
{
	return READ_ONCE(inode->i_size);
}

static inline void i_size_write(struct inode *inode, loff_t size)
{
	WRITE_ONCE(inode->i_size, size);
}

static inline void inode_lock(struct inode *inode) { down_write(&inode->i_rwsem); }
static inline void inode_unlock(struct inode *inode) { up_write(&inode->i_rwsem); }
static inline void inode_lock_nested(struct inode *inode, unsigned int subclass) { down_write(&inode->i_rwsem); }
static inline void inode_lock_shared(struct inode *inode) { down_read(&inode->i_rwsem); }
static inline void inode_unlock_shared(struct inode *inode) { up_read(&inode->i_rwsem); }

static inline void sb_start_write(struct super_block *sb)
{
	might_sleep();
	atomic_inc(&sb->s_writers);
}

static inline void sb_end_write(struct super_block *sb)
{
	atomic_dec(&sb->s_writers);
}

static inline void file_start_write(struct file *file)
{
	if (S_ISREG(file_inode(file)->i_mode))
		sb_start_write(file_inode(file)->i_sb);
}

static inline void file_end_write(struct file *file)
{
	if (S_ISREG(file_inode(file)->i_mode))
		sb_end_write(file_inode(file)->i_sb);
}

#include "fs_proto.h"
#endif

/* Prototypes of fs/, by file. Included by fs.h. */
#ifndef _FS_PROTO_H
#define _FS_PROTO_H

extern struct kmem_cache *names_cachep, *filp_cachep;

/* fs/inode.c */
void inode_init(void);
struct inode *new_inode_pseudo(struct super_block *sb);
struct inode *new_inode(struct super_block *sb);
unsigned int get_next_ino(void);
int inode_init_always(struct super_block *sb, struct inode *inode);
void inode_init_owner(struct user_namespace *ns, struct inode *inode, const struct inode *dir, umode_t mode);
umode_t mode_strip_sgid(struct user_namespace *ns, const struct inode *dir, umode_t mode);
void inode_sb_list_add(struct inode *inode);
struct inode *iget_locked(struct super_block *sb, unsigned long ino);
void unlock_new_inode(struct inode *inode);
void iget_failed(struct inode *inode);
void insert_inode_hash(struct inode *inode);
int insert_inode_locked(struct inode *inode);
void __remove_inode_hash(struct inode *inode);
int generic_drop_inode(struct inode *inode);
void evict_inodes(struct super_block *sb);
void make_bad_inode(struct inode *inode);
void sync_inodes_sb(struct super_block *sb);
int sync_inode_metadata(struct inode *inode, int wait);
void iput(struct inode *inode);
void ihold(struct inode *inode);
void inc_nlink(struct inode *inode);
void drop_nlink(struct inode *inode);
void clear_nlink(struct inode *inode);
void set_nlink(struct inode *inode, unsigned int nlink);
int generic_delete_inode(struct inode *inode);
void clear_inode(struct inode *inode);
struct timespec64 current_time(struct inode *inode);
struct timespec64 inode_set_ctime_current(struct inode *inode);
int setattr_should_drop_suidgid(struct user_namespace *ns, struct inode *inode);
int dentry_needs_remove_privs(struct dentry *dentry);
bool atime_needs_update(const struct path *path, struct inode *inode);
void touch_atime(const struct path *path);
int file_update_time(struct file *file);
int file_remove_privs(struct file *file);
int generic_update_time(struct inode *inode, struct timespec64 *time, int flags);
void __mark_inode_dirty(struct inode *inode, int flags);
bool inode_owner_or_capable(struct user_namespace *ns, const struct inode *inode);
void init_special_inode(struct inode *inode, umode_t mode, dev_t rdev);
void lock_two_nondirectories(struct inode *a, struct inode *b);
void unlock_two_nondirectories(struct inode *a, struct inode *b);

/* fs/attr.c */
int setattr_prepare(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr);
void setattr_copy(struct user_namespace *ns, struct inode *inode, const struct iattr *attr);
int notify_change(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr, struct inode **delegated);

/* fs/super.c, fs/namespace.c */
int register_filesystem(struct file_system_type *fs);
int unregister_filesystem(struct file_system_type *fs);
int get_tree_bdev(struct fs_context *fc, int (*fill_super)(struct super_block *sb, struct fs_context *fc));
void kill_block_super(struct super_block *sb);
void deactivate_super(struct super_block *sb);
int sync_filesystem(struct super_block *sb);
void iterate_supers(void (*f)(struct super_block *, void *), void *arg);
void shrink_dcache_for_umount(struct super_block *sb);
struct super_block *sget_fc(struct file_system_type *type, void *data);
struct vfsmount *vfs_kern_mount(struct file_system_type *type, int flags, const char *name, void *data);
struct vfsmount *kern_mount(struct file_system_type *type);
int do_mount_at(const char *devname, const char *dirname, struct file_system_type *type, int flags);
int do_bind_at(struct vfsmount *old, const char *dirname);
void vfs_caches_init_early(void);
void vfs_caches_init(void);

/* fs/dcache.c */
void dcache_init(void);

/* fs/file_table.c */
void files_init(void);
struct file *alloc_empty_file(int flags, const struct cred *cred);
struct file *alloc_file_pseudo(struct inode *inode, struct vfsmount *mnt, const char *name, int flags,
			       const struct file_operations *fops);
struct file *alloc_file_clone(struct file *base, int flags, const struct file_operations *fops);
void fput(struct file *file);
void __fput_sync(struct file *file);
void flush_delayed_fput(void);

/* fs/open.c */
struct file *filp_open(const char *filename, int flags, umode_t mode);
struct file *file_open_name(struct filename *name, int flags, umode_t mode);
struct file *dentry_open(const struct path *path, int flags, const struct cred *cred);
int vfs_open(const struct path *path, struct file *file);
int filp_close(struct file *filp, void *id);
int finish_open(struct file *file, struct dentry *dentry, int (*open)(struct inode *, struct file *));
int do_truncate(struct user_namespace *ns, struct dentry *dentry, loff_t length, unsigned int time_attrs, struct file *filp);
long do_sys_open(int dfd, const char __user *filename, int flags, umode_t mode);
long do_sys_openat2(int dfd, const char __user *filename, struct open_how *how);
int generic_file_open(struct inode *inode, struct file *filp);
int nonseekable_open(struct inode *inode, struct file *filp);
int stream_open(struct inode *inode, struct file *filp);

/* fs/read_write.c */
ssize_t vfs_read(struct file *file, char __user *buf, size_t count, loff_t *pos);
ssize_t vfs_write(struct file *file, const char __user *buf, size_t count, loff_t *pos);
ssize_t kernel_read(struct file *file, void *buf, size_t count, loff_t *pos);
ssize_t kernel_write(struct file *file, const void *buf, size_t count, loff_t *pos);
ssize_t __kernel_read(struct file *file, void *buf, size_t count, loff_t *pos);
ssize_t ksys_read(unsigned int fd, char __user *buf, size_t count);
ssize_t ksys_write(unsigned int fd, const char __user *buf, size_t count);
int rw_verify_area(int read_write, struct file *file, const loff_t *ppos, size_t count);
loff_t vfs_llseek(struct file *file, loff_t offset, int whence);
loff_t vfs_setpos(struct file *file, loff_t offset, loff_t maxsize);
loff_t generic_file_llseek(struct file *file, loff_t offset, int whence);
loff_t generic_file_llseek_size(struct file *file, loff_t offset, int whence, loff_t maxsize, loff_t eof);
loff_t noop_llseek(struct file *file, loff_t offset, int whence);
ssize_t generic_write_checks(struct kiocb *iocb, struct iov_iter *from);
#define READ	0
#define WRITE	1
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_DATA 3
#define SEEK_HOLE 4

int __get_task_ioprio(struct task_struct *p);	/* block/ioprio.c in Linux, fs/ioprio.c here */

/* fs/splice.c */
ssize_t generic_file_splice_read(struct file *in, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags);
ssize_t iter_file_splice_write(struct pipe_inode_info *pipe, struct file *out, loff_t *ppos, size_t len, unsigned int flags);

/* fs/stat.c, fs/readdir.c */
void generic_fillattr(struct user_namespace *ns, struct inode *inode, struct kstat *stat);
int vfs_getattr_nosec(const struct path *path, struct kstat *stat, u32 request_mask, unsigned int query_flags);
int vfs_getattr(const struct path *path, struct kstat *stat, u32 request_mask, unsigned int query_flags);
int vfs_fstatat(int dfd, const char __user *filename, struct kstat *stat, int flags);
int iterate_dir(struct file *file, struct dir_context *ctx);

static inline bool dir_emit(struct dir_context *ctx, const char *name, int namelen, u64 ino, unsigned int type)
{
	return ctx->actor(ctx, name, namelen, ctx->pos, ino, type);
}

/* fs/libfs.c */
extern const struct file_operations simple_dir_operations;
extern const struct inode_operations simple_dir_inode_operations;
extern const struct dentry_operations simple_dentry_operations;
int always_delete_dentry(const struct dentry *dentry);
struct dentry *simple_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags);
int dcache_dir_open(struct inode *inode, struct file *file);
int dcache_dir_close(struct inode *inode, struct file *file);
loff_t dcache_dir_lseek(struct file *file, loff_t offset, int whence);
int dcache_readdir(struct file *file, struct dir_context *ctx);
ssize_t generic_read_dir(struct file *filp, char __user *buf, size_t siz, loff_t *ppos);
int simple_getattr(struct user_namespace *ns, const struct path *path, struct kstat *stat, u32 request_mask, unsigned int flags);
int simple_setattr(struct user_namespace *ns, struct dentry *dentry, struct iattr *iattr);
int simple_link(struct dentry *old_dentry, struct inode *dir, struct dentry *dentry);
int simple_unlink(struct inode *dir, struct dentry *dentry);
int simple_rmdir(struct inode *dir, struct dentry *dentry);
int simple_rename(struct user_namespace *ns, struct inode *old_dir, struct dentry *old_dentry, struct inode *new_dir,
		  struct dentry *new_dentry, unsigned int flags);
int simple_empty(struct dentry *dentry);
int simple_write_begin(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len, struct page **pagep,
		       void **fsdata);
int simple_write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len, unsigned int copied,
		     struct page *page, void *fsdata);
extern const struct address_space_operations ram_aops;
int pseudo_fill_super(struct super_block *sb, unsigned long magic, const struct dentry_operations *d_op);
ssize_t simple_read_from_buffer(void __user *to, size_t count, loff_t *ppos, const void *from, size_t available);
int noop_fsync(struct file *file, loff_t start, loff_t end, int datasync);
const char *simple_get_link(struct dentry *dentry, struct inode *inode);

/* fs/pipe.c */
long pipe_fcntl(struct file *file, unsigned int cmd, unsigned long arg);

/* fs/ramfs.c */
extern struct file_system_type ramfs_fs_type, rootfs_fs_type;

/* mm/filemap.c */
ssize_t generic_file_read_iter(struct kiocb *iocb, struct iov_iter *to);
ssize_t generic_file_write_iter(struct kiocb *iocb, struct iov_iter *from);
ssize_t filemap_read(struct kiocb *iocb, struct iov_iter *iter, ssize_t already_read);
int filemap_write_and_wait_range(struct address_space *mapping, loff_t start, loff_t end);
#define filemap_write_and_wait(m) filemap_write_and_wait_range(m, 0, S64_MAX)
int file_write_and_wait_range(struct file *file, loff_t start, loff_t end);
int filemap_fdatawait_range(struct address_space *mapping, loff_t start, loff_t end);
int filemap_flush(struct address_space *mapping);
int write_cache_pages(struct address_space *mapping, struct writeback_control *wbc,
		      int (*writepage)(struct page *, struct writeback_control *, void *), void *data);
void wb_wakeup_delayed(struct inode *inode);	/* fs/fs-writeback.c */
int do_writepages(struct address_space *mapping, struct writeback_control *wbc);
ssize_t generic_perform_write(struct kiocb *iocb, struct iov_iter *from);
void truncate_setsize(struct inode *inode, loff_t newsize);
void truncate_inode_pages_range(struct address_space *mapping, loff_t lstart, loff_t lend);
void truncate_inode_pages_final(struct address_space *mapping);
int generic_file_mmap(struct file *file, struct vm_area_struct *vma);

/* fs/d_path.c */
char *d_path(const struct path *path, char *buf, int buflen);
char *d_absolute_path(const struct path *path, char *buf, int buflen);

/* fs/devices.c, drivers/char/mem.c */
int __register_chrdev(unsigned int major, const char *name, const struct file_operations *fops);
void unregister_chrdev(unsigned int major, const char *name);
#define register_chrdev(major, name, fops)	__register_chrdev(major, name, fops)
extern const struct file_operations def_chr_fops, def_blk_fops, pipefifo_fops;
int vfs_mknod_path(const char *path, umode_t mode, dev_t dev);
int devtmpfs_create_node(const char *name, umode_t mode, dev_t dev);
int devtmpfs_delete_node(const char *name);

/* fs/exec.c */
struct linux_binprm;
int kernel_execve(const char *filename, const char *const *argv, const char *const *envp);

/* drivers/hostcons.c */
int hostcons_install(u64 stream);

extern struct vfsmount *tracefs_mount;
#endif

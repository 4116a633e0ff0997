/*
 * tracefs: names, contents and rules are kscope's (the Go half, by the tracefs_* gates); this is their place in the VFS
 * (Linux's fs/tracefs/inode.c).
 *
 * Each node has a number, kept in i_private. Names come and go on the Go side (instances, probes), so that a cached dentry
 * is asked for again whenever it is walked over (d_revalidate), and none is kept without a user. A gate may queue changes of
 * kernel text; ftrace_run_update_code() carries them out here, in process context, before the system call returns.
 * As in Linux, where kernel/trace is built without it, none of the tracer's own functions can be traced.
 */
#include "tracefs.h"
#include "sysctl.h"
#include "poll.h"
#include "splice.h"
#include "proc_fs.h"
#include "namei.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "init.h"
#include "gates.h"
#include "uaccess.h"

#define TRACEFS_ROOT_ID	1
#define DEBUGFS_ROOT_ID	2
#define DEBUGFS_MAGIC	0x64626720
#define CHUNK_MAX	(64UL << 10)

DECLARE_WAIT_QUEUE_HEAD(tracefs_wait);
struct vfsmount *tracefs_mount;

static const struct inode_operations tracefs_dir_inode_operations, tracefs_file_inode_operations;
static const struct file_operations tracefs_dir_operations;

static inline u64 tracefs_id(const struct inode *inode)
{
	return (u64)inode->i_private;
}

static struct inode *tracefs_get_inode(struct super_block *sb, u64 id, u32 mode, const char *name)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	inode->i_ino = id;
	inode->i_mode = mode;
	inode->i_private = (void *)id;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	if (S_ISDIR(mode)) {
		inode->i_op = &tracefs_dir_inode_operations;
		inode->i_fop = &tracefs_dir_operations;
		inc_nlink(inode);
	} else {
		inode->i_op = &tracefs_file_inode_operations;
		inode->i_fop = tracefs_fops_of(name);
	}
	return inode;
}

notrace static struct dentry *tracefs_dir_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	const char *name = (const char *)dentry->d_name.name;
	struct inode *inode = NULL;
	u64 id = 0;
	u32 mode = 0;
	long ret;

	if (dentry->d_name.len > PATH_MAX_NAME)
		return ERR_PTR(-ENAMETOOLONG);
	ret = tracefs_lookup(tracefs_id(dir), name, &id, &mode);
	if (ret < 0 && ret != -ENOENT)
		return ERR_PTR(ret);
	if (ret >= 0) {
		inode = tracefs_get_inode(dir->i_sb, id, mode, name);
		if (!inode)
			return ERR_PTR(-ENOMEM);
	}
	d_add(dentry, inode);
	return NULL;
}

notrace static int tracefs_d_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = d_inode_rcu(dentry), *dir = d_inode_rcu(READ_ONCE(dentry->d_parent));
	u64 id = 0;
	u32 mode = 0;

	if (!dir)
		return flags & LOOKUP_RCU ? -ECHILD : 0;
	if (dir == inode)	/* the root has no name */
		return 1;
	if (tracefs_lookup(tracefs_id(dir), (const char *)dentry->d_name.name, &id, &mode) < 0)
		return !inode;
	return inode && tracefs_id(inode) == id;
}

static const struct dentry_operations tracefs_dentry_operations = {
	.d_revalidate = tracefs_d_revalidate,
	.d_delete = always_delete_dentry,
};

/* instances/: a directory made by the user is made by the tracer. */
static int tracefs_syscall_mkdir(struct user_namespace *ns, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	const char *name = (const char *)dentry->d_name.name;
	struct inode *inode;
	u64 id;
	u32 m;
	long ret = tracefs_mkdir(tracefs_id(dir), name);

	ftrace_run_update_code();
	if (ret < 0)
		return ret;
	ret = tracefs_lookup(tracefs_id(dir), name, &id, &m);
	if (ret < 0)
		return ret;
	inode = tracefs_get_inode(dir->i_sb, id, m, name);
	if (!inode)
		return -ENOMEM;
	d_instantiate(dentry, inode);
	inc_nlink(dir);
	return 0;
}

static int tracefs_syscall_rmdir(struct inode *dir, struct dentry *dentry)
{
	long ret = tracefs_rmdir(tracefs_id(dir), (const char *)dentry->d_name.name);

	ftrace_run_update_code();
	if (ret < 0)
		return ret;
	drop_nlink(d_inode(dentry));
	drop_nlink(d_inode(dentry));
	drop_nlink(dir);
	return 0;
}

notrace static int tracefs_dir_iterate(struct file *file, struct dir_context *ctx)
{
	struct inode *dir = file_inode(file);
	char name[PATH_MAX_NAME + 1];
	u64 id;
	u32 mode;

	if (ctx->pos == 0) {
		if (!dir_emit(ctx, ".", 1, dir->i_ino, DT_DIR))
			return 0;
		ctx->pos = 1;
	}
	if (ctx->pos == 1) {
		if (!dir_emit(ctx, "..", 2, d_inode(file->f_path.dentry->d_parent)->i_ino, DT_DIR))
			return 0;
		ctx->pos = 2;
	}
	for (;;) {
		long ret = tracefs_iterate(tracefs_id(dir), ctx->pos - 2, name, &id, &mode);

		if (ret <= 0)
			return ret == -ENOENT ? 0 : ret;
		if (!(mode & S_IFMT))
			mode |= S_IFREG;
		if (!dir_emit(ctx, name, strlen(name), id, dt_type(mode)))
			return 0;
		ctx->pos++;
	}
}

notrace static loff_t tracefs_dir_lseek(struct file *file, loff_t offset, int whence)
{
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	return vfs_setpos(file, offset, MAX_LFS_FILESIZE);
}

static const struct file_operations tracefs_dir_operations = {
	.llseek = tracefs_dir_lseek,
	.read = generic_read_dir,
	.iterate_shared = tracefs_dir_iterate,
};

/* Links are counted when they are asked for: one for the name, one for ".", one for each subdirectory's "..". */
static notrace int tracefs_dir_getattr(struct user_namespace *ns, const struct path *path, struct kstat *stat, u32 request_mask,
				       unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	char name[PATH_MAX_NAME + 1];
	u64 id, i;
	u32 mode;

	generic_fillattr(ns, inode, stat);
	stat->nlink = 2;
	for (i = 0; tracefs_iterate(tracefs_id(inode), i, name, &id, &mode) > 0; i++)
		stat->nlink += S_ISDIR(mode);
	return 0;
}

static const struct inode_operations tracefs_dir_inode_operations = {
	.getattr = tracefs_dir_getattr,
	.lookup = tracefs_dir_lookup,
	.mkdir = tracefs_syscall_mkdir,
	.rmdir = tracefs_syscall_rmdir,
};

/* Sizes are always 0: truncation reaches a file's owner as O_TRUNC of its open. */
notrace static int tracefs_setattr(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr)
{
	int error = setattr_prepare(ns, dentry, attr);

	if (!error)
		setattr_copy(ns, d_inode(dentry), attr);
	return error;
}

static const struct inode_operations tracefs_file_inode_operations = { .setattr = tracefs_setattr };

notrace int tracing_open_generic(struct inode *inode, struct file *filp)
{
	u64 handle = 0;
	long ret = tracefs_open(tracefs_id(inode), filp->f_flags, &handle);

	ftrace_run_update_code();
	filp->private_data = (void *)handle;
	return ret < 0 ? ret : 0;
}

/* Files that are consumed have no position (trace_pipe, trace_pipe_raw): lseek and pread are ESPIPE. */
notrace int tracing_open_pipe(struct inode *inode, struct file *filp)
{
	nonseekable_open(inode, filp);
	return tracing_open_generic(inode, filp);
}

notrace int tracing_mark_open(struct inode *inode, struct file *filp)
{
	stream_open(inode, filp);
	return tracing_open_generic(inode, filp);
}

notrace int tracing_release_generic(struct inode *inode, struct file *filp)
{
	long ret = tracefs_release((u64)filp->private_data);

	ftrace_run_update_code();
	return ret;
}

notrace loff_t tracing_lseek(struct file *file, loff_t offset, int whence)
{
	return generic_file_llseek_size(file, offset, whence, MAX_LFS_FILESIZE, 0);
}

/* One read into kernel memory, which waits while a blocking file has nothing. */
notrace static long tracing_read_handle(struct file *filp, char *kbuf, size_t len, u64 pos)
{
	u64 handle = (u64)filp->private_data;
	long ret;

	while ((ret = tracefs_read(handle, kbuf, len, pos)) == -EAGAIN) {
		ftrace_run_update_code();
		if (filp->f_flags & O_NONBLOCK)
			break;
		if (wait_event_interruptible(tracefs_wait, tracefs_readable(handle, 0)))
			return -EINTR;	/* what tracing_wait_pipe() says in Linux, not ERESTARTSYS */
	}
	ftrace_run_update_code();
	return ret;
}

notrace ssize_t tracing_read_user(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct iov_iter to;
	struct kiocb iocb = { .ki_filp = filp, .ki_pos = ppos ? *ppos : 0 };
	ssize_t ret;

	iov_iter_ubuf(&to, ITER_DEST, ubuf, cnt);
	ret = tracing_read_iter(&iocb, &to);
	if (ppos)
		*ppos = iocb.ki_pos;
	return ret;
}

notrace ssize_t tracing_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	size_t len = min(iov_iter_count(to), CHUNK_MAX);
	char *kbuf;
	long ret;

	if (!len)
		return 0;
	kbuf = kmalloc(len, GFP_KERNEL);
	if (!kbuf)
		return -ENOMEM;
	ret = tracing_read_handle(iocb->ki_filp, kbuf, len, iocb->ki_pos);
	if (ret > 0) {
		if (copy_to_iter(kbuf, ret, to) != (size_t)ret)
			ret = -EFAULT;
		else
			iocb->ki_pos += ret;
	}
	kfree(kbuf);
	return ret;
}

/* Pages, or whole lines, into a pipe that is locked and has room; waits when there are none. A wait ends with what is there then. */
notrace static ssize_t tracing_splice(struct file *filp, struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	u64 handle = (u64)filp->private_data, waited = 0;
	ssize_t done = 0;
	long ret;

	for (;;) {
		do {
			struct page *page = alloc_page(GFP_KERNEL);

			if (!page)
				return done ? done : -ENOMEM;
			ret = tracefs_splice(handle, page_address(page), len, waited);
			if (ret <= 0) {
				put_page(page);
				break;
			}
			pipe_push_page(pipe, page, 0, ret);
			done += ret;
			len -= ret;
		} while (len && !pipe_full(pipe->head, pipe->tail, pipe->max_usage));
		if (done || ret != -EAGAIN)
			return done ? done : ret;
		if (filp->f_flags & O_NONBLOCK || flags & SPLICE_F_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(tracefs_wait, tracefs_readable(handle, 2)))
			return -EINTR;
		waited = 1;
	}
}

notrace ssize_t tracing_splice_read_pipe(struct file *filp, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	return tracing_splice(filp, pipe, len, flags);
}

/* Whole pages of the ring only, and at whole pages of the position. */
notrace ssize_t tracing_buffers_splice_read(struct file *filp, loff_t *ppos, struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	ssize_t ret;

	if (*ppos & (PAGE_SIZE - 1) || len < PAGE_SIZE)
		return -EINVAL;
	ret = tracing_splice(filp, pipe, len & PAGE_MASK, flags);
	if (ret > 0)
		*ppos += ret;
	return ret;
}

notrace ssize_t tracing_write_user(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct iov_iter from;
	struct kiocb iocb = { .ki_filp = filp, .ki_pos = ppos ? *ppos : 0 };
	ssize_t ret;

	iov_iter_ubuf(&from, ITER_SOURCE, (void __user *)ubuf, cnt);
	ret = tracing_write_iter(&iocb, &from);
	if (ppos && ret > 0)
		*ppos = iocb.ki_pos;
	return ret;
}

/* Linux's files take one write as one command; the gate gets it whole, with its position, up to CHUNK_MAX. */
notrace ssize_t tracing_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	size_t len = min(iov_iter_count(from), CHUNK_MAX);
	char *kbuf = kmalloc(len + 1, GFP_KERNEL);
	long ret = -EFAULT;

	if (!kbuf)
		return -ENOMEM;
	if (copy_from_iter(kbuf, len, from) == len) {
		kbuf[len] = 0;
		ret = tracefs_write((u64)iocb->ki_filp->private_data, kbuf, len, iocb->ki_pos);
		ftrace_run_update_code();
		if (ret > 0)
			iocb->ki_pos += ret;
	}
	kfree(kbuf);
	return ret;
}

/* trace_pipe and its like: readable when the gate says so; everything else always is. */
notrace unsigned int tracing_poll(struct file *filp, poll_table *pt)
{
	poll_wait(filp, &tracefs_wait, pt);
	return POLLOUT | POLLWRNORM | (tracefs_readable((u64)filp->private_data, 1) ? POLLIN | POLLRDNORM : 0);
}

static const struct super_operations tracefs_ops;

static int tracefs_fill_super(struct super_block *sb, void *data)
{
	sb->s_magic = TRACEFS_MAGIC;
	sb->s_op = &tracefs_ops;
	sb->s_d_op = &tracefs_dentry_operations;
	sb->s_root = d_make_root(tracefs_get_inode(sb, TRACEFS_ROOT_ID, S_IFDIR | 0700, "/"));
	return sb->s_root ? 0 : -ENOMEM;
}

static struct file_system_type tracefs_type = { .name = "tracefs", .fill_super = tracefs_fill_super, .single = true };

static int ftrace_enabled = 1, stack_tracer_enabled;

/* 0 turns every traced function's site into a nop until it is 1 again. */
static notrace int ftrace_enable_sysctl(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	int last = ftrace_enabled, ret = proc_dointvec(table, write, buffer, lenp, ppos);
	long err;

	if (ret || !write)
		return ret;
	ftrace_enabled = !!ftrace_enabled;
	if (ftrace_enabled == last)
		return 0;
	err = tracefs_set_enabled(ftrace_enabled);
	ftrace_run_update_code();
	if (err < 0 && err != -ENOSYS) {
		ftrace_enabled = last;
		return err;
	}
	return 0;
}

/* Any number but 0 sets the stack tracer on all functions of stack_trace_filter. */
static notrace int stack_trace_sysctl(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	int was_enabled = !!stack_tracer_enabled, ret = proc_dointvec(table, write, buffer, lenp, ppos);
	long err;

	if (ret || !write || !!stack_tracer_enabled == was_enabled)
		return ret;
	err = tracefs_set_stack_tracer(!!stack_tracer_enabled);
	ftrace_run_update_code();
	if (err < 0 && err != -ENOSYS) {
		stack_tracer_enabled = was_enabled;
		return err;
	}
	return 0;
}

static struct ctl_table ftrace_sysctls[] = {
	{ "ftrace_enabled", &ftrace_enabled, sizeof(int), 0644, ftrace_enable_sysctl, NULL, NULL },
	{ "stack_tracer_enabled", &stack_tracer_enabled, sizeof(int), 0644, stack_trace_sysctl, NULL, NULL },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL },
};

/* debugfs, as far as there is a directory kprobes/ to show: the same gates below another root. */
static int debugfs_fill_super(struct super_block *sb, void *data)
{
	sb->s_magic = DEBUGFS_MAGIC;
	sb->s_op = &tracefs_ops;
	sb->s_d_op = &tracefs_dentry_operations;
	sb->s_root = d_make_root(tracefs_get_inode(sb, DEBUGFS_ROOT_ID, S_IFDIR | 0700, "/"));
	return sb->s_root ? 0 : -ENOMEM;
}

static struct file_system_type debug_fs_type = { .name = "debugfs", .fill_super = debugfs_fill_super, .single = true };

static int __init debugfs_init(void)
{
	char name[PATH_MAX_NAME + 1];
	u64 id;
	u32 mode;

	if (tracefs_iterate(DEBUGFS_ROOT_ID, 0, name, &id, &mode) <= 0)
		return 0;		/* no tracer is attached, or one without it */
	register_filesystem(&debug_fs_type);
	return do_mount_at("debugfs", "/sys/kernel/debug", &debug_fs_type, 0);
}

/* One tree at both of its usual places. */
static int __init tracefs_init(void)
{
	int err;

	register_sysctl("kernel", ftrace_sysctls);
	register_filesystem(&tracefs_type);
	tracefs_mount = kern_mount(&tracefs_type);
	if (IS_ERR(tracefs_mount))
		return PTR_ERR(tracefs_mount);
	err = debugfs_init();
	if (!err)
		err = do_bind_at(tracefs_mount, "/sys/kernel/tracing");
	return err ? err : do_bind_at(tracefs_mount, "/sys/kernel/debug/tracing");
}
late_initcall(tracefs_init);

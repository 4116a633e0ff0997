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
#include "proc_fs.h"
#include "namei.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "init.h"
#include "gates.h"

#define TRACEFS_ROOT_ID	1
#define DEBUGFS_ROOT_ID	2
#define DEBUGFS_MAGIC	0x64626720

DECLARE_WAIT_QUEUE_HEAD(tracefs_wait);
struct vfsmount *tracefs_mount;

static const struct inode_operations tracefs_dir_inode_operations, tracefs_file_inode_operations;
static const struct file_operations tracefs_dir_operations;

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

	if (ret || !write || !!ftrace_enabled == !!last)
		return ret;
	err = tracefs_set_enabled(!!ftrace_enabled);
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

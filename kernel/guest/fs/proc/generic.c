/* The tree of static entries, the mount, and its root directory (Linux's fs/proc/generic.c, inode.c, root.c). */
#include "proc_fs.h"
#include "namei.h"
#include "slab.h"
#include "init.h"
#include "mm.h"
#include "sched.h"
#include "uaccess.h"
#include "rcupdate.h"

static DEFINE_SPINLOCK(proc_subdir_lock);
static unsigned int proc_next_ino = PROC_ROOT_INO;

struct proc_dir_entry proc_root = { .name = "/proc", .mode = S_IFDIR | 0555, .ino = PROC_ROOT_INO };

struct proc_dir_entry *proc_register(const char *name, umode_t mode, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *de = kzalloc(sizeof(*de), GFP_KERNEL), **p;

	if (!de)
		return NULL;
	de->name = name;
	de->mode = mode;
	de->parent = parent ? parent : &proc_root;
	atomic_set(&de->refcnt, 1);
	spin_lock_init(&de->pde_unload_lock);
	INIT_LIST_HEAD(&de->pde_openers);
	spin_lock(&proc_subdir_lock);
	de->ino = 0xf0000000u + ++proc_next_ino;	/* above the numbers of pid directories (PROC_DYNAMIC_FIRST) */
	for (p = &de->parent->subdir; *p; p = &(*p)->next)
		;
	smp_store_release(p, de);
	spin_unlock(&proc_subdir_lock);
	return de;
}

/* The entry, which nobody finds any more. */
struct proc_dir_entry *proc_unregister(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry **p, *de;

	spin_lock(&proc_subdir_lock);
	for (p = parent ? &parent->subdir : &proc_root.subdir; (de = *p) && strcmp(de->name, name); p = &de->next)
		;
	if (de)
		WRITE_ONCE(*p, de->next);
	spin_unlock(&proc_subdir_lock);
	return de;
}

struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent)
{
	return proc_register(name, S_IFDIR | 0555, parent);
}

struct proc_dir_entry *proc_create_single_data(const char *name, umode_t mode, struct proc_dir_entry *parent,
					  int (*show)(struct seq_file *, void *))
{
	struct proc_dir_entry *de = proc_register(name, S_IFREG | mode, parent);

	if (de)
		de->show = show;
	return de;
}

struct proc_dir_entry *proc_create_seq_private(const char *name, umode_t mode, struct proc_dir_entry *parent,
				       const struct seq_operations *ops)
{
	struct proc_dir_entry *de = proc_register(name, S_IFREG | mode, parent);

	if (de)
		de->seq_ops = ops;
	return de;
}

struct proc_dir_entry *proc_symlink(const char *name, struct proc_dir_entry *parent, const char *dest)
{
	struct proc_dir_entry *de = proc_register(name, S_IFLNK | 0777, parent);

	if (de)
		de->link = dest;
	return de;
}

static int proc_reg_open(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *de = inode->i_private;

	return de->seq_ops ? seq_open(file, de->seq_ops) : single_open(file, de->show, NULL);
}

static int proc_reg_release(struct inode *inode, struct file *file)
{
	struct proc_dir_entry *de = inode->i_private;

	return de->seq_ops ? seq_release(inode, file) : single_release(inode, file);
}

static const struct file_operations proc_reg_file_ops = {
	.open = proc_reg_open, .read = seq_read, .read_iter = seq_read_iter, .llseek = seq_lseek, .release = proc_reg_release,
	.splice_read = generic_file_splice_read,
};

static struct dentry *proc_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	return proc_lookup_de(dir, dentry, dir->i_private);
}

static int proc_readdir(struct file *file, struct dir_context *ctx)
{
	return proc_readdir_de(file, ctx, file_inode(file)->i_private);
}

static const char *proc_get_link(struct dentry *dentry, struct inode *inode)
{
	return ((struct proc_dir_entry *)inode->i_private)->link;
}

static const struct inode_operations proc_dir_inode_operations = { .lookup = proc_lookup };
static const struct file_operations proc_dir_operations = {
	.read = generic_read_dir, .iterate_shared = proc_readdir, .llseek = generic_file_llseek,
};
static const struct inode_operations proc_link_inode_operations = { .get_link = proc_get_link };

struct inode *proc_get_inode(struct super_block *sb, struct proc_dir_entry *de)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode->i_private = de;
	inode->i_ino = de->ino;
	inode->i_mode = de->mode;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	if (S_ISDIR(de->mode)) {
		inode->i_op = &proc_dir_inode_operations;
		inode->i_fop = &proc_dir_operations;
		inc_nlink(inode);
	} else if (S_ISLNK(de->mode)) {
		inode->i_op = &proc_link_inode_operations;
	} else {
		inode->i_fop = de->fops ? de->fops : de->proc_ops ? &proc_reg_ops_file_ops : &proc_reg_file_ops;
	}
	atomic_inc(&de->refcnt);
	return inode;
}

struct dentry *proc_lookup_de(struct inode *dir, struct dentry *dentry, struct proc_dir_entry *de)
{
	struct proc_dir_entry *p;
	struct inode *inode;

	for (p = READ_ONCE(de->subdir); p; p = READ_ONCE(p->next)) {
		if (strcmp(p->name, (const char *)dentry->d_name.name))
			continue;
		inode = proc_get_inode(dir->i_sb, p);
		if (!inode)
			return ERR_PTR(-ENOMEM);
		d_add(dentry, inode);
		return NULL;
	}
	return ERR_PTR(-ENOENT);
}

/* Entries are at positions from 2 on. */
int proc_readdir_de(struct file *file, struct dir_context *ctx, struct proc_dir_entry *de)
{
	struct proc_dir_entry *p;
	loff_t i = 2;

	if (ctx->pos == 0) {
		if (!dir_emit(ctx, ".", 1, file_inode(file)->i_ino, DT_DIR))
			return 0;
		ctx->pos = 1;
	}
	if (ctx->pos == 1) {
		if (!dir_emit(ctx, "..", 2, d_inode(file->f_path.dentry->d_parent)->i_ino, DT_DIR))
			return 0;
		ctx->pos = 2;
	}
	for (p = READ_ONCE(de->subdir); p; p = READ_ONCE(p->next), i++) {
		if (i < ctx->pos)
			continue;
		if (!dir_emit(ctx, p->name, strlen(p->name), p->ino, dt_type(p->mode)))
			return 0;
		ctx->pos++;
	}
	return 1;
}

static struct dentry *proc_root_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct dentry *d;

	if (!strcmp((const char *)dentry->d_name.name, "self"))
		return proc_self_lookup(dentry, false);
	if (!strcmp((const char *)dentry->d_name.name, "thread-self"))
		return proc_self_lookup(dentry, true);
	d = proc_pid_lookup(dentry, flags);

	return d == ERR_PTR(-ENOENT) ? proc_lookup(dir, dentry, flags) : d;
}

#define FIRST_PROCESS_ENTRY	256

static int proc_root_readdir(struct file *file, struct dir_context *ctx)
{
	if (ctx->pos < FIRST_PROCESS_ENTRY) {
		int error = proc_readdir_de(file, ctx, &proc_root);

		if (error <= 0)
			return error;
		ctx->pos = FIRST_PROCESS_ENTRY;
	}
	return proc_pid_readdir(file, ctx);
}

static const struct inode_operations proc_root_inode_operations = { .lookup = proc_root_lookup };
static const struct file_operations proc_root_operations = {
	.read = generic_read_dir, .iterate_shared = proc_root_readdir, .llseek = generic_file_llseek,
};

static const struct super_operations proc_sops = { .evict_inode = proc_pid_evict_inode };

static int proc_fill_super(struct super_block *sb, void *data)
{
	struct inode *root;

	sb->s_magic = PROC_SUPER_MAGIC;
	sb->s_op = &proc_sops;
	sb->s_d_op = &simple_dentry_operations;
	root = proc_get_inode(sb, &proc_root);
	if (!root)
		return -ENOMEM;
	root->i_op = &proc_root_inode_operations;
	root->i_fop = &proc_root_operations;
	sb->s_root = d_make_root(root);
	return sb->s_root ? 0 : -ENOMEM;
}

static struct file_system_type proc_fs_type = { .name = "proc", .fill_super = proc_fill_super, .single = true };

static int __init proc_init(void)
{
	register_filesystem(&proc_fs_type);
	proc_misc_init();
	return do_mount_at("proc", "/proc", &proc_fs_type, 0);
}
device_initcall(proc_init);

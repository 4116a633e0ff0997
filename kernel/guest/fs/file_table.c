/*
 * Open files: allocation, and the last fput, which a task does on its way back to user space (Linux's fs/file_table.c).
 */
#include "module.h"
#include "namei.h"
#include "filelock.h"
#include "fdtable.h"
#include "security.h"
#include "task_work.h"
#include "workqueue.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "kthread.h"
#include "init.h"

struct kmem_cache *filp_cachep;
static atomic_long_t nr_files;

static void file_free_rcu(struct rcu_head *head)
{
	struct file *f = container_of(head, struct file, f_rcuhead);

	put_cred(f->f_cred);
	kmem_cache_free(filp_cachep, f);
}

static inline void file_free(struct file *f)
{
	security_file_free(f);
	atomic_long_dec(&nr_files);
	call_rcu(&f->f_rcuhead, file_free_rcu);
}

static noinline struct file *__alloc_file(int flags, const struct cred *cred)
{
	struct file *f = kmem_cache_zalloc(filp_cachep, GFP_KERNEL);
	int error;

	if (unlikely(!f))
		return ERR_PTR(-ENOMEM);
	f->f_cred = get_cred(cred);
	error = security_file_alloc(f);
	if (unlikely(error)) {
		file_free_rcu(&f->f_rcuhead);
		return ERR_PTR(error);
	}
	atomic_long_set(&f->f_count, 1);
	spin_lock_init(&f->f_lock);
	mutex_init(&f->f_pos_lock);
	f->f_flags = flags;
	f->f_mode = OPEN_FMODE(flags);
	return f;
}

struct file *alloc_empty_file(int flags, const struct cred *cred)
{
	struct file *f = __alloc_file(flags, cred);

	if (likely(!IS_ERR(f)))
		atomic_long_inc(&nr_files);
	return f;
}

static struct file *alloc_file(const struct path *path, int flags, const struct file_operations *fop)
{
	struct file *file = alloc_empty_file(flags, current_cred());

	if (IS_ERR(file))
		return file;
	file->f_path = *path;
	file->f_inode = path->dentry->d_inode;
	file->f_mapping = path->dentry->d_inode->i_mapping;
	if (fop->llseek)
		file->f_mode |= FMODE_LSEEK;
	if ((file->f_mode & FMODE_READ) && likely(fop->read || fop->read_iter))
		file->f_mode |= FMODE_CAN_READ;
	if ((file->f_mode & FMODE_WRITE) && likely(fop->write || fop->write_iter))
		file->f_mode |= FMODE_CAN_WRITE;
	file->f_mode |= FMODE_OPENED;
	file->f_op = fop;
	return file;
}

/* A file with a name that no path leads to. @inode's reference goes to the file. */
struct file *alloc_file_pseudo(struct inode *inode, struct vfsmount *mnt, const char *name, int flags,
			       const struct file_operations *fops)
{
	struct qstr this = QSTR_INIT(name, strlen(name));
	struct path path;
	struct file *file;

	path.dentry = d_alloc_pseudo(mnt->mnt_sb, &this);
	if (!path.dentry)
		return ERR_PTR(-ENOMEM);
	path.mnt = mntget(mnt);
	d_instantiate(path.dentry, inode);
	file = alloc_file(&path, flags, fops);
	if (IS_ERR(file)) {
		ihold(inode);
		path_put(&path);
	}
	return file;
}

struct file *alloc_file_clone(struct file *base, int flags, const struct file_operations *fops)
{
	struct file *f = alloc_file(&base->f_path, flags, fops);

	if (!IS_ERR(f)) {
		path_get(&f->f_path);
		f->f_mapping = base->f_mapping;
	}
	return f;
}

/* The last reference is gone. */
static void __fput(struct file *file)
{
	struct dentry *dentry = file->f_path.dentry;
	struct vfsmount *mnt = file->f_path.mnt;
	struct inode *inode = file->f_inode;

	if (unlikely(!(file->f_mode & FMODE_OPENED)))
		goto out;
	might_sleep();
	locks_remove_file(file);
	if (file->f_op->release)
		file->f_op->release(inode, file);
	fops_put(file->f_op);
	if (file->f_mode & FMODE_WRITER) {
		put_write_access(inode);
		__mnt_drop_write(mnt);
	}
	dput(dentry);
	mntput(mnt);
out:
	file_free(file);
}

static void ____fput(struct callback_head *work)
{
	__fput(container_of(work, struct file, f_task_work));
}

/* Kernel threads have no way back to user space: a work finishes their files, a tick later. */
static struct rcu_head *delayed_fput_list;

void flush_delayed_fput(void)
{
	struct rcu_head *node = xchg(&delayed_fput_list, NULL), *next;

	for (; node; node = next) {
		next = node->next;
		____fput(node);
	}
}

static void delayed_fput(struct work_struct *unused)
{
	flush_delayed_fput();
}

static DECLARE_DELAYED_WORK(delayed_fput_work, delayed_fput);

void fput(struct file *file)
{
	struct task_struct *task = current;
	struct rcu_head *first;

	if (!atomic_long_dec_and_test(&file->f_count))
		return;
	if (likely(!in_interrupt() && !(task->flags & PF_KTHREAD))) {
		init_task_work(&file->f_task_work, ____fput);
		if (!task_work_add(task, &file->f_task_work, TWA_RESUME))
			return;
		/* the task has passed exit_task_work(): as for kernel threads */
	}
	do {
		first = READ_ONCE(delayed_fput_list);
		file->f_task_work.next = first;
	} while (cmpxchg(&delayed_fput_list, first, &file->f_task_work) != first);
	if (!first)
		schedule_delayed_work(&delayed_fput_work, 1);
}

/* For kernel threads that need it closed on return. */
void __fput_sync(struct file *file)
{
	if (atomic_long_dec_and_test(&file->f_count)) {
		BUG_ON(!(current->flags & PF_KTHREAD));
		__fput(file);
	}
}

void __init files_init(void)
{
	filp_cachep = kmem_cache_create("filp", sizeof(struct file), 0, SLAB_HWCACHE_ALIGN | SLAB_PANIC | SLAB_ACCOUNT, NULL);
}

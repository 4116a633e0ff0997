/*
 * /proc/PID (Linux's fs/proc/base.c, array.c, task_mmu.c, fd.c). A pid's inodes hold its struct task_struct; they go when the
 * last user does, since no dentry of procfs is kept (simple_dentry_operations).
 */
#include "proc_internal.h"
#include "namei.h"
#include "fs_struct.h"
#include "fdtable.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "uaccess.h"

enum pid_kind { PID_DIR, PID_TID_DIR, PID_TASK_DIR, PID_FD_DIR, PID_FILE, PID_LINK, PID_FD_LINK };

struct pid_entry {
	const char *name;
	umode_t mode;
	enum pid_kind kind;
	int (*show)(struct seq_file *m, void *v);		/* m->private: the task */
	int (*get_path)(struct task_struct *task, int fd, struct path *path);
};

/* What an inode below a pid directory stands for. */
struct proc_pid {
	struct task_struct *task;
	const struct pid_entry *entry;
	int fd;
};

static struct proc_pid *proc_pid_of(const struct inode *inode)
{
	return inode->i_private;
}

/* The address space, with a reference; NULL for kernel threads and the dead. */
struct mm_struct *get_task_mm(struct task_struct *task)
{
	struct mm_struct *mm;

	task_lock(task);
	mm = task->mm;
	if (mm)
		mmget(mm);
	task_unlock(task);
	return mm;
}

static int comm_show(struct seq_file *m, void *v)
{
	proc_task_name(m, m->private);
	seq_putc(m, '\n');
	return 0;
}

/* A piece of another task's memory, at most a page. */
static int seq_user_memory(struct seq_file *m, struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	end = min(end, addr + PAGE_SIZE);
	mmap_read_lock(mm);
	while (addr < end) {
		unsigned long n = min(end - addr, PAGE_SIZE - offset_in_page(addr));
		struct page *page;

		if (get_user_pages_remote(mm, addr, 1, FOLL_FORCE, &page) <= 0)
			break;
		seq_write(m, page_address(page) + offset_in_page(addr), n);
		put_page(page);
		addr += n;
	}
	mmap_read_unlock(mm);
	mmput(mm);
	return 0;
}

static int proc_pid_cmdline(struct seq_file *m, void *v)
{
	struct mm_struct *mm = get_task_mm(m->private);

	return mm ? seq_user_memory(m, mm, mm->arg_start, mm->arg_end) : 0;
}

static int proc_pid_environ(struct seq_file *m, void *v)
{
	struct mm_struct *mm = get_task_mm(m->private);

	return mm ? seq_user_memory(m, mm, mm->env_start, mm->env_end) : 0;
}

static void show_map_name(struct seq_file *m, struct mm_struct *mm, struct vm_area_struct *vma, char *buf, size_t line)
{
	const char *name = NULL;

	if (vma->vm_file) {
		name = d_path(&vma->vm_file->f_path, buf, PATH_MAX);
		if (IS_ERR(name))
			name = NULL;
	} else if (vma->vm_start <= mm->brk && vma->vm_end >= mm->start_brk && mm->brk > mm->start_brk) {
		name = "[heap]";
	} else if (vma->vm_start <= mm->start_stack && vma->vm_end >= mm->start_stack) {
		name = "[stack]";
	}
	if (name)	/* names start in one column (seq_pad) */
		seq_printf(m, "%*s%s", (int)max(73 - (long)(m->count - line), 0L), "", name);
	seq_putc(m, '\n');
}

static int proc_pid_maps(struct seq_file *m, void *v)
{
	struct mm_struct *mm = get_task_mm(m->private);
	struct vm_area_struct *vma;
	char *buf;

	if (!mm)
		return 0;
	buf = kmem_cache_alloc(names_cachep, GFP_KERNEL);
	mmap_read_lock(mm);
	list_for_each_entry(vma, &mm->mmap, vm_list) {
		struct inode *inode = vma->vm_file ? file_inode(vma->vm_file) : NULL;
		size_t line = m->count;

		seq_printf(m, "%08lx-%08lx %c%c%c%c %08lx %02x:%02x %lu ", vma->vm_start, vma->vm_end, vma->vm_flags & VM_READ ? 'r' : '-',
			   vma->vm_flags & VM_WRITE ? 'w' : '-', vma->vm_flags & VM_EXEC ? 'x' : '-',
			   vma->vm_flags & VM_MAYSHARE ? 's' : 'p', inode ? vma->vm_pgoff << PAGE_SHIFT : 0,
			   inode ? MAJOR(inode->i_sb->s_dev) : 0, inode ? MINOR(inode->i_sb->s_dev) : 0, inode ? inode->i_ino : 0);
		show_map_name(m, mm, vma, buf, line);
	}
	mmap_read_unlock(mm);
	kmem_cache_free(names_cachep, buf);
	mmput(mm);
	return 0;
}

static int proc_exe_link(struct task_struct *task, int fd, struct path *path)
{
	struct mm_struct *mm = get_task_mm(task);
	int ret = -ENOENT;

	if (!mm)
		return ret;
	if (mm->exe_file) {
		*path = mm->exe_file->f_path;
		path_get(path);
		ret = 0;
	}
	mmput(mm);
	return ret;
}

static __always_inline int proc_fs_link(struct task_struct *task, struct path *path, bool root)
{
	int ret = -ENOENT;

	task_lock(task);
	if (task->fs) {
		if (root)
			get_fs_root(task->fs, path);
		else
			get_fs_pwd(task->fs, path);
		ret = 0;
	}
	task_unlock(task);
	return ret;
}

static int proc_cwd_link(struct task_struct *task, int fd, struct path *path)
{
	return proc_fs_link(task, path, false);
}

static int proc_root_link(struct task_struct *task, int fd, struct path *path)
{
	return proc_fs_link(task, path, true);
}

/* A file of another task's table, with a reference. */
static struct file *fget_task(struct task_struct *task, unsigned int fd)
{
	struct file *file = NULL;

	task_lock(task);
	if (task->files) {
		struct files_struct *files = task->files;

		spin_lock(&files->file_lock);
		if (fd < files->fdt->max_fds && files->fdt->fd[fd])
			file = get_file(files->fdt->fd[fd]);
		spin_unlock(&files->file_lock);
	}
	task_unlock(task);
	return file;
}

static int proc_fd_link(struct task_struct *task, int fd, struct path *path)
{
	struct file *file = fget_task(task, fd);

	if (!file)
		return -ENOENT;
	*path = file->f_path;
	path_get(path);
	fput(file);
	return 0;
}

static const struct pid_entry tgid_base_stuff[] = {
	{ "task", S_IFDIR | 0555, PID_TASK_DIR, NULL, NULL },
	{ "fd", S_IFDIR | 0500, PID_FD_DIR, NULL, NULL },
	{ "environ", S_IFREG | 0400, PID_FILE, proc_pid_environ, NULL },
	{ "status", S_IFREG | 0444, PID_FILE, proc_pid_status, NULL },
	{ "limits", S_IFREG | 0444, PID_FILE, proc_pid_limits, NULL },
	{ "comm", S_IFREG | 0644, PID_FILE, comm_show, NULL },
	{ "cmdline", S_IFREG | 0444, PID_FILE, proc_pid_cmdline, NULL },
	{ "stat", S_IFREG | 0444, PID_FILE, proc_tgid_stat, NULL },
	{ "statm", S_IFREG | 0444, PID_FILE, proc_pid_statm, NULL },
	{ "maps", S_IFREG | 0444, PID_FILE, proc_pid_maps, NULL },
	{ "cwd", S_IFLNK | 0777, PID_LINK, NULL, proc_cwd_link },
	{ "root", S_IFLNK | 0777, PID_LINK, NULL, proc_root_link },
	{ "exe", S_IFLNK | 0777, PID_LINK, NULL, proc_exe_link },
	{ "mounts", S_IFREG | 0444, PID_FILE, show_vfsmnt, NULL },
	{ "wchan", S_IFREG | 0444, PID_FILE, proc_pid_wchan, NULL },
	{ "stack", S_IFREG | 0400, PID_FILE, proc_pid_stack, NULL },
	{ "schedstat", S_IFREG | 0444, PID_FILE, proc_pid_schedstat, NULL },
	{ "cgroup", S_IFREG | 0444, PID_FILE, proc_cgroup_show, NULL },
	{ "io", S_IFREG | 0400, PID_FILE, proc_pid_io, NULL },
};
/* A thread has the same but task/, and its own times (the row in the place of stat). */
static const struct pid_entry tid_stat_entry = { "stat", S_IFREG | 0444, PID_FILE, proc_tid_stat, NULL };

static const struct pid_entry pid_dir_entry = { "", S_IFDIR | 0555, PID_DIR, NULL, NULL };
static const struct pid_entry tid_dir_entry = { "", S_IFDIR | 0555, PID_TID_DIR, NULL, NULL };
static const struct pid_entry pid_fd_entry = { "", S_IFLNK | 0700, PID_FD_LINK, NULL, proc_fd_link };

static const struct inode_operations proc_tgid_base_inode_operations, proc_task_inode_operations, proc_fd_inode_operations,
	proc_pid_link_inode_operations;
static const struct file_operations proc_tgid_base_operations, proc_task_operations, proc_fd_operations, proc_single_file_operations;

static unsigned long pid_ino(struct task_struct *task, const struct pid_entry *e, int fd)
{
	unsigned int i = e >= tgid_base_stuff && e < tgid_base_stuff + ARRAY_SIZE(tgid_base_stuff) ? e - tgid_base_stuff + 1 : 0;

	return ((unsigned long)task->pid << 12) + (e->kind == PID_FD_LINK ? 64 + fd : i);
}

/* @dentry becomes the node @e of @task. */
static struct dentry *proc_pid_instantiate(struct dentry *dentry, struct task_struct *task, const struct pid_entry *e, int fd)
{
	struct inode *inode = new_inode(dentry->d_sb);
	struct proc_pid *pp = kzalloc(sizeof(*pp), GFP_KERNEL);

	if (!inode || !pp) {
		kfree(pp);
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	*pp = (struct proc_pid){ .task = get_task_struct(task), .entry = e, .fd = fd };
	inode->i_private = pp;
	inode->i_ino = pid_ino(task, e, fd);
	inode->i_mode = e->mode;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	if (task->cred) {
		inode->i_uid = task->cred->euid;
		inode->i_gid = task->cred->egid;
	}
	switch (e->kind) {
	case PID_TASK_DIR:
		inode->i_op = &proc_task_inode_operations;
		inode->i_fop = &proc_task_operations;
		set_nlink(inode, 2 + task->signal->nr_threads);
		break;
	case PID_DIR:
	case PID_TID_DIR:
		inode->i_op = &proc_tgid_base_inode_operations;
		inode->i_fop = &proc_tgid_base_operations;
		set_nlink(inode, 2);
		break;
	case PID_FD_DIR:
		inode->i_op = &proc_fd_inode_operations;
		inode->i_fop = &proc_fd_operations;
		set_nlink(inode, 2);
		break;
	case PID_FILE:
		inode->i_fop = &proc_single_file_operations;
		break;
	case PID_LINK:
	case PID_FD_LINK:
		inode->i_op = &proc_pid_link_inode_operations;
		break;
	}
	d_add(dentry, inode);
	return NULL;
}

void proc_pid_evict_inode(struct inode *inode)
{
	struct proc_pid *pp = proc_pid_of(inode);

	if (pp && (inode->i_op == &proc_tgid_base_inode_operations || inode->i_op == &proc_fd_inode_operations || inode->i_op == &proc_task_inode_operations ||
		   inode->i_op == &proc_pid_link_inode_operations || inode->i_fop == &proc_single_file_operations)) {
		put_task_struct(pp->task);
		kfree(pp);
	} else if (inode->i_fop == &proc_reg_ops_file_ops) {
		pde_put(inode->i_private);
	}
	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
}

static int proc_single_open(struct inode *inode, struct file *filp)
{
	struct proc_pid *pp = proc_pid_of(inode);

	return single_open(filp, pp->entry->show, pp->task);
}

/* comm: a task may give itself, or a thread of its own, another name. */
static ssize_t comm_write(struct file *file, const char __user *buf, size_t count, loff_t *offset)
{
	struct proc_pid *pp = proc_pid_of(file_inode(file));
	char buffer[TASK_COMM_LEN] = { 0 };

	if (strcmp(pp->entry->name, "comm"))
		return -EINVAL;
	if (copy_from_user(buffer, buf, min(count, sizeof(buffer) - 1)))
		return -EFAULT;
	if (pp->task->tgid != current->tgid)
		return -EINVAL;
	if (strchr(buffer, '\n'))
		*strchr(buffer, '\n') = 0;
	set_task_comm(pp->task, buffer);
	return count;
}

static const struct file_operations proc_single_file_operations = {
	.open = proc_single_open, .read = seq_read, .read_iter = seq_read_iter, .write = comm_write, .llseek = seq_lseek,
	.release = single_release,
};

/* These links are no names: following one leads to the very object, even when that has no name any more. */
static const char *proc_pid_get_link(struct dentry *dentry, struct inode *inode)
{
	struct proc_pid *pp = proc_pid_of(inode);
	struct path path;
	int error = pp->entry->get_path(pp->task, pp->fd, &path);

	if (!error)
		error = nd_jump_link(&path);
	return ERR_PTR(error);
}

static int proc_pid_readlink(struct dentry *dentry, char __user *buffer, int buflen)
{
	struct proc_pid *pp = proc_pid_of(d_inode(dentry));
	struct path path;
	char *page, *text;
	int error = pp->entry->get_path(pp->task, pp->fd, &path);

	if (error)
		return error;
	page = kmem_cache_alloc(names_cachep, GFP_KERNEL);
	error = -ENOMEM;
	if (page) {
		text = d_path(&path, page, PATH_MAX);
		error = IS_ERR(text) ? PTR_ERR(text) : readlink_copy(buffer, buflen, text);
		kmem_cache_free(names_cachep, page);
	}
	path_put(&path);
	return error;
}

static const struct inode_operations proc_pid_link_inode_operations = {
	.readlink = proc_pid_readlink,
	.get_link = proc_pid_get_link,
};

static __always_inline bool emit_dots(struct file *file, struct dir_context *ctx)
{
	if (ctx->pos == 0) {
		if (!dir_emit(ctx, ".", 1, file_inode(file)->i_ino, DT_DIR))
			return false;
		ctx->pos = 1;
	}
	if (ctx->pos == 1) {
		if (!dir_emit(ctx, "..", 2, d_inode(file->f_path.dentry->d_parent)->i_ino, DT_DIR))
			return false;
		ctx->pos = 2;
	}
	return true;
}

/* The row of a name below a process, or below a thread, which has no task/ (row 0). */
static const struct pid_entry *base_entry(const struct proc_pid *pp, unsigned int i)
{
	if (pp->entry->kind == PID_TID_DIR && tgid_base_stuff[i].show == proc_tgid_stat)
		return &tid_stat_entry;
	return &tgid_base_stuff[i];
}

static struct dentry *proc_tgid_base_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct proc_pid *pp = proc_pid_of(dir);

	for (unsigned int i = pp->entry->kind == PID_TID_DIR; i < ARRAY_SIZE(tgid_base_stuff); i++)
		if (!strcmp(tgid_base_stuff[i].name, (const char *)dentry->d_name.name))
			return proc_pid_instantiate(dentry, pp->task, base_entry(pp, i), 0);
	return ERR_PTR(-ENOENT);
}

static int proc_tgid_base_readdir(struct file *file, struct dir_context *ctx)
{
	struct proc_pid *pp = proc_pid_of(file_inode(file));
	unsigned int first = pp->entry->kind == PID_TID_DIR;

	if (!emit_dots(file, ctx))
		return 0;
	for (; ctx->pos - 2 + first < (loff_t)ARRAY_SIZE(tgid_base_stuff); ctx->pos++) {
		const struct pid_entry *e = &tgid_base_stuff[ctx->pos - 2 + first];

		if (!dir_emit(ctx, e->name, strlen(e->name), pid_ino(pp->task, e, 0), dt_type(e->mode)))
			return 0;
	}
	return 0;
}

static const struct inode_operations proc_tgid_base_inode_operations = { .lookup = proc_tgid_base_lookup };
static const struct file_operations proc_tgid_base_operations = {
	.read = generic_read_dir, .iterate_shared = proc_tgid_base_readdir, .llseek = generic_file_llseek,
};

/* The thread @tid of a process, with a reference; 0: the first one. */
static struct task_struct *get_thread(struct task_struct *leader, pid_t tid, int skip)
{
	struct task_struct *t, *found = NULL;

	read_lock(&tasklist_lock);
	if (leader->sighand) {
		if (tid ? leader->pid == tid : skip-- == 0)
			found = leader;
		list_for_each_entry(t, &leader->thread_group, thread_group) {
			if (!found && (tid ? t->pid == tid : skip-- == 0))
				found = t;
		}
	}
	if (found)
		get_task_struct(found);
	read_unlock(&tasklist_lock);
	return found;
}

static bool number_of(const char *name, unsigned int *n)
{
	char *end;

	if (*name < '0' || *name > '9' || (*name == '0' && name[1]))
		return false;
	*n = simple_strtoul(name, &end, 10);
	return !*end;
}

static struct dentry *proc_task_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct task_struct *task;
	struct dentry *res;
	unsigned int tid;

	if (!number_of((const char *)dentry->d_name.name, &tid) || !tid)
		return ERR_PTR(-ENOENT);
	task = get_thread(proc_pid_of(dir)->task, tid, 0);
	if (!task)
		return ERR_PTR(-ENOENT);
	res = proc_pid_instantiate(dentry, task, &tid_dir_entry, 0);
	put_task_struct(task);
	return res;
}

static int proc_task_readdir(struct file *file, struct dir_context *ctx)
{
	struct task_struct *leader = proc_pid_of(file_inode(file))->task, *t;

	if (!emit_dots(file, ctx))
		return 0;
	while ((t = get_thread(leader, 0, ctx->pos - 2)) != NULL) {
		char name[12];
		bool more = dir_emit(ctx, name, sprintf(name, "%d", t->pid), pid_ino(t, &tid_dir_entry, 0), DT_DIR);

		put_task_struct(t);
		if (!more)
			return 0;
		ctx->pos++;
	}
	return 0;
}

static const struct inode_operations proc_task_inode_operations = { .lookup = proc_task_lookup };
static const struct file_operations proc_task_operations = {
	.read = generic_read_dir, .iterate_shared = proc_task_readdir, .llseek = generic_file_llseek,
};

static struct dentry *proc_lookupfd(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct task_struct *task = proc_pid_of(dir)->task;
	struct dentry *res;
	unsigned int fd;
	struct file *file;

	if (!number_of((const char *)dentry->d_name.name, &fd))
		return ERR_PTR(-ENOENT);
	file = fget_task(task, fd);
	if (!file)
		return ERR_PTR(-ENOENT);
	res = proc_pid_instantiate(dentry, task, &pid_fd_entry, fd);
	if (!res)	/* the link's mode says what the file is open for */
		d_inode(dentry)->i_mode = S_IFLNK | (file->f_mode & FMODE_READ ? 0500 : 0) | (file->f_mode & FMODE_WRITE ? 0300 : 0);
	fput(file);
	return res;
}

static int proc_readfd(struct file *file, struct dir_context *ctx)
{
	struct task_struct *task = proc_pid_of(file_inode(file))->task;

	if (!emit_dots(file, ctx))
		return 0;
	for (; ctx->pos - 2 < NR_OPEN_DEFAULT * 16; ctx->pos++) {
		unsigned int fd = ctx->pos - 2;
		struct file *f = fget_task(task, fd);
		char name[12];

		if (!f)
			continue;
		fput(f);
		if (!dir_emit(ctx, name, sprintf(name, "%u", fd), pid_ino(task, &pid_fd_entry, fd), DT_LNK))
			return 0;
	}
	return 0;
}

static const struct inode_operations proc_fd_inode_operations = { .lookup = proc_lookupfd };
static const struct file_operations proc_fd_operations = {
	.read = generic_read_dir, .iterate_shared = proc_readfd, .llseek = generic_file_llseek,
};

/* The first process whose pid is not below @pid, with a reference. */
static struct task_struct *next_tgid(pid_t pid)
{
	struct task_struct *p, *best = NULL;

	read_lock(&tasklist_lock);
	for_each_process(p)
		if (p->pid >= pid && p->pid && (!best || p->pid < best->pid))
			best = p;
	if (best)
		get_task_struct(best);
	read_unlock(&tasklist_lock);
	return best;
}

struct dentry *proc_pid_lookup(struct dentry *dentry, unsigned int flags)
{
	struct dentry *res = ERR_PTR(-ENOENT);
	struct task_struct *task;
	unsigned int pid;

	if (!number_of((const char *)dentry->d_name.name, &pid))
		return res;
	task = next_tgid(pid);
	if (!task)
		return res;
	if (task->pid == (pid_t)pid)
		res = proc_pid_instantiate(dentry, task, &pid_dir_entry, 0);
	put_task_struct(task);
	return res;
}

/* Processes are at positions from 257 on, by pid (TGID_OFFSET). */
int proc_pid_readdir(struct file *file, struct dir_context *ctx)
{
	struct task_struct *task;

	while ((task = next_tgid(ctx->pos - 256)) != NULL) {
		char name[12];
		pid_t pid = task->pid;
		bool more = dir_emit(ctx, name, sprintf(name, "%d", pid), pid_ino(task, &pid_dir_entry, 0), DT_DIR);

		put_task_struct(task);
		if (!more)
			return 0;
		ctx->pos = pid + 257;
		cond_resched();
	}
	return 0;
}

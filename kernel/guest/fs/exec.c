/*
 * execve (Linux's fs/exec.c): the new program's arguments are written into the top of a new address space first, so that
 * everything that can fail has failed before begin_new_exec() gives up the old one.
 *
 *	do_execveat_common -> bprm_execve -> exec_binprm -> search_binary_handler -> load_elf_binary -> begin_new_exec
 */
#include "binfmts.h"
#include "tracepoint.h"
#include "namei.h"
#include "fs_struct.h"
#include "fdtable.h"
#include "security.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"
#include "uaccess.h"
#include "gates.h"
#include "module.h"

static LIST_HEAD(formats);
static DEFINE_RWLOCK(binfmt_lock);

struct user_arg_ptr {
	const char __user *const __user *native;
};

/* The running program's format: its module stays. */
void set_binfmt(struct linux_binfmt *new)
{
	struct mm_struct *mm = current->mm;

	if (mm->binfmt)
		module_put(mm->binfmt->module);
	mm->binfmt = new;
	if (new)
		__module_get(new->module);
}

void register_binfmt(struct linux_binfmt *fmt)
{
	write_lock_irq(&binfmt_lock);
	list_add_tail(&fmt->lh, &formats);
	write_unlock_irq(&binfmt_lock);
}

static noinline void acct_arg_size(struct linux_binprm *bprm, unsigned long pages)
{
	bprm->mm->total_vm = pages;
}

/* The page of the new stack that holds @pos, with a reference; making it extends the stack downwards. */
static noinline struct page *get_arg_page(struct linux_binprm *bprm, unsigned long pos, int write)
{
	struct page *page;
	long ret;

	if (write && pos < bprm->vma->vm_start) {
		ret = expand_stack(bprm->vma, pos);
		if (ret < 0)
			return NULL;
	}
	mmap_read_lock(bprm->mm);
	ret = get_user_pages_remote(bprm->mm, pos, 1, write ? FOLL_FORCE | FOLL_WRITE : FOLL_FORCE, &page);
	mmap_read_unlock(bprm->mm);
	if (ret <= 0)
		return NULL;
	if (write)
		acct_arg_size(bprm, (bprm->vma->vm_end - bprm->vma->vm_start) / PAGE_SIZE);
	return page;
}

static int __bprm_mm_init(struct linux_binprm *bprm)
{
	struct mm_struct *mm = bprm->mm;
	struct vm_area_struct *vma = vm_area_alloc(mm);
	int err;

	bprm->vma = vma;
	if (!vma)
		return -ENOMEM;
	if (mmap_write_lock_killable(mm)) {
		err = -EINTR;
		goto err_free;
	}
	vma->vm_end = STACK_TOP_MAX;
	vma->vm_start = vma->vm_end - PAGE_SIZE;
	vma->vm_flags = VM_STACK_FLAGS;
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	err = insert_vm_struct(mm, vma);
	if (err) {
		mmap_write_unlock(mm);
		goto err_free;
	}
	mm->stack_vm = mm->total_vm = 1;
	mmap_write_unlock(mm);
	bprm->p = vma->vm_end - sizeof(void *);
	return 0;
err_free:
	bprm->vma = NULL;
	vm_area_free(vma);
	return err;
}

static int bprm_mm_init(struct linux_binprm *bprm)
{
	int err;

	bprm->mm = mm_alloc();
	if (!bprm->mm)
		return -ENOMEM;
	err = __bprm_mm_init(bprm);
	if (err) {
		mmput(bprm->mm);
		bprm->mm = NULL;
	}
	return err;
}

static const char __user *get_user_arg_ptr(struct user_arg_ptr argv, int nr)
{
	const char __user *native;

	if (get_user(native, argv.native + nr))
		return ERR_PTR(-EFAULT);
	return native;
}

static noinline int count(struct user_arg_ptr argv, int max)
{
	int i = 0;

	if (!argv.native)
		return 0;
	for (;;) {
		const char __user *p = get_user_arg_ptr(argv, i);

		if (!p)
			return i;
		if (IS_ERR(p))
			return -EFAULT;
		if (i >= max)
			return -E2BIG;
		++i;
		if (fatal_signal_pending(current))
			return -ERESTARTNOHAND;
		cond_resched();
	}
}

static int count_strings_kernel(const char *const *argv)
{
	int i = 0;

	if (argv)
		while (argv[i])
			i++;
	return i;
}

static int bprm_stack_limits(struct linux_binprm *bprm)
{
	unsigned long ptr_size, limit = MAX_ARG_PAGES * PAGE_SIZE;

	ptr_size = (max(bprm->argc, 1) + bprm->envc) * sizeof(void *);
	if (limit <= ptr_size)
		return -E2BIG;
	bprm->argmin = bprm->p - (limit - ptr_size);
	return 0;
}

/* The page that is being written; the next string is likely to end in it too. */
struct arg_page { struct page *page; unsigned long kpos; };

static __always_inline void put_arg(struct arg_page *a)
{
	if (a->page)
		put_page(a->page);
}

/* Writes @len bytes that end at bprm->p, page by page downwards. @user: the source is user memory. */
static __always_inline int copy_arg(struct linux_binprm *bprm, const char *str, unsigned long len, bool user, struct arg_page *a)
{
	unsigned long pos = bprm->p;

	str += len;
	bprm->p -= len;
	if (bprm->p < bprm->argmin)
		return -E2BIG;
	while (len > 0) {
		unsigned int offset = pos % PAGE_SIZE, bytes;
		char *kaddr;
		bool bad = false;

		if (fatal_signal_pending(current))
			return -ERESTARTNOHAND;
		cond_resched();
		if (offset == 0)
			offset = PAGE_SIZE;
		bytes = min_t(unsigned long, offset, len);
		pos -= bytes;
		str -= bytes;
		len -= bytes;
		if (!a->page || a->kpos != (pos & PAGE_MASK)) {
			put_arg(a);
			a->page = get_arg_page(bprm, pos, 1);
			a->kpos = pos & PAGE_MASK;
			if (!a->page)
				return -E2BIG;
		}
		kaddr = page_address(a->page) + pos % PAGE_SIZE;
		if (user)
			bad = copy_from_user(kaddr, str, bytes);
		else
			memcpy(kaddr, str, bytes);
		if (bad)
			return -EFAULT;
	}
	return 0;
}

/* argv or envp from user memory, the last string at the highest address. */
static noinline int copy_strings(int argc, struct user_arg_ptr argv, struct linux_binprm *bprm)
{
	struct arg_page a = { NULL, 0 };
	int ret = 0;

	while (!ret && argc-- > 0) {
		const char __user *str = get_user_arg_ptr(argv, argc);
		long len;

		ret = -EFAULT;
		if (IS_ERR(str))
			break;
		len = strnlen_user(str, MAX_ARG_STRLEN);
		if (!len)
			break;
		ret = len > (long)MAX_ARG_STRLEN ? -E2BIG : copy_arg(bprm, str, len, true, &a);
	}
	put_arg(&a);
	return ret;
}

noinline int copy_string_kernel(const char *arg, struct linux_binprm *bprm)
{
	int len = strnlen(arg, MAX_ARG_STRLEN) + 1, ret;
	struct arg_page a = { NULL, 0 };

	ret = copy_arg(bprm, arg, len, false, &a);
	put_arg(&a);
	return ret;
}

static int copy_strings_kernel(int argc, const char *const *argv, struct linux_binprm *bprm)
{
	while (argc-- > 0) {
		int ret = copy_string_kernel(argv[argc], bprm);

		if (ret < 0)
			return ret;
		cond_resched();
	}
	return 0;
}

static noinline struct file *do_open_execat(int fd, struct filename *name, int flags)
{
	struct open_flags open_exec_flags = {
		.open_flag = O_LARGEFILE | O_RDONLY,
		.acc_mode = MAY_EXEC,
		.intent = LOOKUP_OPEN,
		.lookup_flags = LOOKUP_FOLLOW,
	};
	struct file *file = do_filp_open(fd, name, &open_exec_flags);
	int err;

	if (IS_ERR(file))
		return file;
	if (!S_ISREG(file_inode(file)->i_mode) || path_noexec(&file->f_path)) {
		fput(file);
		return ERR_PTR(-EACCES);
	}
	err = deny_write_access(file);
	if (err) {
		fput(file);
		return ERR_PTR(err);
	}
	file->f_mode |= FMODE_EXEC;
	return file;
}

struct file *open_exec(const char *name)
{
	struct filename *filename = getname_kernel(name);
	struct file *f = ERR_CAST(filename);

	if (!IS_ERR(filename)) {
		f = do_open_execat(AT_FDCWD, filename, 0);
		putname(filename);
	}
	return f;
}

static void free_bprm(struct linux_binprm *bprm)
{
	if (bprm->mm) {
		acct_arg_size(bprm, 0);
		mmput(bprm->mm);
	}
	if (bprm->cred) {
		mutex_unlock(&current->signal->cred_guard_mutex);
		abort_creds(bprm->cred);
	}
	if (bprm->interpreter) {
		allow_write_access(bprm->interpreter);
		fput(bprm->interpreter);
	}
	if (bprm->file) {
		allow_write_access(bprm->file);
		fput(bprm->file);
	}
	if (bprm->interp != bprm->filename)
		kfree(bprm->interp);
	kfree(bprm);
}

static noinline struct linux_binprm *alloc_bprm(struct filename *filename)
{
	struct linux_binprm *bprm = kzalloc(sizeof(*bprm), GFP_KERNEL);
	int retval;

	if (!bprm)
		return ERR_PTR(-ENOMEM);
	bprm->filename = filename->name;
	bprm->interp = bprm->filename;
	retval = bprm_mm_init(bprm);
	if (retval) {
		free_bprm(bprm);
		return ERR_PTR(retval);
	}
	return bprm;
}

/* The name of a script's interpreter; the string is the bprm's own. */
int bprm_change_interp(const char *interp, struct linux_binprm *bprm)
{
	if (bprm->interp != bprm->filename)
		kfree(bprm->interp);
	bprm->interp = kstrdup(interp, GFP_KERNEL);
	return bprm->interp ? 0 : -ENOMEM;
}

/* Drops argv[0] from the new stack: p moves behind its NUL. */
int remove_arg_zero(struct linux_binprm *bprm)
{
	if (!bprm->argc)
		return 0;
	for (;;) {
		struct page *page = get_arg_page(bprm, bprm->p, 0);
		char c;

		if (!page)
			return -EFAULT;
		c = *((char *)page_address(page) + bprm->p % PAGE_SIZE);
		put_page(page);
		bprm->p++;
		if (!c)
			break;
	}
	bprm->argc--;
	return 0;
}

/* The old address space goes, the new one is this task's. */
static int exec_mmap(struct mm_struct *mm)
{
	struct task_struct *tsk = current;
	struct mm_struct *old_mm = tsk->mm, *active_mm;
	int ret;

	exec_mm_release(tsk, old_mm);
	ret = down_write_killable(&tsk->signal->exec_update_lock);	/* until setup_new_exec() */
	if (ret)
		return ret;
	task_lock(tsk);
	local_irq_disable();
	active_mm = tsk->active_mm;
	tsk->active_mm = mm;
	tsk->mm = mm;
	activate_mm(active_mm, mm);
	local_irq_enable();
	task_unlock(tsk);
	if (old_mm) {
		mmput(old_mm);
		return 0;
	}
	mmdrop(active_mm);
	return 0;
}

static const char *kbasename(const char *path)
{
	const char *tail = strrchr(path, '/');

	return tail ? tail + 1 : path;
}

noinline int begin_new_exec(struct linux_binprm *bprm)
{
	struct task_struct *me = current;
	int retval;

	bprm->point_of_no_return = true;
	zap_other_threads(me);
	retval = unshare_files();
	if (retval)
		return retval;
	retval = set_mm_exe_file(bprm->mm, bprm->file);
	if (retval)
		return retval;
	acct_arg_size(bprm, 0);
	retval = exec_mmap(bprm->mm);
	if (retval)
		return retval;
	bprm->mm = NULL;
	me->flags &= ~(PF_FORKNOEXEC | PF_NO_SETAFFINITY);
	if (me->flags & PF_KTHREAD)
		me->flags &= ~PF_KTHREAD;
	flush_thread();
	do_close_on_exec(me->files);
	__set_task_comm(me, kbasename(bprm->filename), true);
	flush_signal_handlers(me, 0);
	commit_creds(bprm->cred);
	bprm->cred = NULL;
	return 0;
}

/* The address space layout: mmap grows down from below the stack's reserve. */
noinline void setup_new_exec(struct linux_binprm *bprm)
{
	struct mm_struct *mm = current->mm;

	mm->mmap_base = PAGE_ALIGN(STACK_TOP - (8UL << 20) - (128UL << 20));
	up_write(&current->signal->exec_update_lock);
	mutex_unlock(&current->signal->cred_guard_mutex);
}

void finalize_exec(struct linux_binprm *bprm)
{
	/* from now on brk() may move the break of this program, not of its loader */
	current->mm->brk = max(current->mm->brk, current->mm->start_brk);
}

/* The stack is where Linux's own ends without randomisation, so it stays; it gets its spare pages. */
int setup_arg_pages(struct linux_binprm *bprm, unsigned long stack_top, int executable_stack)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma = bprm->vma;
	unsigned long stack_base;
	int ret;

	mm->arg_start = bprm->p;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	stack_base = vma->vm_start - 131072;
	mm->start_stack = bprm->p;
	ret = expand_stack(vma, stack_base);
	mmap_write_unlock(mm);
	return ret ? -EFAULT : 0;
}

static int prepare_binprm(struct linux_binprm *bprm)
{
	loff_t pos = 0;

	memset(bprm->buf, 0, BINPRM_BUF_SIZE);
	return kernel_read(bprm->file, bprm->buf, BINPRM_BUF_SIZE, &pos);
}

static int search_binary_handler(struct linux_binprm *bprm)
{
	struct linux_binfmt *fmt;
	int retval = prepare_binprm(bprm);

	if (retval < 0)
		return retval;
	retval = security_bprm_check(bprm);
	if (retval)
		return retval;
	retval = -ENOENT;
	read_lock(&binfmt_lock);
	list_for_each_entry(fmt, &formats, lh) {
		if (!try_module_get(fmt->module))
			continue;
		read_unlock(&binfmt_lock);
		retval = fmt->load_binary(bprm);
		read_lock(&binfmt_lock);
		module_put(fmt->module);
		if (bprm->point_of_no_return || retval != -ENOEXEC)
			break;
	}
	read_unlock(&binfmt_lock);
	return retval;
}

/* Scripts may name scripts, to this depth. */
#define MAX_INTERPRETERS	5

static int exec_binprm(struct linux_binprm *bprm)
{
	for (int depth = 0;; depth++) {
		int ret;

		if (depth > MAX_INTERPRETERS)
			return -ELOOP;
		ret = search_binary_handler(bprm);
		if (ret < 0)
			return ret;
		if (!bprm->interpreter) {
			trace_sched_process_exec(current, current->pid, bprm);
			return ret;
		}
		allow_write_access(bprm->file);
		fput(bprm->file);
		bprm->file = bprm->interpreter;
		bprm->interpreter = NULL;
	}
}

/* A task that shares its fs_struct with one outside its group must not become another program's half. */
static void check_unsafe_exec(struct linux_binprm *bprm)
{
	struct fs_struct *fs = current->fs;

	spin_lock(&fs->lock);
	if (fs->users > 1)
		bprm->unsafe_share = 1;
	else
		fs->in_exec = 1;
	spin_unlock(&fs->lock);
}

/* The credentials are made for a program that nobody else of the process may replace meanwhile. */
static int prepare_bprm_creds(struct linux_binprm *bprm)
{
	if (mutex_lock_interruptible(&current->signal->cred_guard_mutex))
		return -ERESTARTNOINTR;
	bprm->cred = prepare_exec_creds();
	if (likely(bprm->cred))
		return 0;
	mutex_unlock(&current->signal->cred_guard_mutex);
	return -ENOMEM;
}

static noinline int bprm_execve(struct linux_binprm *bprm, int fd, struct filename *filename, int flags)
{
	struct file *file;
	int retval;

	retval = prepare_bprm_creds(bprm);
	if (retval)
		return retval;
	check_unsafe_exec(bprm);
	current->in_execve = 1;
	file = do_open_execat(fd, filename, flags);
	retval = PTR_ERR(file);
	if (IS_ERR(file))
		goto out;
	bprm->file = file;
	sched_exec();
	retval = security_bprm_creds_for_exec(bprm);
	if (retval)
		goto out;
	retval = exec_binprm(bprm);
	if (retval < 0)
		goto out;
	current->fs->in_exec = 0;
	current->in_execve = 0;
	user_task_exec(current->pid);
	return retval;
out:
	/* the old program is gone: there is nothing to return an error to */
	if (bprm->point_of_no_return && !fatal_signal_pending(current))
		force_sig(SIGSEGV);
	current->fs->in_exec = 0;
	current->in_execve = 0;
	return retval;
}

static noinline int do_execveat_common(int fd, struct filename *filename, struct user_arg_ptr argv, struct user_arg_ptr envp,
				       int flags)
{
	struct linux_binprm *bprm;
	int retval;

	if (IS_ERR(filename))
		return PTR_ERR(filename);
	bprm = alloc_bprm(filename);
	if (IS_ERR(bprm)) {
		retval = PTR_ERR(bprm);
		goto out_ret;
	}
	retval = count(argv, MAX_ARG_STRINGS);
	if (retval < 0)
		goto out_free;
	bprm->argc = retval;
	retval = count(envp, MAX_ARG_STRINGS);
	if (retval < 0)
		goto out_free;
	bprm->envc = retval;
	retval = bprm_stack_limits(bprm);
	if (retval < 0)
		goto out_free;
	retval = copy_string_kernel(bprm->filename, bprm);
	if (retval < 0)
		goto out_free;
	bprm->exec = bprm->p;
	retval = copy_strings(bprm->envc, envp, bprm);
	if (retval < 0)
		goto out_free;
	retval = copy_strings(bprm->argc, argv, bprm);
	if (retval < 0)
		goto out_free;
	/* a program always finds an argv[0] */
	if (bprm->argc == 0) {
		retval = copy_string_kernel("", bprm);
		if (retval < 0)
			goto out_free;
		bprm->argc = 1;
	}
	retval = bprm_execve(bprm, fd, filename, flags);
out_free:
	free_bprm(bprm);
out_ret:
	putname(filename);
	return retval;
}

/* From a kernel thread, which becomes the program when it returns to user space. */
int kernel_execve(const char *kernel_filename, const char *const *argv, const char *const *envp)
{
	struct filename *filename = getname_kernel(kernel_filename);
	struct linux_binprm *bprm;
	int retval;

	if (IS_ERR(filename))
		return PTR_ERR(filename);
	bprm = alloc_bprm(filename);
	if (IS_ERR(bprm)) {
		retval = PTR_ERR(bprm);
		goto out_ret;
	}
	bprm->argc = count_strings_kernel(argv);
	bprm->envc = count_strings_kernel(envp);
	retval = bprm_stack_limits(bprm);
	if (retval < 0)
		goto out_free;
	retval = copy_string_kernel(bprm->filename, bprm);
	if (retval < 0)
		goto out_free;
	bprm->exec = bprm->p;
	retval = copy_strings_kernel(bprm->envc, envp, bprm);
	if (retval < 0)
		goto out_free;
	retval = copy_strings_kernel(bprm->argc, argv, bprm);
	if (retval < 0)
		goto out_free;
	retval = bprm_execve(bprm, AT_FDCWD, filename, 0);
out_free:
	free_bprm(bprm);
out_ret:
	putname(filename);
	return retval;
}

SYSCALL_DEFINE3(execve, const char __user *, filename, const char __user *const __user *, argv,
		const char __user *const __user *, envp)
{
	return do_execveat_common(AT_FDCWD, getname(filename), (struct user_arg_ptr){ argv }, (struct user_arg_ptr){ envp }, 0);
}

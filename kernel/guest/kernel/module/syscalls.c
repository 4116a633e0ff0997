/* The ways in: init_module, finit_module, and the host (kernel/module/main.c; fs/kernel_read_file.c). */
#include "internal.h"
#include "uaccess.h"
#include "syscalls.h"
#include "fs.h"
#include "fdtable.h"
#include "cred.h"
#include "slab.h"

static int may_init_module(void)
{
	return capable(CAP_SYS_MODULE) ? 0 : -EPERM;
}

static char *strndup_user_args(const char __user *uargs)
{
	char *args = kmalloc(PAGE_SIZE, GFP_KERNEL);
	long n;

	if (!args)
		return ERR_PTR(-ENOMEM);
	n = strncpy_from_user(args, uargs, PAGE_SIZE);
	if (n >= 0 && n < PAGE_SIZE)
		return args;
	kfree(args);
	return ERR_PTR(n < 0 ? n : -EINVAL);
}

#define MODULE_MAX_FILE	(2UL << 20)

SYSCALL_DEFINE3(init_module, void __user *, umod, unsigned long, len, const char __user *, uargs)
{
	struct load_info info = { .len = len };
	int err = may_init_module();
	char *args;

	if (err)
		return err;
	if (len < 64)		/* an ELF header */
		return -ENOEXEC;
	if (len > MODULE_MAX_FILE)
		return -ENOMEM;
	info.hdr = kmalloc(len, GFP_KERNEL);
	if (!info.hdr)
		return -ENOMEM;
	err = copy_from_user((void *)info.hdr, umod, len) ? -EFAULT : 0;
	args = err ? ERR_PTR(err) : strndup_user_args(uargs);
	err = IS_ERR(args) ? PTR_ERR(args) : load_module(&info, args);
	kfree(info.hdr);
	return err;
}

/* kernel_read_file of fs/kernel_read_file.c. */
static noinline int kernel_read_file(struct file *file, struct load_info *info)
{
	struct inode *inode = file_inode(file);
	loff_t pos = 0;
	long n;

	if (!S_ISREG(inode->i_mode) || i_size_read(inode) <= 0)
		return -EINVAL;
	if (i_size_read(inode) > MODULE_MAX_FILE)
		return -EFBIG;
	info->len = i_size_read(inode);
	info->hdr = kmalloc(info->len, GFP_KERNEL);
	if (!info->hdr)
		return -ENOMEM;
	n = kernel_read(file, (void *)info->hdr, info->len, &pos);
	if (n == info->len)
		return 0;
	kfree(info->hdr);
	return n < 0 ? n : -EIO;
}

static noinline long init_module_from_file(struct file *file, char *args)
{
	struct load_info info = { 0 };
	int err = IS_ERR(args) ? PTR_ERR(args) : kernel_read_file(file, &info);

	if (err) {
		if (!IS_ERR(args))
			kfree(args);
		return err;
	}
	err = load_module(&info, args);
	kfree(info.hdr);
	return err;
}

#define MODULE_INIT_IGNORE_MODVERSIONS	1
#define MODULE_INIT_IGNORE_VERMAGIC	2
#define MODULE_INIT_COMPRESSED_FILE	4

SYSCALL_DEFINE3(finit_module, int, fd, const char __user *, uargs, int, flags)
{
	int err = may_init_module();
	struct fd f;

	if (err)
		return err;
	if (flags & ~(MODULE_INIT_IGNORE_MODVERSIONS | MODULE_INIT_IGNORE_VERMAGIC | MODULE_INIT_COMPRESSED_FILE))
		return -EINVAL;
	if (flags & MODULE_INIT_COMPRESSED_FILE)
		return -EOPNOTSUPP;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	err = f.file->f_mode & FMODE_READ ? init_module_from_file(f.file, strndup_user_args(uargs)) : -EBADF;
	fdput(f);
	return err;
}

/* ---- the host's way in: kscoped, by a task of its own, which may die in a module's init ---- */
struct host_load { const char *path, *args; unsigned int flags; long ret; };

static int host_insmod(void *data)
{
	struct host_load *l = data;
	struct file *file;
	char *copy;

	set_task_comm(current, "insmod");
	file = filp_open(l->path, O_RDONLY, 0);
	l->ret = PTR_ERR(file);
	if (!IS_ERR(file)) {
		copy = kstrdup(l->args, GFP_KERNEL);
		l->ret = -EFAULT;	/* when we do not come back */
		l->ret = init_module_from_file(file, copy ?: ERR_PTR(-ENOMEM));
		__fput_sync(file);
	}
	do_exit(0);
}

static int host_rmmod(void *data)
{
	struct host_load *l = data;

	set_task_comm(current, "rmmod");
	l->ret = delete_module(l->path, l->flags);
	do_exit(0);
}

static long host_run(int (*fn)(void *), struct host_load *l)
{
	long pid;

	l->ret = -EFAULT;
	pid = kernel_thread(fn, l, CLONE_FS | CLONE_FILES | SIGCHLD);
	if (pid < 0)
		return pid;
	kernel_wait4(pid, NULL, 0, NULL);	/* -ECHILD: kernel threads ignore SIGCHLD, so the child reaps itself */
	return l->ret;
}

long ksys_load_module_file(const char *path, const char *args)
{
	struct host_load l = { .path = path, .args = args };

	return host_run(host_insmod, &l);
}

long ksys_delete_module(const char *name, unsigned int flags)
{
	struct host_load l = { .path = name, .flags = flags };

	return host_run(host_rmmod, &l);
}

/* ioctl (Linux's fs/ioctl.c): the generic requests; the rest is the file's. */
#include "fs.h"
#include "fdtable.h"
#include "sched.h"
#include "syscalls.h"
#include "uaccess.h"

#define FIOCLEX		0x5451
#define FIONCLEX	0x5450
#define FIONBIO		0x5421
#define FIONREAD	0x541B

static int ioctl_fionbio(struct file *filp, int __user *argp)
{
	int on, error = get_user(on, argp);

	if (error)
		return error;
	spin_lock(&filp->f_lock);
	if (on)
		filp->f_flags |= O_NONBLOCK;
	else
		filp->f_flags &= ~O_NONBLOCK;
	spin_unlock(&filp->f_lock);
	return 0;
}

static noinline long vfs_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	long error = -ENOTTY;

	if (filp->f_op->unlocked_ioctl)
		error = filp->f_op->unlocked_ioctl(filp, cmd, arg);
	return error == -ENOIOCTLCMD ? -ENOTTY : error;
}

/* -ENOIOCTLCMD: none of the requests that every file knows. */
static noinline int do_vfs_ioctl(struct file *filp, unsigned int fd, unsigned int cmd, unsigned long arg)
{
	struct inode *inode = file_inode(filp);

	switch (cmd) {
	case FIOCLEX:
		set_close_on_exec(fd, 1);
		return 0;
	case FIONCLEX:
		set_close_on_exec(fd, 0);
		return 0;
	case FIONBIO:
		return ioctl_fionbio(filp, (int __user *)arg);
	case FIONREAD:
		if (S_ISREG(inode->i_mode))
			return put_user((int)(i_size_read(inode) - filp->f_pos), (int __user *)arg);
	}
	return -ENOIOCTLCMD;
}

SYSCALL_DEFINE3(ioctl, unsigned int, fd, unsigned int, cmd, unsigned long, arg)
{
	struct fd f = fdget(fd);
	int error;

	if (!f.file)
		return -EBADF;
	error = do_vfs_ioctl(f.file, fd, cmd, arg);
	if (error == -ENOIOCTLCMD)
		error = vfs_ioctl(f.file, cmd, arg);
	fdput(f);
	return error;
}

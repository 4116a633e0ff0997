/*
 * The host's console streams: files whose reads and writes go to kscope by gates. A program that the host starts has one as
 * its standard input, output and error; /dev/console is stream 0.
 */
#include "fs.h"
#include "fdtable.h"
#include "namei.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "init.h"
#include "gates.h"

#define HOSTCONS_MAJOR	5	/* as TTYAUX: /dev/console is 5:1 */
#define HOSTCONS_MAGIC	0x6b73636f
#define CHUNK		PAGE_SIZE

/* Woken by vector 0xf6 when the host has input (kernel/kscoped.c). */
DECLARE_WAIT_QUEUE_HEAD(hostcons_wait);

static struct vfsmount *hostcons_mnt;

/* What an open file is connected to. */
struct hostcons {
	u64 stream;
	u32 fd;
};

static ssize_t hostcons_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct hostcons *hc = iocb->ki_filp->private_data;
	char *page = (char *)__get_free_page(GFP_KERNEL), little[128], *buf = page ? page : little;
	size_t size = page ? CHUNK : sizeof(little);	/* a program must be able to say that memory is out */
	ssize_t done = 0;

	while (iov_iter_count(from)) {
		size_t n = copy_from_iter(buf, min(iov_iter_count(from), size), from);
		long ret;

		if (!n) {
			done = done ? done : -EFAULT;
			break;
		}
		ret = hostcons_write(hc->stream, hc->fd, buf, n);
		if (ret < 0) {
			done = done ? done : ret;
			break;
		}
		done += ret;
		if ((size_t)ret < n)
			break;
		cond_resched();
	}
	if (page)
		free_page((unsigned long)page);
	return done;
}

/* The gate is asked again inside the wait, so that no wake-up is lost. */
static bool hostcons_poll(struct hostcons *hc, char *buf, size_t want, long *ret)
{
	*ret = hostcons_read(hc->stream, buf, want);
	return *ret != -EAGAIN;
}

static ssize_t hostcons_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct hostcons *hc = iocb->ki_filp->private_data;
	size_t want = min_t(size_t, iov_iter_count(to), CHUNK);
	char *buf = (char *)__get_free_page(GFP_KERNEL);
	long ret;

	if (!buf)
		return -ENOMEM;
	if (!hostcons_poll(hc, buf, want, &ret) && !(iocb->ki_filp->f_flags & O_NONBLOCK) &&
	    wait_event_interruptible(hostcons_wait, hostcons_poll(hc, buf, want, &ret)))
		ret = -ERESTARTSYS;
	if (ret > 0 && copy_to_iter(buf, ret, to) != (size_t)ret)
		ret = -EFAULT;
	free_page((unsigned long)buf);
	return ret;
}

static int hostcons_open(struct inode *inode, struct file *file)
{
	struct hostcons *hc = kzalloc(sizeof(*hc), GFP_KERNEL);

	if (!hc)
		return -ENOMEM;
	/* the stream is the inode's, so that /dev/fd/N leads to the same; that of /dev/console is 0 */
	*hc = (struct hostcons){ .stream = (u64)inode->i_private >> 2, .fd = (u64)inode->i_private & 3 };
	if (!hc->fd)
		hc->fd = 1;
	file->private_data = hc;
	return stream_open(inode, file);
}

static int hostcons_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct file_operations hostcons_fops = {
	.open = hostcons_open,
	.read_iter = hostcons_read_iter,
	.write_iter = hostcons_write_iter,
	.release = hostcons_release,
	.splice_read = generic_file_splice_read,
	.splice_write = iter_file_splice_write,
};

static struct file *hostcons_file(u64 stream, u32 fd)
{
	struct inode *inode = new_inode(hostcons_mnt->mnt_sb);
	struct file *file;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode->i_ino = get_next_ino();
	inode->i_mode = S_IFCHR | 0600;
	inode->i_rdev = MKDEV(HOSTCONS_MAJOR, 1);
	inode->i_private = (void *)(stream << 2 | fd);
	inode->i_fop = &hostcons_fops;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	file = alloc_file_pseudo(inode, hostcons_mnt, "hostcons", fd ? O_WRONLY : O_RDONLY, &hostcons_fops);
	if (IS_ERR(file)) {
		iput(inode);
		return file;
	}
	if (hostcons_open(inode, file)) {
		fput(file);
		return ERR_PTR(-ENOMEM);
	}
	*(struct hostcons *)file->private_data = (struct hostcons){ .stream = stream, .fd = fd };
	return file;
}

/* Descriptors 0, 1 and 2 of the current task, which has none of them yet, become those of @stream. */
int hostcons_install(u64 stream)
{
	for (u32 fd = 0; fd < 3; fd++) {
		struct file *file = hostcons_file(stream, fd);
		int nr;

		if (IS_ERR(file))
			return PTR_ERR(file);
		nr = get_unused_fd_flags(0);
		if (nr < 0) {
			fput(file);
			return nr;
		}
		fd_install(nr, file);
	}
	return 0;
}

static char *hostcons_dname(struct dentry *dentry, char *buffer, int buflen)
{
	static const char name[] = "/dev/console";

	if (buflen < (int)sizeof(name))
		return ERR_PTR(-ENAMETOOLONG);
	return memcpy(buffer + buflen - sizeof(name), name, sizeof(name));
}

static const struct dentry_operations hostcons_dentry_operations = { .d_dname = hostcons_dname };

static int hostcons_fill_super(struct super_block *sb, void *data)
{
	return pseudo_fill_super(sb, HOSTCONS_MAGIC, &hostcons_dentry_operations);
}

static struct file_system_type hostcons_fs_type = { .name = "hostcons", .fill_super = hostcons_fill_super };

static int __init hostcons_init(void)
{
	int err;

	hostcons_mnt = kern_mount(&hostcons_fs_type);
	if (IS_ERR(hostcons_mnt))
		return PTR_ERR(hostcons_mnt);
	register_chrdev(HOSTCONS_MAJOR, "/dev/console", &hostcons_fops);
	err = vfs_mknod_path("/dev/console", S_IFCHR | 0600, MKDEV(HOSTCONS_MAJOR, 1));
	return err == -EEXIST ? 0 : err;	/* the archive may have brought it */
}
device_initcall(hostcons_init);

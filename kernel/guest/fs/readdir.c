/* getdents, getdents64 (Linux's fs/readdir.c). */
#include "fs.h"
#include "fdtable.h"
#include "security.h"
#include "sched.h"
#include "syscalls.h"
#include "uaccess.h"

struct linux_dirent64 {
	u64 d_ino;
	s64 d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

struct linux_dirent {
	unsigned long d_ino, d_off;
	unsigned short d_reclen;
	char d_name[];		/* the type follows the name's NUL, in the record's last byte */
};

/* Both records begin alike: number, where the next is, length. */
struct getdents_callback {
	struct dir_context ctx;
	void __user *current_dir;
	int prev_reclen;
	int count;
	int error;
};

int iterate_dir(struct file *file, struct dir_context *ctx)
{
	struct inode *inode = file_inode(file);
	int res;

	if (!file->f_op->iterate_shared)
		return -ENOTDIR;
	res = security_file_permission(file, MAY_READ);
	if (res)
		return res;
	res = down_read_killable(&inode->i_rwsem);
	if (res)
		return res;
	res = -ENOENT;
	if (!IS_DEADDIR(inode)) {
		ctx->pos = file->f_pos;
		res = file->f_op->iterate_shared(file, ctx);
		file->f_pos = ctx->pos;
		touch_atime(&file->f_path);
	}
	inode_unlock_shared(inode);
	return res;
}

static noinline int verify_dirent_name(const char *name, int len)
{
	if (len <= 0 || len >= PATH_MAX)
		return -EIO;
	if (memchr(name, '/', len))
		return -EIO;
	return 0;
}

/*
 * One entry to the user's buffer, but for its type; false ends the walk (full, or an error). The previous entry learns where this
 * one starts.
 */
static __always_inline bool filldir_common(struct getdents_callback *buf, const char *name, int namlen, loff_t offset, u64 ino,
					   unsigned int d_type, int reclen, size_t at_name, size_t at_type)
{
	struct linux_dirent __user *dirent = buf->current_dir, *prev = (void __user *)dirent - buf->prev_reclen;
	char __user *to = (char __user *)dirent + at_name;
	char zero = 0;

	buf->error = verify_dirent_name(name, namlen);
	if (unlikely(buf->error))
		return false;
	buf->error = -EINVAL;
	if (reclen > buf->count)
		return false;
	buf->error = -EFAULT;
	if (buf->prev_reclen && put_user((unsigned long)offset, &prev->d_off))
		return false;
	if (put_user((unsigned long)ino, &dirent->d_ino) || put_user((unsigned short)reclen, &dirent->d_reclen) ||
	    put_user((char)d_type, (char __user *)dirent + at_type))
		return false;
	if (copy_to_user(to, name, namlen) || copy_to_user(to + namlen, &zero, 1))
		return false;
	buf->error = 0;
	buf->prev_reclen = reclen;
	buf->current_dir = (void __user *)dirent + reclen;
	buf->count -= reclen;
	return true;
}

static bool filldir64(struct dir_context *ctx, const char *name, int namlen, loff_t offset, u64 ino, unsigned int d_type)
{
	int reclen = ALIGN(offsetof(struct linux_dirent64, d_name) + namlen + 1, (int)sizeof(u64));

	return filldir_common(container_of(ctx, struct getdents_callback, ctx), name, namlen, offset, ino, d_type, reclen,
			      offsetof(struct linux_dirent64, d_name), offsetof(struct linux_dirent64, d_type));
}

static bool filldir(struct dir_context *ctx, const char *name, int namlen, loff_t offset, u64 ino, unsigned int d_type)
{
	int reclen = ALIGN(offsetof(struct linux_dirent, d_name) + namlen + 2, (int)sizeof(long));

	return filldir_common(container_of(ctx, struct getdents_callback, ctx), name, namlen, offset, ino, d_type, reclen,
			      offsetof(struct linux_dirent, d_name), reclen - 1);
}

static __always_inline int do_getdents(unsigned int fd, void __user *dirent, unsigned int count,
				       bool (*actor)(struct dir_context *, const char *, int, loff_t, u64, unsigned int))
{
	struct getdents_callback buf = { .ctx.actor = actor, .count = count, .current_dir = dirent };
	struct fd f = fdget_pos(fd);
	int error;

	if (!f.file)
		return -EBADF;
	error = iterate_dir(f.file, &buf.ctx);
	if (error >= 0)
		error = buf.error;
	if (buf.prev_reclen) {
		struct linux_dirent __user *last = buf.current_dir - buf.prev_reclen;

		error = put_user((unsigned long)buf.ctx.pos, &last->d_off) ? -EFAULT : (int)(count - buf.count);
	}
	fdput_pos(f);
	return error;
}

SYSCALL_DEFINE3(getdents, unsigned int, fd, struct linux_dirent __user *, dirent, unsigned int, count)
{
	return do_getdents(fd, dirent, count, filldir);
}

SYSCALL_DEFINE3(getdents64, unsigned int, fd, struct linux_dirent64 __user *, dirent, unsigned int, count)
{
	return do_getdents(fd, dirent, count, filldir64);
}

/* /proc/sys: a file for each row of the registered tables (Linux's fs/proc/proc_sysctl.c). */
#include "proc_internal.h"
#include "sysctl.h"
#include "mm.h"
#include "uio.h"

static struct proc_dir_entry *proc_sys_root;

static struct proc_dir_entry *find_dir(struct proc_dir_entry *dir, const char *name, size_t len)
{
	struct proc_dir_entry *p;

	for (p = dir->subdir; p; p = p->next) {
		if (S_ISDIR(p->mode) && strlen(p->name) == len && !strncmp(p->name, name, len))
			return p;
	}
	return NULL;
}

/* The directory of a path like "kernel/random", made when it is not there. */
static struct proc_dir_entry *get_dir(const char *path)
{
	struct proc_dir_entry *dir, *sub;

	if (!proc_sys_root)
		proc_sys_root = proc_mkdir("sys", NULL);
	for (dir = proc_sys_root; dir && *path; dir = sub) {
		size_t len = strchrnul(path, '/') - path;

		sub = find_dir(dir, path, len);
		if (!sub) {
			char *name = kzalloc(len + 1, GFP_KERNEL);

			if (!name)
				return NULL;
			memcpy(name, path, len);
			sub = proc_mkdir(name, dir);
		}
		path += len + (path[len] == '/');
	}
	return dir;
}

int register_sysctl(const char *path, struct ctl_table *table)
{
	struct proc_dir_entry *dir = get_dir(path);

	if (!dir)
		return -ENOMEM;
	for (; table->procname; table++) {
		struct proc_dir_entry *de = proc_create_single_data(table->procname, table->mode, dir, NULL);

		if (!de)
			return -ENOMEM;
		de->fops = &proc_sys_file_operations;
		de->ctl = table;
	}
	return 0;
}

static noinline ssize_t proc_sys_call_handler(struct kiocb *iocb, struct iov_iter *iter, int write)
{
	struct proc_dir_entry *de = file_inode(iocb->ki_filp)->i_private;
	size_t count = iov_iter_count(iter);
	char *kbuf;
	ssize_t error;

	if (!write)
		count = min(count, (size_t)PAGE_SIZE - 1);	/* no setting is longer */
	if (count >= PAGE_SIZE)
		return -ENOMEM;
	kbuf = kzalloc(count + 1, GFP_KERNEL);
	if (!kbuf)
		return -ENOMEM;
	error = -EFAULT;
	if (write && _copy_from_iter(kbuf, count, iter) != count)
		goto out;
	error = de->ctl->proc_handler(de->ctl, write, kbuf, &count, &iocb->ki_pos);
	if (error)
		goto out;
	error = -EFAULT;
	if (!write && _copy_to_iter(kbuf, count, iter) < count)
		goto out;
	error = count;
out:
	kfree(kbuf);
	return error;
}

static ssize_t proc_sys_read(struct kiocb *iocb, struct iov_iter *iter)
{
	return proc_sys_call_handler(iocb, iter, 0);
}

static ssize_t proc_sys_write(struct kiocb *iocb, struct iov_iter *iter)
{
	return proc_sys_call_handler(iocb, iter, 1);
}

const struct file_operations proc_sys_file_operations = {
	.read_iter = proc_sys_read, .write_iter = proc_sys_write, .llseek = generic_file_llseek,
	.splice_read = generic_file_splice_read, .splice_write = iter_file_splice_write,
};

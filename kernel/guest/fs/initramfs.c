/*
 * The root file system's first contents: a newc cpio archive that the boot loader left in memory (Linux's init/initramfs.c).
 * Each entry is a 110-byte header of 8-digit hex numbers, a name and the data, both padded to four bytes.
 */
#include "namei.h"
#include "fdtable.h"
#include "init.h"
#include "fs_struct.h"
#include "mm.h"
#include "sched.h"
#include "slab.h"
#include "task_work.h"

#define CPIO_HDRLEN	110

struct cpio_entry {
	unsigned long ino, mode, uid, gid, nlink, mtime, body_len, major, minor, rdev, name_len;
	const char *name, *body;
};

/* parse_header reads one entry at @s; NULL is a good one, else what is wrong with it. @next: where the following one starts. */
static const char *parse_header(const char *s, const char *end, struct cpio_entry *e, const char **next)
{
	unsigned long parsed[12];
	char buf[9];

	if (end - s < CPIO_HDRLEN)
		return "short archive";
	if (memcmp(s, "070701", 6) && memcmp(s, "070702", 6))
		return "no cpio magic";
	buf[8] = 0;
	for (int i = 0; i < 12; i++) {
		memcpy(buf, s + 6 + 8 * i, 8);
		parsed[i] = simple_strtoul(buf, NULL, 16);
	}
	*e = (struct cpio_entry){
		.ino = parsed[0], .mode = parsed[1], .uid = parsed[2], .gid = parsed[3], .nlink = parsed[4], .mtime = parsed[5],
		.body_len = parsed[6], .major = parsed[7], .minor = parsed[8], .rdev = MKDEV(parsed[9], parsed[10]),
		.name_len = parsed[11],
	};
	if (e->name_len == 0 || e->name_len > PATH_MAX)
		return "bad name length";
	e->name = s + CPIO_HDRLEN;
	e->body = s + ALIGN(CPIO_HDRLEN + e->name_len, 4UL);
	if (e->body > end || e->body_len > (unsigned long)(end - e->body) || e->name[e->name_len - 1])
		return "short archive";
	*next = min(e->body + ALIGN(e->body_len, 4UL), end);
	return NULL;
}

static int init_chown_chmod(const struct cpio_entry *e, struct inode *inode)
{
	struct timespec64 t = { .tv_sec = e->mtime };

	inode->i_uid = make_kuid(&init_user_ns, e->uid);
	inode->i_gid = make_kgid(&init_user_ns, e->gid);
	inode->i_mode = (inode->i_mode & S_IFMT) | (e->mode & S_IALLUGO);
	inode->i_mtime = inode->i_ctime = inode->i_atime = t;
	return 0;
}

static int do_copy(const struct cpio_entry *e, const char *path)
{
	struct file *wfile = filp_open(path, O_WRONLY | O_CREAT | O_LARGEFILE | O_TRUNC, e->mode & S_IALLUGO);
	unsigned long done = 0;
	loff_t pos = 0;

	if (IS_ERR(wfile))
		return PTR_ERR(wfile);
	while (done < e->body_len) {
		ssize_t n = kernel_write(wfile, e->body + done, e->body_len - done, &pos);

		if (n <= 0)
			break;
		done += n;
	}
	init_chown_chmod(e, file_inode(wfile));
	filp_close(wfile, NULL);
	return done == e->body_len ? 0 : -ENOSPC;
}

static int do_dir(const struct cpio_entry *e, const char *path)
{
	struct path p;
	int err = do_mkdirat(AT_FDCWD, getname_kernel(path), e->mode & S_IALLUGO);

	if (err && err != -EEXIST)
		return err;
	err = kern_path(path, 0, &p);
	if (!err) {
		init_chown_chmod(e, d_inode(p.dentry));
		path_put(&p);
	}
	return err;
}

static int do_symlink(const struct cpio_entry *e, const char *path)
{
	char *text = kmalloc(e->body_len + 1, GFP_KERNEL);
	int err;

	if (!text)
		return -ENOMEM;
	memcpy(text, e->body, e->body_len);
	text[e->body_len] = 0;
	err = do_symlinkat(getname_kernel(text), AT_FDCWD, getname_kernel(path));
	kfree(text);
	return err;
}

static int do_name(const struct cpio_entry *e)
{
	char path[256];

	if (!strcmp(e->name, ".") || !*e->name)
		return 0;
	snprintf(path, sizeof(path), "/%s", e->name[0] == '/' ? e->name + 1 : e->name);
	switch (e->mode & S_IFMT) {
	case S_IFREG:
		return do_copy(e, path);
	case S_IFDIR:
		return do_dir(e, path);
	case S_IFLNK:
		return do_symlink(e, path);
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
		return vfs_mknod_path(path, e->mode, e->rdev);
	}
	return -EINVAL;
}

/* unpack_to_rootfs returns NULL, or what was wrong with the archive; what came before the error stays. */
static const char *unpack_to_rootfs(const char *buf, unsigned long len)
{
	const char *end = buf + len, *message;
	struct cpio_entry e;

	while (buf < end) {
		if (!*buf) {		/* padding between and after archives */
			buf++;
			continue;
		}
		message = parse_header(buf, end, &e, &buf);
		if (message)
			return message;
		if (!strcmp(e.name, "TRAILER!!!"))
			continue;
		if (do_name(&e))
			pr_warn("initramfs: cannot make %s\n", e.name);
		cond_resched();
	}
	return NULL;
}

static const struct {
	const char *path;
	umode_t mode;
} default_dirs[] = {
	{ "/dev", 0755 }, { "/root", 0700 }, { "/etc", 0755 }, { "/proc", 0555 }, { "/tmp", 01777 },
	{ "/sys", 0755 }, { "/sys/kernel", 0755 }, { "/sys/kernel/tracing", 0700 }, { "/sys/kernel/debug", 0700 },
	{ "/sys/kernel/debug/tracing", 0700 },
};

/* Directories that mounts and drivers need, whatever the archive brings. */
static void default_rootfs(void)
{
	int old = xchg(&current->fs->umask, 0);

	for (unsigned int i = 0; i < ARRAY_SIZE(default_dirs); i++)
		do_mkdirat(AT_FDCWD, getname_kernel(default_dirs[i].path), default_dirs[i].mode);
	current->fs->umask = old;
}

static int __init populate_rootfs(void)
{
	const char *err;

	default_rootfs();
	do_symlinkat(getname_kernel("/proc/self/fd"), AT_FDCWD, getname_kernel("/dev/fd"));
	if (!boot_params.initrd_size)
		return 0;
	pr_info("Unpacking initramfs...\n");
	err = unpack_to_rootfs(__va(boot_params.initrd_start), boot_params.initrd_size);
	if (err)
		pr_emerg("Initramfs unpacking failed: %s\n", err);
	task_work_run();	/* pid 1 never goes back to user mode by itself */
	return 0;
}
rootfs_initcall(populate_rootfs);

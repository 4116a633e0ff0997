/* The path of a dentry, written from the end (Linux's fs/d_path.c); getcwd. */
#include "namei.h"
#include "fs_struct.h"
#include "sched.h"
#include "slab.h"
#include "syscalls.h"
#include "uaccess.h"

struct prepend_buffer {
	char *buf;
	int len;
};

static bool prepend_char(struct prepend_buffer *p, unsigned char c)
{
	if (likely(p->len > 0)) {
		p->len--;
		*--p->buf = c;
		return true;
	}
	p->len = -1;
	return false;
}

/* A name under a rename may be anything, even freed: the caller checks, this only must not fault. */
static noinline void prepend_copy(void *dst, const void *src, int len)
{
	if (unlikely(copy_from_kernel_nofault(dst, src, len)))
		memset(dst, 'x', len);
}

/* The name may change while it is copied: the caller checks rename_lock afterwards. */
static noinline bool prepend(struct prepend_buffer *p, const char *str, int namelen)
{
	if (p->len < namelen) {
		p->len = -1;
		return false;
	}
	p->len -= namelen;
	p->buf -= namelen;
	prepend_copy(p->buf, str, namelen);
	return true;
}

static inline char *extract_string(struct prepend_buffer *p)
{
	return likely(p->len >= 0) ? p->buf : ERR_PTR(-ENAMETOOLONG);
}

static int __prepend_path(const struct dentry *dentry, const struct mount *mnt, const struct path *root, struct prepend_buffer *p)
{
	while (dentry != root->dentry || &mnt->mnt != root->mnt) {
		const struct dentry *parent = READ_ONCE(dentry->d_parent);

		if (dentry == mnt->mnt.mnt_root) {
			struct mount *m = READ_ONCE(mnt->mnt_parent);

			if (unlikely(mnt == m))
				return 1;	/* the top: absolute, or not reachable from @root */
			dentry = READ_ONCE(mnt->mnt_mountpoint);
			mnt = m;
			continue;
		}
		if (unlikely(dentry == parent))
			return 3;
		if (!prepend(p, (const char *)dentry->d_name.name, dentry->d_name.len) || !prepend_char(p, '/'))
			break;
		dentry = parent;
	}
	return 0;
}

static noinline int prepend_path(const struct path *path, const struct path *root, struct prepend_buffer *p)
{
	unsigned int seq, m_seq;
	struct prepend_buffer b;
	int error;

	rcu_read_lock();
	do {
		m_seq = read_seqbegin(&mount_lock);
		seq = read_seqbegin(&rename_lock);
		b = *p;
		error = __prepend_path(path->dentry, real_mount(path->mnt), root, &b);
	} while (read_seqretry(&rename_lock, seq) || read_seqretry(&mount_lock, m_seq));
	rcu_read_unlock();
	if (error == 3)
		b = *p;
	if (b.len == p->len)
		prepend_char(&b, '/');
	*p = b;
	return error;
}

char *d_absolute_path(const struct path *path, char *buf, int buflen)
{
	struct path root = { NULL, NULL };
	struct prepend_buffer b = { buf + buflen, buflen };

	prepend_char(&b, 0);
	if (prepend_path(path, &root, &b) > 1)
		return ERR_PTR(-EINVAL);
	return extract_string(&b);
}

char *d_path(const struct path *path, char *buf, int buflen)
{
	struct prepend_buffer b = { buf + buflen, buflen };
	struct path root;

	if (path->dentry->d_op && path->dentry->d_op->d_dname && (!IS_ROOT(path->dentry) || path->dentry != path->mnt->mnt_root))
		return path->dentry->d_op->d_dname(path->dentry, buf, buflen);
	get_fs_root(current->fs, &root);
	if (d_unlinked(path->dentry))
		prepend(&b, " (deleted)", 11);
	else
		prepend_char(&b, 0);
	prepend_path(path, &root, &b);
	path_put(&root);
	return extract_string(&b);
}

SYSCALL_DEFINE2(getcwd, char __user *, buf, unsigned long, size)
{
	char *page = kmem_cache_alloc(names_cachep, GFP_KERNEL);
	struct prepend_buffer b = { page + PATH_MAX, PATH_MAX };
	struct path pwd, root;
	int error = -ENOENT;

	if (!page)
		return -ENOMEM;
	get_fs_root(current->fs, &root);
	get_fs_pwd(current->fs, &pwd);
	if (!d_unlinked(pwd.dentry)) {
		int len;

		prepend_char(&b, 0);
		if (unlikely(prepend_path(&pwd, &root, &b) > 0))
			prepend(&b, "(unreachable)", 13);
		len = PATH_MAX - b.len;
		if (b.len < 0)
			error = -ENAMETOOLONG;
		else if (len > (long)size)
			error = -ERANGE;
		else
			error = copy_to_user(buf, b.buf, len) ? -EFAULT : len;
	}
	path_put(&pwd);
	path_put(&root);
	kmem_cache_free(names_cachep, page);
	return error;
}

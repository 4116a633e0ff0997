/*
 * The path walk (Linux's fs/namei.c): link_path_walk() takes a path component by component, lookup_fast() finds each in the
 * dentry cache, lookup_slow() asks the file system.
 */
#include "nameidata.h"

/* lookup_fast looks into the dentry cache only. NULL: not there (and the walk is out of RCU mode). */
struct dentry *lookup_fast(struct nameidata *nd)
{
	struct dentry *dentry, *parent = nd->path.dentry;
	int status;

	if (nd->flags & LOOKUP_RCU) {
		dentry = __d_lookup_rcu(parent, &nd->last, &nd->next_seq);
		if (unlikely(!dentry)) {
			if (!try_to_unlazy(nd))
				return ERR_PTR(-ECHILD);
			return NULL;
		}
		if (read_seqcount_retry(&parent->d_seq, nd->seq))
			return ERR_PTR(-ECHILD);
		status = d_revalidate(dentry, nd->flags);
		if (likely(status > 0))
			return dentry;
		if (!try_to_unlazy_next(nd, dentry))
			return ERR_PTR(-ECHILD);
		if (status == -ECHILD)
			status = d_revalidate(dentry, nd->flags);
	} else {
		dentry = __d_lookup(parent, &nd->last);
		if (unlikely(!dentry))
			return NULL;
		status = d_revalidate(dentry, nd->flags);
	}
	if (unlikely(status <= 0)) {
		if (!status)
			d_invalidate(dentry);
		dput(dentry);
		return ERR_PTR(status);
	}
	return dentry;
}

/* __lookup_slow asks the file system. The directory is locked, at least shared. */
static noinline struct dentry *__lookup_slow(const struct qstr *name, struct dentry *dir, unsigned int flags)
{
	struct inode *inode = dir->d_inode;
	struct dentry *dentry, *old;
	DECLARE_WAIT_QUEUE_HEAD(wq);

	if (unlikely(IS_DEADDIR(inode)))
		return ERR_PTR(-ENOENT);
again:
	dentry = d_alloc_parallel(dir, name, &wq);
	if (IS_ERR(dentry))
		return dentry;
	if (unlikely(!d_in_lookup(dentry))) {
		int error = d_revalidate(dentry, flags);

		if (unlikely(error <= 0)) {
			if (!error)
				d_invalidate(dentry);
			dput(dentry);
			if (!error)
				goto again;
			return ERR_PTR(error);
		}
	} else {
		old = inode->i_op->lookup(inode, dentry, flags);
		d_lookup_done(dentry);
		if (unlikely(old)) {
			dput(dentry);
			dentry = old;
		}
	}
	return dentry;
}

static struct dentry *lookup_slow(const struct qstr *name, struct dentry *dir, unsigned int flags)
{
	struct inode *inode = dir->d_inode;
	struct dentry *res;

	inode_lock_shared(inode);
	res = __lookup_slow(name, dir, flags);
	inode_unlock_shared(inode);
	return res;
}

const char *walk_component(struct nameidata *nd, int flags)
{
	struct dentry *dentry;

	if (unlikely(nd->last_type != LAST_NORM)) {
		if (!(flags & WALK_MORE) && nd->depth)
			put_link(nd);
		return handle_dots(nd, nd->last_type);
	}
	dentry = lookup_fast(nd);
	if (IS_ERR(dentry))
		return ERR_CAST(dentry);
	if (unlikely(!dentry)) {
		dentry = lookup_slow(&nd->last, nd->path.dentry, nd->flags);
		if (IS_ERR(dentry))
			return ERR_CAST(dentry);
	}
	if (!(flags & WALK_MORE) && nd->depth)
		put_link(nd);
	return step_into(nd, flags, dentry);
}

static inline int may_lookup(struct user_namespace *ns, struct nameidata *nd)
{
	if (nd->flags & LOOKUP_RCU) {
		int err = inode_permission(ns, nd->inode, MAY_EXEC | MAY_NOT_BLOCK);

		if (!err)
			return 0;
		if (!try_to_unlazy(nd))
			return -ECHILD;
		if (err != -ECHILD)
			return err;
	}
	return inode_permission(ns, nd->inode, MAY_EXEC);
}

static inline u32 hash_byte(u32 hash, unsigned char c)
{
	return (hash ^ c) * 0x01000193u;	/* FNV-1a */
}

static inline u32 hash_start(const void *salt)
{
	return (u32)((unsigned long)salt >> 6) ^ 0x811c9dc5u;
}

static inline u32 hash_end(u32 hash)
{
	return (hash ^ (hash >> 15)) * 0x61c88647u;
}

unsigned int full_name_hash(const void *salt, const char *name, unsigned int len)
{
	u32 hash = hash_start(salt);

	while (len--)
		hash = hash_byte(hash, *name++);
	return hash_end(hash);
}

u64 hashlen_string(const void *salt, const char *name)
{
	u32 hash = hash_start(salt), len = 0;

	for (; name[len]; len++)
		hash = hash_byte(hash, name[len]);
	return hashlen_create(hash_end(hash), len);
}

/* The hash and length of the component at @name, which ends at a slash or NUL. */
static inline u64 hash_name(const void *salt, const char *name)
{
	u32 hash = hash_start(salt), len = 0;

	for (; name[len] && name[len] != '/'; len++)
		hash = hash_byte(hash, name[len]);
	return hashlen_create(hash_end(hash), len);
}

static inline int component_type(const char *name, unsigned int len)
{
	if (name[0] == '.') {
		if (len == 1)
			return LAST_DOT;
		if (len == 2 && name[1] == '.')
			return LAST_DOTDOT;
	}
	return LAST_NORM;
}

/*
 * link_path_walk walks all of @name but its last component, which it leaves in nd->last; a symlink on the way is
 * walked in place, with the rest of the path kept on nd->stack.
 */
int link_path_walk(const char *name, struct nameidata *nd)
{
	unsigned int depth = 0;
	int err;

	nd->last_type = LAST_ROOT;
	nd->flags |= LOOKUP_PARENT;
	if (IS_ERR(name))
		return PTR_ERR(name);
	while (*name == '/')
		name++;
	if (!*name)
		return 0;
	for (;;) {
		const char *link;
		u64 hash_len;

		err = may_lookup(&init_user_ns, nd);
		if (err)
			return err;
		hash_len = hash_name(nd->path.dentry, name);
		nd->last_type = component_type(name, hashlen_len(hash_len));
		if (likely(nd->last_type == LAST_NORM))
			nd->state &= ~ND_JUMPED;
		else if (nd->last_type == LAST_DOTDOT)
			nd->state |= ND_JUMPED;
		nd->last.hash_len = hash_len;
		nd->last.name = (const unsigned char *)name;
		name += hashlen_len(hash_len);
		while (*name == '/' && name[1] == '/')
			name++;
		if (!*name || (*name == '/' && !name[1])) {
			/* the last component of this text: the caller's, or that of a nested symlink */
			if (!depth) {
				nd->flags &= ~LOOKUP_PARENT;
				return 0;
			}
			name = nd->stack[--depth].name;
			link = walk_component(nd, 0);
		} else {
			name++;
			link = walk_component(nd, WALK_MORE);
		}
		if (unlikely(link)) {
			if (IS_ERR(link))
				return PTR_ERR(link);
			nd->stack[depth++].name = name;
			name = link;
			continue;
		}
		if (unlikely(!d_can_lookup(nd->path.dentry))) {
			if (nd->flags & LOOKUP_RCU && !try_to_unlazy(nd))
				return -ECHILD;
			return -ENOTDIR;
		}
	}
}

static int path_init_at(struct nameidata *nd)
{
	if (nd->dfd == AT_FDCWD) {
		struct fs_struct *fs = current->fs;
		unsigned int seq;

		if (nd->flags & LOOKUP_RCU) {
			do {
				seq = read_seqcount_begin(&fs->seq);
				nd->path = fs->pwd;
				nd->inode = nd->path.dentry->d_inode;
				nd->seq = __read_seqcount_begin(&nd->path.dentry->d_seq);
			} while (read_seqcount_retry(&fs->seq, seq));
		} else {
			get_fs_pwd(fs, &nd->path);
			nd->inode = nd->path.dentry->d_inode;
		}
	} else {
		struct fd f = fdget_raw(nd->dfd);

		if (!f.file)
			return -EBADF;
		if (*nd->name->name && unlikely(!d_can_lookup(f.file->f_path.dentry))) {
			fdput(f);
			return -ENOTDIR;
		}
		nd->path = f.file->f_path;
		nd->inode = nd->path.dentry->d_inode;
		if (nd->flags & LOOKUP_RCU)
			nd->seq = read_seqcount_begin(&nd->path.dentry->d_seq);
		else
			path_get(&nd->path);
		fdput(f);
	}
	return 0;
}

const char *path_init(struct nameidata *nd, unsigned int flags)
{
	const char *s = nd->name->name;
	int error;

	if (!*s)
		flags &= ~LOOKUP_RCU;
	if (flags & LOOKUP_RCU)
		rcu_read_lock();
	else
		nd->seq = nd->next_seq = 0;
	nd->flags = flags;
	nd->state |= ND_JUMPED;
	nd->m_seq = __read_seqcount_begin(&mount_lock.seqcount);
	nd->r_seq = __read_seqcount_begin(&rename_lock.seqcount);
	if (nd->state & ND_ROOT_PRESET) {
		nd->path = nd->root;
		nd->inode = nd->path.dentry->d_inode;
		if (flags & LOOKUP_RCU) {
			nd->seq = read_seqcount_begin(&nd->path.dentry->d_seq);
			nd->root_seq = nd->seq;
		} else {
			path_get(&nd->path);
		}
		return s;
	}
	nd->root.mnt = NULL;
	error = *s == '/' ? nd_jump_root(nd) : path_init_at(nd);
	return error ? ERR_PTR(error) : s;
}

/*
 * The path walk's steps (Linux's fs/namei.c): step_into() crosses mounts and stops at symlinks, handle_dots() goes up; the
 * walk itself is namei_walk.c.
 *
 * A walk starts in RCU mode and changes no shared word; what it saw is proven at the end by sequence counters. When it
 * must block, or a proof fails, try_to_unlazy() turns what it stands on into real references, or the walk restarts.
 */
#define NAMEI_MAIN
#include "nameidata.h"

noinline void path_get(const struct path *path)
{
	mntget(path->mnt);
	dget(path->dentry);
}

noinline void path_put(const struct path *path)
{
	dput(path->dentry);
	mntput(path->mnt);
}

static inline void leave_rcu(struct nameidata *nd)
{
	nd->flags &= ~LOOKUP_RCU;
	nd->seq = nd->next_seq = 0;
	rcu_read_unlock();
}

void terminate_walk(struct nameidata *nd)
{
	if (!(nd->flags & LOOKUP_RCU)) {
		path_put(&nd->path);
		for (unsigned int i = 0; i < nd->depth; i++)
			path_put(&nd->stack[i].link);
		if (nd->state & ND_ROOT_GRABBED) {
			path_put(&nd->root);
			nd->state &= ~ND_ROOT_GRABBED;
		}
	} else {
		leave_rcu(nd);
	}
	nd->depth = 0;
	nd->path.mnt = NULL;
	nd->path.dentry = NULL;
}

/* Takes references on a path seen in RCU mode. On failure what was taken stays in @path, for path_put. */
static noinline bool __legitimize_path(struct path *path, unsigned int seq, unsigned int mseq)
{
	int res = __legitimize_mnt(path->mnt, mseq);

	if (unlikely(res)) {
		if (res > 0)
			path->mnt = NULL;
		path->dentry = NULL;
		return false;
	}
	if (unlikely(!lockref_get_not_dead(&path->dentry->d_lockref))) {
		path->dentry = NULL;
		return false;
	}
	return !read_seqcount_retry(&path->dentry->d_seq, seq);
}

static noinline bool legitimize_links(struct nameidata *nd)
{
	for (unsigned int i = 0; i < nd->depth; i++) {
		struct saved *last = nd->stack + i;

		if (unlikely(!__legitimize_path(&last->link, last->seq, nd->m_seq))) {
			nd->depth = i + 1;
			return false;
		}
	}
	return true;
}

static bool legitimize_root(struct nameidata *nd)
{
	if (!nd->root.mnt || (nd->state & ND_ROOT_PRESET))
		return true;
	nd->state |= ND_ROOT_GRABBED;
	return __legitimize_path(&nd->root, nd->root_seq, nd->m_seq);
}

/* try_to_unlazy leaves RCU mode with references on where the walk stands. False: the walk must start again. */
bool try_to_unlazy(struct nameidata *nd)
{
	if (unlikely(!legitimize_links(nd)))
		goto out1;
	if (unlikely(!__legitimize_path(&nd->path, nd->seq, nd->m_seq)))
		goto out;
	if (unlikely(!legitimize_root(nd)))
		goto out;
	leave_rcu(nd);
	return true;
out1:
	nd->path.mnt = NULL;
	nd->path.dentry = NULL;
out:
	leave_rcu(nd);
	return false;
}

/* The same, and a reference on @dentry, the next one, whose number is next_seq. */
bool try_to_unlazy_next(struct nameidata *nd, struct dentry *dentry)
{
	int res;

	if (unlikely(!legitimize_links(nd)))
		goto out2;
	res = __legitimize_mnt(nd->path.mnt, nd->m_seq);
	if (unlikely(res)) {
		if (res > 0)
			goto out2;
		goto out1;
	}
	if (unlikely(!lockref_get_not_dead(&nd->path.dentry->d_lockref)))
		goto out1;
	if (unlikely(!lockref_get_not_dead(&dentry->d_lockref)))
		goto out;
	if (read_seqcount_retry(&dentry->d_seq, nd->next_seq))
		goto out_dput;
	if (unlikely(!legitimize_root(nd)))
		goto out_dput;
	leave_rcu(nd);
	return true;
out2:
	nd->path.mnt = NULL;
out1:
	nd->path.dentry = NULL;
out:
	leave_rcu(nd);
	return false;
out_dput:
	leave_rcu(nd);
	dput(dentry);
	return false;
}

int complete_walk(struct nameidata *nd)
{
	if (nd->flags & LOOKUP_RCU) {
		/* the root need not be proven any more */
		if (!(nd->state & ND_ROOT_PRESET))
			nd->root.mnt = NULL;
		if (!try_to_unlazy(nd))
			return -ECHILD;
	}
	return 0;
}

static void set_root(struct nameidata *nd)
{
	struct fs_struct *fs = current->fs;
	unsigned int seq;

	if (nd->flags & LOOKUP_RCU) {
		do {
			seq = read_seqcount_begin(&fs->seq);
			nd->root = fs->root;
			nd->root_seq = __read_seqcount_begin(&nd->root.dentry->d_seq);
		} while (read_seqcount_retry(&fs->seq, seq));
	} else {
		get_fs_root(fs, &nd->root);
		nd->state |= ND_ROOT_GRABBED;
	}
}

int nd_jump_root(struct nameidata *nd)
{
	if (!nd->root.mnt)
		set_root(nd);
	if (nd->flags & LOOKUP_RCU) {
		nd->path = nd->root;
		nd->inode = nd->path.dentry->d_inode;
		nd->seq = nd->root_seq;
		if (read_seqcount_retry(&nd->path.dentry->d_seq, nd->seq))
			return -ECHILD;
	} else {
		path_put(&nd->path);
		nd->path = nd->root;
		path_get(&nd->path);
		nd->inode = nd->path.dentry->d_inode;
	}
	nd->state |= ND_JUMPED;
	return 0;
}

/* pick_link starts to follow a symlink: its text, or NULL when it was only the root, or an error. */
static const char *pick_link(struct nameidata *nd, struct path *link, struct inode *inode, int flags)
{
	struct saved *last;
	const char *res;

	if (unlikely(nd->total_link_count++ >= MAXSYMLINKS)) {
		if (!(nd->flags & LOOKUP_RCU))
			path_put(link);
		return ERR_PTR(-ELOOP);
	}
	last = nd->stack + nd->depth++;
	last->link = *link;
	last->seq = nd->next_seq;
	if (!(nd->flags & LOOKUP_RCU)) {
		touch_atime(&last->link);
	} else if (atime_needs_update(&last->link, inode)) {
		if (!try_to_unlazy(nd))
			return ERR_PTR(-ECHILD);
		touch_atime(&last->link);
	}
	res = READ_ONCE(inode->i_link);
	if (!res) {
		if (!inode->i_op->get_link)
			return ERR_PTR(-EINVAL);
		if (nd->flags & LOOKUP_RCU && !try_to_unlazy(nd))
			return ERR_PTR(-ECHILD);
		res = inode->i_op->get_link(link->dentry, inode);
		if (!res)
			goto all_done;		/* a pure jump */
		if (IS_ERR(res))
			return res;
	}
	if (*res == '/') {
		int error = nd_jump_root(nd);

		if (unlikely(error))
			return ERR_PTR(error);
		while (unlikely(*++res == '/'))
			;
	}
	if (*res)
		return res;
all_done:
	put_link(nd);
	return NULL;
}

/* For ->get_link of links that are no names, as /proc/PID/fd/N: the walk goes on at @path, whose references it takes. */
int nd_jump_link(const struct path *path)
{
	struct nameidata *nd = current->nameidata;

	path_put(&nd->path);
	nd->path = *path;
	nd->inode = nd->path.dentry->d_inode;
	nd->state |= ND_JUMPED;
	return 0;
}

static bool __follow_mount_rcu(struct nameidata *nd, struct path *path)
{
	struct dentry *dentry = path->dentry;

	while (unlikely(d_mountpoint(dentry))) {
		struct mount *mounted = __lookup_mnt(path->mnt, dentry);

		if (!mounted)
			return !read_seqretry(&mount_lock, nd->m_seq);
		path->mnt = &mounted->mnt;
		dentry = path->dentry = mounted->mnt.mnt_root;
		nd->state |= ND_JUMPED;
		nd->next_seq = read_seqcount_begin(&dentry->d_seq);
		if (read_seqretry(&mount_lock, nd->m_seq))
			return false;
	}
	return true;
}

static int traverse_mounts(struct path *path, bool *jumped)
{
	struct vfsmount *mnt = path->mnt;
	bool need_mntput = false;

	while (unlikely(d_mountpoint(path->dentry))) {
		struct vfsmount *mounted = lookup_mnt(path);

		if (!mounted)
			break;
		dput(path->dentry);
		if (need_mntput)
			mntput(path->mnt);
		path->mnt = mounted;
		path->dentry = dget(mounted->mnt_root);
		need_mntput = true;
	}
	if (need_mntput && path->mnt == mnt)
		mntput(path->mnt);
	*jumped = need_mntput;
	return d_is_negative(path->dentry) ? -ENOENT : 0;
}

static inline int handle_mounts(struct nameidata *nd, struct dentry *dentry, struct path *path)
{
	bool jumped;
	int ret;

	path->mnt = nd->path.mnt;
	path->dentry = dentry;
	if (nd->flags & LOOKUP_RCU) {
		unsigned int seq = nd->next_seq;

		if (likely(__follow_mount_rcu(nd, path)))
			return 0;
		path->mnt = nd->path.mnt;
		path->dentry = dentry;
		nd->next_seq = seq;
		if (unlikely(!try_to_unlazy_next(nd, dentry)))
			return -ECHILD;
	}
	ret = traverse_mounts(path, &jumped);
	if (jumped)
		nd->state |= ND_JUMPED;
	if (unlikely(ret)) {
		dput(path->dentry);
		if (path->mnt != nd->path.mnt)
			mntput(path->mnt);
	}
	return ret;
}

/* step_into makes @dentry the walk's place, after mounts; a symlink that is to be followed comes back as its text. */
const char *step_into(struct nameidata *nd, int flags, struct dentry *dentry)
{
	struct path path;
	struct inode *inode;
	int err = handle_mounts(nd, dentry, &path);

	if (err < 0)
		return ERR_PTR(err);
	inode = path.dentry->d_inode;
	if (likely(!d_is_symlink(path.dentry)) || ((flags & WALK_TRAILING) && !(nd->flags & LOOKUP_FOLLOW)) ||
	    (flags & WALK_NOFOLLOW)) {
		if (nd->flags & LOOKUP_RCU) {
			if (read_seqcount_retry(&path.dentry->d_seq, nd->next_seq))
				return ERR_PTR(-ECHILD);
			if (unlikely(!inode))
				return ERR_PTR(-ENOENT);
		} else {
			dput(nd->path.dentry);
			if (nd->path.mnt != path.mnt)
				mntput(nd->path.mnt);
		}
		nd->path = path;
		nd->inode = inode;
		nd->seq = nd->next_seq;
		return NULL;
	}
	if (nd->flags & LOOKUP_RCU) {
		if (read_seqcount_retry(&path.dentry->d_seq, nd->next_seq))
			return ERR_PTR(-ECHILD);
	} else if (path.mnt == nd->path.mnt) {
		mntget(path.mnt);
	}
	return pick_link(nd, &path, inode, flags);
}

/* The mount point of @m as seen from outside, as long as that is not above @root. */
static bool choose_mountpoint_rcu(struct mount *m, const struct path *root, struct path *path, unsigned int *seqp)
{
	while (mnt_has_parent(m)) {
		struct dentry *mountpoint = m->mnt_mountpoint;

		m = m->mnt_parent;
		if (unlikely(root->dentry == mountpoint && root->mnt == &m->mnt))
			break;
		if (mountpoint != m->mnt.mnt_root) {
			path->mnt = &m->mnt;
			path->dentry = mountpoint;
			*seqp = read_seqcount_begin(&mountpoint->d_seq);
			return true;
		}
	}
	return false;
}

static bool choose_mountpoint(struct mount *m, const struct path *root, struct path *path)
{
	bool found;

	rcu_read_lock();
	for (;;) {
		unsigned int seq, mseq = read_seqbegin(&mount_lock);

		found = choose_mountpoint_rcu(m, root, path, &seq);
		if (unlikely(!found)) {
			if (!read_seqretry(&mount_lock, mseq))
				break;
		} else {
			if (likely(__legitimize_path(path, seq, mseq)))
				break;
			rcu_read_unlock();
			path_put(path);
			rcu_read_lock();
		}
	}
	rcu_read_unlock();
	return found;
}

static struct dentry *follow_dotdot_rcu(struct nameidata *nd)
{
	struct dentry *parent, *old;

	if (path_equal(&nd->path, &nd->root))
		goto in_root;
	if (unlikely(nd->path.dentry == nd->path.mnt->mnt_root)) {
		struct path path;
		unsigned int seq;

		if (!choose_mountpoint_rcu(real_mount(nd->path.mnt), &nd->root, &path, &seq))
			goto in_root;
		nd->path = path;
		nd->inode = path.dentry->d_inode;
		nd->seq = seq;
		if (read_seqretry(&mount_lock, nd->m_seq))
			return ERR_PTR(-ECHILD);
	}
	old = nd->path.dentry;
	parent = READ_ONCE(old->d_parent);
	nd->next_seq = read_seqcount_begin(&parent->d_seq);
	if (read_seqcount_retry(&old->d_seq, nd->seq))
		return ERR_PTR(-ECHILD);
	return parent;
in_root:
	if (read_seqretry(&mount_lock, nd->m_seq))
		return ERR_PTR(-ECHILD);
	nd->next_seq = nd->seq;
	return nd->path.dentry;
}

static struct dentry *follow_dotdot(struct nameidata *nd)
{
	if (path_equal(&nd->path, &nd->root))
		return dget(nd->path.dentry);
	if (unlikely(nd->path.dentry == nd->path.mnt->mnt_root)) {
		struct path path;

		if (!choose_mountpoint(real_mount(nd->path.mnt), &nd->root, &path))
			return dget(nd->path.dentry);
		path_put(&nd->path);
		nd->path = path;
		nd->inode = path.dentry->d_inode;
	}
	return dget_parent(nd->path.dentry);
}

const char *handle_dots(struct nameidata *nd, int type)
{
	struct dentry *parent;

	if (type != LAST_DOTDOT)
		return NULL;
	if (!nd->root.mnt)
		set_root(nd);
	parent = nd->flags & LOOKUP_RCU ? follow_dotdot_rcu(nd) : follow_dotdot(nd);
	if (IS_ERR(parent))
		return ERR_CAST(parent);
	return step_into(nd, WALK_NOFOLLOW, parent);
}

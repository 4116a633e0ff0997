/* The state of one path walk, shared by fs/namei*.c. */
#ifndef _NAMEIDATA_H
#define _NAMEIDATA_H
#include "namei.h"
#include "fs_struct.h"
#include "fdtable.h"
#include "sched.h"
#include "slab.h"
#include "mm.h"
#include "uaccess.h"
#include "security.h"

/*
 * In RCU mode (LOOKUP_RCU) path, root and links carry no references: seq, root_seq and m_seq prove them instead, and any
 * doubt ends in -ECHILD, after which the caller walks again with references.
 */
struct nameidata {
	struct path path;
	struct qstr last;
	struct path root;
	struct inode *inode;		/* path.dentry.d_inode */
	unsigned int flags, state;
	unsigned int seq, next_seq, m_seq, r_seq, root_seq;
	int last_type;
	unsigned int depth;
	int total_link_count;
	struct filename *name;
	struct nameidata *saved;
	int dfd;
	struct saved {
		struct path link;
		const char *name;
		unsigned int seq;
	} stack[MAXSYMLINKS];
};

#define ND_ROOT_PRESET	1
#define ND_ROOT_GRABBED	2
#define ND_JUMPED	4

enum { WALK_TRAILING = 1, WALK_MORE = 2, WALK_NOFOLLOW = 4 };

const char *path_init(struct nameidata *nd, unsigned int flags);
int link_path_walk(const char *name, struct nameidata *nd);
void terminate_walk(struct nameidata *nd);
int complete_walk(struct nameidata *nd);
bool try_to_unlazy(struct nameidata *nd);
bool try_to_unlazy_next(struct nameidata *nd, struct dentry *dentry);
int nd_jump_root(struct nameidata *nd);
struct dentry *lookup_fast(struct nameidata *nd);
const char *step_into(struct nameidata *nd, int flags, struct dentry *dentry);
const char *handle_dots(struct nameidata *nd, int type);
const char *walk_component(struct nameidata *nd, int flags);

static inline void set_nameidata(struct nameidata *p, int dfd, struct filename *name, const struct path *root)
{
	struct nameidata *old = current->nameidata;

	p->depth = 0;
	p->dfd = dfd;
	p->name = name;
	p->path.mnt = NULL;
	p->path.dentry = NULL;
	p->total_link_count = old ? old->total_link_count : 0;
	p->saved = old;
	p->state = 0;
	if (unlikely(root)) {
		p->state = ND_ROOT_PRESET;
		p->root = *root;
	}
	current->nameidata = p;
}

static inline void restore_nameidata(void)
{
	struct nameidata *now = current->nameidata, *old = now->saved;

	current->nameidata = old;
	if (old)
		old->total_link_count = now->total_link_count;
}

static inline void put_link(struct nameidata *nd)
{
	struct saved *last = nd->stack + --nd->depth;

	if (!(nd->flags & LOOKUP_RCU))
		path_put(&last->link);
}

static inline int d_revalidate(struct dentry *dentry, unsigned int flags)
{
	if (unlikely(dentry->d_flags & DCACHE_OP_REVALIDATE))
		return dentry->d_op->d_revalidate(dentry, flags);
	return 1;
}

static inline bool path_equal(const struct path *a, const struct path *b)
{
	return a->mnt == b->mnt && a->dentry == b->dentry;
}
/*
 * Linux's namei.c is one file, in which gcc inlines these small functions; the same happens in our parts of it, so that
 * traces show what they call under the same callers.
 */
static __always_inline void path_put_inline(const struct path *path)
{
	dput(path->dentry);
	mntput(path->mnt);
}

#ifndef NAMEI_MAIN
#define path_put(path)	path_put_inline(path)
#define getname(name)	getname_flags(name, 0, NULL)

static __always_inline int may_create_inline(struct user_namespace *ns, struct inode *dir, struct dentry *child)
{
	if (child->d_inode)
		return -EEXIST;
	if (IS_DEADDIR(dir))
		return -ENOENT;
	if (from_kuid(ns, current_fsuid()) == (uid_t)-1 || from_kgid(ns, current_fsgid()) == (gid_t)-1)
		return -EOVERFLOW;
	return inode_permission(ns, dir, MAY_WRITE | MAY_EXEC);
}

#define may_create(ns, dir, child)	may_create_inline(ns, dir, child)
#endif
#endif

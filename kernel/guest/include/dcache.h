/*
 * Names: a tree of dentries over the inodes, hashed by (parent, name) (Linux's include/linux/dcache.h, fs/dcache.c).
 *
 * Locks: rename_lock, then parent d_lock, then child d_lock, then the hash chain's bit lock; i_lock before d_lock for
 * d_alias. A path walk in RCU mode takes none of them: it samples d_seq and gives up when that moved.
 */
#ifndef _DCACHE_H
#define _DCACHE_H
#include "types.h"
#include "atomic.h"
#include "list.h"
#include "list_bl.h"
#include "lockref.h"
#include "seqlock.h"
#include "wait.h"
#include "rcupdate.h"

struct vfsmount;
struct inode;
struct super_block;

struct qstr {
	union {
		struct {
			u32 hash;
			u32 len;
		};
		u64 hash_len;
	};
	const unsigned char *name;
};

#define QSTR_INIT(n, l)		{ { { .len = l } }, .name = (const unsigned char *)n }
#define hashlen_hash(hashlen)	((u32)(hashlen))
#define hashlen_len(hashlen)	((u32)((hashlen) >> 32))
#define hashlen_create(hash, len)	((u64)(len) << 32 | (u32)(hash))

#define DNAME_INLINE_LEN	32

struct dentry {
	unsigned int d_flags;		/* d_lock */
	seqcount_spinlock_t d_seq;
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;		/* NULL: negative */
	unsigned char d_iname[DNAME_INLINE_LEN];
	struct lockref d_lockref;
	const struct dentry_operations *d_op;
	struct super_block *d_sb;
	unsigned long d_time;
	void *d_fsdata;
	wait_queue_head_t *d_wait;	/* while a lookup of it runs */
	struct list_head d_child;	/* in the parent's d_subdirs; the parent's d_lock */
	struct list_head d_subdirs;
	union {
		struct hlist_node d_alias;		/* in i_dentry */
		struct hlist_bl_node d_in_lookup_hash;
		struct rcu_head d_rcu;
	} d_u;
};

#define d_lock	d_lockref.lock

struct dentry_operations {
	int (*d_revalidate)(struct dentry *dentry, unsigned int flags);
	int (*d_delete)(const struct dentry *dentry);
	void (*d_release)(struct dentry *dentry);
	char *(*d_dname)(struct dentry *dentry, char *buffer, int buflen);
};

#define DCACHE_OP_REVALIDATE	0x00000004
#define DCACHE_OP_DELETE	0x00000008
#define DCACHE_DENTRY_KILLED	0x00008000
#define DCACHE_CANT_MOUNT	0x00000100
#define DCACHE_MOUNTED		0x00010000
#define DCACHE_ENTRY_TYPE	0x00700000
#define DCACHE_MISS_TYPE	0x00000000	/* negative */
#define DCACHE_DIRECTORY_TYPE	0x00200000
#define DCACHE_REGULAR_TYPE	0x00400000
#define DCACHE_SPECIAL_TYPE	0x00500000
#define DCACHE_SYMLINK_TYPE	0x00600000
#define DCACHE_PAR_LOOKUP	0x10000000	/* being looked up */
#define DCACHE_DENTRY_CURSOR	0x20000000
#define DCACHE_NORCU		0x40000000	/* never seen by a path walk: freed at once */

extern seqlock_t rename_lock;
extern const struct qstr empty_name, slash_name, dotdot_name;

struct dentry *d_alloc(struct dentry *parent, const struct qstr *name);
struct dentry *d_alloc_pseudo(struct super_block *sb, const struct qstr *name);
struct dentry *d_alloc_cursor(struct dentry *parent);
struct dentry *d_alloc_parallel(struct dentry *parent, const struct qstr *name, wait_queue_head_t *wq);
void __d_lookup_unhash_wake(struct dentry *dentry);
struct dentry *d_make_root(struct inode *root_inode);
void d_instantiate(struct dentry *entry, struct inode *inode);
void d_instantiate_new(struct dentry *entry, struct inode *inode);
struct dentry *d_splice_alias(struct inode *inode, struct dentry *dentry);
void d_add(struct dentry *entry, struct inode *inode);
void d_rehash(struct dentry *entry);
void d_drop(struct dentry *dentry);
void __d_drop(struct dentry *dentry);
void d_delete(struct dentry *dentry);
int d_invalidate(struct dentry *dentry);
void d_move(struct dentry *dentry, struct dentry *target);
void d_set_d_op(struct dentry *dentry, const struct dentry_operations *op);
struct dentry *d_lookup(const struct dentry *parent, const struct qstr *name);
struct dentry *__d_lookup(const struct dentry *parent, const struct qstr *name);
struct dentry *__d_lookup_rcu(const struct dentry *parent, const struct qstr *name, unsigned int *seq);
struct dentry *d_find_alias(struct inode *inode);
void dput(struct dentry *dentry);
struct dentry *dget_parent(struct dentry *dentry);
void shrink_dcache_parent(struct dentry *parent);
bool is_subdir(struct dentry *new_dentry, struct dentry *old_dentry);
bool d_same_name(const struct dentry *dentry, const struct dentry *parent, const struct qstr *name);
unsigned int full_name_hash(const void *salt, const char *name, unsigned int len);
u64 hashlen_string(const void *salt, const char *name);
void dcache_init(void);
char *dentry_path_raw(struct dentry *dentry, char *buf, int buflen);

static inline struct dentry *dget_dlock(struct dentry *dentry)
{
	dentry->d_lockref.count++;
	return dentry;
}

static inline struct dentry *dget(struct dentry *dentry)
{
	if (dentry)
		lockref_get(&dentry->d_lockref);
	return dentry;
}

static inline int d_unhashed(const struct dentry *dentry)
{
	return hlist_bl_unhashed(&dentry->d_hash);
}

static inline int d_unlinked(const struct dentry *dentry)
{
	return d_unhashed(dentry) && dentry != dentry->d_parent;
}

static inline bool d_in_lookup(const struct dentry *dentry)
{
	return dentry->d_flags & DCACHE_PAR_LOOKUP;
}

static inline void d_lookup_done(struct dentry *dentry)
{
	if (unlikely(d_in_lookup(dentry)))
		__d_lookup_unhash_wake(dentry);
}

static inline bool d_mountpoint(const struct dentry *dentry)
{
	return dentry->d_flags & DCACHE_MOUNTED;
}

static inline unsigned int __d_entry_type(const struct dentry *dentry)
{
	return dentry->d_flags & DCACHE_ENTRY_TYPE;
}

static inline bool d_is_miss(const struct dentry *d) { return __d_entry_type(d) == DCACHE_MISS_TYPE; }
static inline bool d_is_negative(const struct dentry *d) { return d_is_miss(d); }
static inline bool d_is_positive(const struct dentry *d) { return !d_is_negative(d); }
static inline bool d_is_dir(const struct dentry *d) { return __d_entry_type(d) == DCACHE_DIRECTORY_TYPE; }
static inline bool d_can_lookup(const struct dentry *d) { return d_is_dir(d); }
static inline bool d_is_symlink(const struct dentry *d) { return __d_entry_type(d) == DCACHE_SYMLINK_TYPE; }
static inline bool d_is_reg(const struct dentry *d) { return __d_entry_type(d) == DCACHE_REGULAR_TYPE; }
static inline bool d_really_is_negative(const struct dentry *d) { return !d->d_inode; }
static inline bool d_really_is_positive(const struct dentry *d) { return d->d_inode; }
static inline bool simple_positive(const struct dentry *d) { return d_really_is_positive(d) && !d_unhashed(d); }
static inline struct inode *d_inode(const struct dentry *d) { return d->d_inode; }
static inline struct inode *d_inode_rcu(const struct dentry *d) { return READ_ONCE(d->d_inode); }
static inline struct inode *d_backing_inode(const struct dentry *d) { return d->d_inode; }

#define IS_ROOT(x)	((x) == (x)->d_parent)
#endif

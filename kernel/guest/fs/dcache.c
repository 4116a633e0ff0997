/*
 * The dentry cache: names in memory, found by hash of (parent, name), freed by RCU (Linux's fs/dcache.c).
 *
 * A dentry with no reference stays hashed until its file system's d_delete says no or its parent is shrunk. The count and
 * d_lock share one word (lockref), so that dget and dput need no lock while nobody else holds it.
 */
#include "fs.h"
#include "slab.h"
#include "sched.h"
#include "mm.h"

#define DHASH_SHIFT	10
#define IN_LOOKUP_SHIFT	6

static struct hlist_bl_head dentry_hashtable[1 << DHASH_SHIFT];
static struct hlist_bl_head in_lookup_hashtable[1 << IN_LOOKUP_SHIFT];
static struct kmem_cache *dentry_cache;

DEFINE_SEQLOCK(rename_lock);
const struct qstr empty_name = QSTR_INIT("", 0);
const struct qstr slash_name = QSTR_INIT("/", 1);
const struct qstr dotdot_name = QSTR_INIT("..", 2);

static inline struct hlist_bl_head *d_hash(unsigned int hash)
{
	return dentry_hashtable + (hash >> (32 - DHASH_SHIFT));
}

static inline struct hlist_bl_head *in_lookup_hash(const struct dentry *parent, unsigned int hash)
{
	hash += (unsigned long)parent / 64;
	return in_lookup_hashtable + ((hash * 0x61c88647u) >> (32 - IN_LOOKUP_SHIFT));
}

static inline int dname_external(const struct dentry *dentry)
{
	return dentry->d_name.name != dentry->d_iname;
}

static void __d_free(struct rcu_head *head)
{
	struct dentry *dentry = container_of(head, struct dentry, d_u.d_rcu);

	if (dname_external(dentry))
		kfree(dentry->d_name.name);
	kmem_cache_free(dentry_cache, dentry);
}

static noinline void dentry_free(struct dentry *dentry)
{
	if (dentry->d_flags & DCACHE_NORCU)
		__d_free(&dentry->d_u.d_rcu);
	else
		call_rcu(&dentry->d_u.d_rcu, __d_free);
}

bool d_same_name(const struct dentry *dentry, const struct dentry *parent, const struct qstr *name)
{
	return dentry->d_name.len == name->len && !memcmp(dentry->d_name.name, name->name, name->len);
}

static noinline unsigned int d_flags_for_inode(struct inode *inode)
{
	if (!inode)
		return DCACHE_MISS_TYPE;
	if (S_ISDIR(inode->i_mode))
		return DCACHE_DIRECTORY_TYPE;
	if (S_ISLNK(inode->i_mode))
		return DCACHE_SYMLINK_TYPE;
	return S_ISREG(inode->i_mode) ? DCACHE_REGULAR_TYPE : DCACHE_SPECIAL_TYPE;
}

/* d_lock and a d_seq write section are held. */
static inline void __d_set_inode_and_type(struct dentry *dentry, struct inode *inode, unsigned int type)
{
	dentry->d_inode = inode;
	WRITE_ONCE(dentry->d_flags, (dentry->d_flags & ~DCACHE_ENTRY_TYPE) | type);
}

void d_set_d_op(struct dentry *dentry, const struct dentry_operations *op)
{
	dentry->d_op = op;
	if (!op)
		return;
	if (op->d_revalidate)
		dentry->d_flags |= DCACHE_OP_REVALIDATE;
	if (op->d_delete)
		dentry->d_flags |= DCACHE_OP_DELETE;
}

/* __d_alloc makes an unattached negative dentry with one reference; a long name lives in memory of its own. */
static noinline struct dentry *__d_alloc(struct super_block *sb, const struct qstr *name)
{
	struct dentry *dentry = kmem_cache_alloc(dentry_cache, GFP_KERNEL);
	unsigned char *dname;

	if (!dentry)
		return NULL;
	if (!name)
		name = &slash_name;
	dname = dentry->d_iname;
	if (name->len > DNAME_INLINE_LEN - 1) {
		dname = kmalloc(name->len + 1, GFP_KERNEL);
		if (!dname) {
			kmem_cache_free(dentry_cache, dentry);
			return NULL;
		}
	}
	memcpy(dname, name->name, name->len);
	dname[name->len] = 0;
	dentry->d_name = (struct qstr){ { { .hash = name->hash, .len = name->len } }, .name = dname };
	dentry->d_lockref.lock_count = 0;
	dentry->d_lockref.count = 1;
	dentry->d_flags = 0;
	seqcount_spinlock_init(&dentry->d_seq, &dentry->d_lock);
	dentry->d_inode = NULL;
	dentry->d_parent = dentry;
	dentry->d_sb = sb;
	dentry->d_op = NULL;
	dentry->d_fsdata = NULL;
	dentry->d_time = 0;
	dentry->d_wait = NULL;
	dentry->d_hash.next = NULL;
	dentry->d_hash.pprev = NULL;
	INIT_LIST_HEAD(&dentry->d_subdirs);
	INIT_LIST_HEAD(&dentry->d_child);
	INIT_HLIST_NODE(&dentry->d_u.d_alias);
	d_set_d_op(dentry, sb->s_d_op);
	return dentry;
}

struct dentry *d_alloc(struct dentry *parent, const struct qstr *name)
{
	struct dentry *dentry = __d_alloc(parent->d_sb, name);

	if (!dentry)
		return NULL;
	spin_lock(&parent->d_lock);
	dget_dlock(parent);
	dentry->d_parent = parent;
	list_add(&dentry->d_child, &parent->d_subdirs);
	spin_unlock(&parent->d_lock);
	return dentry;
}

/* A dentry that no walk can reach: pipes, anonymous inodes. */
struct dentry *d_alloc_pseudo(struct super_block *sb, const struct qstr *name)
{
	struct dentry *dentry = __d_alloc(sb, name);

	if (dentry)
		dentry->d_flags |= DCACHE_NORCU;
	return dentry;
}

/* A place holder in a directory's list of children, so that readdir can go on where it stopped. */
struct dentry *d_alloc_cursor(struct dentry *parent)
{
	struct dentry *dentry = __d_alloc(parent->d_sb, &empty_name);

	if (dentry) {
		dentry->d_flags |= DCACHE_DENTRY_CURSOR | DCACHE_NORCU;
		dentry->d_parent = dget(parent);
	}
	return dentry;
}

static noinline void __d_rehash(struct dentry *entry)
{
	struct hlist_bl_head *b = d_hash(entry->d_name.hash);

	hlist_bl_lock(b);
	hlist_bl_add_head_rcu(&entry->d_hash, b);
	hlist_bl_unlock(b);
}

void d_rehash(struct dentry *entry)
{
	spin_lock(&entry->d_lock);
	__d_rehash(entry);
	spin_unlock(&entry->d_lock);
}

static noinline void ___d_drop(struct dentry *dentry)
{
	struct hlist_bl_head *b = d_hash(dentry->d_name.hash);

	hlist_bl_lock(b);
	__hlist_bl_del(&dentry->d_hash);
	hlist_bl_unlock(b);
}

/* __d_drop unhashes; readers in RCU mode see d_seq move. d_lock is held. */
void __d_drop(struct dentry *dentry)
{
	if (d_unhashed(dentry))
		return;
	___d_drop(dentry);
	dentry->d_hash.pprev = NULL;
	write_seqcount_invalidate(&dentry->d_seq);
}

void d_drop(struct dentry *dentry)
{
	spin_lock(&dentry->d_lock);
	__d_drop(dentry);
	spin_unlock(&dentry->d_lock);
}

/* i_lock and d_lock are held; both are dropped, and the inode is put. */
static noinline void dentry_unlink_inode(struct dentry *dentry)
{
	struct inode *inode = dentry->d_inode;

	write_seqcount_begin(&dentry->d_seq);
	__d_set_inode_and_type(dentry, NULL, DCACHE_MISS_TYPE);
	hlist_del_init(&dentry->d_u.d_alias);
	write_seqcount_end(&dentry->d_seq);
	spin_unlock(&dentry->d_lock);
	spin_unlock(&inode->i_lock);
	iput(inode);
}

/* The last reference is gone: d_lock, the parent's d_lock and i_lock are held, and dropped here. */
static noinline void __dentry_kill(struct dentry *dentry)
{
	struct dentry *parent = IS_ROOT(dentry) ? NULL : dentry->d_parent;

	lockref_mark_dead(&dentry->d_lockref);
	if (!d_unhashed(dentry)) {
		___d_drop(dentry);
		dentry->d_hash.pprev = NULL;
		write_seqcount_invalidate(&dentry->d_seq);
	}
	dentry->d_flags |= DCACHE_DENTRY_KILLED;
	if (!list_empty(&dentry->d_child))
		list_del_init(&dentry->d_child);
	if (parent)
		spin_unlock(&parent->d_lock);
	if (dentry->d_inode)
		dentry_unlink_inode(dentry);
	else
		spin_unlock(&dentry->d_lock);
	if (dentry->d_op && dentry->d_op->d_release)
		dentry->d_op->d_release(dentry);
	dentry_free(dentry);
	cond_resched();
}

/* __lock_parent takes the parent's lock while the child's is held: against the order, so the child's is dropped. */
static struct dentry *__lock_parent(struct dentry *dentry)
{
	struct dentry *parent;

	rcu_read_lock();
	spin_unlock(&dentry->d_lock);
again:
	parent = READ_ONCE(dentry->d_parent);
	spin_lock(&parent->d_lock);
	if (unlikely(parent != dentry->d_parent)) {
		spin_unlock(&parent->d_lock);
		goto again;
	}
	rcu_read_unlock();
	if (parent == dentry)
		return NULL;
	spin_lock(&dentry->d_lock);
	return parent;
}

static inline struct dentry *lock_parent(struct dentry *dentry)
{
	struct dentry *parent = dentry->d_parent;

	if (IS_ROOT(dentry))
		return NULL;
	if (likely(spin_trylock(&parent->d_lock)))
		return parent;
	return __lock_parent(dentry);
}

static inline bool retain_dentry(struct dentry *dentry)
{
	if (unlikely(d_unhashed(dentry)))
		return false;
	if (unlikely(dentry->d_flags & DCACHE_OP_DELETE) && dentry->d_op->d_delete(dentry))
		return false;
	dentry->d_lockref.count--;
	return true;
}

/*
 * dentry_kill ends a dentry whose count is our one reference and whose lock is held; it gives back the parent, whose
 * reference the child owned. Locks are tried against the order first, then taken in order with everything rechecked.
 */
static struct dentry *dentry_kill(struct dentry *dentry)
{
	struct inode *inode = dentry->d_inode;
	struct dentry *parent = NULL;

	if (inode && unlikely(!spin_trylock(&inode->i_lock)))
		goto slow_positive;
	if (!IS_ROOT(dentry)) {
		parent = dentry->d_parent;
		if (unlikely(!spin_trylock(&parent->d_lock))) {
			parent = __lock_parent(dentry);
			if (likely(inode || !dentry->d_inode))
				goto got_locks;
			/* it became positive: start over in order */
			if (parent)
				spin_unlock(&parent->d_lock);
			inode = dentry->d_inode;
			goto slow_positive;
		}
	}
	__dentry_kill(dentry);
	return parent;

slow_positive:
	spin_unlock(&dentry->d_lock);
	spin_lock(&inode->i_lock);
	spin_lock(&dentry->d_lock);
	parent = lock_parent(dentry);
got_locks:
	if (likely(dentry->d_lockref.count == 1) && !retain_dentry(dentry)) {
		__dentry_kill(dentry);
		return parent;
	}
	if (dentry->d_lockref.count > 1)
		dentry->d_lockref.count--;
	if (inode)
		spin_unlock(&inode->i_lock);
	if (parent)
		spin_unlock(&parent->d_lock);
	spin_unlock(&dentry->d_lock);
	return NULL;
}

/* fast_dput drops a reference. False: it was the last one that matters; d_lock is held and the count is 1 again. */
static inline bool fast_dput(struct dentry *dentry)
{
	int ret = lockref_put_return(&dentry->d_lockref);
	unsigned int d_flags;

	if (unlikely(ret < 0)) {
		spin_lock(&dentry->d_lock);
		if (dentry->d_lockref.count > 1) {
			dentry->d_lockref.count--;
			spin_unlock(&dentry->d_lock);
			return true;
		}
		return false;
	}
	if (ret)
		return true;
	d_flags = READ_ONCE(dentry->d_flags);
	if (!(d_flags & DCACHE_OP_DELETE) && !d_unhashed(dentry))
		return true;
	spin_lock(&dentry->d_lock);
	if (dentry->d_lockref.count || (dentry->d_flags & DCACHE_DENTRY_KILLED)) {
		spin_unlock(&dentry->d_lock);
		return true;
	}
	dentry->d_lockref.count = 1;
	return false;
}

void dput(struct dentry *dentry)
{
	while (dentry) {
		might_sleep();
		rcu_read_lock();
		if (likely(fast_dput(dentry))) {
			rcu_read_unlock();
			return;
		}
		rcu_read_unlock();
		if (likely(retain_dentry(dentry))) {
			spin_unlock(&dentry->d_lock);
			return;
		}
		dentry = dentry_kill(dentry);
	}
}

static noinline void __d_instantiate(struct dentry *dentry, struct inode *inode)
{
	unsigned int add_flags = d_flags_for_inode(inode);

	spin_lock(&dentry->d_lock);
	hlist_add_head(&dentry->d_u.d_alias, &inode->i_dentry);
	write_seqcount_begin(&dentry->d_seq);
	__d_set_inode_and_type(dentry, inode, add_flags);
	write_seqcount_end(&dentry->d_seq);
	spin_unlock(&dentry->d_lock);
}

void d_instantiate(struct dentry *entry, struct inode *inode)
{
	if (!inode)
		return;
	spin_lock(&inode->i_lock);
	__d_instantiate(entry, inode);
	spin_unlock(&inode->i_lock);
}

/* The same of an inode that insert_inode_locked() has put into the hash. */
noinline void d_instantiate_new(struct dentry *entry, struct inode *inode)
{
	spin_lock(&inode->i_lock);
	__d_instantiate(entry, inode);
	spin_unlock(&inode->i_lock);
	unlock_new_inode(inode);
}

struct dentry *d_make_root(struct inode *root_inode)
{
	struct dentry *res;

	if (!root_inode)
		return NULL;
	res = __d_alloc(root_inode->i_sb, NULL);
	if (res)
		d_instantiate(res, root_inode);
	else
		iput(root_inode);
	return res;
}

/* 0: the names are the same. They are short, and both in kernel memory: a word that is on one page may be read beyond the end. */
static __always_inline int dentry_cmp(const unsigned char *cs, const unsigned char *ct, unsigned int tcount)
{
	for (; tcount > 8; tcount -= 8, cs += 8, ct += 8) {
		if (*(const u64 *)cs != *(const u64 *)ct)
			return 1;
	}
	if (unlikely(offset_in_page(ct) > PAGE_SIZE - 8 || offset_in_page(cs) > PAGE_SIZE - 8))
		return memcmp(cs, ct, tcount);
	return ((*(const u64 *)cs ^ *(const u64 *)ct) << 8 * (8 - tcount)) != 0;
}

/*
 * __d_lookup_rcu finds a dentry without any store: the caller checks *@seqp again before it believes what it reads.
 */
struct dentry *__d_lookup_rcu(const struct dentry *parent, const struct qstr *name, unsigned int *seqp)
{
	u64 hashlen = name->hash_len;
	struct hlist_bl_head *b = d_hash(hashlen_hash(hashlen));
	struct hlist_bl_node *node;
	struct dentry *dentry;

	hlist_bl_for_each_entry_rcu(dentry, node, b, d_hash) {
		unsigned int seq = raw_seqcount_begin(&dentry->d_seq);

		if (dentry->d_parent != parent || d_unhashed(dentry) || dentry->d_name.hash_len != hashlen)
			continue;
		if (dentry_cmp(READ_ONCE(dentry->d_name.name), name->name, hashlen_len(hashlen)))
			continue;
		*seqp = seq;
		return dentry;
	}
	return NULL;
}

struct dentry *__d_lookup(const struct dentry *parent, const struct qstr *name)
{
	struct hlist_bl_head *b = d_hash(name->hash);
	struct hlist_bl_node *node;
	struct dentry *found = NULL, *dentry;

	rcu_read_lock();
	hlist_bl_for_each_entry_rcu(dentry, node, b, d_hash) {
		if (dentry->d_name.hash != name->hash)
			continue;
		spin_lock(&dentry->d_lock);
		if (dentry->d_parent == parent && !d_unhashed(dentry) && d_same_name(dentry, parent, name)) {
			dentry->d_lockref.count++;
			found = dentry;
		}
		spin_unlock(&dentry->d_lock);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

/* d_lookup repeats a miss that a rename on the way may have caused. */
struct dentry *d_lookup(const struct dentry *parent, const struct qstr *name)
{
	struct dentry *dentry;
	unsigned int seq;

	do {
		seq = read_seqbegin(&rename_lock);
		dentry = __d_lookup(parent, name);
		if (dentry)
			break;
	} while (read_seqretry(&rename_lock, seq));
	return dentry;
}

static void d_wait_lookup(struct dentry *dentry)
{
	if (d_in_lookup(dentry)) {
		DECLARE_WAITQUEUE(wait, current);

		add_wait_queue(dentry->d_wait, &wait);
		do {
			set_current_state(TASK_UNINTERRUPTIBLE);
			spin_unlock(&dentry->d_lock);
			schedule();
			spin_lock(&dentry->d_lock);
		} while (d_in_lookup(dentry));
		__set_current_state(TASK_RUNNING);
	}
}

/*
 * A directory's i_dir_seq is odd while a dentry moves from the in-lookup chain to the hash, where for a moment it is in
 * neither; who finds nothing in both looks again when the number has changed.
 */
static inline unsigned int start_dir_add(struct inode *dir)
{
	preempt_disable();
	for (;;) {
		unsigned int n = READ_ONCE(dir->i_dir_seq);

		if (!(n & 1) && cmpxchg(&dir->i_dir_seq, n, n + 1) == n)
			return n;
		cpu_relax();
	}
}

static inline void end_dir_add(struct inode *dir, unsigned int n, wait_queue_head_t *d_wait)
{
	smp_store_release(&dir->i_dir_seq, n + 2);
	preempt_enable();
	wake_up_all(d_wait);
}

/* in_lookup_find: a lookup of the same name that another task has under way. The chain is locked. */
static struct dentry *in_lookup_find(struct hlist_bl_head *b, struct dentry *parent, const struct qstr *name)
{
	struct hlist_bl_node *node;
	struct dentry *dentry;

	hlist_bl_for_each_entry(dentry, node, b, d_u.d_in_lookup_hash) {
		if (dentry->d_name.hash == name->hash && dentry->d_parent == parent && d_same_name(dentry, parent, name))
			return dentry;
	}
	return NULL;
}

/*
 * d_alloc_parallel returns a dentry in lookup (PAR_LOOKUP set: ours to look up, then d_lookup_done), or one that
 * somebody else has finished meanwhile. The directory is locked shared, so that several lookups may run at once.
 */
struct dentry *d_alloc_parallel(struct dentry *parent, const struct qstr *name, wait_queue_head_t *wq)
{
	struct hlist_bl_head *b = in_lookup_hash(parent, name->hash);
	struct dentry *new = d_alloc(parent, name), *dentry;
	unsigned int seq, r_seq, d_seq;

	if (unlikely(!new))
		return ERR_PTR(-ENOMEM);
retry:
	rcu_read_lock();
	seq = smp_load_acquire(&parent->d_inode->i_dir_seq);
	r_seq = read_seqbegin(&rename_lock);
	dentry = __d_lookup_rcu(parent, name, &d_seq);
	if (unlikely(dentry)) {
		if (!lockref_get_not_dead(&dentry->d_lockref))
			goto again;
		if (read_seqcount_retry(&dentry->d_seq, d_seq)) {
			rcu_read_unlock();
			dput(dentry);
			goto retry;
		}
		rcu_read_unlock();
		dput(new);
		return dentry;
	}
	if (unlikely(read_seqretry(&rename_lock, r_seq)) || unlikely(seq & 1))
		goto again;
	hlist_bl_lock(b);
	if (unlikely(READ_ONCE(parent->d_inode->i_dir_seq) != seq)) {
		hlist_bl_unlock(b);
		goto again;
	}
	dentry = in_lookup_find(b, parent, name);
	if (!dentry) {
		rcu_read_unlock();
		new->d_flags |= DCACHE_PAR_LOOKUP;
		new->d_wait = wq;
		hlist_bl_add_head(&new->d_u.d_in_lookup_hash, b);
		hlist_bl_unlock(b);
		return new;
	}
	hlist_bl_unlock(b);
	/* only now: __d_lookup_unhash() takes the chain's lock inside d_lock */
	if (!lockref_get_not_dead(&dentry->d_lockref))
		goto again;
	rcu_read_unlock();
	spin_lock(&dentry->d_lock);
	d_wait_lookup(dentry);
	if (unlikely(dentry->d_parent != parent || d_unhashed(dentry) || !d_same_name(dentry, parent, name))) {
		spin_unlock(&dentry->d_lock);
		dput(dentry);
		goto retry;
	}
	spin_unlock(&dentry->d_lock);
	dput(new);
	return dentry;
again:
	rcu_read_unlock();
	goto retry;
}

/* d_lock is held. Returns the queue to wake. */
static noinline wait_queue_head_t *__d_lookup_unhash(struct dentry *dentry)
{
	struct hlist_bl_head *b = in_lookup_hash(dentry->d_parent, dentry->d_name.hash);
	wait_queue_head_t *d_wait;

	hlist_bl_lock(b);
	dentry->d_flags &= ~DCACHE_PAR_LOOKUP;
	__hlist_bl_del(&dentry->d_u.d_in_lookup_hash);
	d_wait = dentry->d_wait;
	dentry->d_wait = NULL;
	hlist_bl_unlock(b);
	INIT_HLIST_NODE(&dentry->d_u.d_alias);
	return d_wait;
}

void __d_lookup_unhash_wake(struct dentry *dentry)
{
	spin_lock(&dentry->d_lock);
	wake_up_all(__d_lookup_unhash(dentry));
	spin_unlock(&dentry->d_lock);
}

/* i_lock is held when there is an inode. */
static inline void __d_add(struct dentry *dentry, struct inode *inode)
{
	wait_queue_head_t *d_wait = NULL;
	struct inode *dir = NULL;
	unsigned int n = 0;

	spin_lock(&dentry->d_lock);
	if (unlikely(d_in_lookup(dentry))) {
		dir = dentry->d_parent->d_inode;
		n = start_dir_add(dir);
		d_wait = __d_lookup_unhash(dentry);
	}
	if (inode) {
		unsigned int add_flags = d_flags_for_inode(inode);

		hlist_add_head(&dentry->d_u.d_alias, &inode->i_dentry);
		write_seqcount_begin(&dentry->d_seq);
		__d_set_inode_and_type(dentry, inode, add_flags);
		write_seqcount_end(&dentry->d_seq);
	}
	__d_rehash(dentry);
	if (dir)
		end_dir_add(dir, n, d_wait);
	spin_unlock(&dentry->d_lock);
	if (inode)
		spin_unlock(&inode->i_lock);
}

void d_add(struct dentry *entry, struct inode *inode)
{
	if (inode)
		spin_lock(&inode->i_lock);
	__d_add(entry, inode);
}

/* d_delete after an unlink: the only user turns negative, else the name is only unhashed. */
void d_delete(struct dentry *dentry)
{
	struct inode *inode = dentry->d_inode;

	spin_lock(&inode->i_lock);
	spin_lock(&dentry->d_lock);
	if (dentry->d_lockref.count == 1) {
		dentry_unlink_inode(dentry);
		return;
	}
	__d_drop(dentry);
	spin_unlock(&dentry->d_lock);
	spin_unlock(&inode->i_lock);
}

void __init dcache_init(void)
{
	dentry_cache = kmem_cache_create("dentry", sizeof(struct dentry), __alignof__(struct dentry),
					 SLAB_RECLAIM_ACCOUNT | SLAB_PANIC, NULL);
}

/*
 * The dentry tree seen from above: parents, aliases, ancestry, rename, shrinking (Linux's fs/dcache.c).
 */
#include "fs.h"
#include "slab.h"
#include "sched.h"
#include "mm.h"

struct dentry *dget_parent(struct dentry *dentry)
{
	struct dentry *ret;

	rcu_read_lock();
	for (;;) {
		ret = READ_ONCE(dentry->d_parent);
		if (!lockref_get_not_dead(&ret->d_lockref))
			continue;
		if (likely(ret == READ_ONCE(dentry->d_parent)))
			break;
		rcu_read_unlock();
		dput(ret);
		rcu_read_lock();
	}
	rcu_read_unlock();
	return ret;
}

struct dentry *d_find_alias(struct inode *inode)
{
	struct dentry *de = NULL;

	spin_lock(&inode->i_lock);
	if (!hlist_empty(&inode->i_dentry)) {
		de = hlist_entry(inode->i_dentry.first, struct dentry, d_u.d_alias);
		dget(de);
	}
	spin_unlock(&inode->i_lock);
	return de;
}

/*
 * What a lookup ends with. A directory has one name: a second one, which only a broken disk can have, is refused; Linux moves
 * the dentry instead, unless that would make a loop.
 */
noinline struct dentry *d_splice_alias(struct inode *inode, struct dentry *dentry)
{
	if (IS_ERR(inode))
		return ERR_CAST(inode);
	if (inode && S_ISDIR(inode->i_mode)) {
		struct dentry *alias = d_find_alias(inode);

		if (unlikely(alias)) {
			pr_warn("VFS: Lookup of '%s' in %s %s would have caused loop\n", dentry->d_name.name, inode->i_sb->s_type->name,
				inode->i_sb->s_id);
			dput(alias);
			iput(inode);
			return ERR_PTR(-ELOOP);
		}
	}
	d_add(dentry, inode);
	return NULL;
}

noinline bool is_subdir(struct dentry *new_dentry, struct dentry *old_dentry)
{
	struct dentry *d;
	unsigned int seq;
	bool result;

	do {
		seq = read_seqbegin(&rename_lock);
		rcu_read_lock();
		for (d = new_dentry; d != old_dentry && !IS_ROOT(d); d = READ_ONCE(d->d_parent))
			;
		result = d == old_dentry;
		rcu_read_unlock();
	} while (read_seqretry(&rename_lock, seq));
	return result;
}

static void lock_two_parents(struct dentry *a, struct dentry *b)
{
	struct dentry *d;

	for (d = b; d != a && !IS_ROOT(d); d = d->d_parent)
		;
	if (d != a && a > b)
		swap(a, b);
	for (d = a; d != b && !IS_ROOT(d); d = d->d_parent)
		;
	if (d == b && a != b)
		swap(a, b);
	spin_lock(&a->d_lock);
	if (a != b)
		spin_lock(&b->d_lock);
}

/* The names change places: @dentry gets @target's, which is about to die. Inline names are copied whole. */
static void swap_names(struct dentry *dentry, struct dentry *target)
{
	bool dext = dentry->d_name.name != dentry->d_iname, text = target->d_name.name != target->d_iname;
	const unsigned char *dname = dentry->d_name.name, *tname = target->d_name.name;
	unsigned char tmp[DNAME_INLINE_LEN];

	memcpy(tmp, dentry->d_iname, DNAME_INLINE_LEN);
	memcpy(dentry->d_iname, target->d_iname, DNAME_INLINE_LEN);
	memcpy(target->d_iname, tmp, DNAME_INLINE_LEN);
	dentry->d_name.name = text ? tname : dentry->d_iname;
	target->d_name.name = dext ? dname : target->d_iname;
	swap(dentry->d_name.hash_len, target->d_name.hash_len);
}

/* __d_move gives @dentry the place and name of @target. rename_lock is held for writing, both parents' i_rwsem too. */
static noinline void __d_move(struct dentry *dentry, struct dentry *target)
{
	struct dentry *old_parent = dentry->d_parent, *new_parent = target->d_parent;

	lock_two_parents(old_parent, new_parent);
	spin_lock(&dentry->d_lock);
	spin_lock(&target->d_lock);
	write_seqcount_begin(&dentry->d_seq);
	write_seqcount_begin(&target->d_seq);
	__d_drop(dentry);
	__d_drop(target);
	swap_names(dentry, target);
	if (old_parent != new_parent) {
		dentry->d_parent = new_parent;
		target->d_parent = old_parent;
		list_move(&target->d_child, &old_parent->d_subdirs);
		/* each keeps one reference of its child: the numbers do not change */
	}
	list_move(&dentry->d_child, &new_parent->d_subdirs);
	write_seqcount_end(&target->d_seq);
	write_seqcount_end(&dentry->d_seq);
	spin_unlock(&target->d_lock);
	spin_unlock(&dentry->d_lock);
	spin_unlock(&new_parent->d_lock);
	if (old_parent != new_parent)
		spin_unlock(&old_parent->d_lock);
	d_rehash(dentry);
}

void d_move(struct dentry *dentry, struct dentry *target)
{
	write_seqlock(&rename_lock);
	__d_move(dentry, target);
	write_sequnlock(&rename_lock);
}

/* select_collect: the first child of @parent (whose lock is held) that nobody uses, with a reference. */
static noinline struct dentry *select_collect(struct dentry *parent)
{
	struct dentry *child;

	list_for_each_entry(child, &parent->d_subdirs, d_child) {
		if (child->d_flags & DCACHE_DENTRY_CURSOR)
			continue;
		spin_lock(&child->d_lock);
		if (!child->d_lockref.count) {
			dget_dlock(child);
			spin_unlock(&child->d_lock);
			return child;
		}
		spin_unlock(&child->d_lock);
	}
	return NULL;
}

static noinline struct dentry *d_walk(struct dentry *parent)
{
	struct dentry *found;

	spin_lock(&parent->d_lock);
	found = select_collect(parent);
	spin_unlock(&parent->d_lock);
	return found;
}

/* shrink_dcache_parent unhashes and frees the unused children of @parent. A child in use holds its own parent. */
void shrink_dcache_parent(struct dentry *parent)
{
	struct dentry *child;

	while ((child = d_walk(parent)) != NULL) {
		shrink_dcache_parent(child);
		d_drop(child);
		dput(child);
		cond_resched();
	}
}

/* At unmount: every dentry goes, leaves first. The root's reference is the super block's. */
void shrink_dcache_for_umount(struct super_block *sb)
{
	struct dentry *root = sb->s_root, *d;

	while (!list_empty(&root->d_subdirs)) {
		for (d = root; !list_empty(&d->d_subdirs);)
			d = list_first_entry(&d->d_subdirs, struct dentry, d_child);
		if (WARN_ON(d->d_lockref.count))	/* somebody still uses it */
			break;
		dget(d);
		d_drop(d);
		dput(d);
	}
	sb->s_root = NULL;
	d_drop(root);
	dput(root);
}

/* d_invalidate drops a name that its file system no longer knows. */
int d_invalidate(struct dentry *dentry)
{
	spin_lock(&dentry->d_lock);
	if (d_unhashed(dentry)) {
		spin_unlock(&dentry->d_lock);
		return 0;
	}
	__d_drop(dentry);
	spin_unlock(&dentry->d_lock);
	shrink_dcache_parent(dentry);
	return 0;
}

/*
 * Inodes: birth, reference counts, times and death (Linux's fs/inode.c).
 *
 * i_count drops to zero under i_lock (iput); an inode with no link, and every inode of a file system without a backing
 * store, is then evicted: its pages go, and its memory after an RCU grace period.
 */
#include "fs.h"
#include "filelock.h"
#include "slab.h"
#include "sched.h"
#include "mm.h"
#include "percpu.h"
#include "security.h"

static struct kmem_cache *inode_cachep;
static const struct inode_operations empty_iops;
static const struct address_space_operations empty_aops;
static const struct file_operations no_open_fops;

/* Inodes that can be found by number, of file systems with a store. */
#define I_HASH_SHIFT	9
static struct hlist_head inode_hashtable[1 << I_HASH_SHIFT];
static DEFINE_SPINLOCK(inode_hash_lock);
static wait_queue_head_t inode_wait_table[8];	/* for I_NEW and I_FREEING to go */

static DEFINE_PER_CPU(unsigned int, last_ino);
static atomic_t shared_last_ino;
#define LAST_INO_BATCH	1024

/* get_next_ino numbers inodes of file systems without numbers of their own; each CPU takes them in batches. */
unsigned int get_next_ino(void)
{
	unsigned int res;

	preempt_disable();
	res = this_cpu_read(last_ino);
	if (unlikely(!(res & (LAST_INO_BATCH - 1))))
		res = atomic_fetch_add(LAST_INO_BATCH, &shared_last_ino);
	res++;
	if (unlikely(!res))
		res++;
	this_cpu_write(last_ino, res);
	preempt_enable();
	return res;
}

noinline int inode_init_always(struct super_block *sb, struct inode *inode)
{
	struct address_space *mapping = &inode->i_data;

	memset(inode, 0, sizeof(*inode));
	inode->i_sb = sb;
	atomic_set(&inode->i_count, 1);
	inode->i_op = &empty_iops;
	inode->i_fop = &no_open_fops;
	inode->i_nlink = 1;
	inode->i_uid = make_kuid(&init_user_ns, 0);
	inode->i_gid = make_kgid(&init_user_ns, 0);
	spin_lock_init(&inode->i_lock);
	init_rwsem(&inode->i_rwsem);
	INIT_LIST_HEAD(&inode->i_sb_list);
	INIT_HLIST_HEAD(&inode->i_dentry);
	mapping->host = inode;
	mapping->a_ops = &empty_aops;
	mapping->gfp_mask = GFP_HIGHUSER_MOVABLE;
	xa_init(&mapping->i_pages);
	mapping->i_mmap = RB_ROOT;
	init_rwsem(&mapping->i_mmap_rwsem);
	inode->i_mapping = mapping;
	return 0;
}

static noinline struct inode *alloc_inode(struct super_block *sb)
{
	struct inode *inode;

	if (sb->s_op->alloc_inode)
		inode = sb->s_op->alloc_inode(sb);
	else
		inode = kmem_cache_alloc(inode_cachep, GFP_KERNEL);
	if (!inode)
		return NULL;
	inode_init_always(sb, inode);
	return inode;
}

struct inode *new_inode_pseudo(struct super_block *sb)
{
	struct inode *inode = alloc_inode(sb);

	if (inode) {
		spin_lock(&inode->i_lock);
		inode->i_state = 0;
		spin_unlock(&inode->i_lock);
	}
	return inode;
}

void inode_sb_list_add(struct inode *inode)
{
	spin_lock(&inode->i_sb->s_inode_list_lock);
	list_add(&inode->i_sb_list, &inode->i_sb->s_inodes);
	spin_unlock(&inode->i_sb->s_inode_list_lock);
}

static void inode_sb_list_del(struct inode *inode)
{
	if (list_empty(&inode->i_sb_list))
		return;
	spin_lock(&inode->i_sb->s_inode_list_lock);
	list_del_init(&inode->i_sb_list);
	spin_unlock(&inode->i_sb->s_inode_list_lock);
}

struct inode *new_inode(struct super_block *sb)
{
	struct inode *inode = new_inode_pseudo(sb);

	if (inode)
		inode_sb_list_add(inode);
	return inode;
}

static void i_callback(struct rcu_head *head)
{
	struct inode *inode = container_of(head, struct inode, i_rcu);

	if (S_ISLNK(inode->i_mode))
		kfree(inode->i_link);
	if (inode->free_inode)
		inode->free_inode(inode);
	else
		kmem_cache_free(inode_cachep, inode);
}

static noinline void destroy_inode(struct inode *inode)
{
	locks_free_lock_context(inode);
	inode->free_inode = inode->i_sb->s_op->free_inode;	/* the super block may be gone by then */
	call_rcu(&inode->i_rcu, i_callback);
}

/* clear_inode marks the end of an inode's contents; a page that is still there is a bug. */
void clear_inode(struct inode *inode)
{
	unsigned long flags;

	spin_lock_irqsave(&inode->i_data.i_pages.xa_lock, flags);
	BUG_ON(inode->i_data.nrpages);
	spin_unlock_irqrestore(&inode->i_data.i_pages.xa_lock, flags);
	inode->i_state = I_FREEING | I_CLEAR;
}

static inline bool inode_unhashed(struct inode *inode);
static wait_queue_head_t *inode_waitqueue(struct inode *inode);

static noinline void evict(struct inode *inode)
{
	inode_sb_list_del(inode);
	if (inode->i_sb->s_op->evict_inode) {
		inode->i_sb->s_op->evict_inode(inode);
	} else {
		truncate_inode_pages_final(&inode->i_data);
		clear_inode(inode);
	}
	if (!inode_unhashed(inode)) {
		__remove_inode_hash(inode);
		wake_up_all(inode_waitqueue(inode));	/* find_inode_fast() waits until it is gone */
	}
	destroy_inode(inode);
}

/* ---- inodes by number ---- */
static inline struct hlist_head *inode_hash(struct super_block *sb, unsigned long ino)
{
	return &inode_hashtable[(ino ^ (unsigned long)sb >> 8) & ((1 << I_HASH_SHIFT) - 1)];
}

static inline bool inode_unhashed(struct inode *inode)
{
	return hlist_unhashed(&inode->i_hash);
}

static wait_queue_head_t *inode_waitqueue(struct inode *inode)
{
	return &inode_wait_table[inode->i_ino & (ARRAY_SIZE(inode_wait_table) - 1)];
}

void insert_inode_hash(struct inode *inode)
{
	spin_lock(&inode_hash_lock);
	hlist_add_head(&inode->i_hash, inode_hash(inode->i_sb, inode->i_ino));
	spin_unlock(&inode_hash_lock);
}

void __remove_inode_hash(struct inode *inode)
{
	spin_lock(&inode_hash_lock);
	hlist_del_init(&inode->i_hash);
	spin_unlock(&inode_hash_lock);
}

/* inode_hash_lock held. One that is being freed is waited for: the number is free only then. */
static noinline struct inode *find_inode_fast(struct super_block *sb, struct hlist_head *head, unsigned long ino)
{
	struct inode *inode;

repeat:
	hlist_for_each_entry(inode, head, i_hash) {
		if (inode->i_ino != ino || inode->i_sb != sb)
			continue;
		spin_lock(&inode->i_lock);
		if (inode->i_state & I_FREEING) {
			DEFINE_WAIT(wait);

			prepare_to_wait(inode_waitqueue(inode), &wait, TASK_UNINTERRUPTIBLE);
			spin_unlock(&inode->i_lock);
			spin_unlock(&inode_hash_lock);
			schedule();
			finish_wait(inode_waitqueue(inode), &wait);
			spin_lock(&inode_hash_lock);
			goto repeat;
		}
		atomic_inc(&inode->i_count);
		spin_unlock(&inode->i_lock);
		return inode;
	}
	return NULL;
}

static void wait_on_new_inode(struct inode *inode)
{
	if (READ_ONCE(inode->i_state) & I_NEW)
		wait_event(*inode_waitqueue(inode), !(READ_ONCE(inode->i_state) & I_NEW));
}

/* Inode @ino of @sb. When it is new, I_NEW is set: the caller fills it and calls unlock_new_inode(). */
noinline struct inode *iget_locked(struct super_block *sb, unsigned long ino)
{
	struct hlist_head *head = inode_hash(sb, ino);
	struct inode *inode, *new;

	spin_lock(&inode_hash_lock);
	inode = find_inode_fast(sb, head, ino);
	spin_unlock(&inode_hash_lock);
	if (inode) {
		wait_on_new_inode(inode);
		return inode;
	}
	new = alloc_inode(sb);
	if (!new)
		return NULL;
	spin_lock(&inode_hash_lock);
	inode = find_inode_fast(sb, head, ino);
	if (!inode) {
		new->i_ino = ino;
		new->i_state = I_NEW;
		hlist_add_head(&new->i_hash, head);
		spin_unlock(&inode_hash_lock);
		inode_sb_list_add(new);
		return new;
	}
	spin_unlock(&inode_hash_lock);
	destroy_inode(new);
	wait_on_new_inode(inode);
	return inode;
}

/* For an inode that a file system has just allocated; it stays I_NEW. -EBUSY: its number is somebody else's already. */
noinline int insert_inode_locked(struct inode *inode)
{
	struct hlist_head *head = inode_hash(inode->i_sb, inode->i_ino);
	struct inode *old;

	spin_lock(&inode_hash_lock);
	old = find_inode_fast(inode->i_sb, head, inode->i_ino);
	if (likely(!old)) {
		inode->i_state |= I_NEW;
		hlist_add_head(&inode->i_hash, head);
	}
	spin_unlock(&inode_hash_lock);
	if (!old)
		return 0;
	iput(old);
	return -EBUSY;
}

void unlock_new_inode(struct inode *inode)
{
	spin_lock(&inode->i_lock);
	inode->i_state &= ~I_NEW;
	spin_unlock(&inode->i_lock);
	wake_up_all(inode_waitqueue(inode));
}

/* It could not be read: nobody may find it again. */
void iget_failed(struct inode *inode)
{
	__remove_inode_hash(inode);
	inode->i_nlink = 0;
	make_bad_inode(inode);
	unlock_new_inode(inode);
	iput(inode);
}

void make_bad_inode(struct inode *inode)
{
	inode->i_mode = S_IFREG;
	inode->i_op = &empty_iops;
	inode->i_fop = &no_open_fops;
	inode->i_bad = true;
}

int generic_drop_inode(struct inode *inode)
{
	return !inode->i_nlink || inode_unhashed(inode);
}

/* At unmount: all that nobody uses. */
noinline void evict_inodes(struct super_block *sb)
{
	struct inode *inode;

again:
	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		if (atomic_read(&inode->i_count) || inode->i_state & (I_FREEING | I_NEW))
			continue;
		inode->i_state |= I_FREEING;
		spin_unlock(&sb->s_inode_list_lock);
		evict(inode);
		goto again;
	}
	spin_unlock(&sb->s_inode_list_lock);
}

int generic_delete_inode(struct inode *inode)
{
	return 1;
}

void ihold(struct inode *inode)
{
	WARN_ON(atomic_add_return(1, &inode->i_count) < 2);
}

/* atomic_dec_and_lock: the lock is taken only when the count may reach zero. */
static bool dec_and_lock(atomic_t *count, spinlock_t *lock)
{
	int c = atomic_read(count);

	while (c > 1)
		if (atomic_try_cmpxchg(count, &c, c - 1))
			return false;
	spin_lock(lock);
	if (atomic_dec_and_test(count))
		return true;
	spin_unlock(lock);
	return false;
}

void iput(struct inode *inode)
{
	bool drop;

	if (!inode || !dec_and_lock(&inode->i_count, &inode->i_lock))
		return;
	if (inode->i_sb->s_op->drop_inode)
		drop = inode->i_sb->s_op->drop_inode(inode);
	else
		drop = generic_drop_inode(inode);
	if (drop)
		inode->i_state |= I_FREEING;
	spin_unlock(&inode->i_lock);
	if (drop)
		evict(inode);
}

void inc_nlink(struct inode *inode)
{
	inode->i_nlink++;
}

void drop_nlink(struct inode *inode)
{
	WARN_ON(inode->i_nlink == 0);
	inode->i_nlink--;
}

void clear_nlink(struct inode *inode)
{
	inode->i_nlink = 0;
}

void set_nlink(struct inode *inode, unsigned int nlink)
{
	inode->i_nlink = nlink;
}

noinline struct timespec64 current_time(struct inode *inode)
{
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	return now;
}

noinline struct timespec64 inode_set_ctime_current(struct inode *inode)
{
	return inode->i_ctime = current_time(inode);
}

static int timespec64_compare(const struct timespec64 *a, const struct timespec64 *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static inline bool timespec64_equal(const struct timespec64 *a, const struct timespec64 *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* With relatime, Linux's default: the access time moves only past a change, or once a day. */
static bool relatime_need_update(struct inode *inode, struct timespec64 now)
{
	if (timespec64_compare(&inode->i_mtime, &inode->i_atime) >= 0)
		return true;
	if (timespec64_compare(&inode->i_ctime, &inode->i_atime) >= 0)
		return true;
	return now.tv_sec - inode->i_atime.tv_sec >= 24 * 60 * 60;
}

noinline bool atime_needs_update(const struct path *path, struct inode *inode)
{
	struct timespec64 now;

	if (inode->i_flags & S_NOATIME)
		return false;
	if (inode->i_sb->s_flags & (SB_NOATIME | SB_RDONLY))
		return false;
	now = current_time(inode);
	if (!relatime_need_update(inode, now))
		return false;
	return !timespec64_equal(&inode->i_atime, &now);
}

#define S_ATIME		1
#define S_MTIME		2
#define S_CTIME		4
#define S_VERSION	8

static __always_inline void inode_update_times(struct inode *inode, const struct timespec64 *time, int flags)
{
	if (flags & S_ATIME)
		inode->i_atime = *time;
	if (flags & S_CTIME)
		inode->i_ctime = *time;
	if (flags & S_MTIME)
		inode->i_mtime = *time;
	__mark_inode_dirty(inode, I_DIRTY_TIME);
}

noinline int generic_update_time(struct inode *inode, struct timespec64 *time, int flags)
{
	inode_update_times(inode, time, flags);
	return 0;
}

/* The state says what a sync has to write; a file system with a store puts the inode into its block at once. */
noinline void __mark_inode_dirty(struct inode *inode, int flags)
{
	bool first = false;

	if (inode->i_sb->s_op->dirty_inode && flags & (I_DIRTY_SYNC | I_DIRTY_TIME))
		inode->i_sb->s_op->dirty_inode(inode, flags);
	if ((READ_ONCE(inode->i_state) & flags) == (unsigned long)flags)
		return;
	spin_lock(&inode->i_lock);
	if (!(inode->i_state & I_DIRTY_ALL)) {
		inode->dirtied_when = jiffies;
		first = true;
	}
	inode->i_state |= flags;
	spin_unlock(&inode->i_lock);
	if (first)
		wb_wakeup_delayed(inode);
}

void touch_atime(const struct path *path)
{
	struct inode *inode = d_backing_inode(path->dentry);
	struct timespec64 now;

	if (!atime_needs_update(path, inode))
		return;
	if (__mnt_want_write(path->mnt))
		return;
	now = current_time(inode);
	inode_update_times(inode, &now, S_ATIME);
	__mnt_drop_write(path->mnt);
}

static noinline int inode_needs_update_time(struct inode *inode, struct timespec64 *now)
{
	int sync_it = 0;

	if (!timespec64_equal(&inode->i_mtime, now))
		sync_it = S_MTIME;
	if (!timespec64_equal(&inode->i_ctime, now))
		sync_it |= S_CTIME;
	return sync_it;
}

static int __file_update_time(struct file *file, struct timespec64 *now, int sync_mode)
{
	int ret = 0;

	if (!__mnt_want_write_file(file)) {
		ret = generic_update_time(file_inode(file), now, sync_mode);
		__mnt_drop_write_file(file);
	}
	return ret;
}

int file_update_time(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct timespec64 now = current_time(inode);
	int what = inode_needs_update_time(inode, &now);

	return what ? __file_update_time(file, &now, what) : 0;
}

/* A write by somebody without CAP_FSETID takes the set-id bits away. */
static noinline int __file_remove_privs(struct file *file)
{
	struct inode *inode = file_inode(file);

	if (S_ISREG(inode->i_mode))
		inode->i_mode &= ~setattr_should_drop_suidgid(&init_user_ns, inode);
	return 0;
}

int file_remove_privs(struct file *file)
{
	return __file_remove_privs(file);
}

umode_t mode_strip_sgid(struct user_namespace *ns, const struct inode *dir, umode_t mode)
{
	if ((mode & (S_ISGID | S_IXGRP)) != (S_ISGID | S_IXGRP))
		return mode;
	if (S_ISDIR(mode) || !dir || !(dir->i_mode & S_ISGID))
		return mode;
	if (gid_eq(dir->i_gid, current_fsgid()) || capable(CAP_FSETID))
		return mode;
	return mode & ~S_ISGID;
}

void inode_init_owner(struct user_namespace *ns, struct inode *inode, const struct inode *dir, umode_t mode)
{
	inode->i_uid = current_fsuid();
	if (dir && dir->i_mode & S_ISGID) {
		inode->i_gid = dir->i_gid;
		if (S_ISDIR(mode))
			mode |= S_ISGID;
	} else {
		inode->i_gid = current_fsgid();
	}
	inode->i_mode = mode;
}

bool inode_owner_or_capable(struct user_namespace *ns, const struct inode *inode)
{
	return uid_eq(current_fsuid(), inode->i_uid) || capable(CAP_FOWNER);
}

static int no_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_operations no_open_fops = { .open = no_open };

void init_special_inode(struct inode *inode, umode_t mode, dev_t rdev)
{
	inode->i_mode = mode;
	if (S_ISCHR(mode)) {
		inode->i_fop = &def_chr_fops;
		inode->i_rdev = rdev;
	} else if (S_ISBLK(mode)) {
		inode->i_fop = &def_blk_fops;
		inode->i_rdev = rdev;
	} else if (S_ISFIFO(mode)) {
		inode->i_fop = &pipefifo_fops;
	}
}

void lock_two_nondirectories(struct inode *a, struct inode *b)
{
	if (a > b)
		swap(a, b);
	if (a && !S_ISDIR(a->i_mode))
		inode_lock(a);
	if (b && !S_ISDIR(b->i_mode) && a != b)
		inode_lock(b);
}

void unlock_two_nondirectories(struct inode *a, struct inode *b)
{
	if (a && !S_ISDIR(a->i_mode))
		inode_unlock(a);
	if (b && !S_ISDIR(b->i_mode) && a != b)
		inode_unlock(b);
}

void __init inode_init(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(inode_wait_table); i++)
		init_waitqueue_head(&inode_wait_table[i]);
	inode_cachep = kmem_cache_create("inode_cache", sizeof(struct inode), __alignof__(struct inode),
					 SLAB_RECLAIM_ACCOUNT | SLAB_PANIC, NULL);
}

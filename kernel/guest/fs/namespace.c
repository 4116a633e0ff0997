/*
 * The tree of mounts (Linux's fs/namespace.c). A mount is found by (parent mount, mount point) in a hash that
 * readers walk under RCU and mount_lock's sequence; mount_lock guards every change. There is one namespace.
 */
#include "namei.h"
#include "internal.h"
#include "proc_fs.h"
#include "fs_struct.h"
#include "sched.h"
#include "init.h"
#include "slab.h"
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"

#define MOUNT_HASH_SHIFT	5

DEFINE_SEQLOCK(mount_lock);
static struct hlist_head mount_hashtable[1 << MOUNT_HASH_SHIFT];
static LIST_HEAD(mount_list);		/* in mount order; mount_lock */
static DEFINE_MUTEX(namespace_sem);	/* one mount or umount at a time */
static struct kmem_cache *mnt_cache;
static int mnt_id;

static inline struct hlist_head *m_hash(struct vfsmount *mnt, struct dentry *dentry)
{
	unsigned long tmp = (unsigned long)mnt / 64 + (unsigned long)dentry / 64;

	tmp += tmp >> MOUNT_HASH_SHIFT;
	return &mount_hashtable[tmp & ((1 << MOUNT_HASH_SHIFT) - 1)];
}

static struct mount *alloc_vfsmnt(const char *name)
{
	struct mount *mnt = kmem_cache_zalloc(mnt_cache, GFP_KERNEL);

	if (!mnt)
		return NULL;
	mnt->mnt_id = ++mnt_id;
	mnt->mnt_devname = kstrdup(name, GFP_KERNEL);
	atomic_set(&mnt->mnt_count, 1);
	INIT_LIST_HEAD(&mnt->mnt_mounts);
	INIT_LIST_HEAD(&mnt->mnt_child);
	INIT_LIST_HEAD(&mnt->mnt_list);
	return mnt;
}

/* A mount of @sb, attached nowhere. */
static struct vfsmount *vfs_create_mount(struct super_block *sb, struct dentry *root, const char *name)
{
	struct mount *mnt = alloc_vfsmnt(name);

	if (!mnt)
		return ERR_PTR(-ENOMEM);
	atomic_inc(&sb->s_active);
	mnt->mnt.mnt_sb = sb;
	mnt->mnt.mnt_root = dget(root);
	mnt->mnt_mountpoint = mnt->mnt.mnt_root;
	mnt->mnt_parent = mnt;
	return &mnt->mnt;
}

struct vfsmount *vfs_kern_mount(struct file_system_type *type, int flags, const char *name, void *data)
{
	struct super_block *sb = vfs_get_super(type, data);

	if (IS_ERR(sb))
		return ERR_CAST(sb);
	return vfs_create_mount(sb, sb->s_root, name);
}

struct vfsmount *kern_mount(struct file_system_type *type)
{
	return vfs_kern_mount(type, 0, type->name, NULL);
}

noinline struct vfsmount *mntget(struct vfsmount *mnt)
{
	if (mnt)
		atomic_inc(&real_mount(mnt)->mnt_count);
	return mnt;
}

static void delayed_free_vfsmnt(struct rcu_head *head)
{
	struct mount *mnt = container_of(head, struct mount, mnt_rcu);

	kfree(mnt->mnt_devname);
	kmem_cache_free(mnt_cache, mnt);
}

static void cleanup_mnt(struct mount *mnt)
{
	dput(mnt->mnt.mnt_root);
	deactivate_super(mnt->mnt.mnt_sb);
	call_rcu(&mnt->mnt_rcu, delayed_free_vfsmnt);
}

/* An attached mount has a reference of its own: zero is reached only after umount. */
static noinline void mntput_no_expire(struct mount *mnt)
{
	if (atomic_dec_and_test(&mnt->mnt_count))
		cleanup_mnt(mnt);
}

void mntput(struct vfsmount *mnt)
{
	if (mnt)
		mntput_no_expire(real_mount(mnt));
}

/* 0: a reference taken and still right; 1: not taken; -1: taken, but the tree has changed. RCU is held. */
int __legitimize_mnt(struct vfsmount *bastard, unsigned int seq)
{
	if (read_seqretry(&mount_lock, seq))
		return 1;
	if (!bastard)
		return 0;
	atomic_inc(&real_mount(bastard)->mnt_count);
	smp_mb();
	if (likely(!read_seqretry(&mount_lock, seq)))
		return 0;
	return -1;
}

struct mount *__lookup_mnt(struct vfsmount *mnt, struct dentry *dentry)
{
	struct mount *p;

	hlist_for_each_entry(p, m_hash(mnt, dentry), mnt_hash)
		if (&p->mnt_parent->mnt == mnt && p->mnt_mountpoint == dentry)
			return p;
	return NULL;
}

struct vfsmount *lookup_mnt(const struct path *path)
{
	struct mount *child;
	struct vfsmount *m;
	unsigned int seq;
	int res = 0;

	rcu_read_lock();
	do {
		seq = read_seqbegin(&mount_lock);
		child = __lookup_mnt(path->mnt, path->dentry);
		m = child ? &child->mnt : NULL;
		res = __legitimize_mnt(m, seq);
		if (res < 0) {
			rcu_read_unlock();
			mntput(m);
			rcu_read_lock();
		}
	} while (res);
	rcu_read_unlock();
	return m;
}

noinline int __mnt_want_write(struct vfsmount *mnt)
{
	if (mnt->mnt_flags & MNT_READONLY || mnt->mnt_sb->s_flags & SB_RDONLY)
		return -EROFS;
	atomic_inc(&real_mount(mnt)->mnt_writers);
	return 0;
}

int mnt_want_write(struct vfsmount *mnt)
{
	int ret;

	sb_start_write(mnt->mnt_sb);
	ret = __mnt_want_write(mnt);
	if (ret)
		sb_end_write(mnt->mnt_sb);
	return ret;
}

noinline void __mnt_drop_write(struct vfsmount *mnt)
{
	atomic_dec(&real_mount(mnt)->mnt_writers);
}

void mnt_drop_write(struct vfsmount *mnt)
{
	__mnt_drop_write(mnt);
	sb_end_write(mnt->mnt_sb);
}

/* A file open for writing has the mount's write access already. */
int __mnt_want_write_file(struct file *file)
{
	if (file->f_mode & FMODE_WRITER)
		return 0;
	return __mnt_want_write(file->f_path.mnt);
}

void __mnt_drop_write_file(struct file *file)
{
	if (!(file->f_mode & FMODE_WRITER))
		__mnt_drop_write(file->f_path.mnt);
}

bool mnt_may_suid(struct vfsmount *mnt)
{
	return !(mnt->mnt_sb->s_flags & SB_NOSUID);
}

bool path_noexec(const struct path *path)
{
	return path->mnt->mnt_sb->s_flags & SB_NOEXEC;
}

/* @path is locked as a directory; the mount point keeps references on its mount and dentry until umount. */
static void attach_mnt(struct mount *mnt, const struct path *path)
{
	write_seqlock(&mount_lock);
	mnt->mnt_parent = real_mount(mntget(path->mnt));
	mnt->mnt_mountpoint = dget(path->dentry);
	spin_lock(&path->dentry->d_lock);
	path->dentry->d_flags |= DCACHE_MOUNTED;
	spin_unlock(&path->dentry->d_lock);
	hlist_add_head(&mnt->mnt_hash, m_hash(path->mnt, path->dentry));
	list_add_tail(&mnt->mnt_child, &mnt->mnt_parent->mnt_mounts);
	list_add_tail(&mnt->mnt_list, &mount_list);
	write_sequnlock(&mount_lock);
}

static int do_add_mount(struct mount *newmnt, const struct path *path, bool bind)
{
	int err = -ENOENT;

	mutex_lock(&namespace_sem);
	inode_lock(path->dentry->d_inode);
	if (!IS_DEADDIR(path->dentry->d_inode) && !(path->dentry->d_flags & DCACHE_CANT_MOUNT)) {
		err = -ENOTDIR;
		/* the same file system on itself is refused */
		if (!bind && path->mnt->mnt_sb == newmnt->mnt.mnt_sb && path->mnt->mnt_root == path->dentry) {
			err = -EBUSY;
		} else if (d_is_dir(path->dentry) == d_is_dir(newmnt->mnt.mnt_root)) {
			attach_mnt(newmnt, path);
			err = 0;
		}
	}
	inode_unlock(path->dentry->d_inode);
	mutex_unlock(&namespace_sem);
	return err;
}

/* From a device: the super block's reference becomes the mount's, and so does the file system's when the block is new. */
static noinline struct vfsmount *vfs_get_tree(struct file_system_type *type, int flags, const char *name, const char *data)
{
	struct fs_context fc = { .fs_type = type, .source = name, .data = data, .sb_flags = flags & (SB_RDONLY | SB_NOSUID | SB_NOEXEC | SB_NOATIME) };
	struct super_block *sb;
	struct vfsmount *mnt;
	int err = type->get_tree(&fc);

	if (err)
		return ERR_PTR(err);
	if (!fc.new_sb)
		put_filesystem(type);
	sb = fc.root->d_sb;
	mnt = vfs_create_mount(sb, fc.root, name);
	dput(fc.root);
	deactivate_super(sb);
	return mnt;
}

static int do_new_mount(const struct path *path, struct file_system_type *type, int flags, const char *name, const char *data)
{
	struct vfsmount *mnt;
	int err;

	if (!type)
		return -ENODEV;
	if (type->get_tree)
		mnt = vfs_get_tree(type, flags, name, data);
	else
		mnt = vfs_kern_mount(type, flags, name, NULL);
	if (IS_ERR(mnt)) {
		put_filesystem(type);
		return PTR_ERR(mnt);
	}
	err = do_add_mount(real_mount(mnt), path, false);
	if (err)
		mntput(mnt);
	return err;
}

/* namespace_sem held: nobody has a file open for writing, or writes, by any of its mounts. */
static int sb_prepare_remount_readonly(struct super_block *sb)
{
	struct mount *r;

	list_for_each_entry(r, &mount_list, mnt_list)
		if (r->mnt.mnt_sb == sb && atomic_read(&r->mnt_writers))
			return -EBUSY;
	return 0;
}

static noinline int reconfigure_super(struct super_block *sb, unsigned int sb_flags)
{
	unsigned long old = sb->s_flags;
	int err = 0;

	if ((sb_flags ^ old) & SB_RDONLY) {
		if (sb_flags & SB_RDONLY) {
			sb->s_flags |= SB_RDONLY;	/* no new writers */
			err = sb_prepare_remount_readonly(sb);
			if (err)
				goto out;
			sync_filesystem(sb);
		}
	}
	if (sb->s_op->remount_fs)
		err = sb->s_op->remount_fs(sb, sb_flags);
	if (!err)
		sb->s_flags = (sb->s_flags & ~(unsigned long)SB_RDONLY) | (sb_flags & SB_RDONLY);
out:
	if (err)
		sb->s_flags = old;
	return err;
}

/* Other options than ro and rw stay as they are. */
static noinline int do_remount(const struct path *path, int flags)
{
	struct super_block *sb = path->mnt->mnt_sb;
	int err;

	if (path->dentry != path->mnt->mnt_root)
		return -EINVAL;
	mutex_lock(&namespace_sem);
	down_write(&sb->s_umount);
	err = reconfigure_super(sb, flags & SB_RDONLY);
	if (!err)
		path->mnt->mnt_flags = (path->mnt->mnt_flags & ~MNT_READONLY) | (flags & SB_RDONLY ? MNT_READONLY : 0);
	up_write(&sb->s_umount);
	mutex_unlock(&namespace_sem);
	return err;
}

/* The tree at @old once more, at @path. */
static int graft_tree(const struct path *old, const struct path *path)
{
	struct vfsmount *mnt = vfs_create_mount(old->mnt->mnt_sb, old->dentry, real_mount(old->mnt)->mnt_devname);
	int err = PTR_ERR(mnt);

	if (!IS_ERR(mnt)) {
		mnt->mnt_flags = old->mnt->mnt_flags;
		err = do_add_mount(real_mount(mnt), path, true);
		if (err)
			mntput(mnt);
	}
	return err;
}

static noinline int do_loopback(const struct path *path, const char *old_name)
{
	struct path old_path;
	int err = kern_path(old_name, LOOKUP_FOLLOW, &old_path);

	if (!err) {
		err = graft_tree(&old_path, path);
		path_put(&old_path);
	}
	return err;
}

int path_mount(const char *dev_name, const struct path *path, const char *type_page, int flags, void *data_page)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (flags & MS_REMOUNT)
		return do_remount(path, flags);
	if (flags & MS_BIND)
		return dev_name ? do_loopback(path, dev_name) : -EINVAL;
	if (flags & (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE))	/* there is one namespace, and nobody to tell */
		return path->dentry == path->mnt->mnt_root ? 0 : -EINVAL;
	return do_new_mount(path, get_fs_type(type_page), flags, dev_name ? dev_name : "none", data_page);
}

/* For kernel start-up: mount a file system of @type on @dirname. */
int __init do_mount_at(const char *devname, const char *dirname, struct file_system_type *type, int flags)
{
	struct path path;
	int err = kern_path(dirname, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);

	if (err)
		return err;
	err = do_new_mount(&path, type, flags, devname, NULL);
	path_put(&path);
	return err;
}

/* The same tree once more, at another place, as mount --bind. */
int __init do_bind_at(struct vfsmount *old, const char *dirname)
{
	struct path from = { .mnt = old, .dentry = old->mnt_root }, path;
	int err = kern_path(dirname, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);

	if (err)
		return err;
	err = graft_tree(&from, &path);
	path_put(&path);
	return err;
}

/* /proc/mounts, in mount order. */
int show_vfsmnt(struct seq_file *m, void *v)
{
	char *buf = kmem_cache_alloc(names_cachep, GFP_KERNEL);
	struct mount *r;

	if (!buf)
		return -ENOMEM;
	mutex_lock(&namespace_sem);
	list_for_each_entry(r, &mount_list, mnt_list) {
		struct path path = { .mnt = &r->mnt, .dentry = r->mnt.mnt_root };
		const char *name = d_path(&path, buf, PATH_MAX);

		if (IS_ERR(name))
			continue;
		seq_printf(m, "%s %s %s %s%s", r->mnt_devname, name, r->mnt.mnt_sb->s_type->name,
			   (r->mnt.mnt_flags & MNT_READONLY) || (r->mnt.mnt_sb->s_flags & SB_RDONLY) ? "ro" : "rw", mnt_has_parent(r) ? ",relatime" : "");
		if (r->mnt.mnt_sb->s_op->show_options)
			r->mnt.mnt_sb->s_op->show_options(m, r->mnt.mnt_root);
		seq_puts(m, " 0 0\n");
	}
	mutex_unlock(&namespace_sem);
	kmem_cache_free(names_cachep, buf);
	return 0;
}

SYSCALL_DEFINE5(mount, char __user *, dev_name, char __user *, dir_name, char __user *, type, unsigned long, flags,
		void __user *, data)
{
	char kernel_type[32] = "", kernel_dev[64] = "none", options[160];
	struct path path;
	long ret = 0;

	if (data) {
		ret = strncpy_from_user(options, data, sizeof(options));
		if (ret == sizeof(options))
			ret = -EINVAL;
	}
	if (ret >= 0)
		ret = type ? strncpy_from_user(kernel_type, type, sizeof(kernel_type)) : 0;
	if (ret < 0)
		return ret;
	if (ret == sizeof(kernel_type))
		return -EINVAL;
	if (dev_name) {
		ret = strncpy_from_user(kernel_dev, dev_name, sizeof(kernel_dev) - 1);
		if (ret < 0)
			return ret;
	}
	ret = user_path_at_empty(AT_FDCWD, dir_name, LOOKUP_FOLLOW, &path, NULL);
	if (ret)
		return ret;
	ret = path_mount(kernel_dev, &path, kernel_type, flags, data ? options : NULL);
	path_put(&path);
	return ret;
}

static int do_umount(struct mount *mnt)
{
	int ret = -EBUSY;
	struct path mp;

	mutex_lock(&namespace_sem);
	write_seqlock(&mount_lock);
	/* two references are right: the mount's own and the caller's path */
	if (mnt_has_parent(mnt) && list_empty(&mnt->mnt_mounts) && atomic_read(&mnt->mnt_count) <= 2) {
		mp.mnt = &mnt->mnt_parent->mnt;
		mp.dentry = mnt->mnt_mountpoint;
		hlist_del_init(&mnt->mnt_hash);
		list_del_init(&mnt->mnt_child);
		list_del_init(&mnt->mnt_list);
		if (!__lookup_mnt(mp.mnt, mp.dentry)) {
			spin_lock(&mp.dentry->d_lock);
			mp.dentry->d_flags &= ~DCACHE_MOUNTED;
			spin_unlock(&mp.dentry->d_lock);
		}
		mnt->mnt_parent = mnt;
		mnt->mnt_mountpoint = mnt->mnt.mnt_root;
		ret = 0;
	}
	write_sequnlock(&mount_lock);
	mutex_unlock(&namespace_sem);
	if (!ret) {
		path_put(&mp);
		mntput(&mnt->mnt);
	}
	return ret;
}

SYSCALL_DEFINE2(umount, char __user *, name, int, flags)
{
	struct path path;
	int ret = user_path_at_empty(AT_FDCWD, name, LOOKUP_FOLLOW, &path, NULL);

	if (ret)
		return ret;
	if (path.dentry != path.mnt->mnt_root)
		ret = -EINVAL;
	else if (!capable(CAP_SYS_ADMIN))
		ret = -EPERM;
	else
		ret = do_umount(real_mount(path.mnt));
	path_put(&path);
	return ret;
}

/* The root file system, mounted at itself; init_task's root and working directory. */
static void __init init_mount_tree(void)
{
	struct vfsmount *mnt = vfs_kern_mount(&rootfs_fs_type, 0, "rootfs", NULL);
	struct path root;

	if (IS_ERR(mnt))
		panic("Can't create rootfs");
	list_add_tail(&real_mount(mnt)->mnt_list, &mount_list);
	root.mnt = mnt;
	root.dentry = mnt->mnt_root;
	set_fs_pwd(current->fs, &root);
	set_fs_root(current->fs, &root);
}

void __init mnt_init(void)
{
	mnt_cache = kmem_cache_create("mnt_cache", sizeof(struct mount), __alignof__(struct mount),
				      SLAB_HWCACHE_ALIGN | SLAB_PANIC, NULL);
	register_filesystem(&ramfs_fs_type);
	init_mount_tree();
}

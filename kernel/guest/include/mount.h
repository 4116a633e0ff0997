/* Mounted trees (Linux's include/linux/mount.h and fs/mount.h). mount_lock guards the hash and the tree of mounts. */
#ifndef _MOUNT_H
#define _MOUNT_H
#include "types.h"
#include "atomic.h"
#include "list.h"
#include "seqlock.h"

struct path;

#define MS_REMOUNT	32
#define MS_BIND		4096
#define MS_UNBINDABLE	(1 << 17)
#define MS_PRIVATE	(1 << 18)
#define MS_SLAVE	(1 << 19)
#define MS_SHARED	(1 << 20)
#define MNT_READONLY	0x40
#define MNT_INTERNAL	0x4000

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
	int mnt_flags;
};

struct mount {
	struct hlist_node mnt_hash;
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	atomic_t mnt_count;
	atomic_t mnt_writers;
	struct list_head mnt_mounts;	/* children */
	struct list_head mnt_child;
	struct list_head mnt_list;	/* all mounts in mount order */
	const char *mnt_devname;
	int mnt_id;
	struct rcu_head mnt_rcu;
};

extern seqlock_t mount_lock;

static inline struct mount *real_mount(struct vfsmount *mnt)
{
	return container_of(mnt, struct mount, mnt);
}

static inline bool mnt_has_parent(const struct mount *mnt)
{
	return mnt != mnt->mnt_parent;
}

struct vfsmount *mntget(struct vfsmount *mnt);
void mntput(struct vfsmount *mnt);
int __mnt_want_write(struct vfsmount *mnt);
int mnt_want_write(struct vfsmount *mnt);
void __mnt_drop_write(struct vfsmount *mnt);
void mnt_drop_write(struct vfsmount *mnt);
int __mnt_want_write_file(struct file *file);
void __mnt_drop_write_file(struct file *file);
struct mount *__lookup_mnt(struct vfsmount *mnt, struct dentry *dentry);
struct vfsmount *lookup_mnt(const struct path *path);
int __legitimize_mnt(struct vfsmount *bastard, unsigned int seq);
bool mnt_may_suid(struct vfsmount *mnt);
bool path_noexec(const struct path *path);
void mnt_init(void);
#endif

/*
 * Super blocks: their making, from a device or in memory, and their end (Linux's fs/super.c). s_active counts the mounts;
 * with the last of them a file system that has kill_sb is written back and goes. (Others stay: nothing is lost when a
 * memory file system that nobody can reach is kept.)
 */
#include "fs.h"
#include "blkdev.h"
#include "slab.h"
#include "module.h"
#include "sched.h"
#include "internal.h"

LIST_HEAD(super_blocks);
DEFINE_SPINLOCK(sb_lock);
static unsigned int unnamed_dev;

struct super_block *sget_fc(struct file_system_type *type, void *data)
{
	struct super_block *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	atomic_set(&s->s_active, 1);
	s->s_type = type;
	s->s_fs_info = data;
	s->s_user_ns = &init_user_ns;
	s->s_maxbytes = MAX_LFS_FILESIZE;
	s->s_blocksize = PAGE_SIZE;
	spin_lock_init(&s->s_inode_list_lock);
	INIT_LIST_HEAD(&s->s_inodes);
	init_rwsem(&s->s_umount);
	strscpy(s->s_id, type->name, sizeof(s->s_id));
	spin_lock(&sb_lock);
	if (!(type->fs_flags & FS_REQUIRES_DEV))
		s->s_dev = MKDEV(0, ++unnamed_dev);
	list_add_tail(&s->s_list, &super_blocks);
	spin_unlock(&sb_lock);
	return s;
}

static void destroy_super(struct super_block *s)
{
	spin_lock(&sb_lock);
	list_del(&s->s_list);
	spin_unlock(&sb_lock);
	kfree(s);
}

/* In memory: one for each mount, or, of a single file system, always the same. */
struct super_block *vfs_get_super(struct file_system_type *type, void *data)
{
	struct super_block *sb = type->single ? READ_ONCE(type->sb) : NULL;

	if (sb)
		return sb;
	sb = sget_fc(type, data);
	if (!sb)
		return ERR_PTR(-ENOMEM);
	if (type->fill_super(sb, data) || !sb->s_root)
		return ERR_PTR(-ENOMEM);
	type->sb = sb;
	return sb;
}

/* The super block of a device that is mounted already, with a reference. */
static struct super_block *grab_bdev_super(struct block_device *bdev)
{
	struct super_block *s, *found = NULL;

	spin_lock(&sb_lock);
	list_for_each_entry(s, &super_blocks, s_list) {
		if (s->s_bdev == bdev && s->s_root && atomic_inc_not_zero(&s->s_active)) {
			found = s;
			break;
		}
	}
	spin_unlock(&sb_lock);
	return found;
}

static noinline int setup_bdev_super(struct super_block *s, struct block_device *bdev, struct fs_context *fc)
{
	s->s_bdev = bdev;
	s->s_dev = bdev->bd_dev;
	s->s_flags = fc->sb_flags;
	strscpy(s->s_id, bdev->bd_disk->disk_name, sizeof(s->s_id));
	return 0;
}

static int reuse_bdev_super(struct super_block *s, struct block_device *bdev, struct fs_context *fc)
{
	blkdev_put(bdev, NULL);		/* its holder stays */
	if ((fc->sb_flags ^ s->s_flags) & SB_RDONLY) {
		deactivate_super(s);
		return -EBUSY;
	}
	fc->root = dget(s->s_root);
	return 0;
}

noinline int get_tree_bdev(struct fs_context *fc, int (*fill_super)(struct super_block *sb, struct fs_context *fc))
{
	struct block_device *bdev;
	struct super_block *s;
	int error;

	if (!fc->source)
		return -EINVAL;
	bdev = blkdev_get_by_path(fc->source, fc->fs_type);
	if (IS_ERR(bdev))
		return PTR_ERR(bdev);
	s = grab_bdev_super(bdev);
	if (s)
		return reuse_bdev_super(s, bdev, fc);
	s = sget_fc(fc->fs_type, NULL);
	if (!s) {
		blkdev_put(bdev, fc->fs_type);
		return -ENOMEM;
	}
	down_write(&s->s_umount);
	setup_bdev_super(s, bdev, fc);
	error = fill_super(s, fc);
	up_write(&s->s_umount);
	if (error) {
		__module_get(fc->fs_type->owner);	/* which deactivate_super gives back */
		deactivate_super(s);
		return error;
	}
	mutex_lock(&bdev->bd_super_lock);
	bdev->bd_super = s;
	mutex_unlock(&bdev->bd_super_lock);
	fc->root = dget(s->s_root);
	fc->new_sb = true;
	return 0;
}

/* ---- the end ---- */
noinline int sync_filesystem(struct super_block *sb)
{
	int ret = 0;

	if (sb->s_flags & SB_RDONLY || !sb->s_bdev)
		return 0;
	sync_inodes_sb(sb);
	if (sb->s_op->sync_fs)
		ret = sb->s_op->sync_fs(sb, 1);
	return ret ?: sync_blockdev(sb->s_bdev);
}

noinline void generic_shutdown_super(struct super_block *sb);
noinline void generic_shutdown_super(struct super_block *sb)
{
	if (sb->s_root) {
		sync_filesystem(sb);
		shrink_dcache_for_umount(sb);
		sync_filesystem(sb);
		evict_inodes(sb);
		if (sb->s_op->put_super)
			sb->s_op->put_super(sb);
		if (!list_empty(&sb->s_inodes))
			pr_crit("VFS: Busy inodes after unmount of %s. Self-destruct in 5 seconds.  Have a nice day...\n", sb->s_id);
	}
}

noinline void kill_block_super(struct super_block *sb)
{
	struct block_device *bdev = sb->s_bdev;

	mutex_lock(&bdev->bd_super_lock);	/* the flusher is done with it */
	bdev->bd_super = NULL;
	mutex_unlock(&bdev->bd_super_lock);
	generic_shutdown_super(sb);
	sync_blockdev(bdev);
	blkdev_put(bdev, sb->s_type);
}

static noinline void deactivate_locked_super(struct super_block *s)
{
	struct file_system_type *fs = s->s_type;

	fs->kill_sb(s);
	put_filesystem(fs);
	up_write(&s->s_umount);
	destroy_super(s);
}

void deactivate_super(struct super_block *s)
{
	if (!atomic_dec_and_test(&s->s_active) || !s->s_type->kill_sb)
		return;
	down_write(&s->s_umount);
	deactivate_locked_super(s);
}

void iterate_supers(void (*f)(struct super_block *, void *), void *arg)
{
	struct super_block *sb, *last = NULL;

	spin_lock(&sb_lock);
	list_for_each_entry(sb, &super_blocks, s_list) {
		if (!sb->s_root || !sb->s_bdev || !atomic_inc_not_zero(&sb->s_active))
			continue;
		spin_unlock(&sb_lock);
		f(sb, arg);
		if (last)
			deactivate_super(last);
		last = sb;
		spin_lock(&sb_lock);
	}
	spin_unlock(&sb_lock);
	if (last)
		deactivate_super(last);
}

/* Mount, unmount and the module (Linux's fs/ext4/super.c). */
#include "ext4.h"
#include <linux/seq_file.h>
#define CREATE_TRACE_POINTS
#include "ext4_trace.h"

static struct kmem_cache *ext4_inode_cachep;

noinline void __ext4_msg(struct super_block *sb, const char *prefix, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printk("%sEXT4-fs (%s): %s\n", prefix, sb->s_id, text);
}

/* Its state on disk says that it needs a check; the file system goes on, or is read-only from now on, or that was all. */
static noinline void ext4_handle_error(struct super_block *sb)
{
	EXT4_SB(sb)->s_es->s_state |= 2;	/* EXT4_ERROR_FS */
	if (!(sb->s_flags & SB_RDONLY))
		mark_buffer_dirty(EXT4_SB(sb)->s_sbh);
	if (EXT4_SB(sb)->s_errors == EXT4_ERRORS_PANIC)
		panic("EXT4-fs (device %s): panic forced after error\n", sb->s_id);
	if (EXT4_SB(sb)->s_errors == EXT4_ERRORS_RO && !(sb->s_flags & SB_RDONLY)) {
		ext4_msg(sb, KERN_CRIT, "Remounting filesystem read-only");
		sb->s_flags |= SB_RDONLY;
	}
}

noinline void __ext4_error(struct super_block *sb, const char *func, unsigned int line, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printk(KERN_CRIT "EXT4-fs error (device %s): %s:%u: comm %s: %s\n", sb->s_id, func, line, current->comm, text);
	ext4_handle_error(sb);
}

noinline void __ext4_error_inode(struct inode *inode, const char *func, unsigned int line, ext4_fsblk_t block, const char *fmt, ...)
{
	char text[160], where[32] = "";
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (block)
		snprintf(where, sizeof(where), "block %llu: ", (unsigned long long)block);
	printk(KERN_CRIT "EXT4-fs error (device %s): %s:%u: inode #%lu: %scomm %s: %s\n", inode->i_sb->s_id, func, line, inode->i_ino,
	       where, current->comm, text);
	ext4_handle_error(inode->i_sb);
}

noinline void __ext4_warning_inode(struct inode *inode, const char *func, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printk(KERN_WARNING "EXT4-fs warning (device %s): %s: inode #%lu: comm %s: %s\n", inode->i_sb->s_id, func, inode->i_ino,
	       current->comm, text);
}

noinline struct ext4_group_desc *ext4_get_group_desc(struct super_block *sb, unsigned int group)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	if (group >= sbi->s_groups_count)
		return NULL;
	return (struct ext4_group_desc *)sbi->s_gdb->b_data + group;
}

/* ---- inodes in memory ---- */
static noinline struct inode *ext4_alloc_inode(struct super_block *sb)
{
	struct ext4_inode_info *ei = kmem_cache_alloc(ext4_inode_cachep, GFP_NOFS);

	if (!ei)
		return NULL;
	memset(ei, 0, offsetof(struct ext4_inode_info, vfs_inode));
	init_rwsem(&ei->i_data_sem);
	return &ei->vfs_inode;
}

static noinline void ext4_free_in_core_inode(struct inode *inode)
{
	kmem_cache_free(ext4_inode_cachep, EXT4_I(inode));
}

static noinline int ext4_drop_inode(struct inode *inode)
{
	int drop = generic_drop_inode(inode);

	trace_ext4_drop_inode(inode, drop);
	return drop;
}

/* ---- the super block ---- */
static noinline int ext4_commit_super(struct super_block *sb)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	mark_buffer_dirty(sbi->s_sbh);
	return sync_dirty_buffer(sbi->s_sbh);
}

static noinline int ext4_sync_fs(struct super_block *sb, int wait)
{
	trace_ext4_sync_fs(sb, wait);
	mark_buffer_dirty(EXT4_SB(sb)->s_sbh);		/* its counts */
	if (wait)
		return sync_blockdev(sb->s_bdev) ?: blkdev_issue_flush(sb->s_bdev);
	return 0;
}

static void ext4_free_sbi(struct ext4_sb_info *sbi)
{
	brelse(sbi->s_gdb);
	brelse(sbi->s_sbh);
	kfree(sbi);
}

static noinline void ext4_put_super(struct super_block *sb)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	ext4_msg(sb, KERN_INFO, "unmounting filesystem.");
	if (!(sb->s_flags & SB_RDONLY)) {
		sbi->s_es->s_state |= 1;		/* EXT4_VALID_FS: as it was */
		ext4_commit_super(sb);
	}
	ext4_free_sbi(sbi);
	sb->s_fs_info = NULL;
}

static noinline int ext4_statfs(struct dentry *dentry, struct kstatfs *buf)
{
	struct ext4_sb_info *sbi = EXT4_SB(dentry->d_sb);
	struct ext4_super_block *es = sbi->s_es;
	u32 overhead = sbi->s_groups_count * (2 + sbi->s_inodes_per_group * EXT4_INODE_SIZE / EXT4_BLOCK_SIZE) + 2;

	buf->f_type = EXT4_SUPER_MAGIC;
	buf->f_bsize = buf->f_frsize = EXT4_BLOCK_SIZE;
	buf->f_blocks = sbi->s_blocks_count - overhead;
	spin_lock(&sbi->s_lock);
	buf->f_bfree = sbi->s_freeclusters - sbi->s_dirtyclusters;
	spin_unlock(&sbi->s_lock);
	buf->f_bavail = buf->f_bfree > es->s_r_blocks_count ? buf->f_bfree - es->s_r_blocks_count : 0;
	buf->f_files = sbi->s_inodes_count;
	buf->f_ffree = es->s_free_inodes_count;
	return 0;
}

/* What is not as the super block has it. */
static int ext4_show_options(struct seq_file *seq, struct dentry *root)
{
	static const char *const names[] = { [EXT4_ERRORS_CONTINUE] = "continue", [EXT4_ERRORS_RO] = "remount-ro", [EXT4_ERRORS_PANIC] = "panic" };
	struct ext4_sb_info *sbi = EXT4_SB(root->d_sb);

	if (sbi->s_errors != (sbi->s_es->s_errors ?: EXT4_ERRORS_CONTINUE))
		seq_printf(seq, ",errors=%s", names[sbi->s_errors]);
	return 0;
}

static noinline int ext4_remount(struct super_block *sb, unsigned int sb_flags);

static const struct super_operations ext4_sops = {
	.show_options = ext4_show_options,
	.remount_fs = ext4_remount,
	.alloc_inode = ext4_alloc_inode,
	.free_inode = ext4_free_in_core_inode,
	.write_inode = ext4_write_inode,
	.dirty_inode = ext4_dirty_inode,
	.drop_inode = ext4_drop_inode,
	.evict_inode = ext4_evict_inode,
	.put_super = ext4_put_super,
	.sync_fs = ext4_sync_fs,
	.statfs = ext4_statfs,
};

/* ---- mount ---- */
static noinline int ext4_check_feature_compatibility(struct super_block *sb, struct ext4_super_block *es)
{
	unsigned int bad = es->s_feature_incompat & ~EXT4_FEATURE_INCOMPAT_SUPP;

	if (!bad && !(sb->s_flags & SB_RDONLY)) {
		bad = es->s_feature_ro_compat & ~EXT4_FEATURE_RO_COMPAT_SUPP;
		if (bad) {
			ext4_msg(sb, KERN_ERR, "couldn't mount RDWR because of unsupported optional features (%x)", bad);
			return -EINVAL;
		}
	}
	if (bad || es->s_feature_compat & 4) {		/* has_journal */
		ext4_msg(sb, KERN_ERR, "Couldn't mount because of unsupported optional features (%x)", bad ?: 4);
		return -EINVAL;
	}
	return 0;
}

static noinline int ext4_inode_info_init(struct super_block *sb, struct ext4_super_block *es)
{
	if (es->s_first_ino < 11) {
		ext4_msg(sb, KERN_ERR, "invalid first ino: %u", es->s_first_ino);
		return -EINVAL;
	}
	if (es->s_inode_size != EXT4_INODE_SIZE) {
		ext4_msg(sb, KERN_ERR, "unsupported inode size: %d", es->s_inode_size);
		return -EINVAL;
	}
	if (es->s_log_block_size > 6) {
		ext4_msg(sb, KERN_ERR, "Invalid log block size: %u", es->s_log_block_size);
		return -EINVAL;
	}
	if (es->s_log_block_size != EXT4_BLOCK_BITS - 10) {	/* Linux has others */
		ext4_msg(sb, KERN_ERR, "bad block size %lu", 1024ul << es->s_log_block_size);
		return -EINVAL;
	}
	return 0;
}

static noinline int ext4_block_group_meta_init(struct super_block *sb, struct ext4_super_block *es)
{
	if (!es->s_blocks_per_group) {
		ext4_msg(sb, KERN_ERR, "VFS: Can't find ext4 filesystem");
		return -EINVAL;
	}
	if (es->s_inodes_per_group < EXT4_BLOCK_SIZE / EXT4_INODE_SIZE || es->s_inodes_per_group > EXT4_BLOCK_SIZE * 8) {
		ext4_msg(sb, KERN_ERR, "invalid inodes per group: %u\n", es->s_inodes_per_group);
		return -EINVAL;
	}
	if (es->s_blocks_per_group != EXT4_BLOCK_SIZE * 8) {	/* Linux takes fewer, too */
		ext4_msg(sb, KERN_ERR, "#blocks per group too big: %u", es->s_blocks_per_group);
		return -EINVAL;
	}
	return 0;
}

static noinline int ext4_check_geometry(struct super_block *sb, struct ext4_super_block *es)
{
	u32 groups = DIV_ROUND_UP((u64)es->s_blocks_count, es->s_blocks_per_group);

	if (es->s_blocks_count > sb->s_bdev->bd_nr_sectors >> (EXT4_BLOCK_BITS - SECTOR_SHIFT)) {
		ext4_msg(sb, KERN_WARNING, "bad geometry: block count %u exceeds size of device (%llu blocks)", es->s_blocks_count,
			 (unsigned long long)sb->s_bdev->bd_nr_sectors >> (EXT4_BLOCK_BITS - SECTOR_SHIFT));
		return -EINVAL;
	}
	if (es->s_first_data_block >= es->s_blocks_count || es->s_first_data_block) {	/* with such blocks it is 0 */
		ext4_msg(sb, KERN_WARNING, "bad geometry: first data block %u is beyond end of filesystem (%u)", es->s_first_data_block,
			 es->s_blocks_count);
		return -EINVAL;
	}
	if ((u64)groups * es->s_inodes_per_group != es->s_inodes_count) {
		ext4_msg(sb, KERN_ERR, "inodes count not valid: %u vs %llu", es->s_inodes_count, (unsigned long long)groups * es->s_inodes_per_group);
		return -EINVAL;
	}
	return 0;
}

/* One of a group's own blocks: in the group, behind the descriptors. */
static bool ext4_check_descriptor(struct super_block *sb, const char *what, unsigned int group, u64 block, unsigned int n)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	u64 first = (u64)group * sbi->s_blocks_per_group, end = min(first + sbi->s_blocks_per_group, (u64)sbi->s_blocks_count);

	if (block <= 1) {
		ext4_msg(sb, KERN_ERR, "ext4_check_descriptors: %s for group %u overlaps %s", what, group,
			 block ? "block group descriptors" : "superblock");
		return false;
	}
	if (block < first || block + n > end) {
		ext4_msg(sb, KERN_ERR, "ext4_check_descriptors: %s for group %u not in group (block %llu)!", what, group, (unsigned long long)block);
		return false;
	}
	return true;
}

static noinline bool ext4_check_descriptors(struct super_block *sb)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int table = sbi->s_inodes_per_group * EXT4_INODE_SIZE / EXT4_BLOCK_SIZE;

	for (unsigned int i = 0; i < sbi->s_groups_count; i++) {
		struct ext4_group_desc *gdp = ext4_get_group_desc(sb, i);

		if (!ext4_check_descriptor(sb, "Block bitmap", i, gdp->bg_block_bitmap, 1) ||
		    !ext4_check_descriptor(sb, "Inode bitmap", i, gdp->bg_inode_bitmap, 1) ||
		    !ext4_check_descriptor(sb, "Inode table", i, gdp->bg_inode_table, table))
			return false;
	}
	return true;
}

static u64 ext4_count_free_clusters(struct super_block *sb)
{
	u64 n = 0;

	for (unsigned int i = 0; i < EXT4_SB(sb)->s_groups_count; i++)
		n += ext4_get_group_desc(sb, i)->bg_free_blocks_count;
	return min(n, (u64)EXT4_SB(sb)->s_blocks_count);
}

static noinline int ext4_group_desc_init(struct super_block *sb, struct ext4_super_block *es)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	sbi->s_groups_count = DIV_ROUND_UP((u64)es->s_blocks_count, es->s_blocks_per_group);
	sbi->s_blocks_count = es->s_blocks_count;
	sbi->s_blocks_per_group = es->s_blocks_per_group;
	sbi->s_inodes_count = es->s_inodes_count;
	sbi->s_inodes_per_group = es->s_inodes_per_group;
	sbi->s_first_ino = es->s_first_ino;
	sbi->s_gdb = sb_bread(sb, 1);
	if (!sbi->s_gdb || sbi->s_groups_count > EXT4_BLOCK_SIZE / EXT4_DESC_SIZE) {
		ext4_msg(sb, KERN_ERR, "can't read group descriptor %d", 0);
		return -EIO;
	}
	if (!ext4_check_descriptors(sb)) {
		ext4_msg(sb, KERN_ERR, "group descriptors corrupted!");
		return -EFSCORRUPTED;
	}
	sbi->s_freeclusters = ext4_count_free_clusters(sb);
	return 0;
}

static noinline int ext4_load_super(struct super_block *sb, struct ext4_sb_info *sbi)
{
	struct ext4_super_block *es;
	int err;

	sbi->s_sbh = sb_bread(sb, 0);
	if (!sbi->s_sbh) {
		ext4_msg(sb, KERN_ERR, "unable to read superblock");
		return -EIO;
	}
	es = sbi->s_es = (struct ext4_super_block *)(sbi->s_sbh->b_data + 1024);
	if (es->s_magic != EXT4_SUPER_MAGIC) {
		ext4_msg(sb, KERN_ERR, "VFS: Can't find ext4 filesystem");
		return -EINVAL;
	}
	err = ext4_inode_info_init(sb, es) ?: ext4_check_feature_compatibility(sb, es) ?: ext4_block_group_meta_init(sb, es);
	return err ?: ext4_check_geometry(sb, es) ?: ext4_group_desc_init(sb, es);
}

/* From now on the disk says that it is in use. */
static noinline void ext4_setup_super(struct super_block *sb, struct ext4_super_block *es)
{
	struct timespec64 now;

	ktime_get_real_ts64(&now);
	if (!(es->s_state & 1))
		ext4_msg(sb, KERN_WARNING, "warning: mounting unchecked fs, running e2fsck is recommended");
	else if (es->s_state & 2)
		ext4_msg(sb, KERN_WARNING, "warning: mounting fs with errors, running e2fsck is recommended");
	if (sb->s_flags & SB_RDONLY)
		return;
	es->s_state &= ~1;
	es->s_mnt_count++;
	es->s_mtime = now.tv_sec;
	ext4_commit_super(sb);
}

static noinline int ext4_remount(struct super_block *sb, unsigned int sb_flags)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	if (sb_flags & SB_RDONLY) {
		if (!(sbi->s_es->s_state & 1)) {
			sbi->s_es->s_state |= 1;	/* it was written to, and is whole */
			ext4_commit_super(sb);
		}
	} else if (sb->s_flags & SB_RDONLY) {
		if (sbi->s_es->s_feature_ro_compat & ~EXT4_FEATURE_RO_COMPAT_SUPP) {
			ext4_msg(sb, KERN_ERR, "couldn't mount RDWR because of unsupported optional features (%x)",
				 sbi->s_es->s_feature_ro_compat & ~EXT4_FEATURE_RO_COMPAT_SUPP);
			return -EROFS;
		}
		sb->s_flags &= ~(unsigned long)SB_RDONLY;
		ext4_setup_super(sb, sbi->s_es);
	}
	ext4_msg(sb, KERN_INFO, "re-mounted. Quota mode: none.");
	return 0;
}

/* The options: of one the length of @name, its value; NULL: it is another. */
static const char *ext4_option(const char *opt, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len >= n && !memcmp(opt, name, n) && (len == n || name[n - 1] == '=') ? opt + n : NULL;
}

static bool value_is(const char *value, const char *end, const char *want)
{
	return end - value == (long)strlen(want) && !memcmp(value, want, end - value);
}

/* What there is of Linux's options: that of errors; those of a journal are refused as for a disk without one. */
static noinline int ext4_parse_param(struct fs_context *fc, const char *opt, size_t len)
{
	const char *value, *end = opt + len;

	if ((value = ext4_option(opt, len, "errors="))) {
		fc->fs_private = value_is(value, end, "continue") ? EXT4_ERRORS_CONTINUE : value_is(value, end, "remount-ro") ? EXT4_ERRORS_RO :
				 value_is(value, end, "panic") ? EXT4_ERRORS_PANIC : 0;
		if (fc->fs_private)
			return 0;
		pr_err("ext4: Bad value for 'errors'\n");
		return -EINVAL;
	}
	if (ext4_option(opt, len, "norecovery") || ext4_option(opt, len, "noload") || !len)
		return 0;		/* there is nothing to be recovered */
	if (ext4_option(opt, len, "data=")) {
		pr_err("EXT4-fs (%s): can't mount with data=, fs mounted w/o journal\n", strrchr(fc->source, '/') ? strrchr(fc->source, '/') + 1 : fc->source);
		return -EINVAL;
	}
	pr_err("ext4: Unknown parameter '%.*s'\n", (int)(memchr(opt, '=', len) ? (const char *)memchr(opt, '=', len) - opt : (long)len), opt);
	return -EINVAL;
}

static int ext4_parse_options(struct fs_context *fc)
{
	const char *opt = fc->data;
	int err = 0;

	while (opt && *opt && !err) {
		size_t len = strchr(opt, ',') ? strchr(opt, ',') - opt : (long)strlen(opt);

		err = ext4_parse_param(fc, opt, len);
		opt += len + (opt[len] == ',');
	}
	return err;
}

static noinline int __ext4_fill_super(struct fs_context *fc, struct super_block *sb)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct inode *root;
	int err = ext4_load_super(sb, sbi);

	if (err)
		return err;
	sbi->s_errors = fc->fs_private ?: sbi->s_es->s_errors == EXT4_ERRORS_RO || sbi->s_es->s_errors == EXT4_ERRORS_PANIC ?
			sbi->s_es->s_errors : EXT4_ERRORS_CONTINUE;
	sb->s_op = &ext4_sops;
	root = ext4_iget(sb, EXT4_ROOT_INO, 0);
	if (IS_ERR(root)) {
		ext4_msg(sb, KERN_ERR, "get root inode failed");
		return PTR_ERR(root);
	}
	if (!S_ISDIR(root->i_mode) || !root->i_blocks || !root->i_size) {
		ext4_msg(sb, KERN_ERR, "corrupt root inode, run e2fsck");
		iput(root);
		return -EFSCORRUPTED;
	}
	sb->s_root = d_make_root(root);
	if (!sb->s_root)
		return -ENOMEM;
	ext4_setup_super(sb, sbi->s_es);
	return 0;
}

static noinline int ext4_fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct ext4_sb_info *sbi = kzalloc(sizeof(*sbi), GFP_KERNEL);
	int ret;

	if (!sbi)
		return -ENOMEM;
	sbi->s_sb = sb;
	spin_lock_init(&sbi->s_lock);
	sb->s_fs_info = sbi;
	sb->s_magic = EXT4_SUPER_MAGIC;
	sb->s_maxbytes = (loff_t)16 << 40;
	ret = __ext4_fill_super(fc, sb);
	if (ret < 0) {
		evict_inodes(sb);
		ext4_free_sbi(sbi);
		sb->s_fs_info = NULL;
		return ret;
	}
	ext4_msg(sb, KERN_INFO, "mounted filesystem without journal. Quota mode: none.");
	return 0;
}

static noinline int ext4_get_tree(struct fs_context *fc)
{
	int err = ext4_parse_options(fc);

	return err ?: get_tree_bdev(fc, ext4_fill_super);
}

static struct file_system_type ext4_fs_type = {
	.name = "ext4",
	.fs_flags = FS_REQUIRES_DEV,
	.get_tree = ext4_get_tree,
	.kill_sb = kill_block_super,
};

static int __init ext4_init_fs(void)
{
	int err;

	ext4_inode_cachep = kmem_cache_create("ext4_inode_cache", sizeof(struct ext4_inode_info), __alignof__(struct ext4_inode_info),
					      SLAB_RECLAIM_ACCOUNT, NULL);
	if (!ext4_inode_cachep)
		return -ENOMEM;
	ext4_fs_type.owner = THIS_MODULE;
	err = register_filesystem(&ext4_fs_type);
	if (err)
		kmem_cache_destroy(ext4_inode_cachep);
	return err;
}

static void __exit ext4_exit_fs(void)
{
	unregister_filesystem(&ext4_fs_type);
	rcu_barrier();		/* inodes that are on their way to the cache */
	kmem_cache_destroy(ext4_inode_cachep);
}

MODULE_ALIAS("fs-ext4");
MODULE_AUTHOR("kscope");
MODULE_DESCRIPTION("ext4, small: Linux's layout on disk, without a journal");
MODULE_LICENSE("GPL");
module_init(ext4_init_fs);
module_exit(ext4_exit_fs);

/*
 * ext4, small (Linux's fs/ext4/): the true layout on disk, of a file system made without a journal, with blocks of 4 KiB,
 * extents and linear directories; one block of group descriptors. What there is has Linux's names and calls:
 *
 *	super.c    mount and its end		inode.c    inodes, the write path, writing back
 *	extents.c  where a file's blocks are	mballoc.c  free blocks		ialloc.c  free inodes
 *	dir.c namei.c  directories		file.c fsync.c  files		readpage.c page-io.c  bios
 *	block_validity.c  what a broken disk must not make of them
 *
 * Locks: i_rwsem (VFS) > i_data_sem, the extent tree > s_lock, the bitmaps.
 */
#pragma once
#include <linux/fs.h>
#include <linux/buffer_head.h>
#include <linux/blkdev.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/sched.h>
#include <linux/kernel.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#define EXT4_SUPER_MAGIC	0xEF53
#define EXT4_ROOT_INO		2
#define EXT4_NAME_LEN		255
#define EXT4_LINK_MAX		65000
#define EXT4_INODE_SIZE		256
#define EXT4_BLOCK_SIZE		PAGE_SIZE
#define EXT4_BLOCK_BITS		PAGE_SHIFT
#define EXT4_DESC_SIZE		32
#define EXT4_EXTENTS_FL		0x80000
#define EXT4_FEATURE_INCOMPAT_SUPP	(0x2 | 0x40)		/* filetype, extents */
#define EXT4_FEATURE_RO_COMPAT_SUPP	(0x1 | 0x2 | 0x8 | 0x20 | 0x40)	/* sparse_super large_file huge_file dir_nlink extra_isize */

typedef u64 ext4_fsblk_t;
typedef u32 ext4_lblk_t;
typedef u16 __le16;
typedef u32 __le32;
typedef struct ext4_nojournal handle_t;

struct ext4_super_block {
	__le32 s_inodes_count, s_blocks_count, s_r_blocks_count, s_free_blocks_count, s_free_inodes_count, s_first_data_block;
	__le32 s_log_block_size, s_log_cluster_size, s_blocks_per_group, s_clusters_per_group, s_inodes_per_group, s_mtime, s_wtime;
	__le16 s_mnt_count, s_max_mnt_count, s_magic, s_state, s_errors, s_minor_rev_level;
	__le32 s_lastcheck, s_checkinterval, s_creator_os, s_rev_level;
	__le16 s_def_resuid, s_def_resgid;
	__le32 s_first_ino;
	__le16 s_inode_size, s_block_group_nr;
	__le32 s_feature_compat, s_feature_incompat, s_feature_ro_compat;
	u8 s_uuid[16];
	char s_volume_name[16], s_last_mounted[64];
};

struct ext4_group_desc {
	__le32 bg_block_bitmap, bg_inode_bitmap, bg_inode_table;
	__le16 bg_free_blocks_count, bg_free_inodes_count, bg_used_dirs_count, bg_flags;
	__le32 bg_reserved[3];
};

struct ext4_inode {
	__le16 i_mode, i_uid;
	__le32 i_size_lo, i_atime, i_ctime, i_mtime, i_dtime;
	__le16 i_gid, i_links_count;
	__le32 i_blocks_lo, i_flags, osd1, i_block[15], i_generation, i_file_acl_lo, i_size_high, i_obso_faddr;
	__le16 i_blocks_high, i_file_acl_high, i_uid_high, i_gid_high, i_checksum_lo, i_reserved;
	__le16 i_extra_isize, i_checksum_hi;
	__le32 i_ctime_extra, i_mtime_extra, i_atime_extra, i_crtime, i_crtime_extra;
};

struct ext4_dir_entry_2 {
	__le32 inode;
	__le16 rec_len;
	u8 name_len, file_type;
	char name[EXT4_NAME_LEN];
};
#define EXT4_DIR_REC_LEN(n)	(((n) + 8 + 3) & ~3)
enum { EXT4_FT_UNKNOWN, EXT4_FT_REG_FILE, EXT4_FT_DIR, EXT4_FT_CHRDEV, EXT4_FT_BLKDEV, EXT4_FT_FIFO, EXT4_FT_SOCK, EXT4_FT_SYMLINK };

/* The extent tree: a header and its entries, in the inode (4 of them) and in blocks. */
#define EXT4_EXT_MAGIC	0xf30a
#define EXT_INIT_MAX_LEN 32768	/* longer: so much less, not written yet, and reads as zeros */
struct ext4_extent_header { __le16 eh_magic, eh_entries, eh_max, eh_depth; __le32 eh_generation; };
struct ext4_extent { __le32 ee_block; __le16 ee_len, ee_start_hi; __le32 ee_start_lo; };
struct ext4_extent_idx { __le32 ei_block, ei_leaf_lo; __le16 ei_leaf_hi, ei_unused; };
static inline unsigned int ext4_ext_get_actual_len(const struct ext4_extent *ex) { return ex->ee_len <= EXT_INIT_MAX_LEN ? ex->ee_len : ex->ee_len - EXT_INIT_MAX_LEN; }
#define EXT_FIRST_EXTENT(h)	((struct ext4_extent *)((h) + 1))
#define EXT_LAST_EXTENT(h)	(EXT_FIRST_EXTENT(h) + (h)->eh_entries - 1)
#define EXT_FIRST_INDEX(h)	((struct ext4_extent_idx *)((h) + 1))
#define EXT_LAST_INDEX(h)	(EXT_FIRST_INDEX(h) + (h)->eh_entries - 1)
#define EXT4_EXT_BLOCK_MAX	((EXT4_BLOCK_SIZE - sizeof(struct ext4_extent_header)) / sizeof(struct ext4_extent))
#define EXT4_MAX_EXTENT_DEPTH	5
static inline ext4_fsblk_t ext4_ext_pblock(const struct ext4_extent *ex) { return ex->ee_start_lo | (u64)ex->ee_start_hi << 32; }
static inline ext4_fsblk_t ext4_idx_pblock(const struct ext4_extent_idx *ix) { return ix->ei_leaf_lo | (u64)ix->ei_leaf_hi << 32; }

struct ext4_inode_info {
	__le32 i_data[15];
	u32 i_flags;
	unsigned int i_reserved_data_blocks;	/* promised to dirty pages without blocks; s_lock */
	loff_t i_disksize;			/* the size that the inode on disk may have: i_size, less what is not written */
	struct rw_semaphore i_data_sem;
	struct inode vfs_inode;
};

enum { EXT4_ERRORS_CONTINUE = 1, EXT4_ERRORS_RO, EXT4_ERRORS_PANIC };

struct ext4_sb_info {
	struct super_block *s_sb;
	struct buffer_head *s_sbh, *s_gdb;
	struct ext4_super_block *s_es;
	/* checked at mount; the buffers may change since, by writes to the device */
	u32 s_groups_count, s_blocks_count, s_blocks_per_group, s_inodes_count, s_inodes_per_group, s_first_ino;
	unsigned int s_errors;			/* EXT4_ERRORS_*: what follows an error */
	spinlock_t s_lock;			/* bitmaps and counts */
	u64 s_freeclusters, s_dirtyclusters;	/* free blocks, and how many of them are promised */
};

struct ext4_iloc {
	struct buffer_head *bh;
	unsigned long offset;
};

struct ext4_map_blocks {
	ext4_fsblk_t m_pblk;
	ext4_lblk_t m_lblk;
	unsigned int m_len, m_flags;
};
#define EXT4_MAP_NEW		0x20
#define EXT4_MAP_MAPPED		0x10
#define EXT4_GET_BLOCKS_CREATE	1
#define EXT4_GET_BLOCKS_DELALLOC_RESERVE 4
#define EXT4_FREE_BLOCKS_METADATA 1
#define EXT4_FREE_BLOCKS_FORGET 2

struct ext4_allocation_request {
	struct inode *inode;
	unsigned int len;
	ext4_lblk_t logical;
	ext4_fsblk_t goal;
};

static inline struct ext4_inode_info *EXT4_I(struct inode *inode) { return container_of(inode, struct ext4_inode_info, vfs_inode); }
static inline struct ext4_sb_info *EXT4_SB(struct super_block *sb) { return sb->s_fs_info; }
/* Blocks of a directory: no more than it has on disk. */
static inline ext4_lblk_t ext4_dir_blocks(struct inode *dir) { return min((u64)dir->i_size >> EXT4_BLOCK_BITS, (u64)dir->i_blocks >> (EXT4_BLOCK_BITS - 9)); }
static inline struct ext4_extent_header *ext_inode_hdr(struct inode *inode) { return (void *)EXT4_I(inode)->i_data; }

/* super.c */
__printf(3, 4) void __ext4_msg(struct super_block *sb, const char *prefix, const char *fmt, ...);
#define ext4_msg(sb, level, fmt, ...)	__ext4_msg(sb, level, fmt, ##__VA_ARGS__)
__printf(5, 6) void __ext4_error_inode(struct inode *inode, const char *func, unsigned int line, ext4_fsblk_t block, const char *fmt, ...);
__printf(4, 5) void __ext4_error(struct super_block *sb, const char *func, unsigned int line, const char *fmt, ...);
__printf(3, 4) void __ext4_warning_inode(struct inode *inode, const char *func, const char *fmt, ...);
#define ext4_warning_inode(inode, fmt, ...) __ext4_warning_inode(inode, __func__, fmt, ##__VA_ARGS__)
#define EXT4_ERROR_INODE(inode, fmt, ...) __ext4_error_inode(inode, __func__, __LINE__, 0, fmt, ##__VA_ARGS__)
#define EXT4_ERROR_INODE_BLOCK(inode, block, fmt, ...) __ext4_error_inode(inode, __func__, __LINE__, block, fmt, ##__VA_ARGS__)
#define ext4_error(sb, fmt, ...)	__ext4_error(sb, __func__, __LINE__, fmt, ##__VA_ARGS__)
struct ext4_group_desc *ext4_get_group_desc(struct super_block *sb, unsigned int group);
/* ext4_jbd2.c */
handle_t *__ext4_journal_start_sb(struct inode *inode, struct super_block *sb, unsigned int line, int type, int blocks, int rsv_blocks, int revoke_creds);
int __ext4_journal_stop(const char *where, unsigned int line, handle_t *handle);
int __ext4_journal_get_write_access(const char *where, unsigned int line, handle_t *handle, struct super_block *sb, struct buffer_head *bh);
void __ext4_forget(const char *where, unsigned int line, handle_t *handle, struct inode *inode, struct buffer_head *bh);
#define ext4_forget(h, inode, bh)		__ext4_forget(__func__, __LINE__, h, inode, bh)
int __ext4_handle_dirty_metadata(const char *where, unsigned int line, handle_t *handle, struct inode *inode, struct buffer_head *bh);
#define ext4_journal_start(inode, type, n)	__ext4_journal_start_sb(inode, (inode)->i_sb, __LINE__, type, n, 0, 0)
#define ext4_journal_stop(h)			__ext4_journal_stop(__func__, __LINE__, h)
#define ext4_journal_get_write_access(h, sb, bh) __ext4_journal_get_write_access(__func__, __LINE__, h, sb, bh)
#define ext4_handle_dirty_metadata(h, inode, bh) __ext4_handle_dirty_metadata(__func__, __LINE__, h, inode, bh)
enum { EXT4_HT_MISC, EXT4_HT_INODE, EXT4_HT_WRITE_PAGE, EXT4_HT_MAP_BLOCKS, EXT4_HT_DIR, EXT4_HT_TRUNCATE };
/* inode.c */
struct inode *__ext4_iget(struct super_block *sb, unsigned long ino, int flags, const char *function, unsigned int line);
#define ext4_iget(sb, ino, flags)		__ext4_iget(sb, ino, flags, __func__, __LINE__)
int __ext4_mark_inode_dirty(handle_t *handle, struct inode *inode, const char *func, unsigned int line);
#define ext4_mark_inode_dirty(h, i)		__ext4_mark_inode_dirty(h, i, __func__, __LINE__)
int ext4_map_blocks(handle_t *handle, struct inode *inode, struct ext4_map_blocks *map, int flags);
struct buffer_head *ext4_getblk(handle_t *handle, struct inode *inode, ext4_lblk_t block, int map_flags);
struct buffer_head *ext4_bread(handle_t *handle, struct inode *inode, ext4_lblk_t block, int map_flags);
void ext4_evict_inode(struct inode *inode);
int ext4_write_inode(struct inode *inode, struct writeback_control *wbc);
void ext4_dirty_inode(struct inode *inode, int flags);
int ext4_setattr(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr);
int ext4_file_getattr(struct user_namespace *ns, const struct path *path, struct kstat *stat, u32 mask, unsigned int flags);
int ext4_truncate(struct inode *inode);
int ext4_get_inode_loc(struct inode *inode, struct ext4_iloc *iloc);
void ext4_set_aops(struct inode *inode);
vm_fault_t ext4_page_mkwrite(struct vm_fault *vmf);
/* extents.c */
int ext4_ext_map_blocks(handle_t *handle, struct inode *inode, struct ext4_map_blocks *map, int flags);
void ext4_ext_tree_init(handle_t *handle, struct inode *inode);
int ext4_ext_truncate(handle_t *handle, struct inode *inode);
int ext4_ext_check_inode(struct inode *inode);
/* block_validity.c */
bool ext4_inode_block_valid(struct inode *inode, ext4_fsblk_t start, unsigned int count);
/* mballoc.c */
ext4_fsblk_t ext4_mb_new_blocks(handle_t *handle, struct ext4_allocation_request *ar, int flags, int *errp);
void ext4_free_blocks(handle_t *handle, struct inode *inode, ext4_fsblk_t block, unsigned long count, int flags);
int ext4_claim_free_clusters(struct ext4_sb_info *sbi, u64 nclusters);
void ext4_release_clusters(struct ext4_sb_info *sbi, u64 nclusters);
/* ialloc.c */
struct inode *__ext4_new_inode(handle_t *handle, struct inode *dir, umode_t mode, const struct qstr *qstr);
void ext4_free_inode(handle_t *handle, struct inode *inode);
/* dir.c, namei.c, file.c, fsync.c, readpage.c, page-io.c */
extern const struct file_operations ext4_dir_operations, ext4_file_operations;
extern const struct inode_operations ext4_dir_inode_operations, ext4_file_inode_operations, ext4_symlink_inode_operations,
	ext4_special_inode_operations;
int ext4_check_dir_entry(struct inode *dir, struct ext4_dir_entry_2 *de, struct buffer_head *bh, unsigned int offset);
int ext4_sync_file(struct file *file, loff_t start, loff_t end, int datasync);
int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio);

/* A bio of the write path that is being filled. */
struct ext4_io_submit {
	struct writeback_control *io_wbc;
	struct bio *io_bio;
	sector_t io_next_block;
};
void ext4_io_submit_init(struct ext4_io_submit *io, struct writeback_control *wbc);
void ext4_io_submit(struct ext4_io_submit *io);
int ext4_bio_write_page(struct ext4_io_submit *io, struct page *page);

/*
 * Inodes: reading and writing them, mapping blocks, truncation (Linux's fs/ext4/inode.c; its write path is in writeback.c
 * here). An inode that changes is put into its block at once; the block goes to disk with a sync.
 */
#include "ext4.h"
#include "ext4_trace.h"

/* ---- where an inode lies ---- */
static noinline int __ext4_get_inode_loc(struct super_block *sb, unsigned long ino, struct ext4_iloc *iloc)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct ext4_group_desc *gdp;
	unsigned int index;

	if (ino < EXT4_ROOT_INO || ino > sbi->s_inodes_count)
		return -EFSCORRUPTED;
	gdp = ext4_get_group_desc(sb, (ino - 1) / sbi->s_inodes_per_group);
	if (!gdp)
		return -EIO;
	index = (ino - 1) % sbi->s_inodes_per_group;
	iloc->offset = index * EXT4_INODE_SIZE % EXT4_BLOCK_SIZE;
	iloc->bh = sb_bread(sb, gdp->bg_inode_table + index * EXT4_INODE_SIZE / EXT4_BLOCK_SIZE);
	return iloc->bh ? 0 : -EIO;
}

noinline int ext4_get_inode_loc(struct inode *inode, struct ext4_iloc *iloc)
{
	return __ext4_get_inode_loc(inode->i_sb, inode->i_ino, iloc);
}

static struct ext4_inode *ext4_raw_inode(struct ext4_iloc *iloc)
{
	return (struct ext4_inode *)(iloc->bh->b_data + iloc->offset);
}

/* ---- reading ---- */
static void ext4_inode_get_time(struct timespec64 *to, u32 sec, u32 extra)
{
	to->tv_sec = (s64)(s32)sec + ((s64)(extra & 3) << 32);
	to->tv_nsec = extra >> 2;
}

static int ext4_read_symlink(struct inode *inode)
{
	struct buffer_head *bh = NULL;
	const char *text = (const char *)EXT4_I(inode)->i_data;
	char *link;

	if (inode->i_blocks) {		/* longer than 59 bytes: in a block */
		bh = ext4_bread(NULL, inode, 0, 0);
		if (IS_ERR_OR_NULL(bh))
			return bh ? PTR_ERR(bh) : -EFSCORRUPTED;
		text = bh->b_data;
	} else if (inode->i_size >= sizeof(EXT4_I(inode)->i_data))
		return -EFSCORRUPTED;
	link = kmalloc(inode->i_size + 1, GFP_KERNEL);
	if (link) {
		memcpy(link, text, inode->i_size);
		link[inode->i_size] = 0;
	}
	inode->i_link = link;
	brelse(bh);
	return link ? 0 : -ENOMEM;
}

static int ext4_set_ops(struct inode *inode, struct ext4_inode *raw)
{
	switch (inode->i_mode & S_IFMT) {
	case S_IFREG:
		inode->i_op = &ext4_file_inode_operations;
		inode->i_fop = &ext4_file_operations;
		ext4_set_aops(inode);
		return 0;
	case S_IFDIR:
		inode->i_op = &ext4_dir_inode_operations;
		inode->i_fop = &ext4_dir_operations;
		return 0;
	case S_IFLNK:
		inode->i_op = &ext4_symlink_inode_operations;
		return (u64)inode->i_size < EXT4_BLOCK_SIZE ? ext4_read_symlink(inode) : -EFSCORRUPTED;
	case S_IFCHR: case S_IFBLK: case S_IFIFO: case S_IFSOCK:
		inode->i_op = &ext4_special_inode_operations;
		init_special_inode(inode, inode->i_mode, raw->i_block[0] ? MKDEV(raw->i_block[0] >> 8 & 0xff, raw->i_block[0] & 0xff) :
				   MKDEV((raw->i_block[1] & 0xfff00) >> 8, (raw->i_block[1] & 0xff) | (raw->i_block[1] >> 12 & 0xfff00)));
		return 0;
	}
	EXT4_ERROR_INODE(inode, "iget: bogus i_mode (%o)", inode->i_mode);
	return -EFSCORRUPTED;
}

/* Sizes and blocks that can be. A directory has all its blocks: each lookup goes through them. */
static int ext4_check_inode(struct inode *inode)
{
	u64 blocks = (u64)EXT4_SB(inode->i_sb)->s_blocks_count << (EXT4_BLOCK_BITS - 9);
	bool extents = S_ISREG(inode->i_mode) || S_ISDIR(inode->i_mode);

	if (!inode->i_nlink) {
		if (inode->i_ino == EXT4_ROOT_INO) {
			EXT4_ERROR_INODE(inode, "iget: root inode unallocated");
			return -EFSCORRUPTED;
		}
		return -ESTALE;
	}
	if (inode->i_size < 0 || (S_ISDIR(inode->i_mode) && (inode->i_blocks > blocks || inode->i_size > (loff_t)inode->i_blocks << 9))) {
		EXT4_ERROR_INODE(inode, "iget: bad i_size value: %lld", (long long)inode->i_size);
		return -EFSCORRUPTED;
	}
	if (extents && !(EXT4_I(inode)->i_flags & EXT4_EXTENTS_FL)) {	/* block maps of ext2 and ext3 */
		EXT4_ERROR_INODE(inode, "iget: no extents");
		return -EFSCORRUPTED;
	}
	return extents || (S_ISLNK(inode->i_mode) && inode->i_blocks) ? ext4_ext_check_inode(inode) : 0;
}

static int ext4_fill_inode(struct inode *inode, struct ext4_inode *raw)
{
	struct ext4_inode_info *ei = EXT4_I(inode);

	inode->i_mode = raw->i_mode;
	inode->i_uid = make_kuid(&init_user_ns, raw->i_uid | (u32)raw->i_uid_high << 16);
	inode->i_gid = make_kgid(&init_user_ns, raw->i_gid | (u32)raw->i_gid_high << 16);
	set_nlink(inode, raw->i_links_count);
	inode->i_size = raw->i_size_lo | (u64)raw->i_size_high << 32;
	inode->i_blocks = raw->i_blocks_lo | (u64)raw->i_blocks_high << 32;
	ext4_inode_get_time(&inode->i_atime, raw->i_atime, raw->i_atime_extra);
	ext4_inode_get_time(&inode->i_mtime, raw->i_mtime, raw->i_mtime_extra);
	ext4_inode_get_time(&inode->i_ctime, raw->i_ctime, raw->i_ctime_extra);
	ei->i_disksize = inode->i_size;
	ei->i_flags = raw->i_flags;
	memcpy(ei->i_data, raw->i_block, sizeof(ei->i_data));
	return ext4_check_inode(inode) ?: ext4_set_ops(inode, raw);
}

noinline struct inode *__ext4_iget(struct super_block *sb, unsigned long ino, int flags, const char *function, unsigned int line)
{
	struct ext4_iloc iloc;
	struct inode *inode;
	int ret;

	if ((ino < EXT4_SB(sb)->s_first_ino && ino != EXT4_ROOT_INO) || ino > EXT4_SB(sb)->s_inodes_count) {
		__ext4_error(sb, function, line, "inode #%lu: comm %s: iget: illegal inode #", ino, current->comm);
		return ERR_PTR(-EFSCORRUPTED);
	}
	inode = iget_locked(sb, ino);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (!(inode->i_state & I_NEW)) {
		if (!inode->i_bad)
			return inode;
		iput(inode);
		return ERR_PTR(-EIO);
	}
	trace_ext4_load_inode(sb, ino);
	ret = __ext4_get_inode_loc(sb, ino, &iloc);
	if (!ret) {
		ret = ext4_fill_inode(inode, ext4_raw_inode(&iloc));
		brelse(iloc.bh);
	}
	if (ret) {
		iget_failed(inode);
		return ERR_PTR(ret);
	}
	unlock_new_inode(inode);
	return inode;
}

/* ---- writing ---- */
static u32 ext4_encode_extra_time(struct timespec64 *t)
{
	return (((t->tv_sec - (s32)t->tv_sec) >> 32) & 3) | t->tv_nsec << 2;
}

static noinline void ext4_fill_raw_inode(struct inode *inode, struct ext4_inode *raw)
{
	struct ext4_inode_info *ei = EXT4_I(inode);
	uid_t uid = from_kuid(&init_user_ns, inode->i_uid);
	gid_t gid = from_kgid(&init_user_ns, inode->i_gid);

	raw->i_mode = inode->i_mode;
	raw->i_uid = uid;
	raw->i_uid_high = uid >> 16;
	raw->i_gid = gid;
	raw->i_gid_high = gid >> 16;
	raw->i_links_count = inode->i_nlink;
	raw->i_size_lo = ei->i_disksize;
	raw->i_size_high = ei->i_disksize >> 32;
	raw->i_blocks_lo = inode->i_blocks;
	raw->i_blocks_high = inode->i_blocks >> 32;
	raw->i_flags = ei->i_flags;
	raw->i_extra_isize = 32;
	raw->i_atime = inode->i_atime.tv_sec;
	raw->i_atime_extra = ext4_encode_extra_time(&inode->i_atime);
	raw->i_mtime = inode->i_mtime.tv_sec;
	raw->i_mtime_extra = ext4_encode_extra_time(&inode->i_mtime);
	raw->i_ctime = inode->i_ctime.tv_sec;
	raw->i_ctime_extra = ext4_encode_extra_time(&inode->i_ctime);
	raw->i_dtime = inode->i_nlink ? 0 : inode->i_ctime.tv_sec;
	memcpy(raw->i_block, ei->i_data, sizeof(raw->i_block));
}

static noinline int ext4_do_update_inode(handle_t *handle, struct inode *inode, struct ext4_iloc *iloc)
{
	lock_buffer(iloc->bh);
	ext4_fill_raw_inode(inode, ext4_raw_inode(iloc));
	unlock_buffer(iloc->bh);
	return ext4_handle_dirty_metadata(handle, NULL, iloc->bh);
}

static noinline int ext4_reserve_inode_write(handle_t *handle, struct inode *inode, struct ext4_iloc *iloc)
{
	int err = ext4_get_inode_loc(inode, iloc);

	return err ?: ext4_journal_get_write_access(handle, inode->i_sb, iloc->bh);
}

static noinline int ext4_mark_iloc_dirty(handle_t *handle, struct inode *inode, struct ext4_iloc *iloc)
{
	int err = ext4_do_update_inode(handle, inode, iloc);

	brelse(iloc->bh);
	return err;
}

noinline int __ext4_mark_inode_dirty(handle_t *handle, struct inode *inode, const char *func, unsigned int line)
{
	struct ext4_iloc iloc;
	int err;

	might_sleep();
	trace_ext4_mark_inode_dirty(inode, 1);
	err = ext4_reserve_inode_write(handle, inode, &iloc);
	return err ?: ext4_mark_iloc_dirty(handle, inode, &iloc);
}

/* VFS has changed the inode. */
void ext4_dirty_inode(struct inode *inode, int flags)
{
	handle_t *handle = ext4_journal_start(inode, EXT4_HT_INODE, 2);

	if (IS_ERR(handle))
		return;
	ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
}

int ext4_write_inode(struct inode *inode, struct writeback_control *wbc)
{
	struct ext4_iloc iloc;
	int err = ext4_get_inode_loc(inode, &iloc);

	if (err)
		return err;
	if (wbc->sync_mode == WB_SYNC_ALL)
		sync_dirty_buffer(iloc.bh);
	brelse(iloc.bh);
	return 0;
}

/* ---- blocks ---- */
/* With CREATE, what is not there is allocated: m_len may shrink to what was. 0: a hole. */
noinline int ext4_map_blocks(handle_t *handle, struct inode *inode, struct ext4_map_blocks *map, int flags)
{
	unsigned int len = map->m_len;
	int retval;

	map->m_flags = 0;
	down_read(&EXT4_I(inode)->i_data_sem);
	retval = ext4_ext_map_blocks(handle, inode, map, 0);
	up_read(&EXT4_I(inode)->i_data_sem);
	if (retval || !(flags & EXT4_GET_BLOCKS_CREATE))
		return retval;
	map->m_flags = 0;
	map->m_len = len;
	down_write(&EXT4_I(inode)->i_data_sem);
	retval = ext4_ext_map_blocks(handle, inode, map, flags);
	up_write(&EXT4_I(inode)->i_data_sem);
	return retval;
}

/* A block of a directory or a link, as a buffer of the device. NULL: a hole. */
noinline struct buffer_head *ext4_getblk(handle_t *handle, struct inode *inode, ext4_lblk_t block, int map_flags)
{
	struct ext4_map_blocks map = { .m_lblk = block, .m_len = 1 };
	int err = ext4_map_blocks(handle, inode, &map, map_flags);
	struct buffer_head *bh;

	if (err <= 0)
		return err ? ERR_PTR(err) : NULL;
	bh = sb_getblk(inode->i_sb, map.m_pblk);
	if (!bh)
		return ERR_PTR(-ENOMEM);
	if (map.m_flags & EXT4_MAP_NEW) {
		lock_buffer(bh);
		memset(bh->b_data, 0, EXT4_BLOCK_SIZE);
		set_buffer_uptodate(bh);
		unlock_buffer(bh);
		ext4_handle_dirty_metadata(handle, inode, bh);
	}
	return bh;
}

static noinline int ext4_read_bh_lock(struct buffer_head *bh)
{
	lock_buffer(bh);
	if (buffer_uptodate(bh)) {
		unlock_buffer(bh);
		return 0;
	}
	get_bh(bh);
	bh->b_end_io = end_buffer_read_sync;
	submit_bh(REQ_OP_READ | REQ_META | REQ_PRIO, bh);
	wait_on_buffer(bh);
	return buffer_uptodate(bh) ? 0 : -EIO;
}

noinline struct buffer_head *ext4_bread(handle_t *handle, struct inode *inode, ext4_lblk_t block, int map_flags)
{
	struct buffer_head *bh = ext4_getblk(handle, inode, block, map_flags);
	int ret;

	if (IS_ERR_OR_NULL(bh) || buffer_uptodate(bh))
		return bh;
	ret = ext4_read_bh_lock(bh);
	if (ret) {
		brelse(bh);
		return ERR_PTR(ret);
	}
	return bh;
}

/* ---- truncation and attributes ---- */
/* What lies behind the new end in its last block must read as zero when the file grows again. */
static noinline int ext4_block_truncate_page(handle_t *handle, struct address_space *mapping, loff_t from)
{
	struct page *page;
	struct folio *folio;
	struct file *none = NULL;
	unsigned int offset = from & (PAGE_SIZE - 1);

	if (!offset)
		return 0;
	page = grab_cache_page_write_begin(mapping, from >> PAGE_SHIFT);
	if (!page)
		return -ENOMEM;
	folio = page_folio(page);
	if (!PageUptodate(page)) {
		int err = mapping->a_ops->read_folio(none, folio);

		folio_lock(folio);
		if (err || !PageUptodate(page) || page->mapping != mapping) {
			folio_unlock(folio);
			folio_put(folio);
			return err ?: -EIO;
		}
	}
	folio_wait_writeback(folio);
	memset(page_address(page) + offset, 0, PAGE_SIZE - offset);
	create_empty_buffers(page, NULL);
	mark_buffer_dirty(page_buffers(page));
	folio_unlock(folio);
	folio_put(folio);
	return 0;
}

noinline int ext4_truncate(struct inode *inode)
{
	handle_t *handle;
	int err;

	trace_ext4_truncate_enter(inode);
	handle = ext4_journal_start(inode, EXT4_HT_TRUNCATE, 8);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	down_write(&EXT4_I(inode)->i_data_sem);
	err = ext4_ext_truncate(handle, inode);
	up_write(&EXT4_I(inode)->i_data_sem);
	ext4_journal_stop(handle);
	trace_ext4_truncate_exit(inode);
	return err;
}

static noinline int ext4_setsize(struct inode *inode, loff_t size)
{
	loff_t old = inode->i_size;
	int err = 0;

	if (size == old)
		return 0;
	if (size < old)
		err = ext4_block_truncate_page(NULL, inode->i_mapping, size);
	if (err)
		return err;
	truncate_setsize(inode, size);
	inode->i_mtime = inode->i_ctime = current_time(inode);
	if (size < old)
		return ext4_truncate(inode);
	EXT4_I(inode)->i_disksize = size;
	return 0;
}

noinline int ext4_setattr(struct user_namespace *ns, struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	int error = setattr_prepare(ns, dentry, attr);

	if (error)
		return error;
	if (attr->ia_valid & ATTR_SIZE) {
		error = S_ISREG(inode->i_mode) ? ext4_setsize(inode, attr->ia_size) : -EINVAL;
		if (error)
			return error;
	}
	setattr_copy(ns, inode, attr);
	__mark_inode_dirty(inode, I_DIRTY_SYNC);
	return 0;
}

/* Blocks that are promised count as if they were there. */
noinline int ext4_file_getattr(struct user_namespace *ns, const struct path *path, struct kstat *stat, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);

	generic_fillattr(ns, inode, stat);
	stat->blocks += (u64)EXT4_I(inode)->i_reserved_data_blocks << (EXT4_BLOCK_BITS - 9);
	return 0;
}

/* The last reference is gone: a file without a name loses its blocks and its number. */
noinline void ext4_evict_inode(struct inode *inode)
{
	handle_t *handle;

	trace_ext4_evict_inode(inode);
	truncate_inode_pages_final(&inode->i_data);
	if (inode->i_nlink || inode->i_bad)
		goto clear;
	handle = ext4_journal_start(inode, EXT4_HT_TRUNCATE, 8);
	if (IS_ERR(handle))
		goto clear;
	inode->i_size = 0;
	if (S_ISREG(inode->i_mode) || S_ISDIR(inode->i_mode) || (S_ISLNK(inode->i_mode) && inode->i_blocks))
		ext4_truncate(inode);
	ext4_mark_inode_dirty(handle, inode);	/* with the time of its deletion */
	ext4_free_inode(handle, inode);
	ext4_journal_stop(handle);
clear:
	clear_inode(inode);
}

/*
 * The page cache of files (the other half of Linux's fs/ext4/inode.c). Writing allocates nothing: a dirty page without a
 * block gets a promise (ext4_da_write_begin); writing back finds runs of such pages and allocates for a run at once.
 */
#include "ext4.h"
#include "ext4_trace.h"

/* ---- promises ---- */
static noinline int ext4_da_reserve_space(struct inode *inode)
{
	int ret = ext4_claim_free_clusters(EXT4_SB(inode->i_sb), 1);

	if (ret)
		return ret;
	spin_lock(&EXT4_SB(inode->i_sb)->s_lock);
	EXT4_I(inode)->i_reserved_data_blocks++;
	spin_unlock(&EXT4_SB(inode->i_sb)->s_lock);
	return 0;
}

/* @release: the pages are gone; else they have their blocks now, and the allocator has taken the promise. */
static noinline void ext4_da_update_reserve_space(struct inode *inode, unsigned int used, bool release)
{
	spin_lock(&EXT4_SB(inode->i_sb)->s_lock);
	EXT4_I(inode)->i_reserved_data_blocks -= min(used, EXT4_I(inode)->i_reserved_data_blocks);
	spin_unlock(&EXT4_SB(inode->i_sb)->s_lock);
	if (release)
		ext4_release_clusters(EXT4_SB(inode->i_sb), used);
}

static noinline int ext4_insert_delayed_block(struct inode *inode, ext4_lblk_t lblk)
{
	return ext4_da_reserve_space(inode);
}

static noinline int ext4_da_map_blocks(struct inode *inode, sector_t iblock, struct ext4_map_blocks *map, struct buffer_head *bh)
{
	int retval;

	down_read(&EXT4_I(inode)->i_data_sem);
	retval = ext4_ext_map_blocks(NULL, inode, map, 0);
	up_read(&EXT4_I(inode)->i_data_sem);
	if (retval)
		return retval;
	retval = ext4_insert_delayed_block(inode, map->m_lblk);
	if (retval)
		return retval;
	set_buffer_new(bh);
	set_buffer_delay(bh);
	return 0;
}

static noinline int ext4_da_get_block_prep(struct inode *inode, sector_t iblock, struct buffer_head *bh, int create)
{
	struct ext4_map_blocks map = { .m_lblk = iblock, .m_len = 1 };
	int ret;

	bh->b_bdev = inode->i_sb->s_bdev;
	ret = ext4_da_map_blocks(inode, iblock, &map, bh);
	if (ret <= 0)
		return ret;
	bh->b_blocknr = map.m_pblk;
	set_buffer_mapped(bh);
	return 0;
}

/* ---- write ---- */
static noinline int ext4_da_write_begin(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len,
					struct page **pagep, void **fsdata)
{
	struct inode *inode = mapping->host;
	struct page *page;
	int ret;

	trace_ext4_da_write_begin(inode, pos, len);
	page = grab_cache_page_write_begin(mapping, pos >> PAGE_SHIFT);
	if (!page)
		return -ENOMEM;
	folio_wait_writeback(page_folio(page));
	ret = __block_write_begin(page, pos, len, ext4_da_get_block_prep);
	if (ret) {
		unlock_page(page);
		put_page(page);
		return ret;
	}
	*pagep = page;
	return 0;
}

static noinline int ext4_da_write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len,
				      unsigned int copied, struct page *page, void *fsdata)
{
	struct inode *inode = mapping->host;

	trace_ext4_da_write_end(inode, pos, len, copied);
	copied = block_write_end(file, mapping, pos, len, copied, page, fsdata);
	if (pos + copied > inode->i_size)
		i_size_write(inode, pos + copied);	/* the size on disk follows when the page is written */
	unlock_page(page);
	put_page(page);
	return copied;
}

/* A shared mapping's page will be written to: it needs a block, or the promise of one. */
noinline vm_fault_t ext4_page_mkwrite(struct vm_fault *vmf)
{
	struct page *page = vmf->page;
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	int err;

	file_update_time(vmf->vma->vm_file);
	lock_page(page);
	if (page->mapping != mapping || (loff_t)page->index << PAGE_SHIFT >= i_size_read(mapping->host)) {
		unlock_page(page);
		return VM_FAULT_NOPAGE;
	}
	folio_wait_writeback(page_folio(page));
	err = __block_write_begin(page, (loff_t)page->index << PAGE_SHIFT, PAGE_SIZE, ext4_da_get_block_prep);
	if (err) {
		unlock_page(page);
		return VM_FAULT_SIGBUS;
	}
	mark_buffer_dirty(page_buffers(page));
	clear_buffer_new(page_buffers(page));
	return VM_FAULT_LOCKED;
}

/* ---- read ---- */
static noinline int ext4_read_folio(struct file *file, struct folio *folio)
{
	trace_ext4_readpage(&folio->page);
	return ext4_mpage_readpages(folio->page.mapping->host, NULL, folio);
}

static noinline void ext4_readahead(struct readahead_control *rac)
{
	ext4_mpage_readpages(rac->mapping->host, rac, NULL);
}

/* ---- writing back ---- */
struct mpage_da_data {
	struct inode *inode;
	struct writeback_control *wbc;
	struct ext4_io_submit io_submit;
	ext4_lblk_t end;		/* behind the last block that is written */
};

/* How many pages from @index on are dirty and have no block. */
static noinline unsigned int mpage_add_bh_to_extent(struct address_space *mapping, unsigned long index)
{
	unsigned int n;

	rcu_read_lock();
	for (n = 0; n < 2048; n++) {
		struct folio *folio = xa_load(&mapping->i_pages, index + n);
		struct buffer_head *bh;

		if (!folio || (n && !PageDirty(&folio->page)) || !page_has_buffers(&folio->page))
			break;
		bh = page_buffers(&folio->page);
		if (!buffer_delay(bh))
			break;
	}
	rcu_read_unlock();
	return n ?: 1;
}

static noinline int mpage_map_one_extent(handle_t *handle, struct mpage_da_data *mpd, struct ext4_map_blocks *map)
{
	struct inode *inode = mpd->inode;
	int err = ext4_map_blocks(handle, inode, map, EXT4_GET_BLOCKS_CREATE | EXT4_GET_BLOCKS_DELALLOC_RESERVE);

	if (err > 0 && map->m_flags & EXT4_MAP_NEW)
		ext4_da_update_reserve_space(inode, map->m_len, false);
	return err;
}

/* The page at hand has no block: one is found or made, and with it those of the pages behind. */
static noinline int mpage_map_and_submit_extent(struct mpage_da_data *mpd, struct page *page, struct buffer_head *bh)
{
	struct inode *inode = mpd->inode;
	struct ext4_map_blocks map = { .m_lblk = page->index };
	handle_t *handle;
	int err;

	map.m_len = mpage_add_bh_to_extent(inode->i_mapping, page->index);
	handle = ext4_journal_start(inode, EXT4_HT_WRITE_PAGE, 4);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	err = mpage_map_one_extent(handle, mpd, &map);
	if (err > 0) {
		bh->b_blocknr = map.m_pblk;
		clear_buffer_delay(bh);
		clear_buffer_new(bh);
		set_buffer_mapped(bh);
		ext4_mark_inode_dirty(handle, inode);
	}
	ext4_journal_stop(handle);
	return err < 0 ? err : err ? 0 : -EIO;
}

static noinline int mpage_submit_page(struct page *page, struct writeback_control *wbc, void *data)
{
	struct mpage_da_data *mpd = data;
	struct buffer_head *bh;
	int err = 0;

	if (((loff_t)page->index << PAGE_SHIFT) >= i_size_read(mpd->inode)) {	/* cut off meanwhile */
		unlock_page(page);
		return 0;
	}
	bh = create_empty_buffers(page, NULL);
	bh->b_bdev = mpd->inode->i_sb->s_bdev;
	if (!buffer_mapped(bh))
		err = mpage_map_and_submit_extent(mpd, page, bh);
	if (err) {
		ext4_msg(mpd->inode->i_sb, KERN_CRIT, "Delayed block allocation failed for inode %lu at logical offset %lu with error %d",
			 mpd->inode->i_ino, page->index, -err);
		SetPageDirty(page);
		unlock_page(page);
		return err;
	}
	clear_buffer_dirty(bh);
	mpd->end = max(mpd->end, (ext4_lblk_t)page->index + 1);
	return ext4_bio_write_page(&mpd->io_submit, page);
}

/* What has been written may be within the size on disk now. */
static noinline int ext4_update_disksize(struct mpage_da_data *mpd)
{
	struct inode *inode = mpd->inode;
	loff_t size = min((loff_t)mpd->end << EXT4_BLOCK_BITS, i_size_read(inode));
	handle_t *handle;

	if (size <= EXT4_I(inode)->i_disksize)
		return 0;
	handle = ext4_journal_start(inode, EXT4_HT_WRITE_PAGE, 2);
	if (IS_ERR(handle))
		return PTR_ERR(handle);
	down_write(&EXT4_I(inode)->i_data_sem);
	EXT4_I(inode)->i_disksize = max(EXT4_I(inode)->i_disksize, size);	/* another may have written more meanwhile */
	up_write(&EXT4_I(inode)->i_data_sem);
	ext4_mark_inode_dirty(handle, inode);
	return ext4_journal_stop(handle);
}

static noinline int ext4_do_writepages(struct mpage_da_data *mpd)
{
	struct address_space *mapping = mpd->inode->i_mapping;
	struct blk_plug plug;
	int ret;

	ext4_io_submit_init(&mpd->io_submit, mpd->wbc);
	blk_start_plug(&plug);
	ret = write_cache_pages(mapping, mpd->wbc, mpage_submit_page, mpd);
	ext4_io_submit(&mpd->io_submit);
	blk_finish_plug(&plug);
	return ret ?: ext4_update_disksize(mpd);
}

static noinline int ext4_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	struct mpage_da_data mpd = { .inode = mapping->host, .wbc = wbc };

	trace_ext4_writepages(mapping->host, wbc);
	return ext4_do_writepages(&mpd);
}

static noinline void ext4_invalidate_folio(struct folio *folio)
{
	struct buffer_head *bh = page_buffers(&folio->page);

	if (buffer_delay(bh))
		ext4_da_update_reserve_space(folio->page.mapping->host, 1, true);
	block_invalidate_folio(folio);
}

static const struct address_space_operations ext4_da_aops = {
	.read_folio = ext4_read_folio,
	.readahead = ext4_readahead,
	.writepages = ext4_writepages,
	.write_begin = ext4_da_write_begin,
	.write_end = ext4_da_write_end,
	.invalidate_folio = ext4_invalidate_folio,
};

void ext4_set_aops(struct inode *inode)
{
	inode->i_mapping->a_ops = &ext4_da_aops;
}

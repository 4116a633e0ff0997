/*
 * The buffer cache (Linux's fs/buffer.c): blocks of devices, looked up in the device's page cache. A buffer that is locked
 * is being read or written; its end_io, in the device's interrupt, unlocks it.
 */
#include "buffer_head.h"
#include "sched.h"
#include "slab.h"
#include "init.h"

static struct kmem_cache *bh_cachep;
static wait_queue_head_t bh_wait_table[16];

static wait_queue_head_t *bh_waitqueue(struct buffer_head *bh)
{
	return &bh_wait_table[(unsigned long)bh >> 6 & 15];
}

static noinline struct buffer_head *alloc_buffer_head(gfp_t gfp_flags)
{
	return kmem_cache_zalloc(bh_cachep, gfp_flags);
}

noinline void free_buffer_head(struct buffer_head *bh)
{
	kmem_cache_free(bh_cachep, bh);
}

noinline void __lock_buffer(struct buffer_head *bh)
{
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait(bh_waitqueue(bh), &wait, TASK_UNINTERRUPTIBLE);
		if (!test_and_set_bit(BH_Lock, &bh->b_state))
			break;
		io_schedule();
	}
	finish_wait(bh_waitqueue(bh), &wait);
}

noinline void unlock_buffer(struct buffer_head *bh)
{
	clear_buffer_locked(bh);
	smp_mb();
	if (waitqueue_active(bh_waitqueue(bh)))
		wake_up_all(bh_waitqueue(bh));
}

noinline void __wait_on_buffer(struct buffer_head *bh)
{
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait(bh_waitqueue(bh), &wait, TASK_UNINTERRUPTIBLE);
		if (!buffer_locked(bh))
			break;
		io_schedule();
	}
	finish_wait(bh_waitqueue(bh), &wait);
}

noinline void __brelse(struct buffer_head *bh)
{
	if (WARN_ON(!atomic_read(&bh->b_count)))
		return;
	put_bh(bh);
}

/* One buffer for the page; the caller links it. */
noinline struct buffer_head *alloc_page_buffers(struct page *page, unsigned long size)
{
	struct buffer_head *bh = alloc_buffer_head(GFP_NOFS | __GFP_ACCOUNT);

	if (!bh)
		return NULL;
	bh->b_page = page;
	bh->b_data = page_address(page);
	bh->b_size = size;
	return bh;
}

/* The page is locked. Blocks of a device's own cache are mapped from the start: block n is page n. */
noinline struct buffer_head *create_empty_buffers(struct page *page, struct block_device *bdev)
{
	struct buffer_head *bh;

	if (page_has_buffers(page))
		return page_buffers(page);
	bh = alloc_page_buffers(page, PAGE_SIZE);
	BUG_ON(!bh);
	bh->b_bdev = bdev;
	if (bdev) {
		bh->b_blocknr = page->index;
		set_buffer_mapped(bh);
	}
	if (PageUptodate(page))
		set_buffer_uptodate(bh);
	page->private = (unsigned long)bh;
	return bh;
}

/* ---- lookup ---- */
static noinline struct buffer_head *__find_get_block_slow(struct block_device *bdev, sector_t block)
{
	struct folio *folio = __filemap_get_folio(bdev->bd_inode->i_mapping, block, 0, 0);
	struct buffer_head *bh = NULL;

	if (!folio)
		return NULL;
	folio_lock(folio);
	if (folio->page.mapping && page_has_buffers(&folio->page)) {
		bh = page_buffers(&folio->page);
		get_bh(bh);
	}
	folio_unlock(folio);
	folio_put(folio);
	return bh;
}

noinline struct buffer_head *__find_get_block(struct block_device *bdev, sector_t block, unsigned int size)
{
	struct buffer_head *bh = __find_get_block_slow(bdev, block);

	if (bh)
		trace_block_touch_buffer(bh);
	return bh;
}

static noinline int grow_dev_page(struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp)
{
	struct folio *folio = __filemap_get_folio(bdev->bd_inode->i_mapping, block, FGP_LOCK | FGP_CREAT, gfp);

	if (IS_ERR(folio))
		return PTR_ERR(folio);
	create_empty_buffers(&folio->page, bdev);
	folio_unlock(folio);
	folio_put(folio);
	return 0;
}

static noinline struct buffer_head *__getblk_slow(struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp)
{
	for (;;) {
		struct buffer_head *bh = __find_get_block(bdev, block, size);

		if (bh)
			return bh;
		if (grow_dev_page(bdev, block, size, gfp))
			return NULL;
	}
}

noinline struct buffer_head *__getblk_gfp(struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp)
{
	struct buffer_head *bh = __find_get_block(bdev, block, size);

	might_sleep();
	return bh ?: __getblk_slow(bdev, block, size, gfp);
}

/* ---- I/O ---- */
static void end_bio_bh_io_sync(struct bio *bio)
{
	struct buffer_head *bh = bio->bi_private;

	bh->b_end_io(bh, !bio->bi_status);
	bio_put(bio);
}

static noinline void submit_bh_wbc(blk_opf_t opf, struct buffer_head *bh)
{
	struct bio *bio;

	BUG_ON(!buffer_locked(bh));
	BUG_ON(!buffer_mapped(bh));
	set_bit(BH_Req, &bh->b_state);
	bio = bio_alloc(bh->b_bdev, 1, opf, GFP_NOIO);
	BUG_ON(!bio);
	bio->bi_iter.bi_sector = bh->b_blocknr * (bh->b_size >> SECTOR_SHIFT);
	bio_add_page(bio, bh->b_page, bh->b_size, 0);
	bio->bi_end_io = end_bio_bh_io_sync;
	bio->bi_private = bh;
	submit_bio(bio);
}

noinline void submit_bh(blk_opf_t opf, struct buffer_head *bh)
{
	submit_bh_wbc(opf, bh);
}

static __always_inline void __end_buffer_read_notouch(struct buffer_head *bh, int uptodate)
{
	if (uptodate)
		set_buffer_uptodate(bh);
	else
		clear_buffer_uptodate(bh);
	if (uptodate && bh->b_page->mapping && bh->b_page->private == (unsigned long)bh)
		SetPageUptodate(bh->b_page);
	unlock_buffer(bh);
}

noinline void end_buffer_read_sync(struct buffer_head *bh, int uptodate)
{
	__end_buffer_read_notouch(bh, uptodate);
	put_bh(bh);
}

noinline void end_buffer_write_sync(struct buffer_head *bh, int uptodate)
{
	if (!uptodate)
		pr_err("Buffer I/O error on dev %s, logical block %llu, lost sync page write\n", bh->b_bdev->bd_disk->disk_name,
		       (unsigned long long)bh->b_blocknr);
	unlock_buffer(bh);
	put_bh(bh);
}

/* Of a page's own writeback. */
noinline void end_buffer_async_write(struct buffer_head *bh, int uptodate)
{
	struct folio *folio = page_folio(bh->b_page);

	unlock_buffer(bh);
	put_bh(bh);
	folio_end_writeback(folio);
}

static void end_buffer_async_read(struct buffer_head *bh, int uptodate)
{
	struct folio *folio = page_folio(bh->b_page);

	__end_buffer_read_notouch(bh, uptodate);
	put_bh(bh);
	folio_unlock(folio);
}

static noinline struct buffer_head *__bread_slow(struct buffer_head *bh)
{
	lock_buffer(bh);
	if (buffer_uptodate(bh)) {
		unlock_buffer(bh);
		return bh;
	}
	get_bh(bh);
	bh->b_end_io = end_buffer_read_sync;
	submit_bh(REQ_OP_READ, bh);
	wait_on_buffer(bh);
	if (buffer_uptodate(bh))
		return bh;
	brelse(bh);
	return NULL;
}

noinline struct buffer_head *__bread_gfp(struct block_device *bdev, sector_t block, unsigned int size, gfp_t gfp)
{
	struct buffer_head *bh = __getblk_gfp(bdev, block, size, gfp);

	if (likely(bh) && !buffer_uptodate(bh))
		bh = __bread_slow(bh);
	return bh;
}

/* The folio is locked, and unlocked when it has been read; the caller may wait for that. */
noinline int block_read_full_folio(struct folio *folio, struct block_device *bdev, sector_t block)
{
	struct buffer_head *bh = create_empty_buffers(&folio->page, bdev);

	lock_buffer(bh);
	if (buffer_uptodate(bh)) {
		SetPageUptodate(&folio->page);
		unlock_buffer(bh);
		folio_unlock(folio);
		return 0;
	}
	get_bh(bh);
	bh->b_end_io = end_buffer_async_read;
	submit_bh(REQ_OP_READ, bh);
	return 0;
}

/* ---- writing ---- */
noinline void mark_buffer_dirty(struct buffer_head *bh)
{
	trace_block_dirty_buffer(bh);
	if (buffer_dirty(bh) && PageDirty(bh->b_page))
		return;
	set_buffer_dirty(bh);
	if (bh->b_page->mapping) {
		SetPageDirty(bh->b_page);
		__mark_inode_dirty(bh->b_page->mapping->host, I_DIRTY_PAGES);
	}
}

static noinline int __sync_dirty_buffer(struct buffer_head *bh, blk_opf_t op_flags)
{
	lock_buffer(bh);
	if (!buffer_dirty(bh)) {
		unlock_buffer(bh);
		return 0;
	}
	clear_buffer_dirty(bh);
	get_bh(bh);
	bh->b_end_io = end_buffer_write_sync;
	submit_bh(REQ_OP_WRITE | op_flags, bh);
	wait_on_buffer(bh);
	return 0;
}

noinline int sync_dirty_buffer(struct buffer_head *bh)
{
	return __sync_dirty_buffer(bh, REQ_SYNC);
}

/* The block has been freed: what it holds need not be written. */
noinline void __bforget(struct buffer_head *bh)
{
	clear_buffer_dirty(bh);
	__brelse(bh);
}

/* ---- files ---- */
static noinline int __block_write_begin_int(struct page *page, unsigned int from, unsigned int to, get_block_t *get_block)
{
	struct buffer_head *bh = create_empty_buffers(page, NULL);
	int err;

	if (!buffer_mapped(bh) && !buffer_delay(bh)) {
		err = get_block(page->mapping->host, page->index, bh, 1);
		if (err)
			return err;
	}
	if (PageUptodate(page)) {
		set_buffer_uptodate(bh);
		return 0;
	}
	if (buffer_new(bh) || buffer_delay(bh)) {
		memset(bh->b_data, 0, from);
		memset(bh->b_data + to, 0, PAGE_SIZE - to);
		return 0;
	}
	if (buffer_uptodate(bh) || (!from && to == PAGE_SIZE))
		return 0;
	lock_buffer(bh);
	get_bh(bh);
	bh->b_end_io = end_buffer_read_sync;
	submit_bh(REQ_OP_READ, bh);
	wait_on_buffer(bh);
	return buffer_uptodate(bh) ? 0 : -EIO;
}

/* Makes the page ready to be written from @pos on: its block known or promised, and what stays of it there. */
noinline int __block_write_begin(struct page *page, loff_t pos, unsigned int len, get_block_t *get_block)
{
	unsigned int from = pos & (PAGE_SIZE - 1);

	return __block_write_begin_int(page, from, from + len, get_block);
}

static noinline void __block_commit_write(struct page *page)
{
	struct buffer_head *bh = page_buffers(page);

	set_buffer_uptodate(bh);
	mark_buffer_dirty(bh);
	clear_buffer_new(bh);
	SetPageUptodate(page);
}

/* A short copy into a page that is not up to date has not happened. */
noinline int block_write_end(struct file *file, struct address_space *mapping, loff_t pos, unsigned int len, unsigned int copied,
			     struct page *page, void *fsdata)
{
	if (unlikely(copied < len) && !PageUptodate(page))
		return 0;
	if (copied)
		__block_commit_write(page);
	return copied;
}

/* ---- the end of a page ---- */
noinline bool try_to_free_buffers(struct folio *folio)
{
	struct buffer_head *bh = page_buffers(&folio->page);

	if (buffer_locked(bh) || atomic_read(&bh->b_count))
		return false;
	folio->page.private = 0;
	free_buffer_head(bh);
	return true;
}

/* The folio is locked, not under writeback, and goes. */
noinline void block_invalidate_folio(struct folio *folio)
{
	struct buffer_head *bh;

	if (!page_has_buffers(&folio->page))
		return;
	bh = page_buffers(&folio->page);
	lock_buffer(bh);
	bh->b_state &= BIT(BH_Lock);
	unlock_buffer(bh);
	try_to_free_buffers(folio);
}

void __init buffer_init(void)
{
	bh_cachep = kmem_cache_create("buffer_head", sizeof(struct buffer_head), 8, SLAB_RECLAIM_ACCOUNT | SLAB_PANIC, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(bh_wait_table); i++)
		init_waitqueue_head(&bh_wait_table[i]);
}

/* Writing pages by bios (Linux's fs/ext4/page-io.c). */
#include "ext4.h"
#include "ext4_trace.h"

static noinline void ext4_finish_bio(struct bio *bio)
{
	struct bio_vec *bv;
	int i;

	bio_for_each_segment_all(bv, bio, i)
		folio_end_writeback(page_folio(bv->bv_page));
}

/* In the device's interrupt. */
static noinline void ext4_end_bio(struct bio *bio)
{
	if (bio->bi_status)
		pr_warn("EXT4-fs warning (device %s): %s:%d: I/O error %d writing to block %llu\n", bio->bi_bdev->bd_disk->disk_name, __func__,
			__LINE__, bio->bi_status, (unsigned long long)bio->bi_iter.bi_sector >> 3);
	ext4_finish_bio(bio);
	bio_put(bio);
}

void ext4_io_submit_init(struct ext4_io_submit *io, struct writeback_control *wbc)
{
	*io = (struct ext4_io_submit){ .io_wbc = wbc };
}

noinline void ext4_io_submit(struct ext4_io_submit *io)
{
	if (io->io_bio) {
		if (io->io_wbc->sync_mode == WB_SYNC_ALL)
			io->io_bio->bi_opf |= REQ_SYNC;
		submit_bio(io->io_bio);
	}
	io->io_bio = NULL;
}

static noinline void io_submit_init_bio(struct ext4_io_submit *io, struct buffer_head *bh)
{
	struct bio *bio = bio_alloc(bh->b_bdev, BIO_MAX_VECS, REQ_OP_WRITE, GFP_NOIO);

	bio->bi_iter.bi_sector = bh->b_blocknr * (bh->b_size >> SECTOR_SHIFT);
	bio->bi_end_io = ext4_end_bio;
	io->io_bio = bio;
	io->io_next_block = bh->b_blocknr;
}

static noinline void io_submit_add_bh(struct ext4_io_submit *io, struct page *page, struct buffer_head *bh)
{
	if (io->io_bio && bh->b_blocknr != io->io_next_block)
		ext4_io_submit(io);
	if (io->io_bio && !bio_add_page(io->io_bio, page, bh->b_size, 0))
		ext4_io_submit(io);
	if (!io->io_bio) {
		io_submit_init_bio(io, bh);
		bio_add_page(io->io_bio, page, bh->b_size, 0);
	}
	io->io_next_block++;
}

/* The page is locked, clean already, and unlocked here. */
noinline int ext4_bio_write_page(struct ext4_io_submit *io, struct page *page)
{
	struct folio *folio = page_folio(page);

	folio_start_writeback(folio);
	io_submit_add_bh(io, page, page_buffers(page));
	folio_unlock(folio);
	return 0;
}

/* Reading pages by bios as long as their blocks lie one behind the other (Linux's fs/ext4/readpage.c). */
#include "ext4.h"
#include "ext4_trace.h"

static noinline void __read_end_io(struct bio *bio)
{
	struct bio_vec *bv;
	int i;

	bio_for_each_segment_all(bv, bio, i) {
		struct folio *folio = page_folio(bv->bv_page);

		if (!bio->bi_status)
			SetPageUptodate(bv->bv_page);
		folio_unlock(folio);
	}
	bio_put(bio);
}

/* In the device's interrupt. */
static noinline void mpage_end_io(struct bio *bio)
{
	__read_end_io(bio);
}

/* A page's place: in the extent that the page before had, or looked up. 0: a hole. */
static int ext4_map_page(struct inode *inode, struct ext4_map_blocks *map, unsigned long index, unsigned long pages, ext4_fsblk_t *block)
{
	if (!(map->m_flags & EXT4_MAP_MAPPED) || index < map->m_lblk || index >= map->m_lblk + map->m_len) {
		int ret;

		map->m_lblk = index;
		map->m_len = pages;
		ret = ext4_map_blocks(NULL, inode, map, 0);
		if (ret <= 0) {
			map->m_flags = 0;
			return ret;
		}
	}
	*block = map->m_pblk + (index - map->m_lblk);
	return 1;
}

/* Of @rac all folios, or the one @folio; each is locked, and unlocked when it has been read. */
noinline int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio)
{
	unsigned long nr_pages = rac ? rac->_nr_pages : 1, last = (i_size_read(inode) + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct ext4_map_blocks map = { 0 };
	struct bio *bio = NULL;
	ext4_fsblk_t block = 0, last_block = 0;
	int ret = 1;

	for (; nr_pages; nr_pages--) {
		if (rac)
			folio = readahead_folio(rac);
		if (folio->page.index < last)
			ret = ext4_map_page(inode, &map, folio->page.index, nr_pages, &block);
		else
			ret = 0;
		if (ret <= 0) {		/* a hole reads as zeros; an error leaves the page as it is */
			if (!ret) {
				clear_page(page_address(&folio->page));
				SetPageUptodate(&folio->page);
			}
			folio_unlock(folio);
			continue;
		}
		if (bio && (last_block != block - 1 || !bio_add_folio(bio, folio, PAGE_SIZE, 0))) {
			submit_bio(bio);
			bio = NULL;
		}
		if (!bio) {
			bio = bio_alloc(inode->i_sb->s_bdev, min(nr_pages, (unsigned long)BIO_MAX_VECS), REQ_OP_READ | (rac ? REQ_RAHEAD : 0), GFP_KERNEL);
			bio->bi_iter.bi_sector = block << (EXT4_BLOCK_BITS - SECTOR_SHIFT);
			bio->bi_end_io = mpage_end_io;
			bio_add_folio(bio, folio, PAGE_SIZE, 0);
		}
		last_block = block;
	}
	if (bio)
		submit_bio(bio);
	return ret < 0 && !rac ? ret : 0;
}

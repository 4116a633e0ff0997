/*
 * Reading ahead (Linux's mm/readahead.c): a read that misses the page cache brings in a window of pages; one page in it is
 * marked, and reading that one starts the next window, twice as large, up to 128 KiB.
 */
#include "pagemap.h"
#include "blkdev.h"
#include "sched.h"

#define RA_PAGES	32

/* The batch that lies in the cache, locked, is given to the file system. */
static noinline void read_pages(struct readahead_control *rac)
{
	const struct address_space_operations *aops = rac->mapping->a_ops;
	struct folio *folio;
	struct blk_plug plug;

	if (!rac->_nr_pages)
		return;
	blk_start_plug(&plug);
	aops->readahead(rac);
	while ((folio = readahead_folio(rac)) != NULL)	/* what it has not taken */
		folio_unlock(folio);
	blk_finish_plug(&plug);
}

/* The next folio of the batch; its reference stays with the page cache. */
noinline struct folio *readahead_folio(struct readahead_control *rac)
{
	struct folio *folio;

	if (!rac->_nr_pages)
		return NULL;
	rcu_read_lock();
	folio = xa_load(&rac->mapping->i_pages, rac->_index);
	rcu_read_unlock();
	rac->_index++;
	rac->_nr_pages--;
	folio_put(folio);
	return folio;
}

static noinline void page_cache_ra_unbounded(struct readahead_control *rac, unsigned long nr_to_read, unsigned long lookahead_size)
{
	struct address_space *mapping = rac->mapping;
	unsigned long index = rac->_index, i;

	for (i = 0; i < nr_to_read; i++) {
		struct folio *folio = NULL;

		if (!xa_load(&mapping->i_pages, index + i))
			folio = filemap_alloc_folio(mapping->gfp_mask | __GFP_NOWARN);
		if (folio)
			set_bit(PG_locked, &folio->page.flags);
		if (!folio || filemap_add_folio(mapping, folio, index + i, GFP_ATOMIC)) {
			/* it is there already, or there is no memory: what has been gathered goes out */
			if (folio) {
				clear_bit(PG_locked, &folio->page.flags);
				folio_put(folio);
			}
			read_pages(rac);
			rac->_index = index + i + 1;
			continue;
		}
		if (i == nr_to_read - lookahead_size)
			set_bit(PG_readahead, &folio->page.flags);
		rac->_nr_pages++;
	}
	read_pages(rac);
}

static noinline void do_page_cache_ra(struct readahead_control *rac, unsigned long nr_to_read, unsigned long lookahead_size)
{
	loff_t isize = i_size_read(rac->mapping->host);
	unsigned long end_index;

	if (isize == 0)
		return;
	end_index = (isize - 1) >> PAGE_SHIFT;
	if (rac->_index > end_index)
		return;
	nr_to_read = min(nr_to_read, end_index - rac->_index + 1);
	page_cache_ra_unbounded(rac, nr_to_read, min(lookahead_size, nr_to_read));
}

static unsigned long get_init_ra_size(unsigned long size)
{
	unsigned long n = 1;

	while (n < size)
		n <<= 1;
	n = n <= RA_PAGES / 32 ? n * 4 : n <= RA_PAGES / 4 ? n * 2 : RA_PAGES;
	return min(n, (unsigned long)RA_PAGES);
}

static noinline void ondemand_readahead(struct readahead_control *rac, struct file_ra_state *ra, bool hit_marker, unsigned long req_size)
{
	unsigned long index = rac->_index;

	if (hit_marker || (index && index == ra->start + ra->size)) {	/* sequential */
		ra->start = index + (hit_marker ? ra->async_size : 0);
		ra->size = min(ra->size * 2 ?: 4UL, (unsigned long)RA_PAGES);
		ra->async_size = ra->size;
	} else {
		ra->start = index;
		ra->size = get_init_ra_size(req_size);
		ra->async_size = ra->size > req_size ? ra->size - req_size : ra->size;
	}
	rac->_index = ra->start;
	do_page_cache_ra(rac, ra->size, ra->async_size);
}

noinline void page_cache_sync_ra(struct readahead_control *rac, struct file_ra_state *ra, unsigned long req_count)
{
	ondemand_readahead(rac, ra, false, min(req_count, (unsigned long)RA_PAGES));
}

noinline void page_cache_async_ra(struct readahead_control *rac, struct file_ra_state *ra, struct folio *folio, unsigned long req_count)
{
	if (test_bit(PG_writeback, &folio->page.flags))
		return;
	clear_bit(PG_readahead, &folio->page.flags);
	ondemand_readahead(rac, ra, true, req_count);
}

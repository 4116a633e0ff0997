/* The page cache (Linux's include/linux/pagemap.h): a folio here is always one page. */
#ifndef _PAGEMAP_H
#define _PAGEMAP_H
#include "fs.h"
#include "mm.h"

struct folio {
	struct page page;
};

#define PAGEVEC_SIZE	15

struct folio_batch {
	unsigned char nr;
	struct folio *folios[PAGEVEC_SIZE];
};

static inline struct folio *page_folio(struct page *page)
{
	return (struct folio *)compound_head(page);
}

static inline void folio_get(struct folio *folio)
{
	atomic_inc(&folio->page._refcount);
}

static inline void folio_put(struct folio *folio)
{
	put_page(&folio->page);
}

static inline bool folio_try_get(struct folio *folio)
{
	return atomic_inc_not_zero(&folio->page._refcount);
}

/* A batch of pages, in the cache and locked, that a file system is to read (mm/readahead.c). */
struct readahead_control {
	struct file *file;
	struct address_space *mapping;
	unsigned long _index, _nr_pages;
};

struct folio *readahead_folio(struct readahead_control *rac);
void page_cache_sync_ra(struct readahead_control *rac, struct file_ra_state *ra, unsigned long req_count);
void page_cache_async_ra(struct readahead_control *rac, struct file_ra_state *ra, struct folio *folio, unsigned long req_count);
struct folio *filemap_alloc_folio(gfp_t gfp);
void folio_wait_bit(struct folio *folio, int bit);
void folio_wake_bit(struct folio *folio);
bool folio_mark_dirty(struct folio *folio);
bool filemap_dirty_folio(struct address_space *mapping, struct folio *folio);
bool folio_clear_dirty_for_io(struct folio *folio);
void folio_start_writeback(struct folio *folio);
void folio_end_writeback(struct folio *folio);
void folio_wait_writeback(struct folio *folio);

#define FGP_LOCK	2
#define FGP_CREAT	4

struct folio *__filemap_get_folio(struct address_space *mapping, unsigned long index, int fgp_flags, gfp_t gfp);
struct page *grab_cache_page_write_begin(struct address_space *mapping, unsigned long index);
int filemap_add_folio(struct address_space *mapping, struct folio *folio, unsigned long index, gfp_t gfp);
void pagecache_init(void);
void __folio_lock(struct folio *folio);
void folio_unlock(struct folio *folio);
void folio_mark_accessed(struct folio *folio);
vm_fault_t filemap_fault(struct vm_fault *vmf);
vm_fault_t filemap_map_pages(struct vm_fault *vmf, unsigned long start_pgoff, unsigned long end_pgoff);
size_t fault_in_readable(const char __user *uaddr, size_t size);

static inline bool folio_trylock(struct folio *folio)
{
	return !test_and_set_bit(PG_locked, &folio->page.flags);
}

static inline void folio_lock(struct folio *folio)
{
	might_sleep();
	if (!folio_trylock(folio))
		__folio_lock(folio);
}

static inline void lock_page(struct page *page)
{
	folio_lock(page_folio(page));
}

static inline void unlock_page(struct page *page)
{
	folio_unlock(page_folio(page));
}
#endif

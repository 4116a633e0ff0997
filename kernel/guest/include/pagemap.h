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

static inline void unlock_page(struct page *page)
{
	folio_unlock(page_folio(page));
}
#endif

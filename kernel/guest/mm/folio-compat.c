/* Pages for those that do not think in folios yet (Linux's mm/folio-compat.c). */
#include "pagemap.h"

noinline struct page *pagecache_get_page(struct address_space *mapping, unsigned long index, int fgp_flags, gfp_t gfp);
noinline struct page *pagecache_get_page(struct address_space *mapping, unsigned long index, int fgp_flags, gfp_t gfp)
{
	struct folio *folio = __filemap_get_folio(mapping, index, fgp_flags, gfp);

	return IS_ERR(folio) ? NULL : &folio->page;
}

struct page *grab_cache_page_write_begin(struct address_space *mapping, unsigned long index)
{
	return pagecache_get_page(mapping, index, FGP_LOCK | FGP_CREAT, mapping->gfp_mask);
}

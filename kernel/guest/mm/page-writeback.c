/* Writing dirty pages to where they came from (Linux's mm/page-writeback.c and the writing half of mm/filemap.c). */
#include "pagemap.h"
#include "sched.h"
#include "tracepoint.h"
#include "rmap.h"

noinline bool folio_mark_dirty(struct folio *folio)
{
	struct address_space *mapping = folio->page.mapping;

	if (!mapping)
		return false;
	return mapping->a_ops->dirty_folio ? mapping->a_ops->dirty_folio(mapping, folio) : filemap_dirty_folio(mapping, folio);
}

noinline bool filemap_dirty_folio(struct address_space *mapping, struct folio *folio)
{
	if (test_and_set_bit(PG_dirty, &folio->page.flags))
		return false;
	__mark_inode_dirty(mapping->host, I_DIRTY_PAGES);
	return true;
}

noinline void folio_start_writeback(struct folio *folio)
{
	folio_get(folio);
	set_bit(PG_writeback, &folio->page.flags);
}

/* In the device's interrupt. */
noinline void folio_end_writeback(struct folio *folio)
{
	clear_bit(PG_writeback, &folio->page.flags);
	folio_wake_bit(folio);
	folio_put(folio);
}

noinline void folio_wait_writeback(struct folio *folio)
{
	while (test_bit(PG_writeback, &folio->page.flags))
		folio_wait_bit(folio, PG_writeback);
}

/* A task that writes to a shared mapping of the page faults from now on, and so makes it dirty again. */
noinline bool folio_clear_dirty_for_io(struct folio *folio)
{
	if (folio->page.mapping && folio_mkclean(folio))
		folio_mark_dirty(folio);
	return test_and_clear_bit(PG_dirty, &folio->page.flags);
}

/* May this folio be written now? It is locked; false: it is not this file's any more, or clean. */
static bool folio_prepare_writeback(struct address_space *mapping, struct folio *folio, struct writeback_control *wbc)
{
	if (unlikely(folio->page.mapping != mapping) || !PageDirty(&folio->page))
		return false;
	if (test_bit(PG_writeback, &folio->page.flags)) {
		if (wbc->sync_mode == WB_SYNC_NONE) {
			wbc->pages_skipped++;
			return false;
		}
		folio_wait_writeback(folio);
	}
	return folio_clear_dirty_for_io(folio);
}

/* @writepage is given each dirty page of the range, locked and marked clean, and unlocks it. */
noinline int write_cache_pages(struct address_space *mapping, struct writeback_control *wbc,
			       int (*writepage)(struct page *, struct writeback_control *, void *), void *data)
{
	unsigned long index = wbc->range_start >> PAGE_SHIFT, end = wbc->range_end >> PAGE_SHIFT;
	int ret = 0;

	for (;; index++) {
		struct folio *folio;
		int err;

		rcu_read_lock();
		folio = xa_find(&mapping->i_pages, &index, end);
		rcu_read_unlock();
		if (!folio)
			return ret;
		if (!PageDirty(&folio->page))
			continue;
		folio = __filemap_get_folio(mapping, index, 0, 0);
		if (!folio)
			continue;
		folio_lock(folio);
		if (!folio_prepare_writeback(mapping, folio, wbc)) {
			folio_unlock(folio);
			folio_put(folio);
			continue;
		}
		err = writepage(&folio->page, wbc, data);
		if (err && !ret)
			ret = err;
		folio_put(folio);
		cond_resched();
	}
}

noinline int do_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	return mapping->a_ops->writepages ? mapping->a_ops->writepages(mapping, wbc) : 0;
}

static noinline int __filemap_fdatawrite_range(struct address_space *mapping, loff_t start, loff_t end, int sync_mode)
{
	struct writeback_control wbc = { .sync_mode = sync_mode, .range_start = start, .range_end = end,
					 .nr_to_write = S64_MAX };

	if (!mapping->nrpages)
		return 0;
	return do_writepages(mapping, &wbc);
}

static noinline void __filemap_fdatawait_range(struct address_space *mapping, loff_t start, loff_t end)
{
	unsigned long index = start >> PAGE_SHIFT, last = end >> PAGE_SHIFT;

	for (;; index++) {
		struct folio *folio;

		rcu_read_lock();
		folio = xa_find(&mapping->i_pages, &index, last);
		rcu_read_unlock();
		if (!folio)
			return;
		if (!test_bit(PG_writeback, &folio->page.flags))
			continue;
		folio = __filemap_get_folio(mapping, index, 0, 0);
		if (!folio)
			continue;
		folio_wait_writeback(folio);
		folio_put(folio);
	}
}

noinline int filemap_fdatawait_range(struct address_space *mapping, loff_t start, loff_t end)
{
	__filemap_fdatawait_range(mapping, start, end);
	return 0;
}

noinline int file_write_and_wait_range(struct file *file, loff_t start, loff_t end)
{
	struct address_space *mapping = file->f_mapping;
	int err = __filemap_fdatawrite_range(mapping, start, end, WB_SYNC_ALL);

	__filemap_fdatawait_range(mapping, start, end);
	return err;
}

noinline int filemap_write_and_wait_range(struct address_space *mapping, loff_t start, loff_t end)
{
	int err = __filemap_fdatawrite_range(mapping, start, end, WB_SYNC_ALL);

	__filemap_fdatawait_range(mapping, start, end);
	return err;
}

noinline int filemap_flush(struct address_space *mapping)
{
	return __filemap_fdatawrite_range(mapping, 0, S64_MAX, WB_SYNC_NONE);
}

/*
 * The page cache: file contents as pages in a radix tree by index (Linux's mm/filemap.c, mm/truncate.c).
 *
 * A page in the tree has one reference for the tree. Readers find it under RCU, take a reference unless the count is zero,
 * and look again that it is still there. PG_locked is held while a page is filled, written to or taken out.
 */
#include "pagemap.h"
#include "rmap.h"
#include "vmstat.h"
#include "fs.h"
#include "mm.h"
#include "sched.h"
#include "slab.h"
#include "uaccess.h"
#include "init.h"
#include "tracepoint.h"

#define PAGE_WAIT_TABLE_BITS	4

static wait_queue_head_t folio_wait_table[1 << PAGE_WAIT_TABLE_BITS];

static wait_queue_head_t *folio_waitqueue(struct folio *folio)
{
	return &folio_wait_table[page_to_pfn(&folio->page) & ((1 << PAGE_WAIT_TABLE_BITS) - 1)];
}

void __init pagecache_init(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(folio_wait_table); i++)
		init_waitqueue_head(&folio_wait_table[i]);
}

/* Until @bit of the folio is clear; @lock: and then set by us. */
static noinline void folio_wait_bit_common(struct folio *folio, int bit, bool lock)
{
	wait_queue_head_t *q = folio_waitqueue(folio);
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait(q, &wait, TASK_UNINTERRUPTIBLE);
		if (lock ? !test_and_set_bit(bit, &folio->page.flags) : !test_bit(bit, &folio->page.flags))
			break;
		io_schedule();
	}
	finish_wait(q, &wait);
}

void folio_wait_bit(struct folio *folio, int bit)
{
	folio_wait_bit_common(folio, bit, false);
}

void __folio_lock(struct folio *folio)
{
	folio_wait_bit_common(folio, PG_locked, true);
}

noinline void folio_wake_bit(struct folio *folio)
{
	smp_mb();
	if (waitqueue_active(folio_waitqueue(folio)))
		wake_up_all(folio_waitqueue(folio));
}

noinline void folio_unlock(struct folio *folio)
{
	clear_bit(PG_locked, &folio->page.flags);
	smp_mb();
	if (waitqueue_active(folio_waitqueue(folio)))
		folio_wake_bit(folio);
}

static inline void folio_wait_locked(struct folio *folio)
{
	if (test_bit(PG_locked, &folio->page.flags))
		folio_wait_bit(folio, PG_locked);
}

/* First touch marks a page referenced; there is no reclaim that would look at it. */
noinline void folio_mark_accessed(struct folio *folio)
{
	if (!test_bit(PG_referenced, &folio->page.flags))
		set_bit(PG_referenced, &folio->page.flags);
}

/* The page at @index with a reference, in whatever state it is. */
static __always_inline struct folio *mapping_get_entry(struct address_space *mapping, unsigned long index)
{
	struct folio *folio;

	rcu_read_lock();
	for (;;) {
		folio = xa_load(&mapping->i_pages, index);
		if (!folio)
			break;
		if (!folio_try_get(folio))
			continue;
		if (likely(xa_load(&mapping->i_pages, index) == folio))
			break;
		folio_put(folio);
	}
	rcu_read_unlock();
	return folio;
}

/* @folio is locked and ours; the tree takes a reference of its own. */
int filemap_add_folio(struct address_space *mapping, struct folio *folio, unsigned long index, gfp_t gfp)
{
	int err;

	folio_get(folio);
	folio->page.mapping = mapping;
	folio->page.index = index;
	xa_lock_irq(&mapping->i_pages);
	err = __xa_insert(&mapping->i_pages, index, folio, gfp);
	if (!err)
		mapping->nrpages++;
	xa_unlock_irq(&mapping->i_pages);
	if (err) {
		folio->page.mapping = NULL;
		folio_put(folio);
		return err;
	}
	__mod_lruvec_page_state(&folio->page, NR_FILE_PAGES, 1);
	trace_mm_filemap_add_to_page_cache(folio);
	return 0;
}

struct folio *filemap_alloc_folio(gfp_t gfp)
{
	return (struct folio *)alloc_page(gfp);
}

/*
 * The page at @index. FGP_LOCK: locked, and still of this file; FGP_CREAT: made when there is none, then locked and not yet
 * up to date.
 */
struct folio *__filemap_get_folio(struct address_space *mapping, unsigned long index, int fgp_flags, gfp_t gfp)
{
	struct folio *folio;
	int err;

repeat:
	folio = mapping_get_entry(mapping, index);
	if (folio) {
		if (!(fgp_flags & FGP_LOCK))
			return folio;
		folio_lock(folio);
		if (unlikely(folio->page.mapping != mapping)) {	/* truncated meanwhile */
			folio_unlock(folio);
			folio_put(folio);
			goto repeat;
		}
		return folio;
	}
	if (!(fgp_flags & FGP_CREAT))
		return NULL;
	folio = filemap_alloc_folio(gfp);
	if (!folio)
		return ERR_PTR(-ENOMEM);
	set_bit(PG_locked, &folio->page.flags);
	err = filemap_add_folio(mapping, folio, index, GFP_ATOMIC);
	if (err) {
		clear_bit(PG_locked, &folio->page.flags);
		folio_put(folio);
		if (err == -EEXIST || err == -EBUSY)
			goto repeat;
		return ERR_PTR(err);
	}
	return folio;
}

/* filemap_get_read_batch collects consecutive pages that are there and up to date, from @index to @max. */
static noinline void filemap_get_read_batch(struct address_space *mapping, unsigned long index, unsigned long max,
					    struct folio_batch *fbatch)
{
	for (; index <= max && fbatch->nr < PAGEVEC_SIZE; index++) {
		struct folio *folio = mapping_get_entry(mapping, index);

		if (!folio)
			return;
		fbatch->folios[fbatch->nr++] = folio;
		if (!PageUptodate(&folio->page))
			return;
	}
}

/* The folio is locked; read_folio unlocks it, perhaps later, in an interrupt. */
static int filemap_read_folio(struct file *file, struct address_space *mapping, struct folio *folio)
{
	int error = mapping->a_ops->read_folio ? mapping->a_ops->read_folio(file, folio) : -EIO;

	if (error)
		return error;
	folio_wait_locked(folio);
	return PageUptodate(&folio->page) ? 0 : -EIO;
}

static __always_inline int filemap_create_folio(struct file *file, struct address_space *mapping, unsigned long index,
				struct folio_batch *fbatch)
{
	struct folio *folio = __filemap_get_folio(mapping, index, FGP_LOCK | FGP_CREAT, mapping->gfp_mask);
	int error = 0;

	if (IS_ERR(folio))
		return PTR_ERR(folio);
	if (!PageUptodate(&folio->page))
		error = filemap_read_folio(file, mapping, folio);
	else
		folio_unlock(folio);
	if (error)
		folio_put(folio);
	else
		fbatch->folios[fbatch->nr++] = folio;
	return error;
}

/* A page of the batch that is not up to date: somebody reads it, or nobody does. */
static noinline int filemap_update_page(struct kiocb *iocb, struct address_space *mapping, struct folio *folio)
{
	if (!folio_trylock(folio)) {
		folio_wait_locked(folio);
		if (PageUptodate(&folio->page))
			return 0;
		folio_lock(folio);
	}
	if (folio->page.mapping == mapping && !PageUptodate(&folio->page))
		return filemap_read_folio(iocb->ki_filp, mapping, folio);
	folio_unlock(folio);
	return folio->page.mapping == mapping ? 0 : -EAGAIN;
}

static void page_cache_sync_readahead(struct address_space *mapping, struct file *file, unsigned long index, unsigned long req_count)
{
	struct readahead_control rac = { .file = file, .mapping = mapping, ._index = index };

	page_cache_sync_ra(&rac, &file->f_ra, req_count);
}

static noinline void filemap_readahead(struct kiocb *iocb, struct file *file, struct address_space *mapping, struct folio *folio,
				       unsigned long last_index)
{
	struct readahead_control rac = { .file = file, .mapping = mapping, ._index = folio->page.index };

	page_cache_async_ra(&rac, &file->f_ra, folio, last_index - folio->page.index);
}

static noinline int filemap_get_pages(struct kiocb *iocb, struct iov_iter *iter, struct folio_batch *fbatch)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;
	unsigned long index = iocb->ki_pos >> PAGE_SHIFT;
	unsigned long last_index = (iocb->ki_pos + iter->count + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct folio *last;

	if (fatal_signal_pending(current))
		return -EINTR;
	filemap_get_read_batch(mapping, index, last_index - 1, fbatch);
	if (!fbatch->nr && mapping->a_ops->readahead) {
		page_cache_sync_readahead(mapping, iocb->ki_filp, index, last_index - index);
		filemap_get_read_batch(mapping, index, last_index - 1, fbatch);
	}
	if (!fbatch->nr)
		return filemap_create_folio(iocb->ki_filp, mapping, index, fbatch);
	last = fbatch->folios[fbatch->nr - 1];
	if (test_bit(PG_readahead, &last->page.flags) && mapping->a_ops->readahead)
		filemap_readahead(iocb, iocb->ki_filp, mapping, last, last_index);
	if (!PageUptodate(&last->page)) {
		int err = filemap_update_page(iocb, mapping, last);

		if (err) {
			folio_put(last);
			if (--fbatch->nr)
				return 0;
			return err == -EAGAIN ? filemap_create_folio(iocb->ki_filp, mapping, index, fbatch) : err;
		}
	}
	return 0;
}

/* Copies from one batch of pages. Returns false when the user's buffer faulted. */
static bool filemap_copy_batch(struct kiocb *iocb, struct iov_iter *iter, struct folio_batch *fbatch, loff_t end_offset,
			       ssize_t *read)
{
	for (int i = 0; i < fbatch->nr; i++) {
		struct folio *folio = fbatch->folios[i];
		size_t offset = iocb->ki_pos & (PAGE_SIZE - 1);
		size_t bytes = min_t(loff_t, end_offset - iocb->ki_pos, PAGE_SIZE - offset), copied;

		if (bytes > iter->count)
			bytes = iter->count;
		folio_mark_accessed(folio);
		copied = copy_page_to_iter(&folio->page, offset, bytes, iter);
		*read += copied;
		iocb->ki_pos += copied;
		if (copied < bytes)
			return false;
		if (!iter->count || iocb->ki_pos >= end_offset)
			break;
	}
	return true;
}

noinline ssize_t filemap_read(struct kiocb *iocb, struct iov_iter *iter, ssize_t already_read)
{
	struct file *filp = iocb->ki_filp;
	struct inode *inode = filp->f_mapping->host;
	struct folio_batch fbatch;
	int error = 0;

	if (unlikely(iocb->ki_pos >= inode->i_sb->s_maxbytes))
		return 0;
	if (unlikely(!iov_iter_count(iter)))
		return 0;
	do {
		loff_t isize;

		cond_resched();
		if (unlikely(iocb->ki_pos >= i_size_read(inode)))
			break;
		fbatch.nr = 0;
		error = filemap_get_pages(iocb, iter, &fbatch);
		if (error < 0)
			break;
		/* the size after the pages: none of them can be stale zeros beyond it */
		isize = i_size_read(inode);
		if (likely(iocb->ki_pos < isize) && !filemap_copy_batch(iocb, iter, &fbatch, isize, &already_read))
			error = -EFAULT;
		for (int i = 0; i < fbatch.nr; i++)
			folio_put(fbatch.folios[i]);
	} while (iov_iter_count(iter) && iocb->ki_pos < i_size_read(inode) && !error);
	touch_atime(&filp->f_path);
	return already_read ? already_read : error;
}

ssize_t generic_file_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	if (!iov_iter_count(iter))
		return 0;
	return filemap_read(iocb, iter, 0);
}

ssize_t generic_perform_write(struct kiocb *iocb, struct iov_iter *i)
{
	struct file *file = iocb->ki_filp;
	struct address_space *mapping = file->f_mapping;
	const struct address_space_operations *a_ops = mapping->a_ops;
	loff_t pos = iocb->ki_pos;
	long status = 0;
	ssize_t written = 0;

	do {
		unsigned long offset = pos & (PAGE_SIZE - 1);
		unsigned long bytes = min_t(unsigned long, PAGE_SIZE - offset, iov_iter_count(i));
		struct page *page;
		void *fsdata = NULL;
		size_t copied;

again:
		/* bring the user's page in first: the copy itself, under the page lock, must not fault */
		if (unlikely(fault_in_iov_iter_readable(i, bytes) == bytes)) {
			status = -EFAULT;
			break;
		}
		if (fatal_signal_pending(current)) {
			status = -EINTR;
			break;
		}
		status = a_ops->write_begin(file, mapping, pos, bytes, &page, &fsdata);
		if (unlikely(status < 0))
			break;
		copied = copy_page_from_iter_atomic(page, offset, bytes, i);
		status = a_ops->write_end(file, mapping, pos, bytes, copied, page, fsdata);
		if (unlikely((size_t)status != copied)) {
			iov_iter_revert(i, copied - max(status, 0L));
			if (unlikely(status < 0))
				break;
		}
		cond_resched();
		if (unlikely(status == 0)) {
			if (copied)
				bytes = copied;
			goto again;
		}
		pos += status;
		written += status;
	} while (iov_iter_count(i));
	return written ? written : status;
}

static noinline ssize_t __generic_file_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	ssize_t written, err = file_remove_privs(file);

	if (err)
		return err;
	err = file_update_time(file);
	if (err)
		return err;
	written = generic_perform_write(iocb, from);
	if (likely(written > 0))
		iocb->ki_pos += written;
	return written;
}

ssize_t generic_file_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = iocb->ki_filp->f_mapping->host;
	ssize_t ret;

	inode_lock(inode);
	ret = generic_write_checks(iocb, from);
	if (ret > 0)
		ret = __generic_file_write_iter(iocb, from);
	inode_unlock(inode);
	return ret;
}

/* @folio is locked. What is being written is waited for; what is dirty is forgotten. */
static noinline void truncate_cleanup_folio(struct address_space *mapping, struct folio *folio)
{
	folio_wait_writeback(folio);
	if (folio->page.private && mapping->a_ops->invalidate_folio)
		mapping->a_ops->invalidate_folio(folio);
	clear_bit(PG_dirty, &folio->page.flags);
}

/* @folio is locked. The tree's reference goes with it. */
static void filemap_remove_folio(struct address_space *mapping, struct folio *folio)
{
	xa_lock_irq(&mapping->i_pages);
	trace_mm_filemap_delete_from_page_cache(folio);
	__xa_erase(&mapping->i_pages, folio->page.index);
	mapping->nrpages--;
	folio->page.mapping = NULL;
	xa_unlock_irq(&mapping->i_pages);
	__mod_lruvec_page_state(&folio->page, NR_FILE_PAGES, -1);
	folio_put(folio);
}

/* Pages wholly inside [lstart, lend] go; of the first one, what is behind lstart is cleared. */
void truncate_inode_pages_range(struct address_space *mapping, loff_t lstart, loff_t lend)
{
	unsigned long index = (lstart + PAGE_SIZE - 1) >> PAGE_SHIFT, end = lend >> PAGE_SHIFT;
	unsigned int partial = lstart & (PAGE_SIZE - 1);
	struct folio *folio;

	if (partial) {
		folio = __filemap_get_folio(mapping, lstart >> PAGE_SHIFT, 0, 0);
		if (folio) {
			folio_lock(folio);
			folio_wait_writeback(folio);
			memset(page_address(&folio->page) + partial, 0, PAGE_SIZE - partial);
			folio_unlock(folio);
			folio_put(folio);
		}
	}
	for (;; index++) {
		folio = xa_find(&mapping->i_pages, &index, end);
		if (!folio)
			break;
		folio = __filemap_get_folio(mapping, index, 0, 0);
		if (!folio)
			continue;
		folio_lock(folio);
		if (folio->page.mapping == mapping) {
			truncate_cleanup_folio(mapping, folio);
			filemap_remove_folio(mapping, folio);
		}
		folio_unlock(folio);
		folio_put(folio);
		cond_resched();
	}
}

void truncate_inode_pages_final(struct address_space *mapping)
{
	truncate_inode_pages_range(mapping, 0, (loff_t)-1 & S64_MAX);
	xa_destroy(&mapping->i_pages);
}

/* Who has mapped what goes loses it, and gets SIGBUS when he touches it again. Twice: a private copy may be made in between. */
static noinline void truncate_pagecache(struct inode *inode, loff_t newsize)
{
	struct address_space *mapping = inode->i_mapping;
	loff_t holebegin = round_up(newsize, PAGE_SIZE);

	unmap_mapping_range(mapping, holebegin, 0);
	truncate_inode_pages_range(mapping, newsize, S64_MAX);
	unmap_mapping_range(mapping, holebegin, 0);
}

void truncate_setsize(struct inode *inode, loff_t newsize)
{
	loff_t oldsize = inode->i_size;

	i_size_write(inode, newsize);
	if (newsize < oldsize)
		truncate_pagecache(inode, newsize);
}

/* The page comes locked. */
vm_fault_t filemap_fault(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;
	struct address_space *mapping = file->f_mapping;
	struct folio_batch fbatch = { 0 };
	struct folio *folio;

	if (vmf->pgoff >= (unsigned long)(i_size_read(mapping->host) + PAGE_SIZE - 1) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	folio = __filemap_get_folio(mapping, vmf->pgoff, 0, 0);
	if (!folio || !PageUptodate(&folio->page)) {
		int error;

		if (folio)
			folio_put(folio);
		error = filemap_create_folio(file, mapping, vmf->pgoff, &fbatch);
		if (error)
			return error == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
		folio = fbatch.folios[0];
	}
	folio_mark_accessed(folio);
	folio_lock(folio);
	if (unlikely(folio->page.mapping != mapping)) {		/* truncated meanwhile */
		folio_unlock(folio);
		folio_put(folio);
		return VM_FAULT_NOPAGE;
	}
	vmf->page = &folio->page;
	return VM_FAULT_LOCKED;
}

/* The next cached page of *index … end that can be mapped as it is: locked, with a reference. *index is its. */
static noinline struct folio *next_uptodate_page(struct address_space *mapping, unsigned long *index, unsigned long end)
{
	struct folio *folio;

	for (; *index <= end && (folio = xa_find(&mapping->i_pages, index, end)); ++*index) {
		if (!PageUptodate(&folio->page) || test_bit(PG_locked, &folio->page.flags) || !folio_try_get(folio))
			continue;
		if (folio_trylock(folio)) {
			if (folio->page.mapping == mapping && folio->page.index == *index &&
			    *index < (unsigned long)(i_size_read(mapping->host) + PAGE_SIZE - 1) >> PAGE_SHIFT)
				return folio;
			folio_unlock(folio);
		}
		folio_put(folio);
	}
	return NULL;
}

/* vmf->pte is where the fault was; its neighbours in start_pgoff … end_pgoff are in the same table. */
noinline vm_fault_t filemap_map_pages(struct vm_fault *vmf, unsigned long start_pgoff, unsigned long end_pgoff)
{
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	unsigned long index = start_pgoff;
	pte_t *fault_pte = vmf->pte;
	struct folio *folio;
	vm_fault_t ret = 0;

	rcu_read_lock();
	folio = next_uptodate_page(mapping, &index, end_pgoff);
	if (!folio)
		goto out;
	spin_lock(&vmf->vma->vm_mm->page_table_lock);
	do {
		vmf->pte = fault_pte + (long)(index - vmf->pgoff);
		if (pte_none(*vmf->pte)) {
			do_set_pte(vmf, &folio->page, vmf->address + ((long)(index - vmf->pgoff) << PAGE_SHIFT));
			folio_unlock(folio);
		} else {
			folio_unlock(folio);
			folio_put(folio);
		}
		if (index == vmf->pgoff)
			ret = VM_FAULT_NOPAGE;
		index++;
	} while ((folio = next_uptodate_page(mapping, &index, end_pgoff)));
	vmf->pte = fault_pte;
	spin_unlock(&vmf->vma->vm_mm->page_table_lock);
out:
	rcu_read_unlock();
	return ret;
}

/* A shared mapping's page will be written to: the file's time changes, and the page is dirty from now on. */
noinline vm_fault_t filemap_page_mkwrite(struct vm_fault *vmf)
{
	struct folio *folio = page_folio(vmf->page);

	file_update_time(vmf->vma->vm_file);
	folio_lock(folio);
	if (folio->page.mapping != vmf->vma->vm_file->f_mapping) {
		folio_unlock(folio);
		return VM_FAULT_NOPAGE;
	}
	folio_mark_dirty(folio);
	return VM_FAULT_LOCKED;
}

static const struct vm_operations_struct generic_file_vm_ops = {
	.fault = filemap_fault, .map_pages = filemap_map_pages, .page_mkwrite = filemap_page_mkwrite,
};

int generic_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	touch_atime(&file->f_path);
	vma->vm_ops = &generic_file_vm_ops;
	return 0;
}

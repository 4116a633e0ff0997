/*
 * Who maps a page (mm/rmap.c), and who maps a file (mm/interval_tree.c, and unmap_mapping_range of mm/memory.c). A page counts its
 * entries; which they are is found for file pages alone: each address_space keeps the areas that map it in a tree ordered by
 * their first page. i_mmap_rwsem protects the tree and the borders of the areas in it; it nests inside mmap_lock and outside the
 * page tables' locks. Anonymous pages need no such tree, as nothing reclaims or moves them.
 */
#include "fs.h"
#include "mm.h"
#include "pagemap.h"
#include "rmap.h"
#include "vmstat.h"

/* index = its place in the area, as for file pages. */
static noinline void __page_set_anon_rmap(struct page *page, struct vm_area_struct *vma, unsigned long address)
{
	page->flags |= BIT(PG_anon) | BIT(PG_swapbacked);
	page->index = ((address - vma->vm_start) >> PAGE_SHIFT) + vma->vm_pgoff;
}

/* The page's first mapping: it is anonymous and ours alone. */
noinline void page_add_new_anon_rmap(struct page *page, struct vm_area_struct *vma, unsigned long address)
{
	atomic_set(&page->_mapcount, 1);
	__mod_lruvec_page_state(page, NR_ANON_MAPPED, 1);
	__page_set_anon_rmap(page, vma, address);
}

noinline void page_add_file_rmap(struct page *page, struct vm_area_struct *vma)
{
	if (atomic_inc_return(&page->_mapcount) == 1)
		__mod_lruvec_page_state(page, NR_FILE_MAPPED, 1);
}

noinline void page_remove_rmap(struct page *page, struct vm_area_struct *vma)
{
	if (atomic_dec_and_test(&page->_mapcount))
		__mod_lruvec_page_state(page, PageAnon(page) ? NR_ANON_MAPPED : NR_FILE_MAPPED, -1);
}

/* ---- i_mmap ---- */
#define rb_to_vma(n)	rb_entry(n, struct vm_area_struct, shared_rb)

static unsigned long vma_last_pgoff(struct vm_area_struct *vma)
{
	return vma->vm_pgoff + ((vma->vm_end - vma->vm_start) >> PAGE_SHIFT) - 1;
}

noinline void vma_interval_tree_insert(struct vm_area_struct *vma, struct rb_root *root)
{
	struct rb_node **p = &root->rb_node, *parent = NULL;

	while (*p) {
		parent = *p;
		p = vma->vm_pgoff < rb_to_vma(parent)->vm_pgoff ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&vma->shared_rb, parent, p);
	rb_insert_color(&vma->shared_rb, root);
}

/* @node begins where @prev does, which is in the tree: as for a fork's copy. It becomes prev's successor without a search. */
noinline void vma_interval_tree_insert_after(struct vm_area_struct *node, struct vm_area_struct *prev, struct rb_root *root)
{
	struct rb_node *parent = &prev->shared_rb, **p = &parent->rb_right;

	while (*p) {
		parent = *p;
		p = &parent->rb_left;
	}
	rb_link_node(&node->shared_rb, parent, p);
	rb_insert_color(&node->shared_rb, root);
}

noinline void vma_interval_tree_remove(struct vm_area_struct *vma, struct rb_root *root)
{
	rb_erase(&vma->shared_rb, root);
}

/* The areas that map any of the pages first … last lose their entries for them; a task that touches them again faults. */
void unmap_mapping_pages(struct address_space *mapping, unsigned long first, unsigned long last)
{
	struct rb_node *n;

	i_mmap_lock_read(mapping);
	for (n = rb_first(&mapping->i_mmap); n && rb_to_vma(n)->vm_pgoff <= last; n = rb_next(n)) {
		struct vm_area_struct *vma = rb_to_vma(n);
		unsigned long from = max(first, vma->vm_pgoff), to = min(last, vma_last_pgoff(vma));

		if (from <= to)
			zap_page_range_single(vma, vma->vm_start + ((from - vma->vm_pgoff) << PAGE_SHIFT), (to - from + 1) << PAGE_SHIFT);
	}
	i_mmap_unlock_read(mapping);
}

/* Bytes from holebegin on, holelen of them or, when that is 0, all. */
void unmap_mapping_range(struct address_space *mapping, loff_t holebegin, loff_t holelen)
{
	unsigned long first = holebegin >> PAGE_SHIFT, last = holelen ? (holebegin + holelen - 1) >> PAGE_SHIFT : ~0UL;

	if (rb_first(&mapping->i_mmap))
		unmap_mapping_pages(mapping, first, last);
}

/* page_table_lock held. True: the task has written to the page. */
static bool page_mkclean_one(struct page *page, struct vm_area_struct *vma, unsigned long address, pte_t *pte)
{
	pte_t old = *pte;

	if (!(old.pte & _PAGE_PRESENT) || !(old.pte & (_PAGE_RW | _PAGE_DIRTY)) || (old.pte & PTE_PFN_MASK) != page_to_phys(page))
		return false;
	old = ptep_clear_flush(vma, address, pte);
	set_pte(pte, ((pte_t){ old.pte & ~(unsigned long)(_PAGE_RW | _PAGE_DIRTY) }));
	return pte_dirty(old);
}

/* The page, which is locked, is about to be written: it becomes read-only and clean in every shared mapping. */
noinline bool folio_mkclean(struct folio *folio)
{
	struct address_space *mapping = folio->page.mapping;
	unsigned long index = folio->page.index;
	bool cleaned = false;
	struct rb_node *n;

	if (!rb_first(&mapping->i_mmap))
		return false;
	i_mmap_lock_read(mapping);
	for (n = rb_first(&mapping->i_mmap); n && rb_to_vma(n)->vm_pgoff <= index; n = rb_next(n)) {
		struct vm_area_struct *vma = rb_to_vma(n);
		unsigned long address = vma->vm_start + ((index - vma->vm_pgoff) << PAGE_SHIFT);
		pte_t *pte;

		if (!(vma->vm_flags & VM_SHARED) || vma_last_pgoff(vma) < index)
			continue;
		spin_lock(&vma->vm_mm->page_table_lock);
		pte = pte_lookup(vma->vm_mm, address);
		if (pte)
			cleaned |= page_mkclean_one(&folio->page, vma, address, pte);
		spin_unlock(&vma->vm_mm->page_table_lock);
	}
	i_mmap_unlock_read(mapping);
	return cleaned;
}

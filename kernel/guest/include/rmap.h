#pragma once
/* Who maps what: see mm/rmap.c. */
#include "mm.h"
#include "fs.h"
#define i_mmap_lock_write(m)	down_write(&(m)->i_mmap_rwsem)
#define i_mmap_unlock_write(m)	up_write(&(m)->i_mmap_rwsem)
#define i_mmap_lock_read(m)	down_read(&(m)->i_mmap_rwsem)
#define i_mmap_unlock_read(m)	up_read(&(m)->i_mmap_rwsem)
void page_add_new_anon_rmap(struct page *page, struct vm_area_struct *vma, unsigned long address);
void page_add_file_rmap(struct page *page, struct vm_area_struct *vma);
void page_remove_rmap(struct page *page, struct vm_area_struct *vma);
void vma_interval_tree_insert(struct vm_area_struct *vma, struct rb_root *root);
void vma_interval_tree_insert_after(struct vm_area_struct *node, struct vm_area_struct *prev, struct rb_root *root);
void vma_interval_tree_remove(struct vm_area_struct *vma, struct rb_root *root);
void unmap_mapping_pages(struct address_space *mapping, unsigned long first, unsigned long last);
void unmap_mapping_range(struct address_space *mapping, loff_t holebegin, loff_t holelen);
void zap_page_range_single(struct vm_area_struct *vma, unsigned long address, unsigned long size);
bool folio_mkclean(struct folio *folio);
pte_t ptep_clear_flush(struct vm_area_struct *vma, unsigned long address, pte_t *ptep);	/* mm/memory.c */

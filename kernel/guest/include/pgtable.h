#pragma once
/* The steps of a walk through page tables, for mm/memory.c and mm/pgtable.c (asm/pgtable*.h, linux/pgtable.h). */
#include "mm.h"
static inline unsigned long *pgd_offset(struct mm_struct *mm, unsigned long a) { return (unsigned long *)mm->pgd + (a >> 39 & 511); }
static inline unsigned long *next_table(unsigned long e) { return __va(e & PTE_PFN_MASK); }
int __pud_alloc(struct mm_struct *mm, unsigned long *pgd, unsigned long address);
int __pmd_alloc(struct mm_struct *mm, unsigned long *pud, unsigned long address);
struct page *vm_normal_page(struct vm_area_struct *vma, unsigned long addr, pte_t pte);

/* The pmd entry's place; the tables above it are made when missing. */
static inline pmd_t *pmd_alloc_addr(struct mm_struct *mm, unsigned long addr)
{
	unsigned long *pgd = pgd_offset(mm, addr), *pud;

	if (!(*pgd & _PAGE_PRESENT) && __pud_alloc(mm, pgd, addr))
		return NULL;
	pud = next_table(*pgd) + (addr >> 30 & 511);
	if (!(*pud & _PAGE_PRESENT) && __pmd_alloc(mm, pud, addr))
		return NULL;
	return (pmd_t *)(next_table(*pud) + (addr >> 21 & 511));
}

static __always_inline int mm_counter(struct page *page)
{
	return PageAnon(page) ? MM_ANONPAGES : MM_FILEPAGES;
}

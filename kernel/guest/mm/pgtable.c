/*
 * Page tables as wholes: making them, copying them for a fork, emptying them, freeing them (mm/memory.c, arch/x86/mm/pgtable.c).
 * page_table_lock protects an mm's tables.
 */
#include "pgtable.h"
#include "rmap.h"
#include "vmstat.h"

struct mm_struct init_mm = {
	.mmap = LIST_HEAD_INIT(init_mm.mmap),
	.mm_users = ATOMIC_INIT(2),
	.mm_count = ATOMIC_INIT(1),
	.mmap_lock = __RWSEM_INITIALIZER(init_mm.mmap_lock),
};

/* The user half is empty, the kernel half is everybody's. */
pgd_t *pgd_alloc(struct mm_struct *mm)
{
	pgd_t *pgd = (pgd_t *)get_zeroed_page(GFP_KERNEL_ACCOUNT);

	if (pgd)
		memcpy(pgd + 256, init_mm.pgd + 256, 256 * sizeof(pgd_t));
	return pgd;
}

void pgd_free(struct mm_struct *mm, pgd_t *pgd)
{
	free_page((unsigned long)pgd);
}

/* Puts a new table into an empty entry; who comes second gives his back (false). */
static __always_inline bool install_table(struct mm_struct *mm, unsigned long *entry, struct page *table)
{
	bool first;

	spin_lock(&mm->page_table_lock);
	first = !(*entry & _PAGE_PRESENT);
	if (likely(first)) {
		WRITE_ONCE(*entry, page_to_phys(table) | _PAGE_TABLE);
		atomic_long_add(PAGE_SIZE, &mm->pgtables_bytes);
	}
	spin_unlock(&mm->page_table_lock);
	if (unlikely(!first))
		put_page(table);
	return first;
}

noinline int __pud_alloc(struct mm_struct *mm, unsigned long *pgd, unsigned long address)
{
	unsigned long new = get_zeroed_page(GFP_KERNEL_ACCOUNT);

	if (!new)
		return -ENOMEM;
	install_table(mm, pgd, pfn_to_page((new - PAGE_OFFSET) >> PAGE_SHIFT));
	return 0;
}

noinline int __pmd_alloc(struct mm_struct *mm, unsigned long *pud, unsigned long address)
{
	struct page *new = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);

	if (!new)
		return -ENOMEM;
	__mod_lruvec_page_state(new, NR_PAGETABLE, 1);
	if (unlikely(!install_table(mm, pud, new)))
		__mod_lruvec_page_state(new, NR_PAGETABLE, -1);
	return 0;
}

static noinline struct page *pte_alloc_one(struct mm_struct *mm)
{
	struct page *page = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);

	if (page)
		__mod_lruvec_page_state(page, NR_PAGETABLE, 1);
	return page;
}

static noinline void pmd_install(struct mm_struct *mm, pmd_t *pmd, struct page **pte)
{
	if (unlikely(!install_table(mm, &pmd->pmd, *pte)))
		__mod_lruvec_page_state(*pte, NR_PAGETABLE, -1);
	*pte = NULL;
}

int __pte_alloc(struct mm_struct *mm, pmd_t *pmd)
{
	struct page *new = pte_alloc_one(mm);

	if (!new)
		return -ENOMEM;
	pmd_install(mm, pmd, &new);
	return 0;
}

/* The pte's place, or NULL when a table is missing. */
pte_t *pte_lookup(struct mm_struct *mm, unsigned long addr)
{
	unsigned long *e = pgd_offset(mm, addr);

	if (!(*e & _PAGE_PRESENT))
		return NULL;
	e = next_table(*e) + (addr >> 30 & 511);
	if (!(*e & _PAGE_PRESENT))
		return NULL;
	e = next_table(*e) + (addr >> 21 & 511);
	if (!(*e & _PAGE_PRESENT))
		return NULL;
	return (pte_t *)next_table(*e) + (addr >> PAGE_SHIFT & 511);
}

/* The struct page behind an entry, NULL for frames that have none to count. */
noinline struct page *vm_normal_page(struct vm_area_struct *vma, unsigned long addr, pte_t pte)
{
	return pte_pfn(pte) < max_pfn ? pte_page(pte) : NULL;
}

/* One entry, both tables locked. */
static __always_inline void copy_present_pte(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma, pte_t *dst, pte_t *src,
					     unsigned long addr, bool cow, long *rss)
{
	struct page *page = vm_normal_page(src_vma, addr, *src);

	if (page) {
		get_page(page);
		atomic_inc(&page->_mapcount);
		rss[mm_counter(page)]++;
	}
	if (cow)
		src->pte &= ~_PAGE_RW;
	set_pte(dst, *src);
}

/* The first entry in use from p on, or last; tables are mostly empty, so eight at a time. */
static __always_inline pte_t *next_pte(pte_t *p, pte_t *last)
{
	for (; p + 8 <= last; p += 8) {
		if (p[0].pte | p[1].pte | p[2].pte | p[3].pte | p[4].pte | p[5].pte | p[6].pte | p[7].pte)
			break;
	}
	while (p < last && pte_none(*p))
		p++;
	return p;
}

/* fork: the child gets the parent's entries; private writable ones become read-only in both. */
static int copy_pte_range(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma, unsigned long addr, unsigned long end)
{
	struct mm_struct *src_mm = src_vma->vm_mm, *dst_mm = dst_vma->vm_mm;
	bool cow = (src_vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
	pte_t *first = pte_lookup(src_mm, addr), *last = first + ((end - addr) >> PAGE_SHIFT), *src, *dst;
	long rss[NR_MM_COUNTERS] = { 0, 0 };
	pmd_t *pmd;

	if (!first)
		return 0;
	src = next_pte(first, last);
	if (src == last)
		return 0;
	pmd = pmd_alloc_addr(dst_mm, addr);
	if (!pmd || (!(pmd->pmd & _PAGE_PRESENT) && __pte_alloc(dst_mm, pmd)))
		return -ENOMEM;
	dst = (pte_t *)next_table(pmd->pmd) + (addr >> PAGE_SHIFT & 511);
	spin_lock(&dst_mm->page_table_lock);
	spin_lock(&src_mm->page_table_lock);
	for (; src < last; src = next_pte(src + 1, last))
		copy_present_pte(dst_vma, src_vma, dst + (src - first), src, addr + ((src - first) << PAGE_SHIFT), cow, rss);
	spin_unlock(&src_mm->page_table_lock);
	for (int i = 0; i < NR_MM_COUNTERS; i++)
		if (rss[i])
			add_mm_counter(dst_mm, i, rss[i]);
	spin_unlock(&dst_mm->page_table_lock);
	cond_resched();
	return 0;
}

/* A file's pages need no copying: the child can fault them in, unless it has private copies of some. */
static bool vma_needs_copy(struct vm_area_struct *src_vma)
{
	return !src_vma->vm_file || (src_vma->vm_flags & (VM_SHARED | VM_WRITE)) == VM_WRITE;
}

int copy_page_range(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma)
{
	unsigned long addr = src_vma->vm_start, next;

	if (!vma_needs_copy(src_vma))
		return 0;
	might_sleep();
	for (; addr < src_vma->vm_end; addr = next) {
		next = min(ALIGN_DOWN(addr, 0x200000UL) + 0x200000UL, src_vma->vm_end);
		if (copy_pte_range(dst_vma, src_vma, addr, next))
			return -ENOMEM;
	}
	return 0;
}

static void zap_pte_range(struct mmu_gather *tlb, struct vm_area_struct *vma, unsigned long addr, unsigned long end)
{
	struct mm_struct *mm = vma->vm_mm;
	pte_t *first = pte_lookup(mm, addr), *last = first + ((end - addr) >> PAGE_SHIFT), *pte;
	long zapped[NR_MM_COUNTERS] = { 0, 0 };

	if (!first)
		return;
	spin_lock(&mm->page_table_lock);
	for (pte = next_pte(first, last); pte < last; pte = next_pte(pte + 1, last)) {
		unsigned long at = addr + ((pte - first) << PAGE_SHIFT);
		struct page *page = vm_normal_page(vma, at, *pte);

		set_pte(pte, (pte_t){ 0 });
		if (page) {
			zapped[mm_counter(page)]++;
			page_remove_rmap(page, vma);
			if (unlikely(__tlb_remove_page_size(tlb, page, PAGE_SIZE))) {
				tlb_flush_range(tlb, addr, end);
				tlb_flush_mmu(tlb);
			}
		}
	}
	if (zapped[0] | zapped[1])
		tlb_flush_range(tlb, addr, end);
	spin_unlock(&mm->page_table_lock);
	for (int i = 0; i < NR_MM_COUNTERS; i++)
		if (zapped[i])
			add_mm_counter(mm, i, -zapped[i]);
}

static noinline void unmap_page_range(struct mmu_gather *tlb, struct vm_area_struct *vma, unsigned long addr, unsigned long end)
{
	unsigned long next;

	for (; addr < end; addr = next) {
		next = min(ALIGN_DOWN(addr, 0x200000UL) + 0x200000UL, end);
		zap_pte_range(tlb, vma, addr, next);
		cond_resched();
	}
}

static noinline void unmap_single_vma(struct mmu_gather *tlb, struct vm_area_struct *vma, unsigned long start_addr, unsigned long end_addr)
{
	unsigned long start = max(vma->vm_start, start_addr), end = min(vma->vm_end, end_addr);

	if (start < end)
		unmap_page_range(tlb, vma, start, end);
}

void unmap_vmas(struct mmu_gather *tlb, struct list_head *vmas, unsigned long start_addr, unsigned long end_addr)
{
	struct vm_area_struct *vma;

	might_sleep();
	list_for_each_entry(vma, vmas, vm_list)
		unmap_single_vma(tlb, vma, start_addr, end_addr);
}

/* For who holds i_mmap_rwsem, so that the area stays. */
void zap_page_range_single(struct vm_area_struct *vma, unsigned long address, unsigned long size)
{
	struct mmu_gather tlb;

	tlb_gather_mmu(&tlb, vma->vm_mm);
	unmap_single_vma(&tlb, vma, address, address + size);
	tlb_finish_mmu(&tlb);
}

/*
 * Freeing tables: a table goes when all that it could map lies within floor … ceiling (0: no ceiling), where no area is left. Each
 * level frees what is below and then, if its own span lies within, itself.
 */
static __always_inline bool span_is_free(unsigned long addr, unsigned long span, unsigned long floor, unsigned long ceiling)
{
	unsigned long start = addr & -span;

	return start >= floor && start + span - 1 <= ceiling - 1;
}

/* The table is no more used when the gather is flushed. Tables of puds are not counted in NR_PAGETABLE. */
static __always_inline void tlb_remove_table(struct mmu_gather *tlb, struct page *table)
{
	if (tlb_gather(tlb, table))
		tlb_flush_mmu(tlb);
}

static noinline void ___pte_free_tlb(struct mmu_gather *tlb, struct page *pte)
{
	tlb_remove_table(tlb, pte);
	__mod_lruvec_page_state(pte, NR_PAGETABLE, -1);
}

static noinline void ___pmd_free_tlb(struct mmu_gather *tlb, struct page *pmd)
{
	tlb_remove_table(tlb, pmd);
	__mod_lruvec_page_state(pmd, NR_PAGETABLE, -1);
}

static noinline void ___pud_free_tlb(struct mmu_gather *tlb, struct page *pud)
{
	tlb_remove_table(tlb, pud);
}

static __always_inline void free_table(struct mmu_gather *tlb, unsigned long *entry, unsigned long addr, int level)
{
	struct page *table = pfn_to_page((*entry & PTE_PFN_MASK) >> PAGE_SHIFT);

	WRITE_ONCE(*entry, 0UL);
	atomic_long_add(-PAGE_SIZE, &tlb->mm->pgtables_bytes);
	if (!tlb->freed_tables) {	/* what is cached of one goes with any page's entry */
		tlb->freed_tables = true;
		tlb_flush_range(tlb, addr, addr + PAGE_SIZE);
	}
	switch (level) {
	case 0: ___pte_free_tlb(tlb, table); break;
	case 1: ___pmd_free_tlb(tlb, table); break;
	case 2: ___pud_free_tlb(tlb, table); break;
	}
}

#define each_entry(e, table, addr, next, end, shift)									\
	for (e = (table) + ((addr) >> (shift) & 511); (addr) < (end); e++, addr = next)					\
		if (next = min(((addr) | ((1UL << (shift)) - 1)) + 1, end), *e & _PAGE_PRESENT)

static void free_pmd_range(struct mmu_gather *tlb, unsigned long *pmd, unsigned long addr, unsigned long end, unsigned long floor,
			   unsigned long ceiling)
{
	unsigned long next, *e;

	each_entry(e, pmd, addr, next, end, 21)
		if (span_is_free(addr, 1UL << 21, floor, ceiling))
			free_table(tlb, e, addr, 0);
}

static void free_pud_range(struct mmu_gather *tlb, unsigned long *pud, unsigned long addr, unsigned long end, unsigned long floor,
			   unsigned long ceiling)
{
	unsigned long next, *e;

	each_entry(e, pud, addr, next, end, 30) {
		free_pmd_range(tlb, next_table(*e), addr, next, floor, ceiling);
		if (span_is_free(addr, 1UL << 30, floor, ceiling))
			free_table(tlb, e, addr, 1);
	}
}

/* The usual range, within one table of ptes: what is above that is a chain, of which each link can go when the one below has. */
static __always_inline void free_chain(struct mmu_gather *tlb, unsigned long addr, unsigned long floor, unsigned long ceiling)
{
	unsigned long *chain[3], **e = chain + 2, span = 1UL << 21;

	*e = pgd_offset(tlb->mm, addr);
	if (!(**e & _PAGE_PRESENT))
		return;
	e[-1] = next_table(**e) + (addr >> 30 & 511);
	if (*e[-1] & _PAGE_PRESENT) {
		e--;
		e[-1] = next_table(**e) + (addr >> 21 & 511);
		if (*e[-1] & _PAGE_PRESENT)
			e--;
	}
	for (span <<= 9 * (e - chain); e < chain + 3 && span_is_free(addr, span, floor, ceiling); e++, span <<= 9)
		free_table(tlb, *e, addr, e - chain);
}

static noinline void free_pgd_range(struct mmu_gather *tlb, unsigned long addr, unsigned long end, unsigned long floor, unsigned long ceiling)
{
	unsigned long next, *e;

	if (likely(addr >> 21 == (end - 1) >> 21))
		return free_chain(tlb, addr, floor, ceiling);
	each_entry(e, (unsigned long *)tlb->mm->pgd, addr, next, end, 39) {
		free_pud_range(tlb, next_table(*e), addr, next, floor, ceiling);
		if (span_is_free(addr, 1UL << 39, floor, ceiling))
			free_table(tlb, e, addr, 2);
	}
}

#define PMD_SIZE (1UL << 21)

/* vmas: what has been unmapped, in order. Areas that are near each other are walked as one. */
void free_pgtables(struct mmu_gather *tlb, struct list_head *vmas, unsigned long floor, unsigned long ceiling)
{
	struct vm_area_struct *vma, *next;
	unsigned long addr, end;

	for (vma = list_first_entry(vmas, struct vm_area_struct, vm_list); &vma->vm_list != vmas; vma = next) {
		addr = vma->vm_start;
		do {
			unlink_file_vma(vma);
			end = vma->vm_end;
			vma = next = list_next_entry(vma, vm_list);
		} while (&next->vm_list != vmas && next->vm_start <= end + PMD_SIZE);
		free_pgd_range(tlb, addr, end, floor, &next->vm_list == vmas ? ceiling : next->vm_start);
	}
}

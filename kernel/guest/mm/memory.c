/*
 * Page tables and faults (mm/memory.c, arch/x86/mm/pgtable.c). page_table_lock protects an mm's tables; who adds or
 * removes VMAs holds mmap_lock for writing, faults hold it for reading.
 */
#include "mm.h"
#include "fs.h"
#include "truth.h"

struct mm_struct init_mm = {
	.mmap = LIST_HEAD_INIT(init_mm.mmap),
	.mm_users = ATOMIC_INIT(2),
	.mm_count = ATOMIC_INIT(1),
	.mmap_lock = __RWSEM_INITIALIZER(init_mm.mmap_lock),
};

#define PTRS_PER_PGD 512
static inline unsigned long *pgd_offset(struct mm_struct *mm, unsigned long a) { return (unsigned long *)mm->pgd + (a >> 39 & 511); }
static inline unsigned long *next_table(unsigned long e) { return __va(e & PTE_PFN_MASK); }

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

/* Puts a new table into an empty entry; who comes second gives his back. */
static __always_inline void install_table(struct mm_struct *mm, unsigned long *entry, unsigned long table)
{
	spin_lock(&mm->page_table_lock);
	if (*entry & _PAGE_PRESENT)
		free_page(table);
	else
		WRITE_ONCE(*entry, __pa(table) | _PAGE_TABLE);
	spin_unlock(&mm->page_table_lock);
}

static noinline int __pud_alloc(struct mm_struct *mm, unsigned long *pgd, unsigned long address)
{
	unsigned long new = get_zeroed_page(GFP_KERNEL_ACCOUNT);

	if (!new)
		return -ENOMEM;
	install_table(mm, pgd, new);
	return 0;
}

static noinline int __pmd_alloc(struct mm_struct *mm, unsigned long *pud, unsigned long address)
{
	struct page *new = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);

	if (!new)
		return -ENOMEM;
	install_table(mm, pud, (unsigned long)page_address(new));
	return 0;
}

static noinline struct page *pte_alloc_one(struct mm_struct *mm)
{
	return alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);
}

static noinline void pmd_install(struct mm_struct *mm, pmd_t *pmd, struct page **pte)
{
	install_table(mm, &pmd->pmd, (unsigned long)page_address(*pte));
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

/* The pte's place, or NULL when a table is missing. */
pte_t *pte_lookup(struct mm_struct *mm, unsigned long addr)
{
	unsigned long *e = pgd_offset(mm, addr);
	int shift;

	for (shift = 30; shift >= 12; shift -= 9) {
		if (!(*e & _PAGE_PRESENT))
			return NULL;
		e = next_table(*e) + (addr >> shift & 511);
	}
	return (pte_t *)e;
}

void clear_user_highpage(struct page *page, unsigned long vaddr)
{
	clear_page(page_address(page));
}

void copy_user_highpage(struct page *to, struct page *from, unsigned long vaddr)
{
	copy_page(page_address(to), page_address(from));
}

static pte_t maybe_mkwrite(pte_t pte, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		pte.pte |= _PAGE_RW;
	return pte;
}

/* page_table_lock held: nobody has filled the entry meanwhile? */
static bool set_pte_if_unchanged(struct vm_fault *vmf, pte_t entry)
{
	if (vmf->pte->pte != vmf->orig_pte.pte)
		return false;
	set_pte(vmf->pte, entry);
	return true;
}

static noinline struct page *vma_alloc_folio(gfp_t gfp, int order, struct vm_area_struct *vma, unsigned long addr)
{
	return __alloc_pages(gfp, order, 0, NULL);
}

/* The task counts for itself; the mm's counter, which others share, is brought up to date now and then. */
static noinline void add_mm_counter_fast(struct mm_struct *mm, long val)
{
	if (likely(current->mm == mm))
		current->rss_delta += val;
	else
		atomic_long_add(val, &mm->rss);
}

void sync_mm_rss(struct mm_struct *mm)
{
	if (current->rss_delta)
		atomic_long_add(current->rss_delta, &mm->rss);
	current->rss_delta = 0;
}

#define TASK_RSS_EVENTS_THRESH 64
static void check_sync_rss_stat(struct task_struct *task)
{
	if (unlikely(task->rss_delta > TASK_RSS_EVENTS_THRESH))
		sync_mm_rss(task->mm);
}

/* The page's first mapping: it is anonymous and ours alone. index = its place in the area, as for file pages. */
static noinline void page_add_new_anon_rmap(struct page *page, struct vm_area_struct *vma, unsigned long address)
{
	page->flags |= BIT(PG_anon) | BIT(PG_swapbacked);
	page->index = ((address - vma->vm_start) >> PAGE_SHIFT) + vma->vm_pgoff;
	atomic_set(&page->_mapcount, 1);
}

static noinline void page_add_file_rmap(struct page *page)
{
	atomic_inc(&page->_mapcount);
}

static noinline void page_remove_rmap(struct page *page)
{
	atomic_dec(&page->_mapcount);
}

/* The struct page behind an entry, NULL for frames that have none to count. */
static noinline struct page *vm_normal_page(struct vm_area_struct *vma, unsigned long addr, pte_t pte)
{
	return pte_pfn(pte) < max_pfn ? pte_page(pte) : NULL;
}

static vm_fault_t do_anonymous_page(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	struct page *page = vma_alloc_folio(GFP_HIGHUSER_MOVABLE, 0, vma, vmf->address);
	pte_t entry;
	bool won;

	if (!page)
		return VM_FAULT_OOM;
	clear_user_highpage(page, vmf->address);
	entry = maybe_mkwrite(mk_pte(page, vma->vm_page_prot), vma);
	if (vma->vm_flags & VM_WRITE)
		entry.pte |= _PAGE_DIRTY;
	spin_lock(&mm->page_table_lock);
	won = set_pte_if_unchanged(vmf, entry);
	if (won) {
		add_mm_counter_fast(mm, 1);
		page_add_new_anon_rmap(page, vma, vmf->address);
	}
	spin_unlock(&mm->page_table_lock);
	if (!won)
		put_page(page);
	return 0;
}

static noinline vm_fault_t wp_page_copy(struct vm_fault *vmf, struct page *old_page)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	struct page *new_page = vma_alloc_folio(GFP_HIGHUSER_MOVABLE, 0, vma, vmf->address);
	bool won;

	if (!new_page) {
		put_page(old_page);
		return VM_FAULT_OOM;
	}
	copy_user_highpage(new_page, old_page, vmf->address);
	spin_lock(&mm->page_table_lock);
	won = set_pte_if_unchanged(vmf, (pte_t){ maybe_mkwrite(mk_pte(new_page, vma->vm_page_prot), vma).pte | _PAGE_DIRTY | _PAGE_ACCESSED });
	if (won) {
		page_add_new_anon_rmap(new_page, vma, vmf->address);
		page_remove_rmap(old_page);
	}
	spin_unlock(&mm->page_table_lock);
	if (won) {
		flush_tlb_page(vma, vmf->address);
		put_page(old_page);		/* the table's reference */
	} else {
		put_page(new_page);
	}
	put_page(old_page);
	return 0;
}

static void wp_page_reuse(struct vm_fault *vmf)
{
	set_pte(vmf->pte, ((pte_t){ vmf->orig_pte.pte | _PAGE_RW | _PAGE_DIRTY | _PAGE_ACCESSED }));
}

/* A write to a present, read-only entry of a writable mapping: the last owner takes the page, others copy it. */
static noinline vm_fault_t do_wp_page(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	struct page *page = pte_page(vmf->orig_pte);

	spin_lock(&mm->page_table_lock);
	if (vmf->pte->pte != vmf->orig_pte.pte) {
		spin_unlock(&mm->page_table_lock);
		return 0;
	}
	if ((vma->vm_flags & VM_SHARED) || (PageAnon(page) && page_count(page) == 1)) {
		wp_page_reuse(vmf);
		spin_unlock(&mm->page_table_lock);
		__invlpg(vmf->address);
		return 0;
	}
	get_page(page);
	spin_unlock(&mm->page_table_lock);
	return wp_page_copy(vmf, page);
}

static noinline vm_fault_t __do_fault(struct vm_fault *vmf)
{
	return vmf->vma->vm_ops->fault(vmf);
}

static noinline vm_fault_t finish_fault(struct vm_fault *vmf, struct page *page)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	pte_t entry = mk_pte(page, vma->vm_page_prot);

	if (vmf->flags & FAULT_FLAG_WRITE) {
		entry = maybe_mkwrite(entry, vma);
		entry.pte |= _PAGE_DIRTY;
	}
	spin_lock(&mm->page_table_lock);
	if (!set_pte_if_unchanged(vmf, entry)) {
		spin_unlock(&mm->page_table_lock);
		put_page(page);
		return 0;
	}
	add_mm_counter_fast(mm, 1);
	if (vmf->cow_page)
		page_add_new_anon_rmap(page, vma, vmf->address);
	else
		page_add_file_rmap(page);
	spin_unlock(&mm->page_table_lock);
	return 0;
}

static vm_fault_t do_read_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = __do_fault(vmf);

	return ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE) ? ret : finish_fault(vmf, vmf->page);
}

static vm_fault_t do_cow_fault(struct vm_fault *vmf)
{
	struct page *cow = vma_alloc_folio(GFP_HIGHUSER_MOVABLE, 0, vmf->vma, vmf->address);
	vm_fault_t ret;

	if (!cow)
		return VM_FAULT_OOM;
	ret = __do_fault(vmf);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)) {
		put_page(cow);
		return ret;
	}
	copy_user_highpage(cow, vmf->page, vmf->address);
	vmf->cow_page = cow;
	put_page(vmf->page);
	return finish_fault(vmf, cow);
}

static vm_fault_t do_shared_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = __do_fault(vmf);

	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE))
		return ret;
	SetPageDirty(vmf->page);
	return finish_fault(vmf, vmf->page);
}

static noinline vm_fault_t do_fault(struct vm_fault *vmf)
{
	if (!vmf->vma->vm_ops->fault)
		return VM_FAULT_SIGBUS;
	if (!(vmf->flags & FAULT_FLAG_WRITE))
		return do_read_fault(vmf);
	if (!(vmf->vma->vm_flags & VM_SHARED))
		return do_cow_fault(vmf);
	return do_shared_fault(vmf);
}

static vm_fault_t handle_pte_fault(struct vm_fault *vmf)
{
	struct mm_struct *mm = vmf->vma->vm_mm;

	if (!(vmf->pmd->pmd & _PAGE_PRESENT) && __pte_alloc(mm, vmf->pmd))
		return VM_FAULT_OOM;
	vmf->pte = (pte_t *)next_table(vmf->pmd->pmd) + (vmf->address >> PAGE_SHIFT & 511);
	vmf->orig_pte.pte = READ_ONCE(vmf->pte->pte);
	if (pte_none(vmf->orig_pte))
		return vmf->vma->vm_ops ? do_fault(vmf) : do_anonymous_page(vmf);
	if (vmf->flags & FAULT_FLAG_WRITE && !pte_write(vmf->orig_pte))
		return do_wp_page(vmf);
	__invlpg(vmf->address);		/* another CPU was faster; our TLB entry is stale */
	return 0;
}

static noinline vm_fault_t __handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	struct vm_fault vmf = {
		.vma = vma, .address = address & PAGE_MASK, .flags = flags,
		.pgoff = ((address - vma->vm_start) >> PAGE_SHIFT) + vma->vm_pgoff,
	};

	vmf.pmd = pmd_alloc_addr(vma->vm_mm, address);
	if (!vmf.pmd)
		return VM_FAULT_OOM;
	return handle_pte_fault(&vmf);
}

vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags, struct pt_regs *regs)
{
	KSCOPE_TRUTH(handle_mm_fault);
	__set_current_state(TASK_RUNNING);
	check_sync_rss_stat(current);
	return __handle_mm_fault(vma, address, flags);
}

/* One entry, both tables locked. */
static __always_inline void copy_present_pte(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma, pte_t *dst, pte_t *src,
					     unsigned long addr, bool cow)
{
	struct page *page = vm_normal_page(src_vma, addr, *src);

	if (page) {
		get_page(page);
		atomic_inc(&page->_mapcount);
		atomic_long_inc(&dst_vma->vm_mm->rss);
	}
	if (cow)
		src->pte &= ~_PAGE_RW;
	set_pte(dst, *src);
}

/* fork: the child gets the parent's entries; private writable ones become read-only in both. */
static int copy_pte_range(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma, unsigned long addr, unsigned long end)
{
	struct mm_struct *src_mm = src_vma->vm_mm, *dst_mm = dst_vma->vm_mm;
	bool cow = (src_vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
	pte_t *src = pte_lookup(src_mm, addr), *dst;
	pmd_t *pmd;

	if (!src)
		return 0;
	pmd = pmd_alloc_addr(dst_mm, addr);
	if (!pmd || (!(pmd->pmd & _PAGE_PRESENT) && __pte_alloc(dst_mm, pmd)))
		return -ENOMEM;
	dst = (pte_t *)next_table(pmd->pmd) + (addr >> PAGE_SHIFT & 511);
	spin_lock(&dst_mm->page_table_lock);
	spin_lock(&src_mm->page_table_lock);
	for (; addr < end; addr += PAGE_SIZE, src++, dst++) {
		if (pte_present(*src))
			copy_present_pte(dst_vma, src_vma, dst, src, addr, cow);
	}
	spin_unlock(&src_mm->page_table_lock);
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
	pte_t *pte = pte_lookup(mm, addr);
	long zapped = 0;

	if (!pte)
		return;
	spin_lock(&mm->page_table_lock);
	for (; addr < end; addr += PAGE_SIZE, pte++) {
		struct page *page;

		if (!pte_present(*pte))
			continue;
		page = vm_normal_page(vma, addr, *pte);
		set_pte(pte, (pte_t){ 0 });
		if (page) {
			page_remove_rmap(page);
			tlb_remove_page(tlb, page, addr);
			zapped++;
		}
	}
	spin_unlock(&mm->page_table_lock);
	atomic_long_add(-zapped, &mm->rss);
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

/*
 * Frees the tables below table (level 3 = pgd … 1 = pmd) that map addr … end and nothing outside floor … ceiling, where no
 * area is left.
 */
static void free_table_range(struct mmu_gather *tlb, unsigned long *table, int level, unsigned long addr, unsigned long end,
			     unsigned long floor, unsigned long ceiling)
{
	int shift = 12 + 9 * level;
	unsigned long span = 1UL << shift, at;

	for (at = ALIGN_DOWN(addr, span); at < end; at += span) {
		unsigned long *entry = table + (at >> shift & 511);

		if (!(*entry & _PAGE_PRESENT))
			continue;
		if (level > 1)
			free_table_range(tlb, next_table(*entry), level - 1, max(addr, at), min(end, at + span), floor, ceiling);
		if (at >= floor && at + span <= ceiling) {
			unsigned long *child = next_table(*entry);

			WRITE_ONCE(*entry, 0UL);
			tlb_remove_table(tlb, virt_to_page(child), at);
		}
	}
}

static noinline void free_pgd_range(struct mmu_gather *tlb, unsigned long addr, unsigned long end, unsigned long floor, unsigned long ceiling)
{
	free_table_range(tlb, (unsigned long *)tlb->mm->pgd, 3, addr, end, floor, ceiling);
}

/* vmas: what has been unmapped, in order. */
void free_pgtables(struct mmu_gather *tlb, struct list_head *vmas, unsigned long floor, unsigned long ceiling)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, vmas, vm_list) {
		bool last = list_is_last(&vma->vm_list, vmas);

		free_pgd_range(tlb, vma->vm_start, vma->vm_end, floor, last ? ceiling : list_next_entry(vma, vm_list)->vm_start);
	}
}

/* Pages of another mm, faulted in as needed; the caller puts them. mmap_lock held for reading. */
long get_user_pages_remote(struct mm_struct *mm, unsigned long start, unsigned long nr_pages, unsigned int gup_flags, struct page **pages)
{
	unsigned long i;

	for (i = 0; i < nr_pages; i++, start += PAGE_SIZE) {
		struct vm_area_struct *vma = find_vma(mm, start);	/* find_extend_vma */
		bool write = gup_flags & FOLL_WRITE;
		pte_t *pte;

		if (!vma || (vma->vm_start > start && (!(vma->vm_flags & VM_GROWSDOWN) || expand_stack(vma, start))))
			return i ? (long)i : -EFAULT;
		if (write && !(vma->vm_flags & VM_WRITE) && !(gup_flags & FOLL_FORCE))
			return i ? (long)i : -EFAULT;
		while (!(pte = pte_lookup(mm, start)) || !pte_present(*pte) || (write && !pte_write(*pte))) {
			if (handle_mm_fault(vma, start, (write ? FAULT_FLAG_WRITE : 0) | FAULT_FLAG_REMOTE, NULL) & VM_FAULT_ERROR)
				return i ? (long)i : -EFAULT;
		}
		pages[i] = pte_page(*pte);
		get_page(pages[i]);
	}
	return nr_pages;
}

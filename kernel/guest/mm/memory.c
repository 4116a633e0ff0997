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

/* One level: the entry's table, allocated when missing. */
static unsigned long *table_alloc(struct mm_struct *mm, unsigned long *entry)
{
	if (!(*entry & _PAGE_PRESENT)) {
		unsigned long new = get_zeroed_page(GFP_KERNEL_ACCOUNT);

		if (!new)
			return NULL;
		spin_lock(&mm->page_table_lock);
		if (*entry & _PAGE_PRESENT)
			free_page(new);
		else
			WRITE_ONCE(*entry, __pa(new) | _PAGE_TABLE);
		spin_unlock(&mm->page_table_lock);
	}
	return next_table(*entry);
}

static noinline unsigned long *__pmd_alloc(struct mm_struct *mm, unsigned long addr)
{
	unsigned long *pud = table_alloc(mm, pgd_offset(mm, addr)), *pmd;

	if (!pud)
		return NULL;
	pmd = table_alloc(mm, pud + (addr >> 30 & 511));
	return pmd ? pmd + (addr >> 21 & 511) : NULL;
}

int __pte_alloc(struct mm_struct *mm, pmd_t *pmd)
{
	return table_alloc(mm, &pmd->pmd) ? 0 : -ENOMEM;
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

static noinline vm_fault_t do_anonymous_page(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	struct page *page = alloc_page(GFP_HIGHUSER_MOVABLE);
	pte_t entry;
	bool won;

	if (!page)
		return VM_FAULT_OOM;
	clear_user_highpage(page, vmf->address);
	set_bit(PG_anon, &page->flags);
	entry = maybe_mkwrite(mk_pte(page, vma->vm_page_prot), vma);
	if (vma->vm_flags & VM_WRITE)
		entry.pte |= _PAGE_DIRTY;
	spin_lock(&mm->page_table_lock);
	won = set_pte_if_unchanged(vmf, entry);
	if (won)
		atomic_inc(&page->_mapcount);
	spin_unlock(&mm->page_table_lock);
	if (won)
		atomic_long_inc(&mm->rss);
	else
		put_page(page);
	return 0;
}

static noinline vm_fault_t wp_page_copy(struct vm_fault *vmf, struct page *old_page)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	struct page *new_page = alloc_page(GFP_HIGHUSER_MOVABLE);
	bool won;

	if (!new_page) {
		put_page(old_page);
		return VM_FAULT_OOM;
	}
	copy_user_highpage(new_page, old_page, vmf->address);
	set_bit(PG_anon, &new_page->flags);
	spin_lock(&mm->page_table_lock);
	won = set_pte_if_unchanged(vmf, (pte_t){ maybe_mkwrite(mk_pte(new_page, vma->vm_page_prot), vma).pte | _PAGE_DIRTY | _PAGE_ACCESSED });
	if (won) {
		atomic_inc(&new_page->_mapcount);
		atomic_dec(&old_page->_mapcount);
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

static vm_fault_t __do_fault(struct vm_fault *vmf)
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
	atomic_inc(&page->_mapcount);
	spin_unlock(&mm->page_table_lock);
	atomic_long_inc(&mm->rss);
	return 0;
}

static noinline vm_fault_t do_read_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = __do_fault(vmf);

	return ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE) ? ret : finish_fault(vmf, vmf->page);
}

static noinline vm_fault_t do_cow_fault(struct vm_fault *vmf)
{
	struct page *cow = alloc_page(GFP_HIGHUSER_MOVABLE);
	vm_fault_t ret;

	if (!cow)
		return VM_FAULT_OOM;
	ret = __do_fault(vmf);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)) {
		put_page(cow);
		return ret;
	}
	copy_user_highpage(cow, vmf->page, vmf->address);
	set_bit(PG_anon, &cow->flags);
	put_page(vmf->page);
	return finish_fault(vmf, cow);
}

static noinline vm_fault_t do_shared_fault(struct vm_fault *vmf)
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

static noinline vm_fault_t handle_pte_fault(struct vm_fault *vmf)
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

	vmf.pmd = (pmd_t *)__pmd_alloc(vma->vm_mm, address);
	if (!vmf.pmd)
		return VM_FAULT_OOM;
	return handle_pte_fault(&vmf);
}

vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags, struct pt_regs *regs)
{
	KSCOPE_TRUTH(handle_mm_fault);
	__set_current_state(TASK_RUNNING);
	return __handle_mm_fault(vma, address, flags);
}

/* fork: the child gets the parent's entries; private writable ones become read-only in both. */
static noinline int copy_pte_range(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma, unsigned long addr, unsigned long end)
{
	struct mm_struct *src_mm = src_vma->vm_mm, *dst_mm = dst_vma->vm_mm;
	bool cow = (src_vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
	pte_t *src = pte_lookup(src_mm, addr), *dst;
	pmd_t *pmd;

	if (!src)
		return 0;
	pmd = (pmd_t *)__pmd_alloc(dst_mm, addr);
	if (!pmd || __pte_alloc(dst_mm, pmd))
		return -ENOMEM;
	dst = (pte_t *)next_table(pmd->pmd) + (addr >> PAGE_SHIFT & 511);
	spin_lock(&src_mm->page_table_lock);
	for (; addr < end; addr += PAGE_SIZE, src++, dst++) {
		struct page *page;

		if (!pte_present(*src))
			continue;
		page = pte_page(*src);
		if (cow)
			src->pte &= ~_PAGE_RW;
		get_page(page);
		atomic_inc(&page->_mapcount);
		set_pte(dst, *src);
		atomic_long_inc(&dst_mm->rss);
	}
	spin_unlock(&src_mm->page_table_lock);
	return 0;
}

int copy_page_range(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma)
{
	unsigned long addr = src_vma->vm_start, next;

	for (; addr < src_vma->vm_end; addr = next) {
		next = min(ALIGN_DOWN(addr, 0x200000UL) + 0x200000UL, src_vma->vm_end);
		if (copy_pte_range(dst_vma, src_vma, addr, next))
			return -ENOMEM;
	}
	return 0;
}

/* Clears entries; the pages are freed by the caller's list after the TLB flush (mmu_gather). */
static noinline unsigned long zap_pte_range(struct vm_area_struct *vma, unsigned long addr, unsigned long end, struct page **batch)
{
	struct mm_struct *mm = vma->vm_mm;
	pte_t *pte = pte_lookup(mm, addr);
	unsigned long n = 0;

	if (!pte)
		return 0;
	spin_lock(&mm->page_table_lock);
	for (; addr < end; addr += PAGE_SIZE, pte++) {
		if (!pte_present(*pte))
			continue;
		batch[n] = pte_page(*pte);
		atomic_dec(&batch[n++]->_mapcount);
		set_pte(pte, (pte_t){ 0 });
	}
	spin_unlock(&mm->page_table_lock);
	return n;
}

void unmap_page_range(struct vm_area_struct *vma, unsigned long addr, unsigned long end)
{
	struct page **batch = (struct page **)__get_free_page(GFP_KERNEL);
	struct mm_struct *mm = vma->vm_mm;
	unsigned long next, n;

	for (; addr < end; addr = next) {
		next = min(ALIGN_DOWN(addr, 0x200000UL) + 0x200000UL, end);
		n = zap_pte_range(vma, addr, next, batch);
		if (!n)
			continue;
		if (atomic_read(&mm->mm_users))
			flush_tlb_mm_range(mm, addr, next, PAGE_SHIFT, false);
		atomic_long_add(-n, &mm->rss);
		while (n)
			put_page(batch[--n]);
	}
	free_page((unsigned long)batch);
}

static void free_table(unsigned long *table, int level)
{
	int i;

	for (i = 0; level && i < 512; i++) {
		if (table[i] & _PAGE_PRESENT)
			free_table(next_table(table[i]), level - 1);
	}
	free_page((unsigned long)table);
}

/* The whole user half, at exit: no VMA is left. */
void free_pgtables(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	unsigned long *pgd = (unsigned long *)mm->pgd;
	int i;

	flush_tlb_mm(mm);
	for (i = 0; i < 256; i++) {
		if (pgd[i] & _PAGE_PRESENT) {
			free_table(next_table(pgd[i]), 2);
			pgd[i] = 0;
		}
	}
}

/* Pages of another mm, faulted in as needed; the caller puts them. mmap_lock held for reading. */
long get_user_pages_remote(struct mm_struct *mm, unsigned long start, unsigned long nr_pages, unsigned int gup_flags, struct page **pages)
{
	unsigned long i;

	for (i = 0; i < nr_pages; i++, start += PAGE_SIZE) {
		struct vm_area_struct *vma = find_vma(mm, start);
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

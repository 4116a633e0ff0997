/*
 * Page tables and faults (mm/memory.c, arch/x86/mm/pgtable.c). page_table_lock protects an mm's tables; who adds or
 * removes VMAs holds mmap_lock for writing, faults hold it for reading.
 */
#include "pgtable.h"
#include "pagemap.h"
#include "tracepoint.h"
#include "truth.h"
#include "rmap.h"
#include "vmstat.h"

void clear_user_highpage(struct page *page, unsigned long vaddr)
{
	clear_page(page_address(page));
}

void copy_user_highpage(struct page *to, struct page *from, unsigned long vaddr)
{
	copy_page(page_address(to), page_address(from));
}

/* The number of bytes not copied because the memory is broken, which this machine's never is. */
static noinline unsigned long copy_mc_to_kernel(void *dst, const void *src, unsigned int len)
{
	memcpy(dst, src, len);
	return 0;
}

static __always_inline bool copy_mc_user_highpage(struct page *to, struct page *from)
{
	return !copy_mc_to_kernel(page_address(to), page_address(from), PAGE_SIZE);
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

static noinline struct page *__folio_alloc(gfp_t gfp, unsigned int order, int preferred_nid, void *nodemask)
{
	return __alloc_pages(gfp | __GFP_COMP, order, preferred_nid, nodemask);
}

static noinline struct page *vma_alloc_folio(gfp_t gfp, int order, struct vm_area_struct *vma, unsigned long addr)
{
	return __folio_alloc(gfp, order, 0, NULL);
}

/* The task counts for itself; the mm's counters, which others share, are brought up to date now and then. */
static noinline void add_mm_counter_fast(struct mm_struct *mm, int member, int val)
{
	if (likely(current->mm == mm))
		current->rss_delta[member] += val;
	else
		add_mm_counter(mm, member, val);
}

noinline void mm_trace_rss_stat(struct mm_struct *mm, int member, long count)
{
	trace_rss_stat(mm, member, count);
}

void sync_mm_rss(struct mm_struct *mm)
{
	int i;

	for (i = 0; i < NR_MM_COUNTERS; i++) {
		if (current->rss_delta[i]) {
			add_mm_counter(mm, i, current->rss_delta[i]);
			current->rss_delta[i] = 0;
		}
	}
}

#define TASK_RSS_EVENTS_THRESH 64
static void check_sync_rss_stat(struct task_struct *task)
{
	if (unlikely(task->rss_delta[MM_FILEPAGES] + task->rss_delta[MM_ANONPAGES] > TASK_RSS_EVENTS_THRESH))
		sync_mm_rss(task->mm);
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
		add_mm_counter_fast(mm, MM_ANONPAGES, 1);
		page_add_new_anon_rmap(page, vma, vmf->address);
	}
	spin_unlock(&mm->page_table_lock);
	if (!won)
		put_page(page);
	return 0;
}

/* page_table_lock held: nobody uses the old entry any more when it returns. */
noinline pte_t ptep_clear_flush(struct vm_area_struct *vma, unsigned long address, pte_t *ptep)
{
	pte_t pte = { xchg(&ptep->pte, 0UL) };

	flush_tlb_page(vma, address);
	return pte;
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
	if (!copy_mc_user_highpage(new_page, old_page)) {
		put_page(new_page);
		put_page(old_page);
		return VM_FAULT_SIGBUS;
	}
	might_sleep();
	spin_lock(&mm->page_table_lock);
	won = vmf->pte->pte == vmf->orig_pte.pte;
	if (likely(won)) {
		if (!PageAnon(old_page)) {
			add_mm_counter_fast(mm, MM_FILEPAGES, -1);
			add_mm_counter_fast(mm, MM_ANONPAGES, 1);
		}
		/* The old page's last writer or reader on another CPU is done before the new one can be seen. */
		ptep_clear_flush(vma, vmf->address, vmf->pte);
		page_add_new_anon_rmap(new_page, vma, vmf->address);
		set_pte(vmf->pte, ((pte_t){ maybe_mkwrite(mk_pte(new_page, vma->vm_page_prot), vma).pte | _PAGE_DIRTY | _PAGE_ACCESSED }));
		page_remove_rmap(old_page, vma);
	}
	spin_unlock(&mm->page_table_lock);
	put_page(won ? old_page : new_page);	/* the table's reference, or what came too late */
	put_page(old_page);
	return 0;
}

static void wp_page_reuse(struct vm_fault *vmf)
{
	set_pte(vmf->pte, ((pte_t){ vmf->orig_pte.pte | _PAGE_RW | _PAGE_DIRTY | _PAGE_ACCESSED }));
	__invlpg(vmf->address);
}

/* The file system may refuse the write, or must know of it. The page is locked and still the file's when this returns VM_FAULT_LOCKED. */
static noinline vm_fault_t do_page_mkwrite(struct vm_fault *vmf)
{
	struct page *page = vmf->page;
	vm_fault_t ret;

	ret = vmf->vma->vm_ops->page_mkwrite(vmf);
	if (unlikely(ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_LOCKED)))
		return ret;
	lock_page(page);
	if (!page->mapping) {
		unlock_page(page);
		return 0;		/* truncated meanwhile: try again */
	}
	return VM_FAULT_LOCKED;
}

/* A page of a shared mapping, with a reference that goes. */
static vm_fault_t wp_page_shared(struct vm_fault *vmf)
{
	struct mm_struct *mm = vmf->vma->vm_mm;
	vm_fault_t ret = 0;

	if (vmf->vma->vm_ops && vmf->vma->vm_ops->page_mkwrite) {
		ret = do_page_mkwrite(vmf);
		if (!ret || ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)) {
			put_page(vmf->page);
			return ret;
		}
	} else {
		SetPageDirty(vmf->page);
	}
	spin_lock(&mm->page_table_lock);
	if (vmf->pte->pte == vmf->orig_pte.pte)
		wp_page_reuse(vmf);
	spin_unlock(&mm->page_table_lock);
	if (ret & VM_FAULT_LOCKED)
		unlock_page(vmf->page);
	put_page(vmf->page);
	return 0;
}

/* A write to a present, read-only entry of a writable mapping: the last owner takes the page, others copy it. */
static noinline vm_fault_t do_wp_page(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct mm_struct *mm = vma->vm_mm;
	struct page *page;

	spin_lock(&mm->page_table_lock);
	if (vmf->pte->pte != vmf->orig_pte.pte) {
		spin_unlock(&mm->page_table_lock);
		return 0;
	}
	page = vmf->page = vm_normal_page(vma, vmf->address, vmf->orig_pte);
	if (!page || (PageAnon(page) && page_count(page) == 1)) {
		wp_page_reuse(vmf);
		spin_unlock(&mm->page_table_lock);
		return 0;
	}
	get_page(page);
	spin_unlock(&mm->page_table_lock);
	return vma->vm_flags & VM_SHARED ? wp_page_shared(vmf) : wp_page_copy(vmf, page);
}

/* The page comes locked, so that a truncation waits until it is mapped and then unmaps it. */
static noinline vm_fault_t __do_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = vmf->vma->vm_ops->fault(vmf);

	if (!(ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_LOCKED)))
		lock_page(vmf->page);
	return ret;
}

/* page_table_lock held, the entry is empty; the page's reference goes to the table. */
void do_set_pte(struct vm_fault *vmf, struct page *page, unsigned long addr)
{
	struct vm_area_struct *vma = vmf->vma;
	bool write = vmf->flags & FAULT_FLAG_WRITE;
	pte_t entry = mk_pte(page, vma->vm_page_prot);

	if (write) {
		entry = maybe_mkwrite(entry, vma);
		entry.pte |= _PAGE_DIRTY;
	}
	if (write && !(vma->vm_flags & VM_SHARED)) {
		add_mm_counter_fast(vma->vm_mm, MM_ANONPAGES, 1);
		page_add_new_anon_rmap(page, vma, addr);
	} else {
		add_mm_counter_fast(vma->vm_mm, MM_FILEPAGES, 1);
		page_add_file_rmap(page, vma);
	}
	set_pte(vmf->pte, entry);
}

static noinline vm_fault_t finish_fault(struct vm_fault *vmf, struct page *page)
{
	struct mm_struct *mm = vmf->vma->vm_mm;
	bool won;

	spin_lock(&mm->page_table_lock);
	won = vmf->pte->pte == vmf->orig_pte.pte;
	if (likely(won))
		do_set_pte(vmf, page, vmf->address);
	spin_unlock(&mm->page_table_lock);
	if (!won)
		put_page(page);
	return 0;
}

#define FAULT_AROUND_PAGES 16

/* Maps what is cached of the 64 KiB around the address too: programs touch neighbours next. */
static __always_inline vm_fault_t do_fault_around(struct vm_fault *vmf)
{
	unsigned long address = max(ALIGN_DOWN(vmf->address, FAULT_AROUND_PAGES * PAGE_SIZE), vmf->vma->vm_start);
	unsigned long start_pgoff = vmf->pgoff - ((vmf->address - address) >> PAGE_SHIFT), end_pgoff;

	/* to the end of the window, which is within one table, or of the area */
	end_pgoff = start_pgoff + FAULT_AROUND_PAGES - 1 - (address >> PAGE_SHIFT) % FAULT_AROUND_PAGES;
	end_pgoff = min(end_pgoff, vmf->vma->vm_pgoff + ((vmf->vma->vm_end - vmf->vma->vm_start) >> PAGE_SHIFT) - 1);
	return vmf->vma->vm_ops->map_pages(vmf, start_pgoff, end_pgoff);
}

static vm_fault_t do_read_fault(struct vm_fault *vmf)
{
	vm_fault_t ret;

	if (vmf->vma->vm_ops->map_pages) {
		ret = do_fault_around(vmf);
		if (ret)
			return ret;
	}
	ret = __do_fault(vmf);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE))
		return ret;
	finish_fault(vmf, vmf->page);
	unlock_page(vmf->page);
	return 0;
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
	finish_fault(vmf, cow);
	unlock_page(vmf->page);
	put_page(vmf->page);
	return 0;
}

static vm_fault_t do_shared_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = __do_fault(vmf);

	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE))
		return ret;
	if (vmf->vma->vm_ops->page_mkwrite) {
		unlock_page(vmf->page);
		ret = do_page_mkwrite(vmf);
		if (!ret || ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)) {
			put_page(vmf->page);
			return ret;
		}
	} else {
		SetPageDirty(vmf->page);
	}
	finish_fault(vmf, vmf->page);
	unlock_page(vmf->page);
	return 0;
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

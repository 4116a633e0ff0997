/* Changing protection (mm/mprotect.c). mmap_lock is held for writing. */
#include "mm.h"
#include "syscalls.h"

/* Changes the entries' protection; writable pages fault once and are then reused or copied. */
static noinline void change_protection(struct mmu_gather *tlb, struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct mm_struct *mm = vma->vm_mm;
	unsigned long addr, next;

	for (addr = start; addr < end; addr = next) {
		next = min(ALIGN_DOWN(addr, 0x200000UL) + 0x200000UL, end);
		might_sleep();
		spin_lock(&mm->page_table_lock);
		for (; addr < next; addr += PAGE_SIZE) {
			pte_t *pte = pte_lookup(mm, addr);

			if (!pte || !pte_present(*pte))
				continue;
			set_pte(pte, ((pte_t){ (pte->pte & (PTE_PFN_MASK | _PAGE_DIRTY)) | vma->vm_page_prot.pgprot }));
			tlb_flush_range(tlb, addr, addr + PAGE_SIZE);
		}
		spin_unlock(&mm->page_table_lock);
		cond_resched();
	}
}

/* start … end lies within the areas from vma on; each becomes an area of its own where only a part changes. */
static noinline int mprotect_fixup(struct mmu_gather *tlb, struct mm_struct *mm, struct vm_area_struct *vma, unsigned long start, unsigned long end,
				   unsigned long prot)
{
	if (vma->vm_start < start) {
		if (split_vma(mm, vma, start))
			return -ENOMEM;
		vma = list_next_entry(vma, vm_list);
	}
	if (vma->vm_end > end && split_vma(mm, vma, end))
		return -ENOMEM;
	vm_stat_account(mm, vma->vm_flags, -(long)((end - start) >> PAGE_SHIFT));
	vma->vm_flags = (vma->vm_flags & ~7UL) | prot;
	vm_stat_account(mm, vma->vm_flags, (end - start) >> PAGE_SHIFT);
	vma_set_page_prot(vma);
	change_protection(tlb, vma, vma->vm_start, vma->vm_end);
	return 0;
}

static noinline int do_mprotect_pkey(unsigned long start, size_t len, unsigned long prot)
{
	struct mm_struct *mm = current->mm;
	unsigned long end = start + PAGE_ALIGN(len), addr, next;
	struct vm_area_struct *vma;
	struct mmu_gather tlb;
	int error = 0;

	if (offset_in_page(start) || prot & ~7UL)
		return -EINVAL;
	if (!len)
		return 0;
	if (end <= start)
		return -ENOMEM;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	tlb_gather_mmu(&tlb, mm);
	for (addr = start; addr < end && !error; addr = next) {
		vma = vma_lookup(mm, addr);
		if (!vma) {
			error = -ENOMEM;
			break;
		}
		next = min(vma->vm_end, end);
		error = prot & ~(vma->vm_flags >> 4) ? -EACCES : mprotect_fixup(&tlb, mm, vma, addr, next, prot);
	}
	tlb_finish_mmu(&tlb);
	mmap_write_unlock(mm);
	return error;
}

SYSCALL_DEFINE3(mprotect, unsigned long, start, size_t, len, unsigned long, prot)
{
	return do_mprotect_pkey(start, len, prot);
}

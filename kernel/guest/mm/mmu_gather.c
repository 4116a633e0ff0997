/* Gathering pages to free behind a TLB flush (mm/mmu_gather.c). */
#include "mm.h"

static void __tlb_gather_mmu(struct mmu_gather *tlb, struct mm_struct *mm, bool fullmm)
{
	tlb->mm = mm;
	tlb->fullmm = fullmm;
	tlb->freed_tables = false;
	tlb->start = ~0UL;
	tlb->end = 0;
	tlb->nr = 0;
	tlb->max = MMU_GATHER_BUNDLE;
	tlb->pages = tlb->local;
}

void tlb_gather_mmu(struct mmu_gather *tlb, struct mm_struct *mm)
{
	__tlb_gather_mmu(tlb, mm, false);
}

/* For an address space that nobody uses any more. */
void tlb_gather_mmu_fullmm(struct mmu_gather *tlb, struct mm_struct *mm)
{
	__tlb_gather_mmu(tlb, mm, true);
}

static __always_inline void tlb_flush_mmu_tlbonly(struct mmu_gather *tlb)
{
	if (!tlb->end)
		return;
	if (tlb->fullmm)
		flush_tlb_mm_range(tlb->mm, 0, ~0UL, 0, true);
	else
		flush_tlb_mm_range(tlb->mm, tlb->start, tlb->end, PAGE_SHIFT, tlb->freed_tables);
	tlb->start = ~0UL;
	tlb->end = 0;
	tlb->freed_tables = false;
}

static noinline void tlb_batch_pages_flush(struct mmu_gather *tlb)
{
	release_pages(tlb->pages, tlb->nr);
	tlb->nr = 0;
}

static __always_inline void __tlb_flush_mmu(struct mmu_gather *tlb)
{
	tlb_flush_mmu_tlbonly(tlb);
	tlb_batch_pages_flush(tlb);
}

void tlb_flush_mmu(struct mmu_gather *tlb)
{
	__tlb_flush_mmu(tlb);
}

/* The bundle is full: a page takes the next ones, and what is in the bundle already. False: there is none, or it is full as well. */
bool tlb_next_batch(struct mmu_gather *tlb)
{
	struct page **batch = tlb->pages == tlb->local ? (struct page **)__get_free_page(GFP_NOWAIT | __GFP_NOWARN) : NULL;

	if (!batch)
		return false;
	memcpy(batch, tlb->local, sizeof(tlb->local));
	tlb->pages = batch;
	tlb->max = PAGE_SIZE / sizeof(struct page *);
	return true;
}

/* The page-table lock may be held by who flushes then: it sends IPIs and waits, which is fine with IRQs on. */
bool __tlb_remove_page_size(struct mmu_gather *tlb, struct page *page, int page_size)
{
	return tlb_gather(tlb, page);
}

void tlb_finish_mmu(struct mmu_gather *tlb)
{
	__tlb_flush_mmu(tlb);
	if (tlb->pages != tlb->local)
		free_page((unsigned long)tlb->pages);
}

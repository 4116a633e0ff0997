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

static __always_inline void tlb_flush_mmu(struct mmu_gather *tlb)
{
	tlb_flush_mmu_tlbonly(tlb);
	tlb_batch_pages_flush(tlb);
}

/* The bundle is full: a page takes the next ones, and what is in the bundle already; without memory, now is the time to flush. */
static noinline void tlb_next_batch(struct mmu_gather *tlb)
{
	struct page **batch = tlb->pages == tlb->local ? (struct page **)__get_free_page(GFP_NOWAIT | __GFP_NOWARN) : NULL;

	if (!batch) {
		tlb_flush_mmu(tlb);
		return;
	}
	memcpy(batch, tlb->local, sizeof(tlb->local));
	tlb->pages = batch;
	tlb->max = PAGE_SIZE / sizeof(struct page *);
}

static __always_inline void tlb_gather(struct mmu_gather *tlb, struct page *page, unsigned long addr, unsigned long size)
{
	unsigned int nr = tlb->nr;

	if (addr < tlb->start)
		tlb->start = addr;
	if (addr + size > tlb->end)
		tlb->end = addr + size;
	tlb->nr = nr + 1;
	tlb->pages[nr] = page;
	if (unlikely(nr + 1 == tlb->max))
		return tlb_next_batch(tlb);
}

/* The page-table lock may be held: a flush sends IPIs and waits, which is fine with IRQs on. */
void tlb_remove_page(struct mmu_gather *tlb, struct page *page, unsigned long addr)
{
	tlb_gather(tlb, page, addr, PAGE_SIZE);
}

void tlb_remove_table(struct mmu_gather *tlb, struct page *page, unsigned long addr)
{
	tlb->freed_tables = true;
	tlb_gather(tlb, page, addr, PAGE_SIZE);
}

/* Entries of the range have been changed, but no page is to be freed. */
void tlb_flush_range(struct mmu_gather *tlb, unsigned long start, unsigned long end)
{
	tlb->start = min(tlb->start, start);
	tlb->end = max(tlb->end, end);
}

void tlb_finish_mmu(struct mmu_gather *tlb)
{
	tlb_flush_mmu(tlb);
	if (tlb->pages != tlb->local)
		free_page((unsigned long)tlb->pages);
}

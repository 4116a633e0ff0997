/*
 * The buddy allocator (mm/page_alloc.c): free blocks of 2^order pages on zone->free_area, protected by zone->lock; each
 * CPU keeps a few single pages (pcp) that it takes and frees without the lock, IRQs off.
 */
#include "mm.h"
#include "tracepoint.h"
#include "vmstat.h"
#include "ratelimit.h"
#include "entry.h"

#define MAX_ORDER_NR_PAGES (1UL << (MAX_ORDER - 1))
#define PCP_BATCH 15
#define PCP_HIGH 60
#define NR_BATCHES 32

struct free_area { struct list_head free_list; unsigned long nr_free; };
struct per_cpu_pages { int count; struct list_head lists; };
/*
 * What one CPU's list has too many of is what another's will want: batches are chains of PCP_BATCH pages on their way between the two,
 * which need not be merged and halved again. A batch's first page's lru.prev is its last one.
 */
struct zone {
	spinlock_t lock;
	unsigned long managed_pages, free_pages;
	unsigned int nr_batches;
	struct list_head *batches[NR_BATCHES];
	struct free_area free_area[MAX_ORDER];
	const char *name;
};
static struct zone contig_zone = { .name = "DMA32" };
static DEFINE_PER_CPU(struct per_cpu_pages, boot_pageset);
struct page *mem_map;
unsigned long max_pfn;
unsigned long memblock_free_range(unsigned long *end);

unsigned long totalram_pages(void)
{
	return contig_zone.managed_pages;
}

unsigned long nr_free_pages(void)
{
	return READ_ONCE(contig_zone.free_pages);
}

/* What Linux would group the page by; there is one list here. */
static inline int gfp_migratetype(gfp_t gfp)
{
	return gfp >> 3 & 3;
}

static inline void set_buddy_order(struct page *page, unsigned int order)
{
	page->private = order;
	__set_bit(PG_buddy, &page->flags);
}

static inline void del_page_from_free_list(struct page *page, struct zone *zone, unsigned int order)
{
	list_del(&page->lru);
	__clear_bit(PG_buddy, &page->flags);
	page->private = 0;
	zone->free_area[order].nr_free--;
}

static inline void add_to_free_list(struct page *page, struct zone *zone, unsigned int order)
{
	list_add(&page->lru, &zone->free_area[order].free_list);
	zone->free_area[order].nr_free++;
}

/* zone->lock held: merges the block with its buddies as far as they are free. */
static noinline void __free_one_page(struct page *page, unsigned long pfn, struct zone *zone, unsigned int order)
{
	while (order < MAX_ORDER - 1) {
		unsigned long buddy_pfn = pfn ^ (1UL << order);
		struct page *buddy = pfn_to_page(buddy_pfn);

		if (buddy_pfn >= max_pfn || !PageBuddy(buddy) || buddy->private != order)
			break;
		del_page_from_free_list(buddy, zone, order);
		pfn &= buddy_pfn;
		page = pfn_to_page(pfn);
		order++;
	}
	set_buddy_order(page, order);
	add_to_free_list(page, zone, order);
}

/* Gives back the halves that the request does not need. */
static inline void expand(struct zone *zone, struct page *page, int low, int high)
{
	while (high > low) {
		high--;
		set_buddy_order(page + (1UL << high), high);
		add_to_free_list(page + (1UL << high), zone, high);
	}
}

static struct page *__rmqueue_smallest(struct zone *zone, unsigned int order)
{
	unsigned int current_order;

	for (current_order = order; current_order < MAX_ORDER; current_order++) {
		struct page *page = list_first_entry_or_null(&zone->free_area[current_order].free_list, struct page, lru);

		if (!page)
			continue;
		del_page_from_free_list(page, zone, current_order);
		expand(zone, page, order, current_order);
		zone->free_pages -= 1UL << order;
		trace_mm_page_alloc_zone_locked(page, order, 0, !order);
		return page;
	}
	return NULL;
}

static noinline int rmqueue_bulk(struct zone *zone, unsigned int order, unsigned long count, struct list_head *list)
{
	unsigned int i;

	spin_lock(&zone->lock);
	if (likely(zone->nr_batches)) {
		struct list_head *first = zone->batches[--zone->nr_batches], *last = first->prev, *at = first;

		for (i = 0; i < PCP_BATCH; i++, at = at->next)
			trace_mm_page_alloc_zone_locked(list_entry(at, struct page, lru), 0, 0, 1);
		first->prev = list;
		last->next = list;
		list->next = first;
		list->prev = last;
		zone->free_pages -= PCP_BATCH;
		spin_unlock(&zone->lock);
		return PCP_BATCH;
	}
	for (i = 0; i < count; i++) {
		struct page *page = __rmqueue_smallest(zone, order);

		if (!page)
			break;
		list_add_tail(&page->lru, list);
	}
	spin_unlock(&zone->lock);
	return i;
}

/* False: there is no memory. */
static noinline bool pcp_refill(struct zone *zone, struct per_cpu_pages *pcp)
{
	pcp->count += rmqueue_bulk(zone, 0, PCP_BATCH, &pcp->lists);
	return pcp->count;
}

static __always_inline struct page *rmqueue_pcplist(struct zone *zone)
{
	struct per_cpu_pages *pcp;
	struct page *page = NULL;
	unsigned long flags;

	local_irq_save(flags);
	pcp = this_cpu_ptr(&boot_pageset);
	if (likely(pcp->count) || pcp_refill(zone, pcp)) {
		page = list_first_entry(&pcp->lists, struct page, lru);
		__list_del(page->lru.prev, page->lru.next);
		pcp->count--;
	}
	local_irq_restore(flags);
	return page;
}

/* zone->lock held: the pages of the batches become blocks. */
static noinline void drain_batches(struct zone *zone)
{
	while (zone->nr_batches) {
		struct list_head *at = zone->batches[--zone->nr_batches], *last = at->prev, *next;

		for (;; at = next) {
			struct page *page = list_entry(at, struct page, lru);

			next = at->next;
			__free_one_page(page, page_to_pfn(page), zone, 0);
			if (at == last)
				break;
		}
	}
}

static noinline struct page *rmqueue_buddy(struct zone *zone, unsigned int order)
{
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&zone->lock, flags);
	page = __rmqueue_smallest(zone, order);
	if (unlikely(!page) && zone->nr_batches) {
		drain_batches(zone);
		page = __rmqueue_smallest(zone, order);
	}
	spin_unlock_irqrestore(&zone->lock, flags);
	return page;
}

static void prep_compound_page(struct page *page, unsigned int order)
{
	unsigned long i;

	__set_bit(PG_head, &page->flags);
	page->compound_order = order;
	for (i = 1; i < 1UL << order; i++)
		page[i].compound_head = (unsigned long)page | 1;
}

/* Who freed it has left flags, _mapcount and compound_head 0 (free_pages_prepare); lru, which was a list's, is mapping and index. */
static __always_inline void post_alloc_hook(struct page *page)
{
	page->mapping = NULL;
	page->index = 0;
	page->private = 0;
	atomic_set(&page->_refcount, 1);
}

static noinline struct page *prep_new_block(struct page *page, unsigned int order, gfp_t gfp_flags)
{
	unsigned long i;

	post_alloc_hook(page);
	if (gfp_flags & __GFP_ZERO) {
		for (i = 0; i < 1UL << order; i++)
			clear_page(page_address(page + i));
	}
	if (gfp_flags & __GFP_COMP)
		prep_compound_page(page, order);
	return page;
}

/* More than one page. */
static noinline struct page *rmqueue(struct zone *zone, unsigned int order, gfp_t gfp_mask)
{
	struct page *page = rmqueue_buddy(zone, order);

	return page ? prep_new_block(page, order, gfp_mask) : NULL;
}

static noinline struct page *get_page_from_freelist(gfp_t gfp_mask, unsigned int order)
{
	struct page *page;

	if (unlikely(order))
		return rmqueue(&contig_zone, order, gfp_mask);
	page = rmqueue_pcplist(&contig_zone);
	if (unlikely(!page))
		return NULL;
	post_alloc_hook(page);
	if (gfp_mask & __GFP_ZERO)
		clear_page(page_address(page));
	return page;
}

/* %pGg: the name of a usual combination, then the flags that are left, by name or number. */
static void format_gfp(char *buf, size_t size, gfp_t gfp)
{
	static const struct { gfp_t mask; const char *name; } names[] = {
		{ GFP_HIGHUSER_MOVABLE, "GFP_HIGHUSER_MOVABLE" }, { GFP_USER, "GFP_USER" }, { GFP_KERNEL_ACCOUNT, "GFP_KERNEL_ACCOUNT" },
		{ GFP_KERNEL, "GFP_KERNEL" }, { GFP_NOFS, "GFP_NOFS" }, { GFP_ATOMIC, "GFP_ATOMIC" }, { GFP_NOIO, "GFP_NOIO" },
		{ GFP_NOWAIT, "GFP_NOWAIT" }, { __GFP_ZERO, "__GFP_ZERO" }, { __GFP_COMP, "__GFP_COMP" }, { __GFP_ACCOUNT, "__GFP_ACCOUNT" },
	};
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if ((gfp & names[i].mask) != names[i].mask)
			continue;
		n += scnprintf(buf + n, size - n, "%s%s", n ? "|" : "", names[i].name);
		gfp &= ~names[i].mask;
	}
	if (gfp)
		scnprintf(buf + n, size - n, "%s0x%x", n ? "|" : "", gfp);
}

/* What there is: by use, and the free blocks by size. */
static noinline void show_mem(void)
{
	unsigned long flags;
	char line[160];
	unsigned int i, n = 0, cpu, pcp = 0;

	for_each_online_cpu(cpu)
		pcp += per_cpu(boot_pageset, cpu).count;
	spin_lock_irqsave(&contig_zone.lock, flags);
	drain_batches(&contig_zone);
	spin_unlock_irqrestore(&contig_zone.lock, flags);
	pr_warn("Mem-Info:\n");
	pr_warn(" mapped:%lu shmem:0 pagetables:%lu\n", node_page_state(NR_FILE_MAPPED), node_page_state(NR_PAGETABLE));
	pr_warn(" free:%lu free_pcp:%u free_cma:0\n", nr_free_pages(), pcp);
	for (i = 0; i < MAX_ORDER; i++)
		n += scnprintf(line + n, sizeof(line) - n, "%lu*%lukB ", contig_zone.free_area[i].nr_free, PAGE_SIZE << i >> 10);
	pr_warn("Node 0 %s: %s= %lukB\n", contig_zone.name, line, nr_free_pages() << 2);
	pr_warn("%lu pages RAM\n", max_pfn);
}

/* Nothing is reclaimed, and nobody killed for memory: who asked must do without. */
static noinline void warn_alloc(gfp_t gfp, unsigned int order)
{
	static DEFINE_RATELIMIT_STATE(nopage_rs, 10 * HZ, 1);
	char names[100];

	if (gfp & __GFP_NOWARN || !__ratelimit(&nopage_rs))
		return;
	format_gfp(names, sizeof(names), gfp);
	pr_warn("%s: page allocation failure: order:%u, mode:0x%x(%s), nodemask=(null),cpuset=/,mems_allowed=0\n", current->comm, order, gfp, names);
	dump_stack_lvl(KERN_WARNING);
	show_mem();
}

noinline struct page *__alloc_pages(gfp_t gfp, unsigned int order, int preferred_nid, void *nodemask)
{
	struct page *page;

	if (WARN_ON_ONCE(order >= MAX_ORDER))
		return NULL;
	page = get_page_from_freelist(gfp, order);
	trace_mm_page_alloc(page, order, gfp, gfp_migratetype(gfp));
	if (unlikely(!page))
		warn_alloc(gfp, order);
	return page;
}

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	return __alloc_pages(gfp, order, 0, NULL);
}

unsigned long __get_free_pages(gfp_t gfp_mask, unsigned int order)
{
	struct page *page = alloc_pages(gfp_mask, order);

	return page ? (unsigned long)page_address(page) : 0;
}

unsigned long get_zeroed_page(gfp_t gfp_mask)
{
	return __get_free_pages(gfp_mask | __GFP_ZERO, 0);
}

static noinline void free_pcppages_bulk(struct zone *zone, int count, struct per_cpu_pages *pcp)
{
	spin_lock(&zone->lock);
	if (likely(zone->nr_batches < NR_BATCHES)) {
		struct list_head *last = pcp->lists.prev, *first, *before = last;

		for (int i = 0; i < PCP_BATCH; i++) {
			first = before;
			before = first->prev;
			trace_mm_page_pcpu_drain(list_entry(first, struct page, lru), 0, 0);
		}
		before->next = &pcp->lists;
		pcp->lists.prev = before;
		first->prev = last;
		zone->batches[zone->nr_batches++] = first;
		pcp->count -= PCP_BATCH;
		zone->free_pages += PCP_BATCH;
		spin_unlock(&zone->lock);
		return;
	}
	while (count--) {
		struct page *page = list_last_entry(&pcp->lists, struct page, lru);

		list_del(&page->lru);
		pcp->count--;
		zone->free_pages++;
		__free_one_page(page, page_to_pfn(page), zone, 0);
		trace_mm_page_pcpu_drain(page, 0, 0);
	}
	spin_unlock(&zone->lock);
}

/* A page that is in use, mapped or free already stays what it is: bad_page()'s case. */
static __always_inline bool free_pages_prepare(struct page *page)
{
	trace_mm_page_free(page, 0);
	if (WARN_ON((page->flags & BIT(PG_buddy)) | page_mapcount(page) | page_count(page)))
		return false;
	page->flags = 0;
	return true;
}

static noinline bool free_pcp_prepare(struct page *page)
{
	return free_pages_prepare(page);
}

static __always_inline void free_unref_page_commit(struct zone *zone, struct per_cpu_pages *pcp, struct page *page)
{
	list_add(&page->lru, &pcp->lists);
	if (++pcp->count >= PCP_HIGH)
		free_pcppages_bulk(zone, PCP_BATCH, pcp);
}

/* One page, to this CPU's list. */
static noinline void free_unref_page(struct page *page, unsigned int order)
{
	unsigned long flags;

	if (!free_pcp_prepare(page))
		return;
	local_irq_save(flags);
	free_unref_page_commit(&contig_zone, this_cpu_ptr(&boot_pageset), page);
	local_irq_restore(flags);
}

/* Single pages, all at once: their references are gone. */
static noinline void free_unref_page_list(struct page **pages, unsigned int nr)
{
	struct per_cpu_pages *pcp;
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	pcp = this_cpu_ptr(&boot_pageset);
	for (i = 0; i < nr; i++) {
		struct page *page = pages[i];

		if (!free_pages_prepare(page))
			continue;
		trace_mm_page_free_batched(page);
		free_unref_page_commit(&contig_zone, pcp, page);
	}
	local_irq_restore(flags);
}

/* Drops a reference of each (mm/swap.c); the array is used for those that were the last. */
void release_pages(struct page **pages, unsigned int nr)
{
	unsigned int i, last = 0;

	for (i = 0; i < nr; i++) {
		struct page *page = compound_head(pages[i]);

		if (!atomic_dec_and_test(&page->_refcount))
			continue;
		if (unlikely(PageHead(page)))
			__put_page(page);
		else
			pages[last++] = page;
	}
	if (last)
		free_unref_page_list(pages, last);
}

static noinline void __free_pages_ok(struct page *page, unsigned int order)
{
	unsigned long flags, i;

	trace_mm_page_free(page, order);
	if (PageHead(page)) {
		for (i = 1; i < 1UL << order; i++)
			page[i].compound_head = 0;
	}
	page->flags = 0;
	spin_lock_irqsave(&contig_zone.lock, flags);
	contig_zone.free_pages += 1UL << order;
	__free_one_page(page, page_to_pfn(page), &contig_zone, order);
	spin_unlock_irqrestore(&contig_zone.lock, flags);
}

static inline void free_the_page(struct page *page, unsigned int order)
{
	if (order)
		__free_pages_ok(page, order);
	else
		free_unref_page(page, 0);
}

void __free_pages(struct page *page, unsigned int order)
{
	if (atomic_dec_and_test(&page->_refcount))
		free_the_page(page, order);
}

void free_pages(unsigned long addr, unsigned int order)
{
	if (addr)
		__free_pages(virt_to_page(addr), order);
}

/* The last reference is gone (put_page). */
void __put_page(struct page *page)
{
	free_the_page(page, PageHead(page) ? page->compound_order : 0);
}

/* RAM is zero at power-on and so is mem_map: only the heads of free blocks are written. */
void __init mem_init(void)
{
	unsigned long pfn, start, end;
	unsigned int i;

	for (i = 0; i < MAX_ORDER; i++)
		INIT_LIST_HEAD(&contig_zone.free_area[i].free_list);
	for_each_possible_cpu(i)
		INIT_LIST_HEAD(&per_cpu(boot_pageset, i).lists);
	mem_map = memblock_alloc(max_pfn * sizeof(struct page), PAGE_SIZE);
	start = memblock_free_range(&end) >> PAGE_SHIFT;
	end >>= PAGE_SHIFT;
	for (pfn = start; pfn < end;) {
		unsigned int order = min(pfn ? __ffs(pfn) : MAX_ORDER - 1UL, MAX_ORDER - 1UL);

		while (pfn + (1UL << order) > end)
			order--;
		set_buddy_order(pfn_to_page(pfn), order);
		add_to_free_list(pfn_to_page(pfn), &contig_zone, order);
		contig_zone.managed_pages += 1UL << order;
		pfn += 1UL << order;
	}
	contig_zone.free_pages = contig_zone.managed_pages;
	pr_info("Built 1 zonelists, mobility grouping off.  Total pages: %lu\n", contig_zone.managed_pages);
	pr_info("Memory: %luK/%luK available\n", contig_zone.free_pages * 4, max_pfn * 4);
}

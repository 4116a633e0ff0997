/* Memory: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */
#ifndef GFP_FLAGS_PRINT
#define GFP_FLAGS_PRINT \
	"(REC->gfp_flags) ? __print_flags(REC->gfp_flags, \"|\", {( unsigned long)(((((((( gfp_t)(0x400u|0x800u)) " \
	"| (( gfp_t)0x40u) | (( gfp_t)0x80u) | (( gfp_t)0x100000u)) | (( gfp_t)0x02u)) | (( gfp_t)0x08u) | (( " \
	"gfp_t)0) | (( gfp_t)0)) | (( gfp_t)0x40000u) | (( gfp_t)0x80000u) | (( gfp_t)0x2000u)) & ~(( " \
	"gfp_t)(0x400u|0x800u))) | (( gfp_t)0x400u)), \"GFP_TRANSHUGE\"}, {( unsigned long)((((((( " \
	"gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u) | (( gfp_t)0x100000u)) | (( gfp_t)0x02u)) | " \
	"(( gfp_t)0x08u) | (( gfp_t)0) | (( gfp_t)0)) | (( gfp_t)0x40000u) | (( gfp_t)0x80000u) | (( " \
	"gfp_t)0x2000u)) & ~(( gfp_t)(0x400u|0x800u))), \"GFP_TRANSHUGE_LIGHT\"}, {( unsigned long)((((( " \
	"gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u) | (( gfp_t)0x100000u)) | (( gfp_t)0x02u)) | " \
	"(( gfp_t)0x08u) | (( gfp_t)0) | (( gfp_t)0)), \"GFP_HIGHUSER_MOVABLE\"}, {( unsigned long)(((( " \
	"gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u) | (( gfp_t)0x100000u)) | (( gfp_t)0x02u)), " \
	"\"GFP_HIGHUSER\"}, {( unsigned long)((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u) | (( " \
	"gfp_t)0x100000u)), \"GFP_USER\"}, {( unsigned long)(((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( " \
	"gfp_t)0x80u)) | (( gfp_t)0x400000u)), \"GFP_KERNEL_ACCOUNT\"}, {( unsigned long)((( " \
	"gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u)), \"GFP_KERNEL\"}, {( unsigned long)((( " \
	"gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u)), \"GFP_NOFS\"}, {( unsigned long)((( gfp_t)0x20u)|(( " \
	"gfp_t)0x200u)|(( gfp_t)0x800u)), \"GFP_ATOMIC\"}, {( unsigned long)((( gfp_t)(0x400u|0x800u))), " \
	"\"GFP_NOIO\"}, {( unsigned long)((( gfp_t)0x800u)), \"GFP_NOWAIT\"}, {( unsigned long)(( gfp_t)0x01u), " \
	"\"GFP_DMA\"}, {( unsigned long)(( gfp_t)0x02u), \"__GFP_HIGHMEM\"}, {( unsigned long)(( gfp_t)0x04u), " \
	"\"GFP_DMA32\"}, {( unsigned long)(( gfp_t)0x20u), \"__GFP_HIGH\"}, {( unsigned long)(( gfp_t)0x200u), " \
	"\"__GFP_ATOMIC\"}, {( unsigned long)(( gfp_t)0x40u), \"__GFP_IO\"}, {( unsigned long)(( gfp_t)0x80u), " \
	"\"__GFP_FS\"}, {( unsigned long)(( gfp_t)0x2000u), \"__GFP_NOWARN\"}, {( unsigned long)(( " \
	"gfp_t)0x4000u), \"__GFP_RETRY_MAYFAIL\"}, {( unsigned long)(( gfp_t)0x8000u), \"__GFP_NOFAIL\"}, {( " \
	"unsigned long)(( gfp_t)0x10000u), \"__GFP_NORETRY\"}, {( unsigned long)(( gfp_t)0x40000u), " \
	"\"__GFP_COMP\"}, {( unsigned long)(( gfp_t)0x100u), \"__GFP_ZERO\"}, {( unsigned long)(( " \
	"gfp_t)0x80000u), \"__GFP_NOMEMALLOC\"}, {( unsigned long)(( gfp_t)0x20000u), \"__GFP_MEMALLOC\"}, {( " \
	"unsigned long)(( gfp_t)0x100000u), \"__GFP_HARDWALL\"}, {( unsigned long)(( gfp_t)0x200000u), " \
	"\"__GFP_THISNODE\"}, {( unsigned long)(( gfp_t)0x10u), \"__GFP_RECLAIMABLE\"}, {( unsigned long)(( " \
	"gfp_t)0x08u), \"__GFP_MOVABLE\"}, {( unsigned long)(( gfp_t)0x400000u), \"__GFP_ACCOUNT\"}, {( unsigned " \
	"long)(( gfp_t)0x1000u), \"__GFP_WRITE\"}, {( unsigned long)(( gfp_t)(0x400u|0x800u)), " \
	"\"__GFP_RECLAIM\"}, {( unsigned long)(( gfp_t)0x400u), \"__GFP_DIRECT_RECLAIM\"}, {( unsigned long)(( " \
	"gfp_t)0x800u), \"__GFP_KSWAPD_RECLAIM\"}, {( unsigned long)(( gfp_t)0x800000u), \"__GFP_ZEROTAGS\"} ) : " \
	"\"none\""
#endif

TRACE_EVENT(kmem, kmalloc, 547,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags, int node), TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node),
	TP_FIELDS(
		__field(unsigned long, call_site, T_ARG(0), T_CALLER)
		__field(const void *, ptr, T_ARG(1))
		__field(size_t, bytes_req, T_ARG(2))
		__field(size_t, bytes_alloc, T_ARG(3))
		__field(unsigned long, gfp_flags, T_ARG(4), T_AND(0xffffffff))
		__field(int, node, T_ARG(5))),
	TP_printk("\"call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s node=%d accounted=%s\", (void *)REC->call_site, REC->ptr, REC->bytes_req, REC->bytes_alloc, " GFP_FLAGS_PRINT ", REC->node, (1 && (REC->gfp_flags & ( unsigned long)(( gfp_t)0x400000u))) ? \"true\" : \"false\""))

TRACE_EVENT(kmem, kmem_cache_alloc, 548,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags, int node), TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node),
	TP_FIELDS(
		__field(unsigned long, call_site, T_ARG(0), T_CALLER)
		__field(const void *, ptr, T_ARG(1))
		__field(size_t, bytes_req, T_ARG(2))
		__field(size_t, bytes_alloc, T_ARG(3))
		__field(unsigned long, gfp_flags, T_ARG(4), T_AND(0xffffffff))
		__field(int, node, T_ARG(5))
		__field(bool, accounted, T_IMM(0))),
	TP_printk("\"call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s node=%d accounted=%s\", (void *)REC->call_site, REC->ptr, REC->bytes_req, REC->bytes_alloc, " GFP_FLAGS_PRINT ", REC->node, REC->accounted ? \"true\" : \"false\""))

TRACE_EVENT(kmem, kfree, 546,
	TP_PROTO(unsigned long call_site, const void *ptr), TP_ARGS(call_site, ptr),
	TP_FIELDS(
		__field(unsigned long, call_site, T_ARG(0), T_CALLER)
		__field(const void *, ptr, T_ARG(1))),
	TP_printk("\"call_site=%pS ptr=%p\", (void *)REC->call_site, REC->ptr"))

TRACE_EVENT(kmem, kmem_cache_free, 545,
	TP_PROTO(unsigned long call_site, const void *ptr, const char *name), TP_ARGS(call_site, ptr, name),
	TP_FIELDS(
		__field(unsigned long, call_site, T_ARG(0), T_CALLER)
		__field(const void *, ptr, T_ARG(1))
		__string(name, T_ARG(2))),
	TP_printk("\"call_site=%pS ptr=%p name=%s\", (void *)REC->call_site, REC->ptr, __get_str(name)"))

TRACE_EVENT(kmem, mm_page_alloc, 542,
	TP_PROTO(struct page *page, unsigned int order, gfp_t gfp_flags, int migratetype), TP_ARGS(page, order, gfp_flags, migratetype),
	TP_FIELDS(
		__field(unsigned long, pfn, T_PFN(0))
		__field(unsigned int, order, T_ARG(1))
		__field(unsigned long, gfp_flags, T_ARG(2), T_AND(0xffffffff))
		__field(int, migratetype, T_ARG(3))),
	TP_printk("\"page=%p pfn=0x%lx order=%d migratetype=%d gfp_flags=%s\", REC->pfn != -1UL ? (((struct page *)vmemmap_base) + (REC->pfn)) : ((void *)0), REC->pfn != -1UL ? REC->pfn : 0, REC->order, REC->migratetype, " GFP_FLAGS_PRINT))

DECLARE_EVENT_CLASS(mm_page,
	TP_PROTO(struct page *page, unsigned int order, int migratetype, int percpu_refill), TP_ARGS(page, order, migratetype, percpu_refill),
	TP_FIELDS(
		__field(unsigned long, pfn, T_PFN(0))
		__field(unsigned int, order, T_ARG(1))
		__field(int, migratetype, T_ARG(2))
		__field(int, percpu_refill, T_ARG(3))),
	TP_printk("\"page=%p pfn=0x%lx order=%u migratetype=%d percpu_refill=%d\", REC->pfn != -1UL ? (((struct page "
		"*)vmemmap_base) + (REC->pfn)) : ((void *)0), REC->pfn != -1UL ? REC->pfn : 0, REC->order, "
		"REC->migratetype, REC->percpu_refill"))

DEFINE_EVENT(mm_page, kmem, mm_page_alloc_zone_locked, 541, TP_PROTO(struct page *page, unsigned int order, int migratetype, int percpu_refill), TP_ARGS(page, order, migratetype, percpu_refill))

TRACE_EVENT(kmem, mm_page_free, 544,
	TP_PROTO(struct page *page, unsigned int order), TP_ARGS(page, order),
	TP_FIELDS(
		__field(unsigned long, pfn, T_PFN(0))
		__field(unsigned int, order, T_ARG(1))),
	TP_printk("\"page=%p pfn=0x%lx order=%d\", (((struct page *)vmemmap_base) + (REC->pfn)), REC->pfn, REC->order"))

TRACE_EVENT(kmem, mm_page_pcpu_drain, 540,
	TP_PROTO(struct page *page, unsigned int order, int migratetype), TP_ARGS(page, order, migratetype),
	TP_FIELDS(
		__field(unsigned long, pfn, T_PFN(0))
		__field(unsigned int, order, T_ARG(1))
		__field(int, migratetype, T_ARG(2))),
	TP_printk("\"page=%p pfn=0x%lx order=%d migratetype=%d\", (((struct page *)vmemmap_base) + (REC->pfn)), REC->pfn, "
		"REC->order, REC->migratetype"))

TRACE_EVENT(kmem, mm_page_free_batched, 543,
	TP_PROTO(struct page *page), TP_ARGS(page),
	TP_FIELDS(
		__field(unsigned long, pfn, T_PFN(0))),
	TP_printk("\"page=%p pfn=0x%lx order=0\", (((struct page *)vmemmap_base) + (REC->pfn)), REC->pfn"))

TRACE_EVENT(kmem, rss_stat, 538,
	TP_PROTO(struct mm_struct *mm, int member, long count), TP_ARGS(mm, member, count),
	TP_FIELDS(
		__field(unsigned int, mm_id, T_ARG(0), T_HASH)
		__field(unsigned int, curr, T_CURRENT, T_LD(8, struct task_struct, mm), T_IS_ARG(0))
		__field(int, member, T_ARG(1))
		__field(long, size, T_ARG(2), T_SHL(PAGE_SHIFT))),
	TP_printk("\"mm_id=%u curr=%d type=%s size=%ldB\", REC->mm_id, REC->curr, __print_symbolic(REC->member, { 0, \"MM_FILEPAGES\" }, { "
		"1, \"MM_ANONPAGES\" }, { 2, \"MM_SWAPENTS\" }, { 3, \"MM_SHMEMPAGES\" }), REC->size"))

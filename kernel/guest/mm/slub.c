/*
 * The slab allocator (mm/slub.c). A slab is a block of pages cut into objects of one size; free objects are linked
 * through their first word. Each CPU owns one slab of each cache and allocates from its own free list, IRQs off; slabs
 * with some free objects and no owner are on the node's partial list, under list_lock.
 */
#include "mm.h"
#include "truth.h"
#include "entry.h"
#include "tracepoint.h"

struct kmem_cache_cpu { void **freelist; struct page *slab; };
struct kmem_cache {
	struct kmem_cache_cpu cpu_slab[NR_CPUS];
	slab_flags_t flags;
#define SLAB_CTOR 0x80000000U			/* it has one: one test of flags finds it */
	unsigned int size, object_size, align, order, objects, refcount;
	unsigned int offset;			/* of the free pointer: 0, or behind the object when that is poisoned */
	void (*ctor)(void *);
	const char *name;
	struct list_head list;
	spinlock_t list_lock;
	struct list_head partial;
	unsigned long nr_partial;
};
#define KMALLOC_MIN_SIZE 8
#define KMALLOC_SHIFT_HIGH 13
static struct kmem_cache boot_kmem_cache;
static struct kmem_cache *kmalloc_caches[KMALLOC_SHIFT_HIGH + 1];
static struct kmem_cache kmalloc_boot[KMALLOC_SHIFT_HIGH + 3];
static LIST_HEAD(slab_caches);
static DEFINE_MUTEX(slab_mutex);

/* Objects are always in the direct map. */
static __always_inline struct page *virt_to_slab(const void *object)
{
	return compound_head(pfn_to_page(((unsigned long)object - PAGE_OFFSET) >> PAGE_SHIFT));
}

static inline void *get_freepointer(struct kmem_cache *s, void *object)
{
	return *(void **)(object + s->offset);
}

static inline void set_freepointer(struct kmem_cache *s, void *object, void *fp)
{
	*(void **)(object + s->offset) = fp;
}

/* ---- debugging: slub_debug=P on the command line ---- */
#define POISON_INUSE	0x5a
#define POISON_FREE	0x6b
#define POISON_END	0xa5
#define SLUB_RED_INACTIVE 0
#define SLUB_RED_ACTIVE	1

/* A free object is 0x6b to its last byte, which is 0xa5; one in use begins as 0x5a. */
static void init_object(struct kmem_cache *s, void *object, int val)
{
	u8 *p = object;

	memset(p, val == SLUB_RED_INACTIVE ? POISON_FREE : POISON_INUSE, s->object_size - 1);
	p[s->object_size - 1] = val == SLUB_RED_INACTIVE ? POISON_END : POISON_INUSE;
}

/* The first byte that is not as init_object() left it, or NULL. */
static u8 *check_bytes(struct kmem_cache *s, u8 *p)
{
	unsigned int i;

	for (i = 0; i < s->object_size; i++) {
		if (p[i] != (i == s->object_size - 1 ? POISON_END : POISON_FREE))
			return p + i;
	}
	return NULL;
}

static void print_section(const char *text, const u8 *addr, unsigned int length)
{
	unsigned int i, j;

	for (i = 0; i < length; i += 16) {
		char hex[3 * 16 + 1] = "", chars[17] = "";
		int n = 0;

		for (j = i; j < min(i + 16, length); j++) {
			n += sprintf(hex + n, "%02x ", addr[j]);
			chars[j - i] = addr[j] >= ' ' && addr[j] < 0x7f ? addr[j] : '.';
		}
		pr_err("%s%px: %-48s %s\n", text, addr + i, hex, chars);
	}
}

static noinline void slab_bug(struct kmem_cache *s, const char *what)
{
	pr_err("=============================================================================\n");
	pr_err("BUG %s (%s): %s\n", s->name, print_tainted(), what);
	pr_err("-----------------------------------------------------------------------------\n\n");
}

static void print_trailer(struct kmem_cache *s, struct page *slab, u8 *p)
{
	u8 *addr = page_address(slab);

	pr_err("Slab 0x%px objects=%u used=%u fp=0x%px flags=0x%lx\n", slab, slab->objects, slab->inuse, slab->freelist, slab->flags);
	pr_err("Object 0x%px @offset=%ld fp=0x%px\n\n", p, (long)(p - addr), get_freepointer(s, p));
	print_section("Object   ", p, min(s->object_size, 256u));
	dump_stack_lvl(KERN_DEFAULT);
	add_taint(TAINT_BAD_PAGE);
}

/* About to be given out: has somebody written to it since it was freed? It is mended. */
static noinline void check_object(struct kmem_cache *s, struct page *slab, u8 *p)
{
	u8 *fault = check_bytes(s, p), *end = p + s->object_size - 1;

	if (fault) {
		u8 good = fault == end ? POISON_END : POISON_FREE;

		while (end > fault && *end == (end == p + s->object_size - 1 ? POISON_END : POISON_FREE))
			end--;
		slab_bug(s, "Poison overwritten");
		pr_err("0x%px-0x%px @offset=%ld. First byte 0x%x instead of 0x%x\n", fault, end, (long)(fault - (u8 *)page_address(slab)), *fault, good);
		print_trailer(s, slab, p);
		pr_err("FIX %s: Restoring Poison 0x%px-0x%px=0x%x\n", s->name, fault, end, good);
	}
	init_object(s, p, SLUB_RED_ACTIVE);
}

/* False: it is free already, or no object at all, and stays as it is. */
static noinline bool free_debug_processing(struct kmem_cache *s, struct page *slab, u8 *p)
{
	u8 *addr = page_address(slab);

	if ((p - addr) % s->size || p < addr || (p - addr) / s->size >= slab->objects) {
		slab_bug(s, "Invalid object pointer");
		pr_err("0x%px\n", p);
		dump_stack_lvl(KERN_DEFAULT);
		pr_err("FIX %s: Object at 0x%px not freed\n", s->name, p);
		return false;
	}
	if (!check_bytes(s, p)) {
		slab_bug(s, "Object already free");
		print_trailer(s, slab, p);
		pr_err("FIX %s: Object at 0x%px not freed\n", s->name, p);
		return false;
	}
	init_object(s, p, SLUB_RED_INACTIVE);
	return true;
}

/* slub_debug, or slub_debug=P, or slub_debug=P,NAME for one cache. Caches with a constructor keep what it made. */
static slab_flags_t kmem_cache_flags(const char *name, slab_flags_t flags, void (*ctor)(void *))
{
	const char *opt = strstr(boot_params.cmdline, "slub_debug"), *list;

	if (!opt || ctor)
		return flags;
	opt += strlen("slub_debug");
	if (*opt == '=') {
		const char *end = strchrnul(++opt, ' ');

		list = strnchr(opt, end - opt, ',');
		if (!strnchr(opt, (list ? list : end) - opt, 'P') || (list && (strncmp(list + 1, name, end - list - 1) || name[end - list - 1])))
			return flags;
	}
	return flags | SLAB_POISON;
}

static noinline struct page *allocate_slab(struct kmem_cache *s, gfp_t flags)
{
	struct page *slab = alloc_pages((flags & ~__GFP_ZERO) | __GFP_COMP, s->order);
	char *start, *p;
	unsigned int i;

	if (!slab)
		return NULL;
	start = page_address(slab);
	__set_bit(PG_slab, &slab->flags);
	slab->slab_cache = s;
	slab->objects = s->objects;
	for (i = 0, p = start; i < s->objects; i++, p += s->size) {
		if (unlikely(s->flags & SLAB_POISON))
			init_object(s, p, SLUB_RED_INACTIVE);
		set_freepointer(s, p, i < s->objects - 1u ? p + s->size : NULL);
	}
	slab->inuse = 0;
	slab->freelist = start;
	return slab;
}

static inline struct page *new_slab(struct kmem_cache *s, gfp_t flags)
{
	return allocate_slab(s, flags);
}

static void discard_slab(struct kmem_cache *s, struct page *slab)
{
	__clear_bit(PG_slab, &slab->flags);
	slab->slab_cache = NULL;
	slab->freelist = NULL;
	put_page(slab);
}

/* list_lock held. All objects of the slab go to the CPU, which becomes its owner. */
static void *acquire_slab(struct kmem_cache *s, struct page *slab)
{
	void *freelist = slab->freelist;

	slab->freelist = NULL;
	slab->inuse = slab->objects;
	__set_bit(PG_frozen, &slab->flags);
	return freelist;
}

static void *get_partial_node(struct kmem_cache *s, struct kmem_cache_cpu *c)
{
	struct page *slab;
	void *freelist = NULL;

	spin_lock(&s->list_lock);
	slab = list_first_entry_or_null(&s->partial, struct page, lru);
	if (slab) {
		list_del(&slab->lru);
		s->nr_partial--;
		freelist = acquire_slab(s, slab);
		c->slab = slab;
	}
	spin_unlock(&s->list_lock);
	return freelist;
}

/* The CPU's slab is used up: let go of it. What others freed to it meanwhile makes it partial. */
static void *get_freelist_or_deactivate(struct kmem_cache *s, struct kmem_cache_cpu *c)
{
	struct page *slab = c->slab;
	void *freelist;

	spin_lock(&s->list_lock);
	freelist = slab->freelist;
	if (freelist) {
		slab->freelist = NULL;
		slab->inuse = slab->objects;
	} else {
		__clear_bit(PG_frozen, &slab->flags);
		c->slab = NULL;
	}
	spin_unlock(&s->list_lock);
	return freelist;
}

/* IRQs off; back as irqs says at the end. */
static noinline void *___slab_alloc(struct kmem_cache *s, gfp_t gfpflags, struct kmem_cache_cpu *c, unsigned long irqs)
{
	void *freelist = c->slab ? get_freelist_or_deactivate(s, c) : NULL;

	if (!freelist)
		freelist = get_partial_node(s, c);
	if (!freelist) {
		struct page *slab = new_slab(s, gfpflags);

		if (slab) {
			c->slab = slab;
			freelist = acquire_slab(s, slab);
		}
	}
	if (freelist)
		c->freelist = get_freepointer(s, freelist);
	local_irq_restore(irqs);
	return freelist;
}

/* Fault injection (mm/failslab.c): every interval-th allocation that may sleep fails, times times. Set by the host. */
struct failslab_attr { unsigned int interval, times, count; } failslab;

noinline int should_failslab(struct kmem_cache *s, gfp_t gfpflags)
{
	if (likely(!failslab.interval) || !(gfpflags & ___GFP_DIRECT_RECLAIM) || ++failslab.count % failslab.interval || !failslab.times)
		return 0;
	failslab.times--;
	return -ENOMEM;
}

static __always_inline bool slab_pre_alloc_hook(struct kmem_cache *s, gfp_t gfpflags)
{
	if (gfpflags & ___GFP_DIRECT_RECLAIM)
		might_sleep();
	return !should_failslab(s, gfpflags);
}

/* What few caches want done with a new object. */
static noinline void slab_post_alloc(struct kmem_cache *s, void *object)
{
	if (s->flags & SLAB_POISON)
		check_object(s, virt_to_slab(object), object);
	if (s->ctor)
		s->ctor(object);
}

/* Nothing that a call would spoil is needed behind one on the usual way: so there are few registers to save. */
static __always_inline void *slab_alloc(struct kmem_cache *s, gfp_t gfpflags)
{
	struct kmem_cache_cpu *c;
	unsigned long irqs;
	void *object;

	if (unlikely(!slab_pre_alloc_hook(s, gfpflags)))
		return NULL;
	local_irq_save(irqs);
	c = &s->cpu_slab[smp_processor_id()];
	object = c->freelist;
	if (likely(object)) {
		c->freelist = get_freepointer(s, object);
		local_irq_restore(irqs);
	} else {
		object = ___slab_alloc(s, gfpflags, c, irqs);
		if (!object)
			return NULL;
	}
	if (unlikely(s->flags & (SLAB_POISON | SLAB_CTOR)))
		slab_post_alloc(s, object);
	if (gfpflags & __GFP_ZERO)
		memset(object, 0, s->object_size);
	return object;
}

/* There is one node. */
void *kmem_cache_alloc_node(struct kmem_cache *s, gfp_t gfpflags, int node)
{
	void *ret = slab_alloc(s, gfpflags);

	trace_kmem_cache_alloc(1, ret, s->object_size, s->size, gfpflags, node);
	return ret;
}

void *kmem_cache_alloc(struct kmem_cache *s, gfp_t gfpflags)
{
	void *ret = slab_alloc(s, gfpflags);

	trace_kmem_cache_alloc(1, ret, s->object_size, s->size, gfpflags, -1);
	return ret;
}

/* The object's slab is not this CPU's. IRQs off; back as irqs says at the end. */
static noinline void __slab_free(struct kmem_cache *s, struct page *slab, void *object, unsigned long irqs)
{
	struct page *empty = NULL;

	spin_lock(&s->list_lock);
	set_freepointer(s, object, slab->freelist);
	slab->freelist = object;
	slab->inuse--;
	if (!test_bit(PG_frozen, &slab->flags)) {
		if (slab->inuse == slab->objects - 1u) {
			list_add_tail(&slab->lru, &s->partial);		/* it was full */
			s->nr_partial++;
		} else if (!slab->inuse && s->nr_partial > 5) {
			list_del(&slab->lru);
			s->nr_partial--;
			empty = slab;
		}
	}
	spin_unlock(&s->list_lock);
	if (empty)
		discard_slab(s, empty);
	local_irq_restore(irqs);
}

static __always_inline void slab_free(struct kmem_cache *s, struct page *slab, void *object)
{
	struct kmem_cache_cpu *c;
	unsigned long irqs;

	if (unlikely(s->flags & SLAB_POISON) && !free_debug_processing(s, slab, object))
		return;
	local_irq_save(irqs);
	c = &s->cpu_slab[smp_processor_id()];
	if (unlikely(c->slab != slab))
		return __slab_free(s, slab, object, irqs);
	set_freepointer(s, object, c->freelist);
	c->freelist = object;
	local_irq_restore(irqs);
}

void kmem_cache_free(struct kmem_cache *s, void *x)
{
	if (!x)
		return;
	trace_kmem_cache_free(1, x, s->name);
	slab_free(s, virt_to_slab(x), x);
}

/* The power of two for sizes to 512, by eighths. */
static const u8 size_index[64] = { 3, 4, 5, 5, [4 ... 7] = 6, [8 ... 15] = 7, [16 ... 31] = 8, [32 ... 63] = 9 };

static noinline struct kmem_cache *kmalloc_slab(size_t size, gfp_t flags)
{
	if (unlikely(!size))
		return kmalloc_caches[3];
	return kmalloc_caches[size <= 512 ? size_index[(size - 1) / 8] : fls64(size - 1)];
}

static noinline void *kmalloc_large(size_t size, gfp_t flags)
{
	unsigned int order = size <= PAGE_SIZE ? 0 : fls64((size - 1) >> PAGE_SHIFT);
	struct page *page = alloc_pages(flags | __GFP_COMP, order);
	void *ret = page ? page_address(page) : NULL;

	trace_kmalloc(2, ret, size, PAGE_SIZE << order, flags, -1);
	return ret;
}

static noinline void *__kmem_cache_alloc_node(struct kmem_cache *s, gfp_t gfpflags)
{
	return slab_alloc(s, gfpflags);
}

static __always_inline void *__do_kmalloc_node(size_t size, gfp_t flags, int node)
{
	struct kmem_cache *s;
	void *ret;

	if (unlikely(size > 1UL << KMALLOC_SHIFT_HIGH))
		return kmalloc_large(size, flags);
	s = kmalloc_slab(size, flags);
	ret = __kmem_cache_alloc_node(s, flags);
	trace_kmalloc(1, ret, size, s->size, flags, node);
	return ret;
}

void *__kmalloc(size_t size, gfp_t flags)
{
	return __do_kmalloc_node(size, flags, NUMA_NO_NODE);
}

void *__kmalloc_node(size_t size, gfp_t flags, int node)
{
	return __do_kmalloc_node(size, flags, node);
}

noinline void *kmalloc(size_t size, gfp_t flags)
{
	KSCOPE_TRUTH(kmalloc);
	return __kmalloc(size, flags);
}

static noinline void __kmem_cache_free(struct kmem_cache *s, struct page *slab, void *x)
{
	slab_free(s, slab, x);
}

void kfree(const void *object)
{
	struct page *slab;

	KSCOPE_TRUTH(kfree);
	trace_kfree(1, object);
	if (unlikely((unsigned long)object <= 16))
		return;
	slab = virt_to_head_page(object);
	if (unlikely(!PageSlab(slab))) {
		put_page(slab);
		return;
	}
	__kmem_cache_free(slab->slab_cache, slab, (void *)object);
}

size_t ksize(const void *object)
{
	struct page *slab = virt_to_head_page(object);

	return PageSlab(slab) ? slab->slab_cache->object_size : PAGE_SIZE << (PageHead(slab) ? slab->compound_order : 0);
}

void *krealloc(const void *p, size_t new_size, gfp_t flags)
{
	void *ret;

	if (p && ksize(p) >= new_size)
		return (void *)p;
	ret = kmalloc(new_size, flags);
	if (ret && p) {
		memcpy(ret, p, ksize(p));
		kfree(p);
	}
	return ret;
}

/* At least eight objects a slab, up to eight pages. */
static void calculate_sizes(struct kmem_cache *s)
{
	s->size = max(s->object_size, 8u);
	if (s->flags & SLAB_POISON) {
		s->offset = ALIGN(s->size, 8);
		s->size = s->offset + 8;
	}
	s->size = ALIGN(s->size, max(s->align, 8u));
	for (s->order = 0; s->order < 3 && (PAGE_SIZE << s->order) / s->size < 8; s->order++)
		;
	s->objects = (PAGE_SIZE << s->order) / s->size;
}

static void kmem_cache_open(struct kmem_cache *s, const char *name, unsigned int size, unsigned int align, slab_flags_t flags,
			    void (*ctor)(void *))
{
	s->name = name;
	s->object_size = size;
	s->align = flags & SLAB_HWCACHE_ALIGN ? max(align, 64u) : align;
	s->flags = kmem_cache_flags(name, flags, ctor) | (ctor ? SLAB_CTOR : 0);
	s->ctor = ctor;
	s->refcount = 1;
	spin_lock_init(&s->list_lock);
	INIT_LIST_HEAD(&s->partial);
	calculate_sizes(s);
	list_add(&s->list, &slab_caches);
}

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align, slab_flags_t flags, void (*ctor)(void *))
{
	struct kmem_cache *s = kmem_cache_zalloc(&boot_kmem_cache, GFP_KERNEL);

	if (!s) {
		if (flags & SLAB_PANIC)
			panic("kmem_cache_create: Failed to create slab '%s'", name);
		return NULL;
	}
	mutex_lock(&slab_mutex);
	kmem_cache_open(s, name, size, align, flags, ctor);
	mutex_unlock(&slab_mutex);
	return s;
}

/* The slab that a CPU owns, which nobody uses any more: its free objects are in two lists. */
static bool flush_slab(struct kmem_cache *s, struct kmem_cache_cpu *c)
{
	unsigned int used = c->slab->objects;
	void *p;

	for (p = c->freelist; p; p = get_freepointer(s, p))
		used--;
	for (p = c->slab->freelist; p; p = get_freepointer(s, p))
		used--;
	if (used)
		return false;
	__clear_bit(PG_frozen, &c->slab->flags);
	discard_slab(s, c->slab);
	c->slab = NULL;
	c->freelist = NULL;
	return true;
}

/* Gives back what the cache has of pages; false: somebody still has an object. */
static noinline bool __kmem_cache_shutdown(struct kmem_cache *s)
{
	struct page *slab, *next;
	unsigned int cpu;
	bool all = true;

	for_each_possible_cpu(cpu)
		if (s->cpu_slab[cpu].slab)
			all &= flush_slab(s, &s->cpu_slab[cpu]);
	list_for_each_entry_safe(slab, next, &s->partial, lru) {
		if (slab->inuse) {
			all = false;
			continue;
		}
		list_del(&slab->lru);
		s->nr_partial--;
		discard_slab(s, slab);
	}
	return all;
}

void kmem_cache_destroy(struct kmem_cache *s)
{
	bool all;

	if (unlikely(!s))
		return;
	mutex_lock(&slab_mutex);
	all = __kmem_cache_shutdown(s);
	list_del(&s->list);
	mutex_unlock(&slab_mutex);
	if (WARN(!all, "kmem_cache_destroy %s: Slab cache still has objects", s->name))
		return;
	kmem_cache_free(&boot_kmem_cache, s);
}

void __init kmem_cache_init(void)
{
	static const char *const names[] = { "kmalloc-8", "kmalloc-16", "kmalloc-32", "kmalloc-64", "kmalloc-128", "kmalloc-256", "kmalloc-512",
		"kmalloc-1k", "kmalloc-2k", "kmalloc-4k", "kmalloc-8k" };
	unsigned int i;

	kmem_cache_open(&boot_kmem_cache, "kmem_cache", sizeof(struct kmem_cache), 64, 0, NULL);
	for (i = 3; i <= KMALLOC_SHIFT_HIGH; i++) {
		kmalloc_caches[i] = &kmalloc_boot[i];
		kmem_cache_open(kmalloc_caches[i], names[i - 3], 1u << i, min(1u << i, 64u), 0, NULL);
	}
	pr_info("SLUB: HWalign=64, Order=0-3, MinObjects=8, CPUs=%u, Nodes=1\n", nr_cpu_ids);
}

void usercopy_slab_abort(const char *name, bool to_user, unsigned long offset, unsigned long len);

/* A user copy may not leave its object. */
void __check_heap_object(const void *ptr, unsigned long n, struct page *slab, bool to_user)
{
	struct kmem_cache *s = slab->slab_cache;
	unsigned long offset = ((unsigned long)ptr - (unsigned long)page_address(slab)) % s->size;

	if (offset <= s->object_size && n <= s->object_size - offset)
		return;
	usercopy_slab_abort(s->name, to_user, offset, n);
}

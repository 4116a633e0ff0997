#pragma once
#include "gfp.h"
struct kmem_cache;
#define SLAB_POISON		0x800u	/* find uses after free: slub_debug=P */
#define SLAB_HWCACHE_ALIGN	0x2000u
#define SLAB_PANIC		0x40000u
#define SLAB_ACCOUNT		0x4000000u
#define SLAB_RECLAIM_ACCOUNT	0x20000u
typedef unsigned int slab_flags_t;
struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align, slab_flags_t flags, void (*ctor)(void *));
#define KMEM_CACHE(s, f) kmem_cache_create(#s, sizeof(struct s), __alignof__(struct s), (f), NULL)
void *kmem_cache_alloc(struct kmem_cache *s, gfp_t gfp);
#define NUMA_NO_NODE (-1)
void *__kmalloc_node(size_t size, gfp_t flags, int node);
void *kmem_cache_alloc_node(struct kmem_cache *s, gfp_t gfp, int node);
void kmem_cache_free(struct kmem_cache *s, void *x);
void kmem_cache_destroy(struct kmem_cache *s);
void *__kmalloc(size_t size, gfp_t flags);
void *kmalloc(size_t size, gfp_t flags);	/* out of line, for the seeds' sake: a listed difference */
void kfree(const void *object);
size_t ksize(const void *object);
void *krealloc(const void *p, size_t new_size, gfp_t flags);
static __always_inline void *kzalloc(size_t size, gfp_t flags) { return kmalloc(size, flags | __GFP_ZERO); }
static __always_inline void *kmem_cache_zalloc(struct kmem_cache *s, gfp_t f) { return kmem_cache_alloc(s, f | __GFP_ZERO); }
static __always_inline void *kmalloc_array(size_t n, size_t size, gfp_t f) { return n && size > ~0UL / n ? NULL : kmalloc(n * size, f); }
static __always_inline void *kcalloc(size_t n, size_t size, gfp_t f) { return kmalloc_array(n, size, f | __GFP_ZERO); }
void *kvmalloc_node(size_t size, gfp_t flags, int node);
static __always_inline void *kvmalloc(size_t size, gfp_t flags) { return kvmalloc_node(size, flags, NUMA_NO_NODE); }
void kvfree(const void *addr);
void kmem_cache_init(void);
void __check_heap_object(const void *ptr, unsigned long n, struct page *slab, bool to_user);
int should_failslab(struct kmem_cache *s, gfp_t gfpflags);

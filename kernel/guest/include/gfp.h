#pragma once
#include "types.h"
#define PAGE_SHIFT	12
#define PAGE_SIZE	4096UL
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#define PAGE_OFFSET	0xffff888000000000UL
#define __START_KERNEL_map 0xffffffff80000000UL
#define MAX_ORDER	11
#define ___GFP_HIGH	0x20u
#define ___GFP_IO	0x40u
#define ___GFP_FS	0x80u
#define ___GFP_ZERO	0x100u
#define ___GFP_DIRECT_RECLAIM 0x400u
#define ___GFP_KSWAPD_RECLAIM 0x800u
#define ___GFP_NOWARN	0x2000u
#define ___GFP_COMP	0x40000u
#define ___GFP_HARDWALL	0x100000u
#define ___GFP_ACCOUNT	0x400000u
#define __GFP_ZERO	___GFP_ZERO
#define __GFP_COMP	___GFP_COMP
#define __GFP_NOWARN	___GFP_NOWARN
#define GFP_ATOMIC	(___GFP_HIGH | 0x200u | ___GFP_KSWAPD_RECLAIM)
#define GFP_KERNEL	(___GFP_DIRECT_RECLAIM | ___GFP_KSWAPD_RECLAIM | ___GFP_IO | ___GFP_FS)
#define GFP_NOWAIT	___GFP_KSWAPD_RECLAIM
#define GFP_NOIO	(___GFP_DIRECT_RECLAIM | ___GFP_KSWAPD_RECLAIM)
#define __GFP_ACCOUNT	___GFP_ACCOUNT
#define GFP_NOFS	(GFP_KERNEL & ~___GFP_FS)
#define GFP_USER	(GFP_KERNEL | ___GFP_HARDWALL)
#define GFP_HIGHUSER	GFP_USER
#define GFP_HIGHUSER_MOVABLE (GFP_USER | 8u)
#define GFP_KERNEL_ACCOUNT (GFP_KERNEL | ___GFP_ACCOUNT)
struct page *__alloc_pages(gfp_t gfp, unsigned int order, int preferred_nid, void *nodemask);
struct page *alloc_pages(gfp_t gfp, unsigned int order);
unsigned long __get_free_pages(gfp_t gfp, unsigned int order);
unsigned long get_zeroed_page(gfp_t gfp);
void __free_pages(struct page *page, unsigned int order);
void free_pages(unsigned long addr, unsigned int order);
#define alloc_page(g)		alloc_pages(g, 0)
#define __get_free_page(g)	__get_free_pages(g, 0)
#define __free_page(p)		__free_pages(p, 0)
#define free_page(a)		free_pages(a, 0)

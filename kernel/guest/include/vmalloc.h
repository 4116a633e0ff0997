#pragma once
/* Virtually contiguous memory of the module area (mm/vmalloc.c). */
#include "mm.h"
#define MODULES_VADDR	0xffffffffc0000000UL
#define MODULES_END	0xffffffffc0200000UL	/* the host's shadow RAM begins here (kernel/shadow.go) */
struct vm_struct { struct list_head list; void *addr; unsigned long size; struct page **pages; unsigned int nr_pages; };
void *module_alloc(unsigned long size);
void *vmalloc(unsigned long size);
bool is_vmalloc_addr(const void *x);
void vfree(const void *addr);
int set_memory_ro(unsigned long addr, int numpages);
int set_memory_rw(unsigned long addr, int numpages);
int set_memory_x(unsigned long addr, int numpages);
int set_memory_nx(unsigned long addr, int numpages);
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

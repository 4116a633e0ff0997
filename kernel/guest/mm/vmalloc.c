/*
 * Memory that is contiguous for the CPU only (mm/vmalloc.c, arch/x86/mm/pat/set_memory.c), for modules: page frames from
 * the buddy allocator under addresses from MODULES_VADDR to MODULES_END, an unmapped guard page behind each area.
 * vmap_area_lock protects the list of areas, which is ordered by address; init_mm's page_table_lock the entries.
 */
#include "vmalloc.h"
#include "kernel.h"

static LIST_HEAD(vmap_area_list);
static DEFINE_SPINLOCK(vmap_area_lock);

#define PROT_KERNEL	(_PAGE_PRESENT | _PAGE_RW | _PAGE_ACCESSED | _PAGE_DIRTY | _PAGE_GLOBAL | _PAGE_NX)

/* First fit. */
static noinline int alloc_vmap_area(struct vm_struct *va, unsigned long size, unsigned long vstart, unsigned long vend)
{
	struct list_head *at = &vmap_area_list;
	unsigned long addr = vstart;
	struct vm_struct *v;

	spin_lock(&vmap_area_lock);
	list_for_each_entry(v, &vmap_area_list, list) {
		if (addr + size <= (unsigned long)v->addr) {
			at = &v->list;
			break;
		}
		addr = (unsigned long)v->addr + v->size;
	}
	if (addr + size > vend) {
		spin_unlock(&vmap_area_lock);
		return -EBUSY;
	}
	va->addr = (void *)addr;
	va->size = size;
	list_add_tail(&va->list, at);
	spin_unlock(&vmap_area_lock);
	return 0;
}

static noinline struct vm_struct *__get_vm_area_node(unsigned long size, unsigned long start, unsigned long end)
{
	struct vm_struct *area = kzalloc(sizeof(*area), GFP_KERNEL);

	if (!area)
		return NULL;
	if (alloc_vmap_area(area, PAGE_ALIGN(size) + PAGE_SIZE, start, end)) {
		kfree(area);
		return NULL;
	}
	return area;
}

static struct vm_struct *find_vmap_area(unsigned long addr)
{
	struct vm_struct *v, *found = NULL;

	spin_lock(&vmap_area_lock);
	list_for_each_entry(v, &vmap_area_list, list) {
		if ((unsigned long)v->addr == addr) {
			found = v;
			break;
		}
	}
	spin_unlock(&vmap_area_lock);
	return found;
}

static noinline int __vmap_pages_range_noflush(unsigned long addr, struct page **pages, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++, addr += PAGE_SIZE) {
		pte_t *pte = pte_lookup(&init_mm, addr);

		if (WARN_ON(!pte))
			return -ENOMEM;
		WRITE_ONCE(pte->pte, page_to_phys(pages[i]) | PROT_KERNEL);
	}
	return 0;
}

static void do_flush_tlb_kernel_range(void *info)
{
	unsigned long *r = info, addr;

	for (addr = r[0]; addr < r[1]; addr += PAGE_SIZE)
		asm volatile("invlpg (%0)" :: "r"(addr) : "memory");
}

void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
	unsigned long range[2] = { start, end };

	on_each_cpu(do_flush_tlb_kernel_range, range, true);
}

static noinline void vunmap_range(unsigned long addr, unsigned long end)
{
	unsigned long at;

	for (at = addr; at < end; at += PAGE_SIZE) {
		pte_t *pte = pte_lookup(&init_mm, at);

		if (pte)
			WRITE_ONCE(pte->pte, 0);
	}
	flush_tlb_kernel_range(addr, end);
}

static void free_area_pages(struct vm_struct *area)
{
	while (area->nr_pages)
		__free_page(area->pages[--area->nr_pages]);
	kfree(area->pages);
}

static noinline struct vm_struct *remove_vm_area(const void *addr)
{
	struct vm_struct *area = find_vmap_area((unsigned long)addr);

	if (!area)
		return NULL;
	vunmap_range((unsigned long)area->addr, (unsigned long)area->addr + area->nr_pages * PAGE_SIZE);
	spin_lock(&vmap_area_lock);
	list_del(&area->list);
	spin_unlock(&vmap_area_lock);
	return area;
}

void vfree(const void *addr)
{
	struct vm_struct *area;

	if (!addr)
		return;
	area = remove_vm_area(addr);
	if (WARN_ON(!area))
		return;
	free_area_pages(area);
	kfree(area);
}

static __always_inline int __vmalloc_area_node(struct vm_struct *area, unsigned long size)
{
	unsigned int n = size >> PAGE_SHIFT;

	area->pages = __kmalloc_node(n * sizeof(struct page *), GFP_KERNEL, NUMA_NO_NODE);
	if (!area->pages)
		return -ENOMEM;
	for (area->nr_pages = 0; area->nr_pages < n; area->nr_pages++) {
		struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, 0);

		if (!page)
			return -ENOMEM;
		area->pages[area->nr_pages] = page;
		cond_resched();
	}
	return __vmap_pages_range_noflush((unsigned long)area->addr, area->pages, n);
}

static noinline void *__vmalloc_node_range(unsigned long size, unsigned long start, unsigned long end)
{
	struct vm_struct *area = __get_vm_area_node(size, start, end);

	if (!area)
		return NULL;
	if (__vmalloc_area_node(area, size)) {
		vfree(area->addr);
		return NULL;
	}
	return area->addr;
}

void *module_alloc(unsigned long size)
{
	if (PAGE_ALIGN(size) > MODULES_END - MODULES_VADDR)
		return NULL;
	return __vmalloc_node_range(PAGE_ALIGN(size), MODULES_VADDR, MODULES_END);
}

/* There is one area for modules and data: nothing big lives in it. */
void *vmalloc(unsigned long size)
{
	return module_alloc(size);
}

bool is_vmalloc_addr(const void *x)
{
	return (unsigned long)x - MODULES_VADDR < MODULES_END - MODULES_VADDR;
}

static noinline int change_page_attr_set_clr(unsigned long addr, int numpages, unsigned long set, unsigned long clr)
{
	unsigned long end = addr + numpages * PAGE_SIZE, at;

	for (at = addr; at < end; at += PAGE_SIZE) {
		pte_t *pte = pte_lookup(&init_mm, at);

		if (!pte || !pte_present(*pte))
			return -EINVAL;
		WRITE_ONCE(pte->pte, (pte->pte & ~clr) | set);
	}
	if (numpages)
		flush_tlb_kernel_range(addr, end);
	return 0;
}

int set_memory_ro(unsigned long addr, int numpages) { return change_page_attr_set_clr(addr, numpages, 0, _PAGE_RW | _PAGE_DIRTY); }
int set_memory_rw(unsigned long addr, int numpages) { return change_page_attr_set_clr(addr, numpages, _PAGE_RW | _PAGE_DIRTY, 0); }
int set_memory_x(unsigned long addr, int numpages) { return change_page_attr_set_clr(addr, numpages, 0, _PAGE_NX); }
int set_memory_nx(unsigned long addr, int numpages) { return change_page_attr_set_clr(addr, numpages, _PAGE_NX, 0); }

/* One page table serves the whole module area; it is there from the start, so that loading a module leaves nothing behind. */
static int __init vmalloc_init(void)
{
	unsigned long *pmd, table = get_zeroed_page(GFP_KERNEL);

	pmd = __va(*((unsigned long *)init_mm.pgd + 511) & PTE_PFN_MASK);
	pmd = __va(pmd[511] & PTE_PFN_MASK);
	BUG_ON(!table || pmd[0]);
	pmd[0] = __pa(table) | (_PAGE_PRESENT | _PAGE_RW | _PAGE_ACCESSED | _PAGE_DIRTY);
	return 0;
}
core_initcall(vmalloc_init);

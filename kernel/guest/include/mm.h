#pragma once
/* Pages, address spaces and page tables (include/linux/mm.h, mm_types.h, asm/pgtable*.h). */
#include "sched.h"
#include "gfp.h"
#include "slab.h"

struct address_space;
struct page {			/* one for each frame of RAM, in mem_map[]; 64 bytes */
	unsigned long flags;
	union {
		struct list_head lru;			/* buddy free list; a slab on its cache's partial list */
		struct { struct address_space *mapping; unsigned long index; };
	};
	union {
		unsigned long private;			/* buddy order */
		void *freelist;				/* slab: free objects that no CPU owns */
	};
	struct kmem_cache *slab_cache;
	unsigned int inuse;				/* slab: objects not on freelist */
	unsigned short objects, compound_order;
	unsigned long compound_head;			/* bit 0: a tail, pointing at its head */
	atomic_t _mapcount;				/* number of page-table entries */
	atomic_t _refcount;
};
enum { PG_locked, PG_referenced, PG_uptodate, PG_dirty, PG_slab, PG_reserved, PG_buddy, PG_head, PG_swapbacked, PG_anon, PG_frozen,
	PG_writeback, PG_readahead };
#define PageBuddy(p)	test_bit(PG_buddy, &(p)->flags)
#define PageSlab(p)	test_bit(PG_slab, &(p)->flags)
#define PageAnon(p)	test_bit(PG_anon, &(p)->flags)
#define PageUptodate(p)	test_bit(PG_uptodate, &(p)->flags)
#define SetPageUptodate(p) set_bit(PG_uptodate, &(p)->flags)
#define PageDirty(p)	test_bit(PG_dirty, &(p)->flags)
#define SetPageDirty(p)	set_bit(PG_dirty, &(p)->flags)
#define PageHead(p)	test_bit(PG_head, &(p)->flags)
extern struct page *mem_map;
extern unsigned long max_pfn;
#define __pa(x) ({ unsigned long __x = (unsigned long)(x); __x >= __START_KERNEL_map ? __x - __START_KERNEL_map : __x - PAGE_OFFSET; })
#define __va(x) ((void *)((unsigned long)(x) + PAGE_OFFSET))
#define page_to_pfn(p)		((unsigned long)((p) - mem_map))
#define pfn_to_page(n)		(mem_map + (n))
#define page_to_phys(p)		(page_to_pfn(p) << PAGE_SHIFT)
#define page_address(p)		__va(page_to_phys(p))
#define virt_to_page(v)		pfn_to_page(__pa(v) >> PAGE_SHIFT)
#define PAGE_ALIGN(a)		ALIGN(a, PAGE_SIZE)
#define offset_in_page(p)	((unsigned long)(p) & ~PAGE_MASK)
#define kmap_local_page(p)	page_address(p)
#define kunmap_local(a)		do { } while (0)
static __always_inline struct page *compound_head(struct page *p)
{
	unsigned long h = READ_ONCE(p->compound_head);
	return h & 1 ? (struct page *)(h - 1) : p;
}
#define virt_to_head_page(v)	compound_head(virt_to_page(v))
static __always_inline void get_page(struct page *p) { atomic_inc(&compound_head(p)->_refcount); }
void __put_page(struct page *p);
void release_pages(struct page **pages, unsigned int nr);
static __always_inline void put_page(struct page *p) { p = compound_head(p); if (atomic_dec_and_test(&p->_refcount)) __put_page(p); }
#define page_count(p)		atomic_read(&(p)->_refcount)
#define page_mapcount(p)	atomic_read(&(p)->_mapcount)
void clear_page(void *page);
void copy_page(void *to, const void *from);
void clear_user_highpage(struct page *page, unsigned long vaddr);
void copy_user_highpage(struct page *to, struct page *from, unsigned long vaddr);

typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pud; } pud_t;
typedef struct { unsigned long pmd; } pmd_t;
typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pgprot; } pgprot_t;
#define _PAGE_PRESENT	1UL
#define _PAGE_RW	2UL
#define _PAGE_USER	4UL
#define _PAGE_ACCESSED	0x20UL
#define _PAGE_DIRTY	0x40UL
#define _PAGE_PSE	0x80UL
#define _PAGE_GLOBAL	0x100UL
#define _PAGE_NX	(1UL << 63)
#define _PAGE_TABLE	(_PAGE_PRESENT | _PAGE_RW | _PAGE_USER | _PAGE_ACCESSED | _PAGE_DIRTY)
#define PTE_PFN_MASK	0x000ffffffffff000UL
#define pte_present(p)	((p).pte & _PAGE_PRESENT)
#define pte_none(p)	(!(p).pte)
#define pte_write(p)	((p).pte & _PAGE_RW)
#define pte_dirty(p)	((p).pte & _PAGE_DIRTY)
#define pte_pfn(p)	(((p).pte & PTE_PFN_MASK) >> PAGE_SHIFT)
#define pte_page(p)	pfn_to_page(pte_pfn(p))
#define mk_pte(page, prot) ((pte_t){ page_to_phys(page) | (prot).pgprot })
#define set_pte(p, v)	WRITE_ONCE((p)->pte, (v).pte)

struct vm_fault;
struct vm_area_struct;
struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	unsigned int (*fault)(struct vm_fault *vmf);	/* sets vmf->page with a reference, returns VM_FAULT_* */
	unsigned int (*map_pages)(struct vm_fault *vmf, unsigned long start_pgoff, unsigned long end_pgoff);	/* what is cached already */
	unsigned int (*page_mkwrite)(struct vm_fault *vmf);	/* a page of a shared mapping is to be written to */
};
typedef unsigned int vm_fault_t;
struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	pgprot_t vm_page_prot;
	unsigned long vm_flags;
	struct list_head vm_list;		/* mm->mmap, sorted by address */
	struct rb_node shared_rb;		/* address_space->i_mmap, when there is a file: mm/rmap.c */
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;			/* in pages */
	struct file *vm_file;
	void *vm_private_data;
};
#define VM_READ		1UL
#define VM_WRITE	2UL
#define VM_EXEC		4UL
#define VM_SHARED	8UL
#define VM_MAYREAD	0x10UL
#define VM_MAYWRITE	0x20UL
#define VM_MAYEXEC	0x40UL
#define VM_MAYSHARE	0x80UL
#define VM_GROWSDOWN	0x100UL
#define VM_STACK_FLAGS	(VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC | VM_GROWSDOWN)
#define VM_DATA_FLAGS	(VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC)
#define PROT_READ	1
#define PROT_WRITE	2
#define PROT_EXEC	4
#define MAP_SHARED	1
#define MAP_PRIVATE	2
#define MAP_FIXED	0x10
#define MAP_ANONYMOUS	0x20
#define MAP_FIXED_NOREPLACE 0x100000

struct linux_binfmt;
struct mm_struct {
	struct list_head mmap;			/* VMAs, sorted */
	pgd_t *pgd;
	atomic_t mm_users, mm_count;
	int map_count;
	spinlock_t page_table_lock;
	struct rw_semaphore mmap_lock;
	unsigned long mmap_base, total_vm, stack_vm, data_vm;
	unsigned long hiwater_rss, hiwater_vm;	/* the most there has been before it became less */
	atomic_long_t pgtables_bytes;
	atomic_long_t rss_stat[NR_MM_COUNTERS];
	unsigned long start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
	unsigned long arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
	struct linux_binfmt *binfmt;
	atomic64_t tlb_gen;
	cpumask_t cpu_bitmap;
};
static __always_inline unsigned long get_mm_counter(struct mm_struct *mm, int member)
{
	return max(atomic_long_read(&mm->rss_stat[member]), 0L);	/* tasks tell now and then what they have mapped */
}
void mm_trace_rss_stat(struct mm_struct *mm, int member, long count);	/* the event rss_stat */
static __always_inline void add_mm_counter(struct mm_struct *mm, int member, long value)
{
	mm_trace_rss_stat(mm, member, atomic_long_add_return(value, &mm->rss_stat[member]));
}
static __always_inline unsigned long get_mm_rss(struct mm_struct *mm) { return get_mm_counter(mm, MM_FILEPAGES) + get_mm_counter(mm, MM_ANONPAGES); }
static __always_inline unsigned long get_mm_hiwater_rss(struct mm_struct *mm) { return max(mm->hiwater_rss, get_mm_rss(mm)); }
static __always_inline void update_hiwater_rss(struct mm_struct *mm) { mm->hiwater_rss = max(mm->hiwater_rss, get_mm_rss(mm)); }
static __always_inline void update_hiwater_vm(struct mm_struct *mm) { mm->hiwater_vm = max(mm->hiwater_vm, mm->total_vm); }
#define mm_cpumask(mm)		(&(mm)->cpu_bitmap)
#define mmap_write_lock(mm)	down_write(&(mm)->mmap_lock)
#define mmap_write_lock_killable(mm) down_write_killable(&(mm)->mmap_lock)
#define mmap_write_unlock(mm)	up_write(&(mm)->mmap_lock)
#define mmap_read_lock(mm)	down_read(&(mm)->mmap_lock)
#define mmap_read_trylock(mm)	down_read_trylock(&(mm)->mmap_lock)
#define mmap_read_unlock(mm)	up_read(&(mm)->mmap_lock)
extern struct mm_struct init_mm;
static __always_inline void mmget(struct mm_struct *mm) { atomic_inc(&mm->mm_users); }
static __always_inline void mmgrab(struct mm_struct *mm) { atomic_inc(&mm->mm_count); }
void __mmdrop(struct mm_struct *mm);
static __always_inline void mmdrop(struct mm_struct *mm) { if (atomic_dec_and_test(&mm->mm_count)) __mmdrop(mm); }
struct mm_struct *mm_alloc(void);
void mmput(struct mm_struct *mm);
void exit_mmap(struct mm_struct *mm);
void exec_mm_release(struct task_struct *tsk, struct mm_struct *mm);
void exit_mm_release(struct task_struct *tsk, struct mm_struct *mm);

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address, pgoff;
	unsigned int flags;
	pmd_t *pmd;
	pte_t *pte, orig_pte;
	struct page *page;
};
#define FAULT_FLAG_WRITE	1
#define FAULT_FLAG_ALLOW_RETRY	4
#define FAULT_FLAG_KILLABLE	0x10
#define FAULT_FLAG_USER		0x40
#define FAULT_FLAG_REMOTE	0x80
#define FAULT_FLAG_INSTRUCTION	0x100
#define VM_FAULT_OOM		1
#define VM_FAULT_SIGBUS		2
#define VM_FAULT_SIGSEGV	0x40
#define VM_FAULT_NOPAGE		0x100
#define VM_FAULT_LOCKED		0x200
#define VM_FAULT_ERROR		(VM_FAULT_OOM | VM_FAULT_SIGBUS | VM_FAULT_SIGSEGV)
vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags, struct pt_regs *regs);
#define FOLL_WRITE 1
#define FOLL_FORCE 0x10
long get_user_pages_remote(struct mm_struct *mm, unsigned long start, unsigned long nr_pages, unsigned int gup_flags, struct page **pages);

struct vm_area_struct *vm_area_alloc(struct mm_struct *mm);
void vm_area_free(struct vm_area_struct *vma);
struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr);
struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long addr);
int split_vma(struct mm_struct *mm, struct vm_area_struct *vma, unsigned long addr);
void vm_stat_account(struct mm_struct *mm, unsigned long flags, long npages);
void vma_set_page_prot(struct vm_area_struct *vma);
int insert_vm_struct(struct mm_struct *mm, struct vm_area_struct *vma);
int expand_stack(struct vm_area_struct *vma, unsigned long address);
pgprot_t vm_get_page_prot(unsigned long vm_flags);
unsigned long do_mmap(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, unsigned long pgoff, unsigned long *populate);
unsigned long vm_mmap(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flag, unsigned long offset);
unsigned long vm_mmap_pgoff(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flag, unsigned long pgoff);
int vm_munmap(unsigned long start, size_t len);
int do_munmap(struct mm_struct *mm, unsigned long start, size_t len);
int vm_brk_flags(unsigned long addr, unsigned long len, unsigned long flags);
struct vm_area_struct *vm_area_dup(struct vm_area_struct *orig);
struct vm_area_struct *lock_mm_and_find_vma(struct mm_struct *mm, unsigned long addr, struct pt_regs *regs);
struct file *get_mm_exe_file(struct mm_struct *mm);
int set_mm_exe_file(struct mm_struct *mm, struct file *new_exe_file);
void do_set_pte(struct vm_fault *vmf, struct page *page, unsigned long addr);
void unlink_file_vma(struct vm_area_struct *vma);
int copy_page_range(struct vm_area_struct *dst_vma, struct vm_area_struct *src_vma);

/* Unmapping: pages and tables are gathered and freed only after the TLBs have forgotten them (mm/mmu_gather.c). */
#define MMU_GATHER_BUNDLE 16
struct mmu_gather {
	struct mm_struct *mm;
	unsigned long start, end;
	bool fullmm, freed_tables;
	unsigned int nr, max;
	struct page **pages;			/* local, or a page's worth of them when that is too small */
	struct page *local[MMU_GATHER_BUNDLE];
};
void tlb_gather_mmu(struct mmu_gather *tlb, struct mm_struct *mm);
void tlb_gather_mmu_fullmm(struct mmu_gather *tlb, struct mm_struct *mm);
void tlb_finish_mmu(struct mmu_gather *tlb);
bool __tlb_remove_page_size(struct mmu_gather *tlb, struct page *page, int page_size);	/* true: no more fit, flush now */
void tlb_flush_mmu(struct mmu_gather *tlb);
bool tlb_next_batch(struct mmu_gather *tlb);
static __always_inline bool tlb_gather(struct mmu_gather *tlb, struct page *page)
{
	unsigned int nr = tlb->nr++;

	tlb->pages[nr] = page;
	return unlikely(nr + 1 == tlb->max) && !tlb_next_batch(tlb);
}
/* Entries of the range have been changed. */
static __always_inline void tlb_flush_range(struct mmu_gather *tlb, unsigned long start, unsigned long end)
{
	if (start < tlb->start)
		tlb->start = start;
	if (end > tlb->end)
		tlb->end = end;
}
void unmap_vmas(struct mmu_gather *tlb, struct list_head *vmas, unsigned long start, unsigned long end);
void free_pgtables(struct mmu_gather *tlb, struct list_head *vmas, unsigned long floor, unsigned long ceiling);
pgd_t *pgd_alloc(struct mm_struct *mm);
void pgd_free(struct mm_struct *mm, pgd_t *pgd);
int __pte_alloc(struct mm_struct *mm, pmd_t *pmd);
pte_t *pte_lookup(struct mm_struct *mm, unsigned long addr);

void activate_mm(struct mm_struct *prev, struct mm_struct *next);
void switch_mm(struct mm_struct *prev, struct mm_struct *next, struct task_struct *tsk);
void switch_mm_irqs_off(struct mm_struct *prev, struct mm_struct *next, struct task_struct *tsk);
void enter_lazy_tlb(struct mm_struct *mm, struct task_struct *tsk);
void flush_tlb_mm_range(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned int stride_shift, bool freed_tables);
#define flush_tlb_mm(mm)	flush_tlb_mm_range(mm, 0, ~0UL, 0, true)
#define flush_tlb_page(vma, a)	flush_tlb_mm_range((vma)->vm_mm, a, (a) + PAGE_SIZE, PAGE_SHIFT, false)
void mem_init(void);
void *memblock_alloc(size_t size, size_t align);
unsigned long totalram_pages(void);
unsigned long nr_free_pages(void);

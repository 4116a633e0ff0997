/* Virtual memory areas (mm/mmap.c): a list sorted by address, changed with mmap_lock held for writing. */
#include "mm.h"
#include "fs.h"
#include "syscalls.h"
#include "fdtable.h"
#include "rmap.h"

static struct kmem_cache *vm_area_cachep;
#define MAX_MAP_COUNT 65530

noinline struct vm_area_struct *vm_area_alloc(struct mm_struct *mm)
{
	struct vm_area_struct *vma = kmem_cache_zalloc(vm_area_cachep, GFP_KERNEL);

	if (vma) {
		vma->vm_mm = mm;
		INIT_LIST_HEAD(&vma->vm_list);
	}
	return vma;
}

/* A copy for a fork or a split: the caller sets what differs. */
noinline struct vm_area_struct *vm_area_dup(struct vm_area_struct *orig)
{
	struct vm_area_struct *new = kmem_cache_alloc(vm_area_cachep, GFP_KERNEL);

	if (new) {
		*new = *orig;
		INIT_LIST_HEAD(&new->vm_list);
	}
	return new;
}

noinline void vm_area_free(struct vm_area_struct *vma)
{
	kmem_cache_free(vm_area_cachep, vma);
}

/* Private mappings are never writable in the table until a write fault has made the page ours. */
pgprot_t vm_get_page_prot(unsigned long vm_flags)
{
	unsigned long p = _PAGE_PRESENT | _PAGE_USER | _PAGE_ACCESSED;

	if (!(vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		p = _PAGE_PRESENT | _PAGE_ACCESSED;
	if (!(vm_flags & VM_EXEC))
		p |= _PAGE_NX;
	return (pgprot_t){ p };
}

/* The first area that ends above addr. */
struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &mm->mmap, vm_list) {
		if (addr < vma->vm_end)
			return vma;
	}
	return NULL;
}

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	return vma && vma->vm_start <= addr ? vma : NULL;
}

static bool range_is_free(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = find_vma(mm, start);

	return !vma || vma->vm_start >= end;
}

/* What kind of memory grows or shrinks by npages. */
void vm_stat_account(struct mm_struct *mm, unsigned long flags, long npages)
{
	mm->total_vm += npages;
	if (flags & VM_GROWSDOWN)
		mm->stack_vm += npages;
	else if ((flags & (VM_WRITE | VM_SHARED)) == VM_WRITE)
		mm->data_vm += npages;
}

static noinline void vma_mas_store(struct mm_struct *mm, struct vm_area_struct *vma)
{
	struct vm_area_struct *next = find_vma(mm, vma->vm_start);

	list_add_tail(&vma->vm_list, next ? &next->vm_list : &mm->mmap);
	mm->map_count++;
	vm_stat_account(mm, vma->vm_flags, (vma->vm_end - vma->vm_start) >> PAGE_SHIFT);
}

/* Overcommit's heuristic mode: only the hopeless is refused. */
static noinline int __vm_enough_memory(struct mm_struct *mm, long pages)
{
	return (unsigned long)pages > totalram_pages() ? -ENOMEM : 0;
}

static noinline int security_vm_enough_memory_mm(struct mm_struct *mm, long pages)
{
	return __vm_enough_memory(mm, pages);
}

static noinline int vma_link(struct mm_struct *mm, struct vm_area_struct *vma)
{
	vma_mas_store(mm, vma);
	return 0;
}

int insert_vm_struct(struct mm_struct *mm, struct vm_area_struct *vma)
{
	if (!range_is_free(mm, vma->vm_start, vma->vm_end))
		return -ENOMEM;
	if (!vma->vm_file && security_vm_enough_memory_mm(mm, (vma->vm_end - vma->vm_start) >> PAGE_SHIFT))
		return -ENOMEM;
	return vma_link(mm, vma);
}

static noinline bool may_expand_vm(struct mm_struct *mm, unsigned long flags, unsigned long npages)
{
	return mm->total_vm + npages <= TASK_SIZE >> PAGE_SHIFT;
}

int expand_stack(struct vm_area_struct *vma, unsigned long address)
{
	struct mm_struct *mm = vma->vm_mm;
	int error = 0;

	address &= PAGE_MASK;
	if (address < 65536)
		return -EPERM;
	if (vma->vm_end - address > current->signal->rlim[RLIMIT_STACK].rlim_cur)
		return -ENOMEM;
	spin_lock(&mm->page_table_lock);
	if (address < vma->vm_start) {
		struct vm_area_struct *prev = vma->vm_list.prev == &mm->mmap ? NULL : list_prev_entry(vma, vm_list);

		if (prev && prev->vm_end + 256 * PAGE_SIZE > address) {
			error = -ENOMEM;	/* the guard gap */
		} else {
			vm_stat_account(mm, vma->vm_flags, (vma->vm_start - address) >> PAGE_SHIFT);
			vma->vm_pgoff -= (vma->vm_start - address) >> PAGE_SHIFT;
			vma->vm_start = address;
		}
	}
	spin_unlock(&mm->page_table_lock);
	return error;
}

static noinline unsigned long get_mmap_base(int is_legacy)
{
	return current->mm->mmap_base;
}

/* The highest hole of len bytes below high. */
static noinline unsigned long vm_unmapped_area(struct mm_struct *mm, unsigned long len, unsigned long high)
{
	struct vm_area_struct *vma;

	list_for_each_entry_reverse(vma, &mm->mmap, vm_list) {
		if (vma->vm_start >= high)
			continue;
		if (vma->vm_end <= high && high - vma->vm_end >= len)
			return high - len;
		high = vma->vm_start;
	}
	return high >= len + 65536 ? high - len : -ENOMEM;
}

static noinline unsigned long arch_get_unmapped_area_topdown(struct file *filp, unsigned long addr, unsigned long len, unsigned long pgoff,
							     unsigned long flags)
{
	struct mm_struct *mm = current->mm;

	if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))
		return addr;
	addr = PAGE_ALIGN(addr);
	if (addr >= 65536 && addr <= TASK_SIZE - len && range_is_free(mm, addr, addr + len))
		return addr;
	return vm_unmapped_area(mm, len, get_mmap_base(0));
}

/* mmap_min_addr: page 0 and what is near stays unmapped, so that null pointers fault. */
static noinline int cap_mmap_addr(unsigned long addr)
{
	return addr < 65536 ? -EPERM : 0;
}

static noinline int security_mmap_addr(unsigned long addr)
{
	return cap_mmap_addr(addr);
}

static noinline unsigned long get_unmapped_area(struct file *file, unsigned long addr, unsigned long len, unsigned long pgoff,
						unsigned long flags)
{
	int error;

	if (len > TASK_SIZE)
		return -ENOMEM;
	addr = arch_get_unmapped_area_topdown(file, addr, len, pgoff, flags);
	if (IS_ERR_VALUE(addr))
		return addr;
	if (addr > TASK_SIZE - len)
		return -ENOMEM;
	if (offset_in_page(addr))
		return -EINVAL;
	error = security_mmap_addr(addr);
	return error ? error : addr;
}

static noinline void vma_close(struct vm_area_struct *vma)
{
	if (vma->vm_ops && vma->vm_ops->close)
		vma->vm_ops->close(vma);
}

static __always_inline void remove_vma(struct vm_area_struct *vma)
{
	might_sleep();
	vma_close(vma);
	if (vma->vm_file)
		fput(vma->vm_file);
	list_del(&vma->vm_list);
	vm_area_free(vma);
}

/* The area is no longer one of those that map its file. */
noinline void unlink_file_vma(struct vm_area_struct *vma)
{
	struct address_space *mapping;

	if (!vma->vm_file)
		return;
	mapping = vma->vm_file->f_mapping;
	i_mmap_lock_write(mapping);
	vma_interval_tree_remove(vma, &mapping->i_mmap);
	i_mmap_unlock_write(mapping);
}

static void vma_link_file(struct vm_area_struct *vma)
{
	struct address_space *mapping = vma->vm_file->f_mapping;

	i_mmap_lock_write(mapping);
	vma_interval_tree_insert(vma, &mapping->i_mmap);
	i_mmap_unlock_write(mapping);
}

/* Cuts vma at addr; the upper part becomes an area of its own. */
static noinline int __split_vma(struct mm_struct *mm, struct vm_area_struct *vma, unsigned long addr)
{
	struct vm_area_struct *new;

	new = vm_area_dup(vma);
	if (!new)
		return -ENOMEM;
	new->vm_start = addr;
	new->vm_pgoff += (addr - vma->vm_start) >> PAGE_SHIFT;
	if (new->vm_file) {
		struct address_space *mapping = get_file(new->vm_file)->f_mapping;

		i_mmap_lock_write(mapping);
		vma->vm_end = addr;
		vma_interval_tree_insert(new, &mapping->i_mmap);
		i_mmap_unlock_write(mapping);
	} else {
		vma->vm_end = addr;
	}
	list_add(&new->vm_list, &vma->vm_list);
	mm->map_count++;
	if (new->vm_ops && new->vm_ops->open)
		new->vm_ops->open(new);
	return 0;
}

int split_vma(struct mm_struct *mm, struct vm_area_struct *vma, unsigned long addr)
{
	if (mm->map_count >= MAX_MAP_COUNT)
		return -ENOMEM;
	return __split_vma(mm, vma, addr);
}

/* Makes start and end borders of areas. */
static int split_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = vma_lookup(mm, start);

	if (vma && vma->vm_start < start && split_vma(mm, vma, start))
		return -ENOMEM;
	vma = vma_lookup(mm, end);
	if (vma && vma->vm_start < end && split_vma(mm, vma, end))
		return -ENOMEM;
	return 0;
}

/* vmas have been taken off the list; prev and next are the neighbours' borders. */
static noinline void unmap_region(struct mm_struct *mm, struct list_head *vmas, unsigned long start, unsigned long end, unsigned long prev,
				  unsigned long next)
{
	struct mmu_gather tlb;

	tlb_gather_mmu(&tlb, mm);
	update_hiwater_rss(mm);
	unmap_vmas(&tlb, vmas, start, end);
	free_pgtables(&tlb, vmas, prev, next);
	tlb_finish_mmu(&tlb);
}

static noinline int do_mas_align_munmap(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma, *n;
	unsigned long prev = 0, next = TASK_SIZE_MAX + PAGE_SIZE;
	LIST_HEAD(detached);

	update_hiwater_vm(mm);
	if (split_range(mm, start, end))
		return -ENOMEM;
	list_for_each_entry_safe(vma, n, &mm->mmap, vm_list) {
		if (vma->vm_end <= start) {
			prev = vma->vm_end;
			continue;
		}
		if (vma->vm_start >= end) {
			next = vma->vm_start;
			break;
		}
		list_move_tail(&vma->vm_list, &detached);
		mm->map_count--;
		vm_stat_account(mm, vma->vm_flags, -(long)((vma->vm_end - vma->vm_start) >> PAGE_SHIFT));
	}
	if (list_empty(&detached))
		return 0;
	unmap_region(mm, &detached, start, end, prev, next);
	list_for_each_entry_safe(vma, n, &detached, vm_list)
		remove_vma(vma);
	return 0;
}

static noinline int do_mas_munmap(struct mm_struct *mm, unsigned long start, size_t len)
{
	unsigned long end;

	if (offset_in_page(start) || start > TASK_SIZE || len > TASK_SIZE - start)
		return -EINVAL;
	end = start + PAGE_ALIGN(len);
	if (end == start)
		return -EINVAL;
	if (range_is_free(mm, start, end))
		return 0;
	return do_mas_align_munmap(mm, start, end);
}

int do_munmap(struct mm_struct *mm, unsigned long start, size_t len)
{
	return do_mas_munmap(mm, start, len);
}

static noinline int __vm_munmap(unsigned long start, size_t len)
{
	struct mm_struct *mm = current->mm;
	int ret;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	ret = do_mas_munmap(mm, start, len);
	mmap_write_unlock(mm);
	return ret;
}

int vm_munmap(unsigned long start, size_t len)
{
	return __vm_munmap(start, len);
}

void vma_set_page_prot(struct vm_area_struct *vma)
{
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
}

static noinline unsigned long mmap_region(struct file *file, unsigned long addr, unsigned long len, unsigned long vm_flags,
					  unsigned long pgoff)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int error;

	if (!may_expand_vm(mm, vm_flags, len >> PAGE_SHIFT))
		return -ENOMEM;
	if (do_mas_munmap(mm, addr, len))
		return -ENOMEM;
	if (!file && security_vm_enough_memory_mm(mm, len >> PAGE_SHIFT))
		return -ENOMEM;
	vma = vm_area_alloc(mm);
	if (!vma)
		return -ENOMEM;
	vma->vm_start = addr;
	vma->vm_end = addr + len;
	vma->vm_flags = vm_flags;
	vma->vm_page_prot = vm_get_page_prot(vm_flags);
	vma->vm_pgoff = pgoff;
	if (file) {
		vma->vm_file = get_file(file);
		error = vma->vm_file->f_op->mmap(vma->vm_file, vma);
		if (error) {
			fput(vma->vm_file);
			vm_area_free(vma);
			return error;
		}
	}
	vma_mas_store(mm, vma);
	if (file)
		vma_link_file(vma);
	vma_set_page_prot(vma);
	return addr;
}

unsigned long do_mmap(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags,
		      unsigned long pgoff, unsigned long *populate)
{
	struct mm_struct *mm = current->mm;
	unsigned long vm_flags;

	*populate = 0;
	if (!len)
		return -EINVAL;
	len = PAGE_ALIGN(len);
	if (!len)
		return -ENOMEM;
	if (mm->map_count > MAX_MAP_COUNT)
		return -ENOMEM;
	addr = get_unmapped_area(file, addr, len, pgoff, flags);
	if (IS_ERR_VALUE(addr))
		return addr;
	if ((flags & MAP_FIXED_NOREPLACE) && !range_is_free(mm, addr, addr + len))
		return -EEXIST;
	vm_flags = (prot & (VM_READ | VM_WRITE | VM_EXEC)) | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;
	if (flags & MAP_SHARED) {
		vm_flags |= VM_SHARED | VM_MAYSHARE;
		if (file && !(file->f_mode & FMODE_WRITE)) {
			if (prot & PROT_WRITE)
				return -EACCES;
			vm_flags &= ~(VM_MAYWRITE | VM_SHARED);
		}
	} else if (!(flags & MAP_PRIVATE)) {
		return -EINVAL;
	}
	if (file && !(file->f_mode & FMODE_READ))
		return -EACCES;
	if (file && path_noexec(&file->f_path)) {
		if (vm_flags & VM_EXEC)
			return -EPERM;
		vm_flags &= ~VM_MAYEXEC;
	}
	if (file && !file->f_op->mmap)
		return -ENODEV;
	return mmap_region(file, addr, len, vm_flags, file ? pgoff : addr >> PAGE_SHIFT);
}

/* Execution of what lies on a mount without it is refused; ours have no such flag, so what is left is the file's own mode. */
static noinline int security_mmap_file(struct file *file, unsigned long prot, unsigned long flags)
{
	return file && (prot & PROT_EXEC) && !(file->f_mode & FMODE_READ) ? -EACCES : 0;
}

unsigned long vm_mmap_pgoff(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flag,
			    unsigned long pgoff)
{
	struct mm_struct *mm = current->mm;
	unsigned long ret, populate;

	ret = security_mmap_file(file, prot, flag);
	if (ret)
		return ret;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	ret = do_mmap(file, addr, len, prot, flag, pgoff, &populate);
	mmap_write_unlock(mm);
	return ret;
}

unsigned long vm_mmap(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flag,
		      unsigned long offset)
{
	if (offset + PAGE_ALIGN(len) < offset || offset_in_page(offset))
		return -EINVAL;
	return vm_mmap_pgoff(file, addr, len, prot, flag, offset >> PAGE_SHIFT);
}

static noinline unsigned long ksys_mmap_pgoff(unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags,
					      unsigned long fd, unsigned long pgoff)
{
	struct file *file = NULL;
	unsigned long retval;

	if (!(flags & MAP_ANONYMOUS)) {
		file = fget(fd);
		if (!file)
			return -EBADF;
	}
	retval = vm_mmap_pgoff(file, addr, len, prot, flags, pgoff);
	if (file)
		fput(file);
	return retval;
}

SYSCALL_DEFINE6(mmap, unsigned long, addr, unsigned long, len, unsigned long, prot, unsigned long, flags, unsigned long, fd,
		unsigned long, off)
{
	if (off & ~PAGE_MASK)
		return -EINVAL;
	return ksys_mmap_pgoff(addr, len, prot, flags, fd, off >> PAGE_SHIFT);
}

SYSCALL_DEFINE2(munmap, unsigned long, addr, size_t, len)
{
	return __vm_munmap(addr, len);
}

static noinline bool can_vma_merge_after(struct vm_area_struct *vma, unsigned long vm_flags, unsigned long addr)
{
	return vma->vm_end == addr && !vma->vm_file && !vma->vm_ops && vma->vm_flags == vm_flags;
}

static noinline int do_brk_flags(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned long flags)
{
	struct vm_area_struct *vma, *prev = addr ? vma_lookup(mm, addr - 1) : NULL;

	flags |= VM_DATA_FLAGS;
	if (!may_expand_vm(mm, flags, len >> PAGE_SHIFT))
		return -ENOMEM;
	if (security_vm_enough_memory_mm(mm, len >> PAGE_SHIFT))
		return -ENOMEM;
	if (prev && can_vma_merge_after(prev, flags, addr)) {
		prev->vm_end += len;
		vm_stat_account(mm, flags, len >> PAGE_SHIFT);
		return 0;
	}
	vma = vm_area_alloc(mm);
	if (!vma)
		return -ENOMEM;
	vma->vm_start = addr;
	vma->vm_end = addr + len;
	vma->vm_pgoff = addr >> PAGE_SHIFT;
	vma->vm_flags = flags;
	vma->vm_page_prot = vm_get_page_prot(flags);
	vma_mas_store(mm, vma);
	return 0;
}

static noinline int check_brk_limits(unsigned long addr, unsigned long len)
{
	unsigned long mapped_addr = get_unmapped_area(NULL, addr, len, 0, MAP_FIXED);

	return IS_ERR_VALUE(mapped_addr) ? (int)mapped_addr : 0;
}

int vm_brk_flags(unsigned long addr, unsigned long request, unsigned long flags)
{
	struct mm_struct *mm = current->mm;
	unsigned long len = PAGE_ALIGN(request);
	int ret;

	if (!len)
		return 0;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	ret = do_munmap(mm, addr, len);
	if (!ret)
		ret = do_brk_flags(mm, addr, len, flags);
	mmap_write_unlock(mm);
	return ret;
}

SYSCALL_DEFINE1(brk, unsigned long, brk)
{
	struct mm_struct *mm = current->mm;
	unsigned long newbrk, oldbrk, ret;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	ret = mm->brk;
	if (brk < mm->start_brk)
		goto out;
	newbrk = PAGE_ALIGN(brk);
	oldbrk = PAGE_ALIGN(mm->brk);
	if (brk <= mm->brk) {
		if (newbrk < oldbrk && do_mas_align_munmap(mm, newbrk, oldbrk))
			goto out;
	} else if (newbrk != oldbrk) {
		if (check_brk_limits(oldbrk, newbrk - oldbrk))
			goto out;
		if (!range_is_free(mm, oldbrk, newbrk + PAGE_SIZE) || do_brk_flags(mm, oldbrk, newbrk - oldbrk, 0))
			goto out;
	}
	ret = mm->brk = brk;
out:
	mmap_write_unlock(mm);
	return ret;
}

void exit_mmap(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *n;
	struct mmu_gather tlb;

	mmap_read_lock(mm);
	tlb_gather_mmu_fullmm(&tlb, mm);
	unmap_vmas(&tlb, &mm->mmap, 0, ~0UL);
	mmap_read_unlock(mm);
	mmap_write_lock(mm);
	free_pgtables(&tlb, &mm->mmap, 0, TASK_SIZE_MAX + PAGE_SIZE);
	tlb_finish_mmu(&tlb);
	list_for_each_entry_safe(vma, n, &mm->mmap, vm_list) {
		remove_vma(vma);
		cond_resched();
	}
	mm->map_count = 0;
	mmap_write_unlock(mm);
}

/* For a page fault: the area that holds addr, with mmap_lock held for reading; NULL and no lock when there is none. */
struct vm_area_struct *lock_mm_and_find_vma(struct mm_struct *mm, unsigned long addr, struct pt_regs *regs)
{
	struct vm_area_struct *vma;

	if (unlikely(!mmap_read_trylock(mm)))
		mmap_read_lock(mm);
	might_sleep();
	vma = find_vma(mm, addr);
	if (likely(vma && vma->vm_start <= addr))
		return vma;
	if (vma && (vma->vm_flags & VM_GROWSDOWN) && !expand_stack(vma, addr))
		return vma;
	mmap_read_unlock(mm);
	return NULL;
}

void mmap_init(void);
void __init mmap_init(void)
{
	vm_area_cachep = KMEM_CACHE(vm_area_struct, SLAB_PANIC | SLAB_ACCOUNT);
}

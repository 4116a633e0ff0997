/* Virtual memory areas (mm/mmap.c): a list sorted by address, changed with mmap_lock held for writing. */
#include "mm.h"
#include "fs.h"
#include "syscalls.h"
#include "fdtable.h"

static struct kmem_cache *vm_area_cachep;
#define MAX_MAP_COUNT 65530

struct vm_area_struct *vm_area_alloc(struct mm_struct *mm)
{
	struct vm_area_struct *vma = kmem_cache_zalloc(vm_area_cachep, GFP_KERNEL);

	if (vma) {
		vma->vm_mm = mm;
		INIT_LIST_HEAD(&vma->vm_list);
	}
	return vma;
}

void vm_area_free(struct vm_area_struct *vma)
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

static void vma_link(struct mm_struct *mm, struct vm_area_struct *vma)
{
	struct vm_area_struct *next = find_vma(mm, vma->vm_start);

	list_add_tail(&vma->vm_list, next ? &next->vm_list : &mm->mmap);
	mm->map_count++;
	mm->total_vm += (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}

int insert_vm_struct(struct mm_struct *mm, struct vm_area_struct *vma)
{
	if (!range_is_free(mm, vma->vm_start, vma->vm_end))
		return -ENOMEM;
	vma_link(mm, vma);
	return 0;
}

#define STACK_RLIMIT (8UL << 20)

int expand_stack(struct vm_area_struct *vma, unsigned long address)
{
	struct mm_struct *mm = vma->vm_mm;
	int error = 0;

	address &= PAGE_MASK;
	if (address < 65536)
		return -EPERM;
	if (vma->vm_end - address > STACK_RLIMIT)
		return -ENOMEM;
	spin_lock(&mm->page_table_lock);
	if (address < vma->vm_start) {
		struct vm_area_struct *prev = vma->vm_list.prev == &mm->mmap ? NULL : list_prev_entry(vma, vm_list);

		if (prev && prev->vm_end + 256 * PAGE_SIZE > address) {
			error = -ENOMEM;	/* the guard gap */
		} else {
			mm->total_vm += (vma->vm_start - address) >> PAGE_SHIFT;
			vma->vm_pgoff -= (vma->vm_start - address) >> PAGE_SHIFT;
			vma->vm_start = address;
		}
	}
	spin_unlock(&mm->page_table_lock);
	return error;
}

/* Top down from mmap_base. */
static unsigned long get_unmapped_area(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned long flags)
{
	struct vm_area_struct *vma;
	unsigned long high = mm->mmap_base;

	if (len > TASK_SIZE)
		return -ENOMEM;
	if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (addr & ~PAGE_MASK || addr > TASK_SIZE - len)
			return addr & ~PAGE_MASK ? -EINVAL : -ENOMEM;
		return addr;
	}
	addr = PAGE_ALIGN(addr);
	if (addr >= 65536 && addr <= TASK_SIZE - len && range_is_free(mm, addr, addr + len))
		return addr;
	list_for_each_entry_reverse(vma, &mm->mmap, vm_list) {
		if (vma->vm_start >= high)
			continue;
		if (vma->vm_end <= high && high - vma->vm_end >= len)
			return high - len;
		high = vma->vm_start;
	}
	return high >= len + 65536 ? high - len : -ENOMEM;
}

static void remove_vma(struct vm_area_struct *vma)
{
	if (vma->vm_ops && vma->vm_ops->close)
		vma->vm_ops->close(vma);
	if (vma->vm_file)
		fput(vma->vm_file);
	list_del(&vma->vm_list);
	vma->vm_mm->map_count--;
	vma->vm_mm->total_vm -= (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
	vm_area_free(vma);
}

/* Cuts vma at addr; the upper part becomes an area of its own. */
static int __split_vma(struct mm_struct *mm, struct vm_area_struct *vma, unsigned long addr)
{
	struct vm_area_struct *new;

	if (mm->map_count >= MAX_MAP_COUNT)
		return -ENOMEM;
	new = vm_area_alloc(mm);
	if (!new)
		return -ENOMEM;
	*new = *vma;
	new->vm_start = addr;
	new->vm_pgoff += (addr - vma->vm_start) >> PAGE_SHIFT;
	vma->vm_end = addr;
	if (new->vm_file)
		get_file(new->vm_file);
	list_add(&new->vm_list, &vma->vm_list);
	mm->map_count++;
	if (new->vm_ops && new->vm_ops->open)
		new->vm_ops->open(new);
	return 0;
}

/* Makes start and end borders of areas. */
static int split_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma = vma_lookup(mm, start);

	if (vma && vma->vm_start < start && __split_vma(mm, vma, start))
		return -ENOMEM;
	vma = vma_lookup(mm, end);
	if (vma && vma->vm_start < end && __split_vma(mm, vma, end))
		return -ENOMEM;
	return 0;
}

static void unmap_region(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma, *next;

	list_for_each_entry_safe(vma, next, &mm->mmap, vm_list) {
		if (vma->vm_end <= start)
			continue;
		if (vma->vm_start >= end)
			break;
		unmap_page_range(vma, vma->vm_start, vma->vm_end);
		remove_vma(vma);
	}
}

int do_munmap(struct mm_struct *mm, unsigned long start, size_t len)
{
	unsigned long end;

	if (offset_in_page(start) || start > TASK_SIZE || len > TASK_SIZE - start)
		return -EINVAL;
	end = start + PAGE_ALIGN(len);
	if (end == start)
		return -EINVAL;
	if (split_range(mm, start, end))
		return -ENOMEM;
	unmap_region(mm, start, end);
	return 0;
}

static noinline int __vm_munmap(unsigned long start, size_t len)
{
	struct mm_struct *mm = current->mm;
	int ret;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	ret = do_munmap(mm, start, len);
	mmap_write_unlock(mm);
	return ret;
}

int vm_munmap(unsigned long start, size_t len)
{
	return __vm_munmap(start, len);
}

static noinline unsigned long mmap_region(struct file *file, unsigned long addr, unsigned long len, unsigned long vm_flags,
					  unsigned long pgoff)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int error;

	error = do_munmap(mm, addr, len);
	if (error)
		return error;
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
	vma_link(mm, vma);
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
	addr = get_unmapped_area(mm, addr, len, flags);
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
	if (file && !file->f_op->mmap)
		return -ENODEV;
	return mmap_region(file, addr, len, vm_flags, file ? pgoff : addr >> PAGE_SHIFT);
}

unsigned long vm_mmap_pgoff(struct file *file, unsigned long addr, unsigned long len, unsigned long prot, unsigned long flag,
			    unsigned long pgoff)
{
	struct mm_struct *mm = current->mm;
	unsigned long ret, populate;

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

static noinline int do_brk_flags(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned long flags)
{
	struct vm_area_struct *vma, *prev = addr ? vma_lookup(mm, addr - 1) : NULL;

	flags |= VM_DATA_FLAGS;
	if (prev && prev->vm_end == addr && !prev->vm_file && !prev->vm_ops && prev->vm_flags == flags) {
		prev->vm_end += len;
		mm->total_vm += len >> PAGE_SHIFT;
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
	vma_link(mm, vma);
	return 0;
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
	if (brk < mm->start_brk || brk > TASK_SIZE)
		goto out;
	newbrk = PAGE_ALIGN(brk);
	oldbrk = PAGE_ALIGN(mm->brk);
	if (newbrk < oldbrk) {
		if (do_munmap(mm, newbrk, oldbrk - newbrk))
			goto out;
	} else if (newbrk > oldbrk) {
		if (!range_is_free(mm, oldbrk, newbrk + PAGE_SIZE) || do_brk_flags(mm, oldbrk, newbrk - oldbrk, 0))
			goto out;
	}
	ret = mm->brk = brk;
out:
	mmap_write_unlock(mm);
	return ret;
}

/* Changes the entries' protection; writable pages fault once and are then reused or copied. */
static noinline void change_protection(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct mm_struct *mm = vma->vm_mm;
	unsigned long addr;

	spin_lock(&mm->page_table_lock);
	for (addr = start; addr < end; addr += PAGE_SIZE) {
		pte_t *pte = pte_lookup(mm, addr);

		if (pte && pte_present(*pte))
			set_pte(pte, ((pte_t){ (pte->pte & (PTE_PFN_MASK | _PAGE_DIRTY)) | vma->vm_page_prot.pgprot }));
	}
	spin_unlock(&mm->page_table_lock);
	flush_tlb_mm_range(mm, start, end, PAGE_SHIFT, false);
}

SYSCALL_DEFINE3(mprotect, unsigned long, start, size_t, len, unsigned long, prot)
{
	struct mm_struct *mm = current->mm;
	unsigned long end = start + PAGE_ALIGN(len), addr;
	struct vm_area_struct *vma;
	int error = -ENOMEM;

	if (offset_in_page(start) || end < start || prot & ~7UL)
		return -EINVAL;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	for (addr = start; addr < end; addr = vma->vm_end) {
		vma = vma_lookup(mm, addr);
		if (!vma)
			goto out;
		error = -EACCES;
		if (prot & ~(vma->vm_flags >> 4))
			goto out;
		error = -ENOMEM;
	}
	if (split_range(mm, start, end))
		goto out;
	list_for_each_entry(vma, &mm->mmap, vm_list) {
		if (vma->vm_start < start || vma->vm_start >= end)
			continue;
		vma->vm_flags = (vma->vm_flags & ~7UL) | prot;
		vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
		change_protection(vma, vma->vm_start, vma->vm_end);
	}
	error = 0;
out:
	mmap_write_unlock(mm);
	return error;
}

void exit_mmap(struct mm_struct *mm)
{
	unmap_region(mm, 0, TASK_SIZE_MAX);
	free_pgtables(mm, 0, TASK_SIZE_MAX);
}

void mmap_init(void);
void __init mmap_init(void)
{
	vm_area_cachep = KMEM_CACHE(vm_area_struct, SLAB_PANIC | SLAB_ACCOUNT);
}

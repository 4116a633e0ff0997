/*
 * Hardened user copies (mm/usercopy.c): the kernel's side of a copy must lie within one object, whole: a stack frame's
 * area, a slab object, a page block. Anything else is a bug, and stops here before it leaks or overwrites.
 */
#include "mm.h"
#include "uaccess.h"
#include "vmalloc.h"

extern char _text[], _etext[];

static __noreturn void usercopy_abort(const char *name, bool to_user, unsigned long offset, unsigned long len)
{
	pr_emerg("Kernel memory %s attempt detected %s %s (offset %lu, size %lu)!\n", to_user ? "exposure" : "overwrite",
		 to_user ? "from" : "to", name, offset, len);
	BUG();
}

/* 1: within the current stack; 0: not on it; -1: across its edge. */
static noinline int check_stack_object(const void *obj, unsigned long len)
{
	const void *stack = current->stack, *stackend = stack + THREAD_SIZE;

	if (obj + len <= stack || stackend <= obj)
		return 0;
	return obj < stack || stackend < obj + len ? -1 : 1;
}

static noinline bool __virt_addr_valid(unsigned long x)
{
	return x >= PAGE_OFFSET ? x - PAGE_OFFSET < max_pfn << PAGE_SHIFT : false;
}

static void check_heap_object(const void *ptr, unsigned long n, bool to_user)
{
	struct page *page;

	if (is_vmalloc_addr(ptr) || !__virt_addr_valid((unsigned long)ptr))
		return;
	page = virt_to_head_page(ptr);
	if (PageSlab(page))
		__check_heap_object(ptr, n, page, to_user);
}

void __check_object_size(const void *ptr, unsigned long n, bool to_user)
{
	if (!n)
		return;
	switch (check_stack_object(ptr, n)) {
	case 1:
		return;
	case -1:
		usercopy_abort("process stack", to_user, 0, n);
	}
	check_heap_object(ptr, n, to_user);
	if ((char *)ptr < _etext && (char *)ptr + n > _text)
		usercopy_abort("kernel text", to_user, (char *)ptr - _text, n);
}

void usercopy_slab_abort(const char *name, bool to_user, unsigned long offset, unsigned long len);
void usercopy_slab_abort(const char *name, bool to_user, unsigned long offset, unsigned long len)
{
	usercopy_abort(name, to_user, offset, len);
}

/* Reading kernel memory that may not be there (mm/maccess.c). */
#include "sched.h"
#include "uaccess.h"

long do_strncpy(char *dst, const char *src, long count);

void pagefault_disable(void)
{
	current->pagefault_disabled++;
	barrier();
}

void pagefault_enable(void)
{
	barrier();
	current->pagefault_disabled--;
}

long strncpy_from_kernel_nofault(char *dst, const void *src, long count)
{
	long ret;

	pagefault_disable();
	ret = do_strncpy(dst, src, count);
	pagefault_enable();
	return ret == -EFAULT || ret == count ? ret : ret + 1;
}

long copy_from_kernel_nofault(void *dst, const void *src, size_t size)
{
	unsigned long left;

	pagefault_disable();
	left = copy_user_generic(dst, src, size);
	pagefault_enable();
	return left ? -EFAULT : 0;
}

/* Touching user memory before it is used under a lock (Linux's mm/gup.c). */
#include "pagemap.h"
#include "uaccess.h"

/* The number of bytes that could not be brought in. */
size_t fault_in_readable(const char __user *uaddr, size_t size)
{
	const char __user *start = uaddr, *end;
	volatile char c;

	if (unlikely(size == 0))
		return 0;
	end = (const char __user *)PAGE_ALIGN((unsigned long)start + size);
	while (uaddr < end) {
		if (unlikely(!access_ok(uaddr, 1) || __get_user(c, uaddr)))
			break;
		uaddr = (const char __user *)(((unsigned long)uaddr + PAGE_SIZE) & PAGE_MASK);
	}
	(void)c;
	if (uaddr < start + size)
		return size - (uaddr - start);
	return 0;
}

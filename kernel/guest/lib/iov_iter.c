/* See uio.h. Copies between an iterator and kernel memory or a page (Linux's lib/iov_iter.c). */
#include "uio.h"
#include "kernel.h"
#include "mm.h"
#include "pagemap.h"
#include "uaccess.h"

void iov_iter_ubuf(struct iov_iter *i, unsigned int direction, void __user *buf, size_t count)
{
	*i = (struct iov_iter){ .iter_type = ITER_UBUF, .data_source = direction, .ubuf = buf, .count = count };
}

/* One vector only: its users need no more. */
void iov_iter_kvec(struct iov_iter *i, unsigned int direction, const struct kvec *kvec, unsigned long nr, size_t count)
{
	BUG_ON(nr != 1);
	*i = (struct iov_iter){ .iter_type = ITER_KVEC, .data_source = direction, .kbuf = kvec->iov_base, .count = count };
}

void iov_iter_advance(struct iov_iter *i, size_t bytes)
{
	if (bytes > i->count)
		bytes = i->count;
	i->kbuf += bytes;
	i->count -= bytes;
}

void iov_iter_revert(struct iov_iter *i, size_t bytes)
{
	i->kbuf -= bytes;
	i->count += bytes;
}

size_t _copy_to_iter(const void *addr, size_t bytes, struct iov_iter *i)
{
	if (unlikely(bytes > i->count))
		bytes = i->count;
	if (i->iter_type == ITER_UBUF)
		bytes -= raw_copy_to_user(i->ubuf, addr, bytes);
	else
		memcpy(i->kbuf, addr, bytes);
	iov_iter_advance(i, bytes);
	return bytes;
}

size_t _copy_from_iter(void *addr, size_t bytes, struct iov_iter *i)
{
	if (unlikely(bytes > i->count))
		bytes = i->count;
	if (i->iter_type == ITER_UBUF)
		bytes -= raw_copy_from_user(addr, i->ubuf, bytes);
	else
		memcpy(addr, i->kbuf, bytes);
	iov_iter_advance(i, bytes);
	return bytes;
}

size_t copy_page_to_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *i)
{
	return _copy_to_iter(page_address(page) + offset, bytes, i);
}

size_t copy_page_from_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *i)
{
	return _copy_from_iter(page_address(page) + offset, bytes, i);
}

/* Without sleeping: a user page that is not there ends the copy. */
size_t copy_page_from_iter_atomic(struct page *page, size_t offset, size_t bytes, struct iov_iter *i)
{
	pagefault_disable();
	bytes = _copy_from_iter(page_address(page) + offset, bytes, i);
	pagefault_enable();
	return bytes;
}

size_t iov_iter_zero(size_t bytes, struct iov_iter *i)
{
	if (unlikely(bytes > i->count))
		bytes = i->count;
	if (i->iter_type == ITER_UBUF)
		bytes -= clear_user(i->ubuf, bytes);
	else
		memset(i->kbuf, 0, bytes);
	iov_iter_advance(i, bytes);
	return bytes;
}

/* The number of bytes, of @size, that are not there. */
size_t fault_in_iov_iter_readable(const struct iov_iter *i, size_t size)
{
	if (i->iter_type == ITER_UBUF)
		return fault_in_readable(i->ubuf, min(size, i->count));
	return 0;
}

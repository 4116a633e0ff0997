/* One buffer of user or kernel memory that data is copied to or from in pieces (Linux's include/linux/uio.h, lib/iov_iter.c). */
#ifndef _UIO_H
#define _UIO_H
#include "uaccess.h"

struct page;
struct folio;

struct iovec {
	void __user *iov_base;
	size_t iov_len;
};

struct kvec {
	void *iov_base;
	size_t iov_len;
};

enum iter_type { ITER_UBUF, ITER_KVEC };

#define ITER_SOURCE	1	/* == WRITE: data comes out of the buffer */
#define ITER_DEST	0	/* == READ */

struct iov_iter {
	u8 iter_type;
	bool data_source;
	size_t count;
	union {
		void __user *ubuf;	/* next byte */
		void *kbuf;
	};
};

void iov_iter_ubuf(struct iov_iter *i, unsigned int direction, void __user *buf, size_t count);
void iov_iter_kvec(struct iov_iter *i, unsigned int direction, const struct kvec *kvec, unsigned long nr, size_t count);
size_t _copy_to_iter(const void *addr, size_t bytes, struct iov_iter *i);
size_t _copy_from_iter(void *addr, size_t bytes, struct iov_iter *i);
size_t copy_page_to_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *i);
size_t copy_page_from_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *i);
size_t copy_page_from_iter_atomic(struct page *page, size_t offset, size_t bytes, struct iov_iter *i);
size_t iov_iter_zero(size_t bytes, struct iov_iter *i);
size_t fault_in_iov_iter_readable(const struct iov_iter *i, size_t size);
void iov_iter_advance(struct iov_iter *i, size_t bytes);
void iov_iter_revert(struct iov_iter *i, size_t bytes);

static __always_inline size_t copy_to_iter(const void *addr, size_t bytes, struct iov_iter *i)
{
	check_object_size(addr, bytes, true);
	return _copy_to_iter(addr, bytes, i);
}

static __always_inline size_t copy_from_iter(void *addr, size_t bytes, struct iov_iter *i)
{
	check_object_size(addr, bytes, false);
	return _copy_from_iter(addr, bytes, i);
}

static inline size_t iov_iter_count(const struct iov_iter *i)
{
	return i->count;
}

static inline void iov_iter_truncate(struct iov_iter *i, u64 count)
{
	if (i->count > count)
		i->count = count;
}
#endif

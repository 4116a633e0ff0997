/* Searching bitmaps (Linux's lib/find_bit.c). */
#include "bitops.h"

static inline unsigned long find(const unsigned long *p, unsigned long size, unsigned long off, unsigned long invert)
{
	while (off < size) {
		unsigned long w = (p[off / 64] ^ invert) >> (off % 64);

		if (w) {
			off += __ffs(w);
			return off < size ? off : size;
		}
		off = (off | 63) + 1;
	}
	return size;
}

unsigned long find_next_bit(const unsigned long *p, unsigned long size, unsigned long off)
{
	return find(p, size, off, 0);
}

unsigned long find_next_zero_bit(const unsigned long *p, unsigned long size, unsigned long off)
{
	return find(p, size, off, ~0UL);
}

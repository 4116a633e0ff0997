#pragma once
/* Bit operations and fences: arch/x86/include/asm/bitops.h. */
#include "types.h"
#define BITS_PER_LONG		64
#define BIT(n)			(1UL << (n))
#define BITS_TO_LONGS(n)	(((n) + 63) / 64)
/* As or and and of a word: a number in a register would make bts and btr slow. */
static __always_inline void set_bit(long nr, volatile unsigned long *p)
{
	asm volatile("lock orq %1,%0" : "+m"(p[nr >> 6]) : "er"(1UL << (nr & 63)) : "memory", "cc");
}
static __always_inline void clear_bit(long nr, volatile unsigned long *p)
{
	asm volatile("lock andq %1,%0" : "+m"(p[nr >> 6]) : "er"(~(1UL << (nr & 63))) : "memory", "cc");
}
static __always_inline void __set_bit(long nr, volatile unsigned long *p) { p[nr >> 6] |= 1UL << (nr & 63); }
static __always_inline void __clear_bit(long nr, volatile unsigned long *p) { p[nr >> 6] &= ~(1UL << (nr & 63)); }
static __always_inline bool test_bit(long nr, const volatile unsigned long *p) { return p[nr >> 6] >> (nr & 63) & 1; }
static __always_inline bool test_and_set_bit(long nr, volatile unsigned long *p)
{
	bool c;
	asm volatile("lock btsq %2,%0" : "+m"(*p), "=@ccc"(c) : "Jr"(nr) : "memory");
	return c;
}
static __always_inline bool test_and_clear_bit(long nr, volatile unsigned long *p)
{
	bool c;
	asm volatile("lock btrq %2,%0" : "+m"(*p), "=@ccc"(c) : "Jr"(nr) : "memory");
	return c;
}
static __always_inline unsigned long __ffs(unsigned long w) { return __builtin_ctzl(w); }
static __always_inline unsigned long __fls(unsigned long w) { return 63 - __builtin_clzl(w); }
static __always_inline unsigned long ffz(unsigned long w) { return __ffs(~w); }
static __always_inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static __always_inline int fls64(u64 x) { return x ? 64 - __builtin_clzl(x) : 0; }
static __always_inline int ilog2(unsigned long x) { return 63 - __builtin_clzl(x); }
static __always_inline int hweight64(u64 w)
{
	int n = 0;
	for (; w; w &= w - 1)
		n++;
	return n;
}
unsigned long find_next_bit(const unsigned long *p, unsigned long size, unsigned long off);
unsigned long find_next_zero_bit(const unsigned long *p, unsigned long size, unsigned long off);
#define find_first_bit(p, n)		find_next_bit(p, n, 0)
#define find_first_zero_bit(p, n)	find_next_zero_bit(p, n, 0)
#define for_each_set_bit(b, p, n)	for (b = find_first_bit(p, n); b < (n); b = find_next_bit(p, n, b + 1))

#pragma once
/* Strings eight bytes at a time (asm/word-at-a-time.h). An aligned word does not cross a page, so one may be read that ends behind the string. */
#define WORD_ONE_BYTES	0x0101010101010101UL
#define WORD_HIGH_BITS	0x8080808080808080UL

/* Not 0: the lowest bit that is set is the high one of the first byte of @w that is 0. */
static __always_inline unsigned long has_zero(unsigned long w)
{
	return (w - WORD_ONE_BYTES) & ~w & WORD_HIGH_BITS;
}

/* The number of bytes before it. */
static __always_inline unsigned long find_zero(unsigned long zero)
{
	return __builtin_ctzl(zero) >> 3;
}

/* Those bytes' bits. */
static __always_inline unsigned long zero_bytemask(unsigned long zero)
{
	return ((zero - 1) & ~zero) >> 7;
}

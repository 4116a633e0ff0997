/*
 * Strings: the subset of Linux's lib/string.c and lib/string_helpers.c that the guest uses, under the same names.
 * lib/ is built without fentry sites, as in Linux (lib/Makefile removes CC_FLAGS_FTRACE).
 */
#include "types.h"
#include "string.h"
#include "errno.h"
#include "kernel.h"
#include "slab.h"
#include "word-at-a-time.h"

size_t strlen(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return p - s;
}

size_t strnlen(const char *s, size_t count)
{
	unsigned long align = (unsigned long)s & 7, zero;
	const unsigned long *word = (const unsigned long *)(s - align);
	size_t n = 0, max = count + align;

	if (!count)
		return 0;
	zero = has_zero(*word | ((1UL << 8 * align) - 1));	/* what is before the string is no end of it */
	while (!zero) {
		n += 8;
		if (n >= max)
			return count;
		zero = has_zero(*++word);
	}
	return min(n + find_zero(zero), max) - align;
}

char *strcpy(char *dest, const char *src)
{
	char *d = dest;

	while ((*d++ = *src++))
		;
	return dest;
}

/* strncpy fills the rest of @dest with zeros, which records of fixed size rely on. */
char *strncpy(char *dest, const char *src, size_t count)
{
	size_t i = 0;

	for (; i < count && src[i]; i++)
		dest[i] = src[i];
	for (; i < count; i++)
		dest[i] = 0;
	return dest;
}

size_t strlcpy(char *dest, const char *src, size_t size)
{
	size_t len = strlen(src);

	if (size) {
		size_t n = len >= size ? size - 1 : len;

		memcpy(dest, src, n);
		dest[n] = 0;
	}
	return len;
}

/* strscpy returns the copied length, or -E2BIG when @src was cut. */
ssize_t strscpy(char *dest, const char *src, size_t count)
{
	size_t i, max = min(count, PAGE_SIZE - ((unsigned long)src & (PAGE_SIZE - 1)));

	if (!count)
		return -E2BIG;
	for (i = 0; i + 8 <= max; i += 8) {	/* words, to the end of the page */
		unsigned long c = *(const unsigned long *)(src + i), zero = has_zero(c);

		if (zero) {
			*(unsigned long *)(dest + i) = c & zero_bytemask(zero);
			return i + find_zero(zero);
		}
		*(unsigned long *)(dest + i) = c;
	}
	for (; i < count; i++) {
		dest[i] = src[i];
		if (!src[i])
			return i;
	}
	dest[count - 1] = 0;
	return -E2BIG;
}

ssize_t strscpy_pad(char *dest, const char *src, size_t count)
{
	ssize_t n = strscpy(dest, src, count);

	if (n >= 0 && (size_t)n + 1 < count)
		memset(dest + n + 1, 0, count - n - 1);
	return n;
}

char *strcat(char *dest, const char *src)
{
	strcpy(dest + strlen(dest), src);
	return dest;
}

int strcmp(const char *a, const char *b)
{
	unsigned char x, y;

	do {
		x = *a++;
		y = *b++;
		if (x != y)
			return x < y ? -1 : 1;
	} while (x);
	return 0;
}

int strncmp(const char *a, const char *b, size_t count)
{
	for (; count; count--) {
		unsigned char x = *a++, y = *b++;

		if (x != y)
			return x < y ? -1 : 1;
		if (!x)
			break;
	}
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

char *strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;
	char at;

	do {
		at = *s;
		if (at == (char)c)
			last = s;
		s++;
	} while (at);
	return (char *)last;
}

char *strnchr(const char *s, size_t count, int c)
{
	for (; count; count--, s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			break;
	}
	return NULL;
}

char *strstr(const char *s, const char *find)
{
	size_t n = strlen(find);

	for (;; s++) {
		if (!strncmp(s, find, n))
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

size_t strspn(const char *s, const char *accept)
{
	const char *p = s;

	while (*p && strchr(accept, *p))
		p++;
	return p - s;
}

size_t strcspn(const char *s, const char *reject)
{
	const char *p = s;

	while (*p && !strchr(reject, *p))
		p++;
	return p - s;
}

/* strsep cuts the next token at any byte of @ct and advances *@s behind it; NULL at the end. */
char *strsep(char **s, const char *ct)
{
	char *begin = *s, *end;

	if (!begin)
		return NULL;
	end = begin + strcspn(begin, ct);
	if (*end)
		*end++ = 0;
	else
		end = NULL;
	*s = end;
	return begin;
}

char *skip_spaces(const char *s)
{
	while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
		s++;
	return (char *)s;
}

int memcmp(const void *a, const void *b, size_t count)
{
	const unsigned char *x = a, *y = b;

	for (; count >= 8 && *(const u64 *)x == *(const u64 *)y; count -= 8)
		x += 8, y += 8;
	for (; count; count--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	for (; n; n--, p++)
		if (*p == (unsigned char)c)
			return (void *)p;
	return NULL;
}

char *kstrdup(const char *s, gfp_t gfp)
{
	size_t len;
	char *p;

	if (!s)
		return NULL;
	len = strlen(s) + 1;
	p = kmalloc(len, gfp);
	if (p)
		memcpy(p, s, len);
	return p;
}

/* simple_strtoull accepts 0x, leading-zero octal when @base is 0, as lib/vsprintf.c does; *@endp stops at the first bad byte. */
unsigned long long simple_strtoull(const char *cp, char **endp, unsigned int base)
{
	unsigned long long v = 0;

	if (!base) {
		base = 10;
		if (cp[0] == '0')
			base = (cp[1] | 0x20) == 'x' ? 16 : 8;
	}
	if (base == 16 && cp[0] == '0' && (cp[1] | 0x20) == 'x')
		cp += 2;
	for (;; cp++) {
		unsigned int d;

		if (*cp >= '0' && *cp <= '9')
			d = *cp - '0';
		else if ((*cp | 0x20) >= 'a' && (*cp | 0x20) <= 'f')
			d = (*cp | 0x20) - 'a' + 10;
		else
			break;
		if (d >= base)
			break;
		v = v * base + d;
	}
	if (endp)
		*endp = (char *)cp;
	return v;
}

unsigned long simple_strtoul(const char *cp, char **endp, unsigned int base)
{
	return simple_strtoull(cp, endp, base);
}

long simple_strtol(const char *cp, char **endp, unsigned int base)
{
	if (*cp == '-')
		return -(long)simple_strtoull(cp + 1, endp, base);
	return simple_strtoull(cp, endp, base);
}

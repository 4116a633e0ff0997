/*
 * printf for the kernel: the conversions of Linux's lib/vsprintf.c that our code uses, with Linux's text.
 *
 *	%d %i %u %o %x %X %c %s %% with - + space # 0, width, precision, *, and h hh l ll z t
 *	%p	hashed pointer (16 digits, upper half zero), "(null)" and error pointers as Linux prints them
 *	%px	the address itself		%pK	as %p
 *	%pS %pSR %pB	symbol+0xoff/0xsize	%ps	symbol
 *	%pd	dentry name			%pV	struct va_format, for printk's wrappers
 *
 * A format is decoded into a struct printf_spec, one conversion at a time; every writer takes (buf, end) and returns the
 * position that it would have reached, so that the result's length is exact even when the buffer is too small.
 */
#include "types.h"
#include "kernel.h"
#include "string.h"
#include "err.h"
#include "slab.h"
#include "kallsyms.h"
#include "dcache.h"


enum format_type { FORMAT_TEXT, FORMAT_CHAR, FORMAT_STR, FORMAT_PTR, FORMAT_NUM, FORMAT_PERCENT, FORMAT_INVALID };

#define SIGN	1	/* signed number */
#define LEFT	2	/* - */
#define PLUS	4	/* + */
#define SPACE	8	/* space */
#define ZEROPAD	16	/* 0 */
#define SMALL	32	/* lower-case digits */
#define SPECIAL	64	/* # */

struct printf_spec {
	u8 type;
	u8 flags;
	u8 base;
	u8 size;	/* bytes of the argument: 1, 2, 4 or 8 */
	int width;
	int precision;	/* -1: none */
};

static char *put_char(char *buf, char *end, char c)
{
	if (buf < end)
		*buf = c;
	return buf + 1;
}

static char *put_pad(char *buf, char *end, char c, int n)
{
	while (n-- > 0)
		buf = put_char(buf, end, c);
	return buf;
}

/* string writes at most spec.precision bytes of @s, padded to spec.width. */
static char *string(char *buf, char *end, const char *s, struct printf_spec spec)
{
	int len;

	if ((unsigned long)s < PAGE_SIZE)
		s = "(null)";
	len = strnlen(s, spec.precision < 0 ? (size_t)INT_MAX : (size_t)spec.precision);
	if (!(spec.flags & LEFT))
		buf = put_pad(buf, end, ' ', spec.width - len);
	for (int i = 0; i < len; i++)
		buf = put_char(buf, end, s[i]);
	if (spec.flags & LEFT)
		buf = put_pad(buf, end, ' ', spec.width - len);
	return buf;
}

static char *number(char *buf, char *end, unsigned long long num, struct printf_spec spec)
{
	const char *digits = spec.flags & SMALL ? "0123456789abcdef" : "0123456789ABCDEF";
	char tmp[24], sign = 0;
	int i = 0, width = spec.width, precision = spec.precision;
	bool prefix = (spec.flags & SPECIAL) && spec.base != 10;

	if (spec.flags & SIGN) {
		if ((long long)num < 0) {
			sign = '-';
			num = -num;
		} else if (spec.flags & PLUS) {
			sign = '+';
		} else if (spec.flags & SPACE) {
			sign = ' ';
		}
	}
	do {
		tmp[i++] = digits[num % spec.base];
		num /= spec.base;
	} while (num);
	if (precision < i)
		precision = i;
	width -= precision + (sign != 0) + (prefix ? (spec.base == 16 ? 2 : 1) : 0);
	if (!(spec.flags & (ZEROPAD | LEFT))) {
		buf = put_pad(buf, end, ' ', width);
		width = 0;
	}
	if (sign)
		buf = put_char(buf, end, sign);
	if (prefix) {
		buf = put_char(buf, end, '0');
		if (spec.base == 16)
			buf = put_char(buf, end, spec.flags & SMALL ? 'x' : 'X');
	}
	if (!(spec.flags & LEFT)) {
		buf = put_pad(buf, end, '0', width);
		width = 0;
	}
	buf = put_pad(buf, end, '0', precision - i);
	while (i)
		buf = put_char(buf, end, tmp[--i]);
	return put_pad(buf, end, ' ', width);
}

static char *pointer_number(char *buf, char *end, unsigned long v, struct printf_spec spec)
{
	spec.base = 16;
	spec.flags |= SMALL | ZEROPAD;
	if (spec.width < 0)
		spec.width = 2 * sizeof(void *);
	return number(buf, end, v, spec);
}

/*
 * ptr_to_hashval hides addresses as Linux's does: a keyed hash cut to 32 bits. The key is fixed, since a machine
 * must print the same bytes on every run; it hides nothing from somebody who reads this line. (ftrace/event has the same.)
 */
static unsigned long ptr_to_hashval(const void *ptr)
{
	u64 h = (u64)ptr ^ 0x6b73636f70653631ull;

	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
	return (u32)(h ^ (h >> 31));
}

static char *symbol_string(char *buf, char *end, unsigned long addr, struct printf_spec spec, char kind)
{
	char sym[KSYM_SYMBOL_LEN];

	if (kind == 's')
		sprint_symbol_no_offset(sym, addr);
	else if (kind == 'B')
		sprint_backtrace(sym, addr);
	else
		sprint_symbol(sym, addr);
	if (spec.width < 0)
		spec.width = 0;
	return string(buf, end, sym, spec);
}

static char *dentry_name(char *buf, char *end, const struct dentry *d, struct printf_spec spec)
{
	if (spec.width < 0)
		spec.width = 0;
	return string(buf, end, (unsigned long)d < PAGE_SIZE ? "(null)" : (const char *)d->d_name.name, spec);
}

static char *va_format(char *buf, char *end, struct va_format *vaf)
{
	va_list va;

	va_copy(va, *vaf->va);
	buf += vsnprintf(buf, end > buf ? end - buf : 0, vaf->fmt, va);
	va_end(va);
	return buf;
}

/* pointer writes a %p conversion whose letter is *@fmt (any letter that is none of ours means plain %p). */
static char *pointer(const char *fmt, char *buf, char *end, void *ptr, struct printf_spec spec)
{
	switch (*fmt) {
	case 'S':
	case 's':
	case 'B':
		return symbol_string(buf, end, (unsigned long)ptr, spec, *fmt);
	case 'd':
		return dentry_name(buf, end, ptr, spec);
	case 'V':
		return va_format(buf, end, ptr);
	case 'x':
		return pointer_number(buf, end, (unsigned long)ptr, spec);
	}
	if (IS_ERR_OR_NULL(ptr))
		return pointer_number(buf, end, (unsigned long)ptr, spec);
	return pointer_number(buf, end, ptr_to_hashval(ptr), spec);
}

static const char *decode_flags(const char *fmt, struct printf_spec *spec)
{
	for (;; fmt++) {
		switch (*fmt) {
		case '-':
			spec->flags |= LEFT;
			continue;
		case '+':
			spec->flags |= PLUS;
			continue;
		case ' ':
			spec->flags |= SPACE;
			continue;
		case '#':
			spec->flags |= SPECIAL;
			continue;
		case '0':
			spec->flags |= ZEROPAD;
			continue;
		}
		return fmt;
	}
}

static const char *decode_int(const char *fmt, int *v, va_list *args)
{
	if (*fmt == '*') {
		*v = va_arg(*args, int);
		return fmt + 1;
	}
	for (*v = 0; *fmt >= '0' && *fmt <= '9'; fmt++)
		*v = *v * 10 + *fmt - '0';
	return fmt;
}

static const char *decode_size(const char *fmt, struct printf_spec *spec)
{
	spec->size = 4;
	for (;; fmt++) {
		switch (*fmt) {
		case 'h':
			spec->size /= 2;
			continue;
		case 'l':
		case 'L':
		case 'z':
		case 't':
			spec->size = 8;
			continue;
		}
		return fmt;
	}
}

static void decode_conversion(char c, struct printf_spec *spec)
{
	spec->type = FORMAT_NUM;
	spec->base = 10;
	switch (c) {
	case 'c':
		spec->type = FORMAT_CHAR;
		break;
	case 's':
		spec->type = FORMAT_STR;
		break;
	case 'p':
		spec->type = FORMAT_PTR;
		break;
	case '%':
		spec->type = FORMAT_PERCENT;
		break;
	case 'o':
		spec->base = 8;
		break;
	case 'x':
		spec->flags |= SMALL;
		fallthrough;
	case 'X':
		spec->base = 16;
		break;
	case 'd':
	case 'i':
		spec->flags |= SIGN;
		break;
	case 'u':
		break;
	default:
		spec->type = FORMAT_INVALID;
	}
}

/* format_decode reads one item of @fmt, plain text or a conversion, and returns where the next one starts. */
static const char *format_decode(const char *fmt, struct printf_spec *spec, va_list *args)
{
	const char *start = fmt;

	*spec = (struct printf_spec){ .type = FORMAT_TEXT, .width = -1, .precision = -1 };
	while (*fmt && *fmt != '%')
		fmt++;
	if (fmt != start)
		return fmt;
	fmt = decode_flags(fmt + 1, spec);
	if (*fmt == '*' || (*fmt >= '0' && *fmt <= '9')) {
		fmt = decode_int(fmt, &spec->width, args);
		if (spec->width < 0) {
			spec->width = -spec->width;
			spec->flags |= LEFT;
		}
	}
	if (*fmt == '.') {
		fmt = decode_int(fmt + 1, &spec->precision, args);
		if (spec->precision < 0)
			spec->precision = 0;
	}
	fmt = decode_size(fmt, spec);
	decode_conversion(*fmt, spec);
	return *fmt ? fmt + 1 : fmt;
}

static unsigned long long fetch_number(struct printf_spec spec, va_list *args)
{
	if (spec.size == 8)
		return va_arg(*args, unsigned long long);
	if (spec.flags & SIGN) {
		int v = va_arg(*args, int);

		return spec.size == 4 ? v : spec.size == 2 ? (short)v : (signed char)v;
	} else {
		unsigned int v = va_arg(*args, unsigned int);

		return spec.size == 4 ? v : spec.size == 2 ? (unsigned short)v : (unsigned char)v;
	}
}

static char *character(char *buf, char *end, char c, struct printf_spec spec)
{
	if (!(spec.flags & LEFT))
		buf = put_pad(buf, end, ' ', spec.width - 1);
	buf = put_char(buf, end, c);
	if (spec.flags & LEFT)
		buf = put_pad(buf, end, ' ', spec.width - 1);
	return buf;
}

/* vsnprintf returns the length of the whole text, of which size-1 bytes and a NUL are in @buf. */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	char *str = buf, *end = buf + size;
	struct printf_spec spec;
	va_list args;

	if (size > INT_MAX)
		return 0;
	va_copy(args, ap);
	while (*fmt) {
		const char *old = fmt;

		fmt = format_decode(fmt, &spec, &args);
		switch (spec.type) {
		case FORMAT_TEXT:
		case FORMAT_INVALID:
			for (; old < fmt; old++)
				str = put_char(str, end, *old);
			break;
		case FORMAT_PERCENT:
			str = put_char(str, end, '%');
			break;
		case FORMAT_CHAR:
			str = character(str, end, va_arg(args, int), spec);
			break;
		case FORMAT_STR:
			str = string(str, end, va_arg(args, const char *), spec);
			break;
		case FORMAT_PTR:
			str = pointer(fmt, str, end, va_arg(args, void *), spec);
			while ((*fmt >= 'a' && *fmt <= 'z') || (*fmt >= 'A' && *fmt <= 'Z'))
				fmt++;
			break;
		case FORMAT_NUM:
			str = number(str, end, fetch_number(spec, &args), spec);
			break;
		}
	}
	va_end(args);
	if (size > 0)
		*(str < end ? str : end - 1) = 0;
	return str - buf;
}

/* vscnprintf returns how many bytes are really in @buf. */
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int n = vsnprintf(buf, size, fmt, args);

	if (n < (int)size)
		return n;
	return size ? size - 1 : 0;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int vsprintf(char *buf, const char *fmt, va_list args)
{
	return vsnprintf(buf, INT_MAX, fmt, args);
}

int sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, INT_MAX, fmt, args);
	va_end(args);
	return n;
}

char *kvasprintf(gfp_t gfp, const char *fmt, va_list ap)
{
	va_list aq;
	int n;
	char *p;

	va_copy(aq, ap);
	n = vsnprintf(NULL, 0, fmt, aq);
	va_end(aq);
	p = kmalloc(n + 1, gfp);
	if (p)
		vsnprintf(p, n + 1, fmt, ap);
	return p;
}

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	va_list args;
	char *p;

	va_start(args, fmt);
	p = kvasprintf(gfp, fmt, args);
	va_end(args);
	return p;
}

/* Numbers in text that hold nothing else, but for one newline at the end (Linux's lib/kstrtox.c). */
#include "kernel.h"
#include "string.h"
#include "errno.h"

/* The digits; -EINVAL: there are none, or something follows; -ERANGE: too many. */
static int _kstrtoull(const char *s, unsigned int base, unsigned long long *res)
{
	unsigned long long v = 0;
	const char *start;

	if (!base) {
		base = 10;
		if (s[0] == '0')
			base = (s[1] | 0x20) == 'x' ? 16 : 8;
	}
	if (base == 16 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (start = s; *s; s++) {
		unsigned int c = *s | 0x20, d = *s >= '0' && *s <= '9' ? *s - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;

		if (d >= base)
			break;
		if (v > (~0ull - d) / base)
			return -ERANGE;
		v = v * base + d;
	}
	if (*s == '\n')
		s++;
	if (s == start || *s)
		return -EINVAL;
	*res = v;
	return 0;
}

int kstrtoull(const char *s, unsigned int base, unsigned long long *res)
{
	return _kstrtoull(s + (s[0] == '+'), base, res);
}

int kstrtoll(const char *s, unsigned int base, long long *res)
{
	bool minus = s[0] == '-';
	unsigned long long v;
	int err = minus ? _kstrtoull(s + 1, base, &v) : kstrtoull(s, base, &v);

	if (err)
		return err;
	if (minus ? (long long)-v > 0 : (long long)v < 0)
		return -ERANGE;
	*res = minus ? -v : v;
	return 0;
}

#define KSTRTO(name, type, from, wide)						\
	int name(const char *s, unsigned int base, type *res)			\
	{									\
		wide v;								\
		int err = from(s, base, &v);					\
										\
		if (err)							\
			return err;						\
		if (v != (wide)(type)v)						\
			return -ERANGE;						\
		*res = v;							\
		return 0;							\
	}
KSTRTO(kstrtouint, unsigned int, kstrtoull, unsigned long long)
KSTRTO(kstrtoint, int, kstrtoll, long long)
KSTRTO(kstrtou16, u16, kstrtoull, unsigned long long)
KSTRTO(kstrtos16, s16, kstrtoll, long long)
KSTRTO(kstrtou8, u8, kstrtoull, unsigned long long)
KSTRTO(kstrtos8, s8, kstrtoll, long long)

int kstrtobool(const char *s, bool *res)
{
	if (!s)
		return -EINVAL;
	switch (s[0]) {
	case 'y': case 'Y': case 't': case 'T': case '1':
		*res = true;
		return 0;
	case 'n': case 'N': case 'f': case 'F': case '0':
		*res = false;
		return 0;
	case 'o': case 'O':
		if ((s[1] | 0x20) == 'n' || (s[1] | 0x20) == 'f') {
			*res = (s[1] | 0x20) == 'n';
			return 0;
		}
	}
	return -EINVAL;
}

/* Access to user memory, checked (lib/usercopy.c, lib/strncpy_from_user.c, lib/strnlen_user.c). */
#include "sched.h"
#include "uaccess.h"
#include "word-at-a-time.h"

unsigned long __clear_user_erms(void *to, unsigned long n);
unsigned char __get_user_nocheck_1(const void *p, int *err);

unsigned long _copy_from_user(void *to, const void __user *from, unsigned long n)
{
	unsigned long res = n;

	if (access_ok(from, n))
		res = raw_copy_from_user(to, from, n);
	if (unlikely(res))
		memset(to + (n - res), 0, res);
	return res;
}

unsigned long _copy_to_user(void __user *to, const void *from, unsigned long n)
{
	return access_ok(to, n) ? raw_copy_to_user(to, from, n) : n;
}

unsigned long clear_user(void __user *to, unsigned long n)
{
	return access_ok(to, n) ? __clear_user_erms(to, n) : n;
}

/* The length without NUL, count when it does not fit, -EFAULT. */
long do_strncpy(char *dst, const char *src, long count);
long do_strncpy(char *dst, const char *src, long count)
{
	long i = 0;
	int err = 0;

	/* words, until one of them faults or has the end */
	for (; i + 8 <= count; i += 8) {
		unsigned long c, zero;

		if (unlikely(__get_user(c, (const unsigned long __user *)(src + i))))
			break;
		*(unsigned long *)(dst + i) = c;
		zero = has_zero(c);
		if (zero)
			return i + find_zero(zero);
	}
	for (; i < count; i++) {
		dst[i] = __get_user_nocheck_1(src + i, &err);
		if (err)
			return -EFAULT;
		if (!dst[i])
			return i;
	}
	return count;
}

long strncpy_from_user(char *dst, const char __user *src, long count)
{
	if (count <= 0)
		return 0;
	if ((unsigned long)src >= TASK_SIZE_MAX)
		return -EFAULT;
	check_object_size(dst, count, false);
	return do_strncpy(dst, src, min(count, (long)(TASK_SIZE_MAX - (unsigned long)src)));
}

static long do_strnlen_user(const char __user *src, unsigned long count, unsigned long max)
{
	unsigned long align = (unsigned long)src & 7, res = 0, c, zero;
	const unsigned long __user *word = (const unsigned long __user *)(src - align);

	max += align;
	if (__get_user(c, word))
		return 0;
	c |= (1UL << 8 * align) - 1;		/* what is before the string is no end of it */
	for (;;) {
		zero = has_zero(c);
		if (zero) {
			res += find_zero(zero) + 1 - align;
			return res <= count ? (long)res : (long)count + 1;
		}
		res += 8;
		if (unlikely(max <= 8))
			break;
		max -= 8;
		if (__get_user(c, ++word))
			return 0;
	}
	return res - align >= count ? (long)count + 1 : 0;
}

/* With its NUL; more than @n when there is none among @n bytes; 0: a fault. */
long strnlen_user(const char __user *str, long n)
{
	unsigned long max = TASK_SIZE_MAX - (unsigned long)str;

	if ((unsigned long)str >= TASK_SIZE_MAX || n <= 0)
		return 0;
	return do_strnlen_user(str, n, min(max, (unsigned long)n));
}

/* Access to user memory, checked (lib/usercopy.c, lib/strncpy_from_user.c, lib/strnlen_user.c). */
#include "sched.h"
#include "uaccess.h"

unsigned long __clear_user_erms(void *to, unsigned long n);
unsigned char __get_user_nocheck_1(const void *p, int *err);

unsigned long _copy_from_user(void *to, const void __user *from, unsigned long n)
{
	unsigned long res = n;

	might_sleep();
	if (access_ok(from, n))
		res = raw_copy_from_user(to, from, n);
	if (unlikely(res))
		memset(to + (n - res), 0, res);
	return res;
}

unsigned long _copy_to_user(void __user *to, const void *from, unsigned long n)
{
	might_sleep();
	return access_ok(to, n) ? raw_copy_to_user(to, from, n) : n;
}

unsigned long clear_user(void __user *to, unsigned long n)
{
	might_sleep();
	return access_ok(to, n) ? __clear_user_erms(to, n) : n;
}

/* The length without NUL, count when it does not fit, -EFAULT. */
long do_strncpy(char *dst, const char *src, long count);
long do_strncpy(char *dst, const char *src, long count)
{
	long i;
	int err = 0;

	for (i = 0; i < count; i++) {
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
	might_sleep();
	if (count <= 0)
		return 0;
	if ((unsigned long)src >= TASK_SIZE_MAX)
		return -EFAULT;
	check_object_size(dst, count, false);
	return do_strncpy(dst, src, min(count, (long)(TASK_SIZE_MAX - (unsigned long)src)));
}

/* The size with NUL; above n when there is none; 0 on a fault. */
long strnlen_user(const char __user *str, long n)
{
	long i;
	int err = 0;

	might_sleep();
	if ((unsigned long)str >= TASK_SIZE_MAX)
		return 0;
	for (i = 0; i < n; i++) {
		unsigned char c = __get_user_nocheck_1(str + i, &err);

		if (err)
			return 0;
		if (!c)
			return i + 1;
	}
	return n + 1;
}

#pragma once
/* The basics that nearly every file wants. */
#include "types.h"
#include "errno.h"
#include "list.h"
#include "printk.h"
#include "init.h"
#include "string.h"
unsigned long long simple_strtoull(const char *cp, char **endp, unsigned int base);
unsigned long simple_strtoul(const char *cp, char **endp, unsigned int base);
long simple_strtol(const char *cp, char **endp, unsigned int base);
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define min(a, b)		({ typeof(a) __a = (a); typeof(b) __b = (b); __a < __b ? __a : __b; })
#define max(a, b)		({ typeof(a) __a = (a); typeof(b) __b = (b); __a > __b ? __a : __b; })
#define min_t(t, a, b)		({ t __a = (a); t __b = (b); __a < __b ? __a : __b; })
#define max_t(t, a, b)		({ t __a = (a); t __b = (b); __a > __b ? __a : __b; })
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define swap(a, b)		do { typeof(a) __t = (a); (a) = (b); (b) = __t; } while (0)
#define ALIGN(x, a)		(((x) + ((typeof(x))(a) - 1)) & ~((typeof(x))(a) - 1))
#define ALIGN_DOWN(x, a)	((x) & ~((typeof(x))(a) - 1))
#define round_up(x, a)		ALIGN(x, a)
#define round_down(x, a)	ALIGN_DOWN(x, a)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define UINT_MAX		(~0U)
#define INT_MAX			((int)(~0U >> 1))
#define LONG_MAX		((long)(~0UL >> 1))
#define ULONG_MAX		(~0UL)
#define U64_MAX			(~0UL)
#define S64_MAX			LONG_MAX
#define PATH_MAX		4096
#define might_sleep()		do { might_resched(); } while (0)
int __cond_resched(void);
#define might_resched()		__cond_resched()
#define BUG()			do { asm volatile("ud2"); unreachable(); } while (0)
#define BUG_ON(c)		do { if (unlikely(c)) BUG(); } while (0)
#define BUILD_BUG_ON(c)		_Static_assert(!(c), "BUILD_BUG_ON")
#define WARN_ON(c)		({ int __w = !!(c); if (unlikely(__w)) warn_slowpath_fmt(__FILE__, __LINE__, NULL); __w; })
#define WARN_ON_ONCE(c)		({ static bool __o; int __w = !!(c); if (unlikely(__w) && !__o) { __o = true; warn_slowpath_fmt(__FILE__, __LINE__, NULL); } __w; })
#define WARN(c, fmt...)		({ int __w = !!(c); if (unlikely(__w)) warn_slowpath_fmt(__FILE__, __LINE__, fmt); __w; })
#define WARN_ONCE(c, fmt...)	({ static bool __o; int __w = !!(c); if (unlikely(__w) && !__o) { __o = true; warn_slowpath_fmt(__FILE__, __LINE__, fmt); } __w; })
__printf(3, 4) void warn_slowpath_fmt(const char *file, int line, const char *fmt, ...);
#include "trace_printk.h"

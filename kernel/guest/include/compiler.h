#pragma once
/* Compiler attributes under Linux's names (include/linux/compiler*.h). */
/* As in Linux, what is declared inline is never traced, not even where the compiler leaves it out of line. */
#define inline			inline __attribute__((no_instrument_function))
#define __always_inline		inline __attribute__((always_inline))
#define noinline		__attribute__((noinline))
#define notrace			__attribute__((no_instrument_function))
#define noinstr			noinline notrace __attribute__((section(".noinstr.text")))
#define __cpuidle		noinline __attribute__((section(".cpuidle.text")))
#define __sched			__attribute__((section(".sched.text")))
#define __lockfunc		__attribute__((section(".spinlock.text")))
#define __weak			__attribute__((weak))
#define __packed		__attribute__((packed))
#define __aligned(x)		__attribute__((aligned(x)))
#define __section(s)		__attribute__((section(s)))
#define __used			__attribute__((used))
#define __maybe_unused		__attribute__((unused))
#define __noreturn		__attribute__((noreturn))
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define __must_check		__attribute__((warn_unused_result))
#define __user
#define __percpu
#define __iomem
#define __force
#define __ro_after_init
#define __read_mostly
#define __cacheline_aligned	__aligned(64)
#define ____cacheline_aligned	__aligned(64)
#define fallthrough		__attribute__((fallthrough))
#define asmlinkage
#define EXPORT_SYMBOL(s)
#define EXPORT_SYMBOL_GPL(s)

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		asm volatile("" ::: "memory")
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))
#define smp_mb()		asm volatile("lock addl $0,-4(%%rsp)" ::: "memory", "cc")
#define smp_rmb()		barrier()
#define smp_wmb()		barrier()
#define smp_load_acquire(p)	({ typeof(*(p)) ___v = READ_ONCE(*(p)); barrier(); ___v; })
/*
 * A store of a constant that takes or releases a lock. The prefix is TSX's hint, ignored where there is no TSX; kscope
 * orders such stores among its CPUs as it orders locked instructions (kernel/order.go).
 */
#define lock_store8(p, v)	asm volatile("xrelease movb %1,%0" : "=m"(*(u8 *)(p)) : "i"(v) : "memory")
#define lock_store16(p, v)	asm volatile("xrelease movw %1,%0" : "=m"(*(u16 *)(p)) : "i"(v) : "memory")
#define smp_store_release(p, v)	do { barrier(); WRITE_ONCE(*(p), v); } while (0)
#define __stringify_1(x...)	#x
#define __stringify(x...)	__stringify_1(x)
#define __PASTE(a, b)		___PASTE(a, b)
#define ___PASTE(a, b)		a##b
#define offsetof(t, m)		__builtin_offsetof(t, m)
#define static_assert(e, ...)	_Static_assert(e, #e)
#define unreachable()		__builtin_unreachable()

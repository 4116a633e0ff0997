#pragma once
/* Atomic counters, cmpxchg/xchg, reference counts. */
#include "types.h"
#define ATOMIC_INIT(i)		{ (i) }
#define atomic_read(v)		READ_ONCE((v)->counter)
#define atomic_set(v, i)	WRITE_ONCE((v)->counter, i)
#define atomic64_read(v)	READ_ONCE((v)->counter)
#define atomic64_set(v, i)	WRITE_ONCE((v)->counter, i)
#define atomic_long_read(v)	READ_ONCE((v)->counter)
#define atomic_long_set(v, i)	WRITE_ONCE((v)->counter, i)
static __always_inline void atomic_inc(atomic_t *v) { asm volatile("lock incl %0" : "+m"(v->counter) :: "memory", "cc"); }
static __always_inline void atomic_dec(atomic_t *v) { asm volatile("lock decl %0" : "+m"(v->counter) :: "memory", "cc"); }
static __always_inline void atomic_add(int i, atomic_t *v) { asm volatile("lock addl %1,%0" : "+m"(v->counter) : "ir"(i) : "memory", "cc"); }
static __always_inline void atomic_sub(int i, atomic_t *v) { asm volatile("lock subl %1,%0" : "+m"(v->counter) : "ir"(i) : "memory", "cc"); }
static __always_inline bool atomic_dec_and_test(atomic_t *v)
{
	bool z;
	asm volatile("lock decl %0" : "+m"(v->counter), "=@ccz"(z) :: "memory");
	return z;
}
static __always_inline int atomic_fetch_add(int i, atomic_t *v) { asm volatile("lock xaddl %0,%1" : "+r"(i), "+m"(v->counter) :: "memory", "cc"); return i; }
static __always_inline int atomic_add_return(int i, atomic_t *v) { return atomic_fetch_add(i, v) + i; }
#define atomic_inc_return(v)	atomic_add_return(1, v)
#define atomic_dec_return(v)	atomic_add_return(-1, v)
static __always_inline void atomic_long_inc(atomic_long_t *v) { asm volatile("lock incq %0" : "+m"(v->counter) :: "memory", "cc"); }
static __always_inline void atomic_long_dec(atomic_long_t *v) { asm volatile("lock decq %0" : "+m"(v->counter) :: "memory", "cc"); }
static __always_inline void atomic_long_add(long i, atomic_long_t *v) { asm volatile("lock addq %1,%0" : "+m"(v->counter) : "er"(i) : "memory", "cc"); }
static __always_inline bool atomic_long_dec_and_test(atomic_long_t *v)
{
	bool z;
	asm volatile("lock decq %0" : "+m"(v->counter), "=@ccz"(z) :: "memory");
	return z;
}
static __always_inline long atomic_long_fetch_add(long i, atomic_long_t *v) { asm volatile("lock xaddq %0,%1" : "+r"(i), "+m"(v->counter) :: "memory", "cc"); return i; }
static __always_inline long atomic_long_add_return(long i, atomic_long_t *v) { return i + atomic_long_fetch_add(i, v); }
#define atomic64_inc(v)		atomic_long_inc(v)
#define atomic64_add(i, v)	atomic_long_add(i, v)

#define cmpxchg(p, o, n) ({ typeof(*(p)) __r, __n = (n); \
	asm volatile("lock cmpxchg %2,%1" : "=a"(__r), "+m"(*(p)) : "r"(__n), "0"((typeof(*(p)))(o)) : "memory", "cc"); __r; })
#define try_cmpxchg(p, op, n) ({ typeof(*(p)) __o = *(op), __n = (n); \
	bool __ok; \
	asm volatile("lock cmpxchg %3,%2" : "=@ccz"(__ok), "+a"(__o), "+m"(*(p)) : "r"(__n) : "memory"); \
	if (!__ok) \
		*(op) = __o; \
	__ok; })
#define xchg(p, v) ({ typeof(*(p)) __x = (v); asm volatile("xchg %0,%1" : "+r"(__x), "+m"(*(p)) :: "memory"); __x; })
static __always_inline int atomic_cmpxchg(atomic_t *v, int o, int n) { return cmpxchg(&v->counter, o, n); }
static __always_inline bool atomic_try_cmpxchg(atomic_t *v, int *o, int n) { return try_cmpxchg(&v->counter, o, n); }
static __always_inline bool atomic_inc_not_zero(atomic_t *v)
{
	int c = atomic_read(v);
	while (c) {
		if (atomic_try_cmpxchg(v, &c, c + 1))
			return true;
	}
	return false;
}

typedef struct refcount_struct { atomic_t refs; } refcount_t;
#define REFCOUNT_INIT(n)	{ .refs = ATOMIC_INIT(n) }
#define refcount_set(r, n)	atomic_set(&(r)->refs, n)
#define refcount_read(r)	atomic_read(&(r)->refs)
#define refcount_inc(r)		atomic_inc(&(r)->refs)
#define refcount_dec_and_test(r) atomic_dec_and_test(&(r)->refs)
#define refcount_inc_not_zero(r) atomic_inc_not_zero(&(r)->refs)

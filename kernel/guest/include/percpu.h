#pragma once
/*
 * Per-CPU data lives in .data..percpu, linked at 0, one copy for each CPU; GS base holds this CPU's offset
 * (include/asm-generic/percpu.h, arch/x86/include/asm/percpu.h).
 */
#include "types.h"
#define NR_CPUS 64
#define DEFINE_PER_CPU(t, n)		__attribute__((section(".data..percpu"))) t n
#define DEFINE_PER_CPU_ALIGNED(t, n)	__attribute__((section(".data..percpu"), aligned(64))) t n
#define DEFINE_PER_CPU_FIRST(t, n)	__attribute__((section(".data..percpu..first"))) t n
#define DEFINE_PER_CPU_PAGE_ALIGNED(t, n) __attribute__((section(".data..percpu..page_aligned"), aligned(4096))) t n
#define DECLARE_PER_CPU(t, n)		extern t n
extern unsigned long __per_cpu_offset[NR_CPUS];
DECLARE_PER_CPU(unsigned long, this_cpu_off);
DECLARE_PER_CPU(int, cpu_number);

/* The compiler must emit a plain displacement for %gs: operands; "m" of the link-time address gives just that. */
#define this_cpu_read(v) ({ typeof(v) __r; asm volatile("mov %%gs:%1,%0" : "=r"(__r) : "m"(v)); __r; })
#define this_cpu_read_stable(v) ({ typeof(v) __r; asm("mov %%gs:%P1,%0" : "=r"(__r) : "p"(&(v))); __r; })
#define __pcpu_op1(op, v) do { switch (sizeof(v)) { \
	case 1: asm volatile(op "b %%gs:%0" : "+m"(v) :: "memory", "cc"); break; \
	case 4: asm volatile(op "l %%gs:%0" : "+m"(v) :: "memory", "cc"); break; \
	case 8: asm volatile(op "q %%gs:%0" : "+m"(v) :: "memory", "cc"); break; } } while (0)
#define __pcpu_op2(op, v, x) do { typeof(v) __x = (x); switch (sizeof(v)) { \
	case 1: asm volatile(op "b %1,%%gs:%0" : "+m"(v) : "qi"(__x) : "memory", "cc"); break; \
	case 2: asm volatile(op "w %1,%%gs:%0" : "+m"(v) : "ri"(__x) : "memory", "cc"); break; \
	case 4: asm volatile(op "l %1,%%gs:%0" : "+m"(v) : "ri"(__x) : "memory", "cc"); break; \
	case 8: asm volatile(op "q %1,%%gs:%0" : "+m"(v) : "re"(__x) : "memory", "cc"); break; } } while (0)
#define this_cpu_write(v, x)	__pcpu_op2("mov", v, x)
#define this_cpu_add(v, x)	__pcpu_op2("add", v, x)
#define this_cpu_or(v, x)	__pcpu_op2("or", v, x)
#define this_cpu_and(v, x)	__pcpu_op2("and", v, x)
#define this_cpu_inc(v)		__pcpu_op1("inc", v)
#define this_cpu_dec(v)		__pcpu_op1("dec", v)
#define this_cpu_xchg(v, x)	({ typeof(v) __x = (x); asm volatile("xchg %0,%%gs:%1" : "+r"(__x), "+m"(v) :: "memory"); __x; })
#define __this_cpu_read(v)	this_cpu_read(v)
#define __this_cpu_write(v, x)	this_cpu_write(v, x)
#define __this_cpu_inc(v)	this_cpu_inc(v)
#define __this_cpu_dec(v)	this_cpu_dec(v)
#define __this_cpu_or(v, x)	this_cpu_or(v, x)

#define SHIFT_PERCPU_PTR(p, off) ({ unsigned long __p; asm("" : "=r"(__p) : "0"(p)); (typeof(p))(__p + (off)); })
#define per_cpu_ptr(p, cpu)	SHIFT_PERCPU_PTR(p, __per_cpu_offset[cpu])
#define per_cpu(v, cpu)		(*per_cpu_ptr(&(v), cpu))
#define this_cpu_ptr(p)		SHIFT_PERCPU_PTR(p, this_cpu_read(this_cpu_off))
#define raw_cpu_ptr(p)		this_cpu_ptr(p)
#define raw_smp_processor_id()	this_cpu_read(cpu_number)
#define smp_processor_id()	raw_smp_processor_id()
#define get_cpu()		({ preempt_disable(); smp_processor_id(); })
#define put_cpu()		preempt_enable()

#pragma once
/*
 * __preempt_count, as arch/x86/include/asm/preempt.h:
 *   bits 0-7 preemption depth | 8-15 softirq | 16-19 hardirq | 20-23 NMI | 31 set = NO reschedule needed (inverted).
 * PREEMPT_DYNAMIC in its "voluntary" mode (Debian's default): preempt_enable() tests the count and calls
 * preempt_schedule through __SCT__preempt_schedule, which the mode makes a plain return; cond_resched() reschedules.
 */
#include "percpu.h"
DECLARE_PER_CPU(int, __preempt_count);
#define PREEMPT_OFFSET		1
#define SOFTIRQ_OFFSET		0x100
#define SOFTIRQ_DISABLE_OFFSET	0x200
#define HARDIRQ_OFFSET		0x10000
#define NMI_OFFSET		0x100000
#define PREEMPT_MASK		0xff
#define SOFTIRQ_MASK		0xff00
#define HARDIRQ_MASK		0xf0000
#define NMI_MASK		0xf00000
#define PREEMPT_NEED_RESCHED	0x80000000
#define PREEMPT_ENABLED		PREEMPT_NEED_RESCHED
#define INIT_PREEMPT_COUNT	PREEMPT_OFFSET
#define FORK_PREEMPT_COUNT	(2 * PREEMPT_OFFSET + PREEMPT_ENABLED)
#define preempt_count()		(this_cpu_read(__preempt_count) & ~PREEMPT_NEED_RESCHED)
/* Nothing forbids it, and somebody wants it: one compare, as the wish is a bit that is inverted. */
static __always_inline bool should_resched(void)
{
	bool zero;

	asm volatile("cmpl $0,%%gs:%1" : "=@ccz"(zero) : "m"(__preempt_count));
	return unlikely(zero);
}
#define hardirq_count()		(preempt_count() & HARDIRQ_MASK)
#define softirq_count()		(preempt_count() & SOFTIRQ_MASK)
#define irq_count()		(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK))
#define in_interrupt()		irq_count()
#define in_nmi()		(preempt_count() & NMI_MASK)
#define in_hardirq()		hardirq_count()
#define in_serving_softirq()	(softirq_count() & SOFTIRQ_OFFSET)
#define in_task()		(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
#define in_atomic()		(preempt_count() != 0)
static __always_inline void __preempt_count_add(int v) { __pcpu_op2("add", __preempt_count, v); }
static __always_inline void __preempt_count_sub(int v) { __pcpu_op2("sub", __preempt_count, v); }
static __always_inline bool __preempt_count_dec_and_test(void)
{
	bool z;
	asm volatile("decl %%gs:%1" : "=@ccz"(z), "+m"(__preempt_count) :: "memory");
	return z;
}
static __always_inline void set_preempt_need_resched(void) { __pcpu_op2("and", __preempt_count, ~PREEMPT_NEED_RESCHED); }
static __always_inline void clear_preempt_need_resched(void) { __pcpu_op2("or", __preempt_count, PREEMPT_NEED_RESCHED); }
#define preempt_count_add(v)	__preempt_count_add(v)
#define preempt_count_sub(v)	__preempt_count_sub(v)
#define preempt_disable()	do { __preempt_count_add(1); barrier(); } while (0)
#define preempt_enable_no_resched() do { barrier(); __preempt_count_sub(1); } while (0)
#define preempt_enable() do { barrier(); if (unlikely(__preempt_count_dec_and_test())) \
		asm volatile("call __SCT__preempt_schedule" ::: "memory"); } while (0)
#define preempt_disable_notrace() preempt_disable()
#define preempt_enable_notrace() preempt_enable_no_resched()
#define preemptible()		(preempt_count() == 0 && !irqs_disabled())

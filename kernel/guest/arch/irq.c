/*
 * Interrupt handlers and the interrupt stack (arch/x86/include/asm/irq_stack.h, kernel/irq.c, kernel/apic/apic.c).
 * Built with frame pointers: the unwinder finds its way across the stack switch by rbp.
 */
#include "interrupt.h"
#include "apic.h"
#include "timer.h"
#include "entry.h"
#include "irq.h"
#include "kernel_stat.h"
#include "tracepoint.h"
#include "kernel_stat.h"

DEFINE_PER_CPU(void *, hardirq_stack_ptr);
DEFINE_PER_CPU(bool, hardirq_stack_inuse);
DEFINE_PER_CPU(struct pt_regs *, __irq_regs);

#define STACK_CLOBBERS "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc"

/* On the top of the interrupt stack lies the interrupted stack's rsp. */
#define call_on_irqstack_cond(func, regs) do { \
	if (user_mode(regs) || this_cpu_read(hardirq_stack_inuse)) { \
		irq_enter_rcu(); \
		func(regs); \
		irq_exit_rcu(); \
	} else { \
		register void *__tos asm("r12") = this_cpu_read(hardirq_stack_ptr); \
		register struct pt_regs *__r asm("r13") = (regs); \
		this_cpu_write(hardirq_stack_inuse, true); \
		asm volatile("movq %%rsp,(%[tos])\n\tmovq %[tos],%%rsp\n\tcall irq_enter_rcu\n\tmovq %[r],%%rdi\n\t" \
			"call " #func "\n\tcall irq_exit_rcu\n\tpopq %%rsp" \
			:: [tos] "r"(__tos), [r] "r"(__r) : STACK_CLOBBERS); \
		this_cpu_write(hardirq_stack_inuse, false); \
	} \
} while (0)

#define DEFINE_IDTENTRY_SYSVEC(name) \
	void __##name(struct pt_regs *regs); \
	void name(struct pt_regs *regs); \
	void noinstr name(struct pt_regs *regs) \
	{ \
		irqentry_state_t state = irqentry_enter(regs); \
		call_on_irqstack_cond(__##name, regs); \
		irqentry_exit(regs, state); \
	} \
	noinline __used void __##name(struct pt_regs *regs)

/* For handlers that only poke: no hardirq accounting, no softirqs afterwards. */
#define DEFINE_IDTENTRY_SYSVEC_SIMPLE(name) \
	static __always_inline void __##name(struct pt_regs *regs); \
	void name(struct pt_regs *regs); \
	void noinstr name(struct pt_regs *regs) \
	{ \
		irqentry_state_t state = irqentry_enter(regs); \
		__preempt_count_add(HARDIRQ_OFFSET); \
		__##name(regs); \
		__preempt_count_sub(HARDIRQ_OFFSET); \
		irqentry_exit(regs, state); \
	} \
	static __always_inline void __##name(struct pt_regs *regs)

static void local_apic_timer_interrupt(void)
{
	hrtimer_interrupt();
}

DEFINE_IDTENTRY_SYSVEC(sysvec_apic_timer_interrupt)
{
	struct pt_regs *old_regs = this_cpu_read(__irq_regs);

	this_cpu_write(__irq_regs, regs);
	ack_APIC_irq();
	trace_local_timer_entry(LOCAL_TIMER_VECTOR);
	inc_irq_stat(IRQ_LOC);
	local_apic_timer_interrupt();
	trace_local_timer_exit(LOCAL_TIMER_VECTOR);
	this_cpu_write(__irq_regs, old_regs);
}

DEFINE_IDTENTRY_SYSVEC_SIMPLE(sysvec_reschedule_ipi)
{
	ack_APIC_irq();
	trace_reschedule_entry(RESCHEDULE_VECTOR);
	inc_irq_stat(IRQ_RES);
	scheduler_ipi();
	trace_reschedule_exit(RESCHEDULE_VECTOR);
}

DEFINE_IDTENTRY_SYSVEC(sysvec_call_function)
{
	ack_APIC_irq();
	trace_call_function_entry(CALL_FUNCTION_VECTOR);
	inc_irq_stat(IRQ_CAL);
	generic_smp_call_function_interrupt();
	trace_call_function_exit(CALL_FUNCTION_VECTOR);
}

DEFINE_IDTENTRY_SYSVEC(sysvec_call_function_single)
{
	ack_APIC_irq();
	trace_call_function_single_entry(CALL_FUNCTION_SINGLE_VECTOR);
	inc_irq_stat(IRQ_CAL);
	generic_smp_call_function_single_interrupt();
	trace_call_function_single_exit(CALL_FUNCTION_SINGLE_VECTOR);
}

DEFINE_IDTENTRY_SYSVEC(sysvec_irq_work)
{
	ack_APIC_irq();
	trace_irq_work_entry(IRQ_WORK_VECTOR);
	inc_irq_stat(IRQ_IWI);
	irq_work_run();
	trace_irq_work_exit(IRQ_WORK_VECTOR);
	kscope_irq_work();
}

/* A device: which one, the CPU's vector table says. */
DEFINE_IDTENTRY_SYSVEC(common_interrupt)
{
	struct pt_regs *old_regs = this_cpu_read(__irq_regs);
	struct irq_desc *desc = this_cpu_read(vector_irq);

	this_cpu_write(__irq_regs, regs);
	if (likely(desc))
		desc->handle_irq(desc);
	else
		ack_APIC_irq();
	this_cpu_write(__irq_regs, old_regs);
}

/* The host has a request for kscoped. */
DEFINE_IDTENTRY_SYSVEC(sysvec_kscope_kick)
{
	ack_APIC_irq();
	inc_irq_stat(IRQ_KICK);
	kscoped_kick();
}

DEFINE_IDTENTRY_SYSVEC(sysvec_error_interrupt)
{
	ack_APIC_irq();
	trace_error_apic_entry(ERROR_APIC_VECTOR);
	inc_irq_stat(IRQ_ERR);
	pr_debug_apic("APIC error on CPU%d\n", smp_processor_id());
	trace_error_apic_exit(ERROR_APIC_VECTOR);
}

DEFINE_IDTENTRY_SYSVEC(sysvec_spurious_apic_interrupt)
{
	trace_spurious_apic_entry(SPURIOUS_APIC_VECTOR);
	inc_irq_stat(IRQ_SPU);
	pr_debug_apic("Spurious APIC interrupt on CPU#%d\n", smp_processor_id());
	trace_spurious_apic_exit(SPURIOUS_APIC_VECTOR);
}

/* Softirqs at the end of an interrupt run on the interrupt stack too. */
void do_softirq_own_stack(void)
{
	register void *tos asm("r12") = this_cpu_read(hardirq_stack_ptr);

	this_cpu_write(hardirq_stack_inuse, true);
	asm volatile("movq %%rsp,(%[tos])\n\tmovq %[tos],%%rsp\n\tcall __do_softirq\n\tpopq %%rsp" :: [tos] "r"(tos) : STACK_CLOBBERS);
	this_cpu_write(hardirq_stack_inuse, false);
}

/* Interrupt accounting and softirqs (kernel/softirq.c). */
#include "interrupt.h"
#include "tracepoint.h"
#include "timer.h"
#include "apic.h"

DEFINE_PER_CPU(u32, __softirq_pending);
static struct softirq_action softirq_vec[NR_SOFTIRQS];

void __local_bh_disable_ip(unsigned long ip, unsigned int cnt)
{
	__preempt_count_add(cnt);
	barrier();
}

void __local_bh_enable_ip(unsigned long ip, unsigned int cnt)
{
	/* Keep preemption off until the softirqs have run. */
	__preempt_count_sub(cnt - 1);
	if (unlikely(!in_interrupt() && local_softirq_pending()))
		do_softirq();
	__preempt_count_sub(1);
}

void open_softirq(int nr, void (*action)(struct softirq_action *))
{
	softirq_vec[nr].action = action;
}

/* Outside interrupts nobody else would look: run them from a self-interrupt. There is no ksoftirqd. */
void raise_softirq_irqoff(unsigned int nr)
{
	trace_softirq_raise(nr);
	__raise_softirq_irqoff(nr);
	if (!in_interrupt())
		x2apic_send_IPI_self(IRQ_WORK_VECTOR);
}

void raise_softirq(unsigned int nr)
{
	unsigned long flags;

	local_irq_save(flags);
	raise_softirq_irqoff(nr);
	local_irq_restore(flags);
}

#define MAX_SOFTIRQ_RESTART 10

/* IRQs off on entry and exit, on while the handlers run. */
static noinline void handle_softirqs(bool ksirqd)
{
	int max_restart = MAX_SOFTIRQ_RESTART;
	u32 pending = local_softirq_pending();

	__preempt_count_add(SOFTIRQ_OFFSET);
	do {
		struct softirq_action *h = softirq_vec;

		this_cpu_write(__softirq_pending, 0u);
		local_irq_enable();
		for (; pending; pending >>= 1, h++) {
			if (pending & 1) {
				trace_softirq_entry(h - softirq_vec);
				h->action(h);
				trace_softirq_exit(h - softirq_vec);
			}
		}
		local_irq_disable();
		pending = local_softirq_pending();
	} while (pending && --max_restart);
	__preempt_count_sub(SOFTIRQ_OFFSET);
	if (pending)
		x2apic_send_IPI_self(IRQ_WORK_VECTOR);
}

__used void __do_softirq(void)
{
	handle_softirqs(false);
}

void do_softirq(void)
{
	unsigned long flags;

	if (in_interrupt())
		return;
	local_irq_save(flags);
	if (local_softirq_pending())
		do_softirq_own_stack();
	local_irq_restore(flags);
}

void irq_enter_rcu(void)
{
	__preempt_count_add(HARDIRQ_OFFSET);
	if (is_idle_task(current) && irq_count() == HARDIRQ_OFFSET)
		tick_irq_enter();
}

void irq_enter(void)
{
	irq_enter_rcu();
}

static inline void invoke_softirq(void)
{
	handle_softirqs(false);		/* on the interrupt stack already */
}

/* The interrupt may have armed timers: an idle CPU looks again when it must wake. */
static inline void tick_irq_exit(void)
{
	if (idle_cpu(smp_processor_id()) && !need_resched() && !in_hardirq())
		tick_nohz_irq_exit();
}

static inline void __irq_exit_rcu(void)
{
	__preempt_count_sub(HARDIRQ_OFFSET);
	if (!in_interrupt() && local_softirq_pending())
		invoke_softirq();
	tick_irq_exit();
}

void irq_exit_rcu(void)
{
	__irq_exit_rcu();
}

void irq_exit(void)
{
	__irq_exit_rcu();
}

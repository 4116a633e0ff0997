#pragma once
#include "sched.h"
enum { HI_SOFTIRQ, TIMER_SOFTIRQ, NET_TX_SOFTIRQ, NET_RX_SOFTIRQ, BLOCK_SOFTIRQ, IRQ_POLL_SOFTIRQ, TASKLET_SOFTIRQ,
	SCHED_SOFTIRQ, HRTIMER_SOFTIRQ, RCU_SOFTIRQ, NR_SOFTIRQS };
typedef int irqreturn_t;
enum { IRQ_NONE, IRQ_HANDLED };
typedef irqreturn_t (*irq_handler_t)(int, void *);
struct irqaction { irq_handler_t handler; void *dev_id; const char *name; };	/* kernel/irq/ */
struct softirq_action { void (*action)(struct softirq_action *); };
DECLARE_PER_CPU(u32, __softirq_pending);
#define local_softirq_pending()	this_cpu_read(__softirq_pending)
void open_softirq(int nr, void (*action)(struct softirq_action *));
void raise_softirq(unsigned int nr);
void raise_softirq_irqoff(unsigned int nr);
#define __raise_softirq_irqoff(nr) this_cpu_or(__softirq_pending, 1u << (nr))
void irq_enter(void);
void irq_enter_rcu(void);
void irq_exit(void);
void irq_exit_rcu(void);
void __do_softirq(void);
void do_softirq(void);
void softirq_init(void);
void call_on_irqstack(void (*func)(struct pt_regs *), struct pt_regs *regs, void *top);
void do_softirq_own_stack(void);
DECLARE_PER_CPU(struct pt_regs *, __irq_regs);	/* of the interrupt being handled */

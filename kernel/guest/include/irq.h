#pragma once
/* Interrupts of devices: numbers, descriptors, handlers (include/linux/irq.h, irqdesc.h, interrupt.h; kernel/irq/). */
#include "interrupt.h"
#define NR_IRQS		96
#define VIRTIO_VECTOR	0x22	/* each CPU's device vector: the queue of that CPU */
struct irq_desc;
typedef void (*irq_flow_handler_t)(struct irq_desc *desc);
struct irq_desc {
	raw_spinlock_t lock;
	irq_flow_handler_t handle_irq;
	struct irqaction *action;
	unsigned int irq, depth, in_progress;
	unsigned long kstat_irqs[NR_CPUS];
};
extern struct irq_desc irq_desc[NR_IRQS];
DECLARE_PER_CPU(struct irq_desc *, vector_irq);
int request_irq(unsigned int irq, irq_handler_t handler, unsigned long flags, const char *name, void *dev);
void handle_edge_irq(struct irq_desc *desc);
irqreturn_t handle_irq_event(struct irq_desc *desc);
irqreturn_t handle_irq_event_percpu(struct irq_desc *desc);
irqreturn_t __handle_irq_event_percpu(struct irq_desc *desc);
void irq_set_affinity_cpu(unsigned int irq, unsigned int cpu);

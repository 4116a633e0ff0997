/* Device interrupts: from a descriptor to its handler (Linux's kernel/irq/handle.c, chip.c, manage.c, irqdesc.c). */
#include "irq.h"
#include "apic.h"
#include "slab.h"
#include "tracepoint.h"

struct irq_desc irq_desc[NR_IRQS];
DEFINE_PER_CPU(struct irq_desc *, vector_irq);

noinline irqreturn_t __handle_irq_event_percpu(struct irq_desc *desc)
{
	struct irqaction *action = desc->action;
	irqreturn_t res;

	if (!action)
		return IRQ_NONE;
	trace_irq_handler_entry(desc->irq, action);
	res = action->handler(desc->irq, action->dev_id);
	trace_irq_handler_exit(desc->irq, action, res);
	return res;
}

noinline irqreturn_t handle_irq_event_percpu(struct irq_desc *desc)
{
	irqreturn_t retval = __handle_irq_event_percpu(desc);

	desc->kstat_irqs[smp_processor_id()]++;
	return retval;
}

/* desc->lock is held, and dropped while the handler runs. */
noinline irqreturn_t handle_irq_event(struct irq_desc *desc)
{
	irqreturn_t ret;

	desc->in_progress = 1;
	raw_spin_unlock(&desc->lock);
	ret = handle_irq_event_percpu(desc);
	raw_spin_lock(&desc->lock);
	desc->in_progress = 0;
	return ret;
}

static noinline void apic_ack_edge(struct irq_desc *desc)
{
	ack_APIC_irq();
}

/* Message-signalled: acknowledged first, so that one that comes meanwhile is not lost. */
noinline void handle_edge_irq(struct irq_desc *desc)
{
	raw_spin_lock(&desc->lock);
	apic_ack_edge(desc);
	handle_irq_event(desc);
	raw_spin_unlock(&desc->lock);
}

void irq_set_affinity_cpu(unsigned int irq, unsigned int cpu)
{
	per_cpu(vector_irq, cpu) = &irq_desc[irq];
}

int request_irq(unsigned int irq, irq_handler_t handler, unsigned long flags, const char *name, void *dev)
{
	struct irq_desc *desc = &irq_desc[irq];
	struct irqaction *action = kzalloc(sizeof(*action), GFP_KERNEL);

	if (irq >= NR_IRQS || desc->action || !action) {
		kfree(action);
		return irq >= NR_IRQS ? -EINVAL : action ? -EBUSY : -ENOMEM;
	}
	*action = (struct irqaction){ .handler = handler, .dev_id = dev, .name = name };
	desc->irq = irq;
	desc->handle_irq = handle_edge_irq;
	desc->action = action;
	return 0;
}

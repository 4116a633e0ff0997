/* Interrupts and softirqs: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(irq, irq_handler_entry, 147,
	TP_PROTO(int irq, struct irqaction *action), TP_ARGS(irq, action),
	TP_FIELDS(
		__field(int, irq, T_ARG(0))
		__string(name, T_ARG(1), T_LD(8, struct irqaction, name))),
	TP_printk("\"irq=%d name=%s\", REC->irq, __get_str(name)"))

TRACE_EVENT(irq, irq_handler_exit, 146,
	TP_PROTO(int irq, struct irqaction *action, int ret), TP_ARGS(irq, action, ret),
	TP_FIELDS(
		__field(int, irq, T_ARG(0))
		__field(int, ret, T_ARG(2))),
	TP_printk("\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\""))

DECLARE_EVENT_CLASS(softirq,
	TP_PROTO(unsigned int vec_nr), TP_ARGS(vec_nr),
	TP_FIELDS(
		__field(unsigned int, vec, T_ARG(0))),
	TP_printk("\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" }, { 2, "
		"\"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, \"TASKLET\" }, { 7, "
		"\"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })"))

DEFINE_EVENT(softirq, irq, softirq_raise, 143, TP_PROTO(unsigned int vec_nr), TP_ARGS(vec_nr))

/* Interrupt vectors (arch/x86/include/asm/trace/irq_vectors.h): Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

DECLARE_EVENT_CLASS(x86_irq_vector,
	TP_PROTO(int vector), TP_ARGS(vector),
	TP_FIELDS(
		__field(int, vector, T_ARG(0))),
	TP_printk("\"vector=%d\", REC->vector"))

DEFINE_EVENT(x86_irq_vector, irq_vectors, local_timer_entry, 88, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, local_timer_exit, 87, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, spurious_apic_entry, 86, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, spurious_apic_exit, 85, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, error_apic_entry, 84, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, error_apic_exit, 83, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, irq_work_entry, 80, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, irq_work_exit, 79, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, reschedule_entry, 78, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, reschedule_exit, 77, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, call_function_entry, 76, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, call_function_exit, 75, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, call_function_single_entry, 74, TP_PROTO(int vector), TP_ARGS(vector))
DEFINE_EVENT(x86_irq_vector, irq_vectors, call_function_single_exit, 73, TP_PROTO(int vector), TP_ARGS(vector))

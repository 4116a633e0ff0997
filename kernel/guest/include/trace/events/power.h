/* Power: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

DECLARE_EVENT_CLASS(cpu,
	TP_PROTO(unsigned int state, unsigned int cpu_id), TP_ARGS(state, cpu_id),
	TP_FIELDS(
		__field(u32, state, T_ARG(0))
		__field(u32, cpu_id, T_ARG(1))),
	TP_printk("\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id"))

DEFINE_EVENT(cpu, power, cpu_idle, 467, TP_PROTO(unsigned int state, unsigned int cpu_id), TP_ARGS(state, cpu_id))

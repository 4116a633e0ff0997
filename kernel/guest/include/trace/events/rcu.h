/* RCU: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(rcu, rcu_utilization, 343,
	TP_PROTO(const char *s), TP_ARGS(s),
	TP_FIELDS(
		__field(const char *, s, T_ARG(0))),
	TP_printk("\"%s\", REC->s"))

/* The log: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(printk, console, 329,
	TP_PROTO(const char *text, size_t len), TP_ARGS(text, len),
	TP_FIELDS(
		__text(msg, T_ARG(0))),
	TP_printk("\"%s\", __get_str(msg)"))

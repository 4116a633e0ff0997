/* The TLB: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(tlb, tlb_flush, 604,
	TP_PROTO(int reason, unsigned long pages), TP_ARGS(reason, pages),
	TP_FIELDS(
		__field(int, reason, T_ARG(0))
		__field(unsigned long, pages, T_ARG(1))),
	TP_printk("\"pages:%ld reason:%s (%d)\", REC->pages, __print_symbolic(REC->reason, { 0, \"flush on task switch\" }, "
		"{ 1, \"remote shootdown\" }, { 2, \"local shootdown\" }, { 3, \"local mm shootdown\" }, { 4, \"remote "
		"ipi send\" }), REC->reason"))

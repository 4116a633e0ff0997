#undef TRACE_SYSTEM
#define TRACE_SYSTEM sample

#if !defined(_SAMPLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SAMPLE_TRACE_H
#include <linux/tracepoint.h>

TRACE_EVENT(sample_tick,
	TP_PROTO(int n, const char *who),
	TP_ARGS(n, who),
	TP_STRUCT__entry(
		__field(int, n)
		__string(who, who)
	),
	TP_fast_assign(
		__entry->n = n;
		__assign_str(who, who);
	),
	TP_printk("n=%d who=%s", __entry->n, __get_str(who))
);
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE sample_trace
#include <trace/define_trace.h>

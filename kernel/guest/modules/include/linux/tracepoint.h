/*
 * Tracepoints of the kernel, and events of a module in Linux's own form: TRACE_EVENT(name, TP_PROTO(…), TP_ARGS(…),
 * TP_STRUCT__entry(…), TP_fast_assign(…), TP_printk(…)), DECLARE_EVENT_CLASS and DEFINE_EVENT. Here they make trace_NAME(); all the
 * rest of an event is made in the one file that defines CREATE_TRACE_POINTS, by <trace/define_trace.h>.
 */
#include "../../../include/tracepoint.h"
#ifndef _MODULE_TRACEPOINT_H
#define _MODULE_TRACEPOINT_H
/* The gate of a tracepoint of a module takes a record that is made, and its size. */
typedef void (trace_emit_t)(const void *entry, unsigned long size);

#include <trace/declare_trace.h>
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)						\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))	\
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#define TRACE_DEFINE_ENUM(a)
#define TRACE_DEFINE_SIZEOF(a)
#endif

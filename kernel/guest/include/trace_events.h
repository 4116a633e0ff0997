/*
 * TRACE_EVENTs (include/trace/trace_events.h). An event is written once, in trace/events/SYSTEM.h:
 *
 *	TRACE_EVENT(system, name, id, TP_PROTO(…), TP_ARGS(…), TP_FIELDS(…), TP_printk(…))
 *
 * or, where several are alike, as in Linux: DECLARE_EVENT_CLASS(class, TP_PROTO, …) and for each of them
 * DEFINE_EVENT(class, system, name, id, TP_PROTO(…), TP_ARGS(…)). A TRACE_EVENT is a class with one event. The header is read several
 * times, the macros meaning another thing each time: trace_NAME() in tracepoint.h, the gate in gates.S, and here, once in the
 * kernel and once in each module of its tree that has events: the tracepoint's key, the layout of the record (struct
 * trace_event_raw_CLASS), and the rows that the host reads from section _ftrace_events. Where Linux has an assignment in C a field
 * here has a short program over the tracepoint's arguments, so that recording runs no instruction of the guest. id is the
 * event's number in Debian's 6.1.0 kernel. Modules that are not of the tree write Linux's own form: trace/define_trace.h.
 *
 * Before including: TRACE_INCLUDE_FILE, and the structs that the programs look into.
 */
#include "tracepoint.h"

#ifndef _TRACE_EVENTS_H
#define _TRACE_EVENTS_H
#include "trace_rows.h"
/* A program works on one value: bits 0-7 the operation, 8-15 a size, 32-63 a number. FIELD_ARRAY and _STRING end with an address. */
#define TRACE_OP(op, size, imm)	((u64)(op) | (u64)(size) << 8 | (u64)(u32)(imm) << 32)
#define T_ARG(n)		TRACE_OP(1, 0, n)
#define T_LD(n, type, m)	TRACE_OP(2, n, offsetof(type, m))	/* n bytes from a member; 0 from a null pointer */
#define T_LOAD(n)		TRACE_OP(2, n, 0)
#define T_ADD(type, m)		TRACE_OP(3, 0, offsetof(type, m))	/* a member's address */
#define T_CURRENT		TRACE_OP(4, 0, 0)
#define T_SHR(n)		TRACE_OP(5, 0, n)
#define T_AND(n)		TRACE_OP(6, 0, n)
#define T_IMM(n)		TRACE_OP(7, 0, n)
#define T_CALLER		TRACE_OP(8, 0, 0)			/* the return address, as many callers up as the value says */
#define T_SYM(symbol)		TRACE_OP(9, 0, 0), (u64)&symbol		/* its address */
#define T_PFN(n)		T_ARG(n), TRACE_OP(10, 0, sizeof(struct page)), (u64)&mem_map
#define T_RWBS			TRACE_OP(11, 0, 0)			/* blk_fill_rwbs */
#define T_BLKERR		TRACE_OP(12, 0, 0)			/* blk_status_to_errno */
#define T_SIGINFO(n, m)		T_ARG(n), TRACE_OP(13, 0, offsetof(struct kernel_siginfo, m))	/* TP_STORE_SIGINFO */
#define T_HASH			TRACE_OP(14, 0, 0)			/* what %p shows of it: ptr_to_hashval */
#define T_IS_ARG(n)		TRACE_OP(15, 0, n)			/* whether it is that argument */
#define T_SHL(n)		TRACE_OP(16, 0, n)
#define TP_FIELDS(f...)		f
#define TP_printk(text)		text
#endif

#undef TRACE_EVENT
#define TRACE_EVENT(sys, event, nr, proto, args, fields, print)						\
	DECLARE_EVENT_CLASS(event, PARAMS(proto), PARAMS(args), PARAMS(fields), PARAMS(print))			\
	DEFINE_EVENT(event, sys, event, nr, PARAMS(proto), PARAMS(args))

#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#define DECLARE_EVENT_CLASS(class, proto, args, fields, print)
#define DEFINE_EVENT(class, sys, event, nr, proto, args)	struct tracepoint __tracepoint_##event = { .name = #event };
#include TRACE_INCLUDE_FILE

#undef DEFINE_EVENT
#define DEFINE_EVENT(class, sys, event, nr, proto, args)

#undef DECLARE_EVENT_CLASS
#undef __field
#undef __array
#undef __string
#undef __text
#define __field(type, item, prog...)		type item;
#define __array(type, item, len, prog...)	type item[len];
#define __string(item, prog...)			u32 __data_loc_##item;
#define __text(item, prog...)			u32 __data_loc_##item;
#define DECLARE_EVENT_CLASS(class, proto, args, fields, print)	struct trace_event_raw_##class { u64 ent; fields char __data[]; };
#include TRACE_INCLUDE_FILE

#undef DECLARE_EVENT_CLASS
#undef __field
#undef __array
#undef __string
#undef __text
#define __field(type, item, prog...)		+ 1
#define __array(type, item, len, prog...)	+ 1
#define __string(item, prog...)			+ 1
#define __text(item, prog...)			+ 1
#define DECLARE_EVENT_CLASS(class, proto, args, fields, print)	\
	enum { trace_event_nfields_##class = fields };		\
	static const char trace_event_print_##class[] = print;
#include TRACE_INCLUDE_FILE

#undef DECLARE_EVENT_CLASS
#undef __field
#undef __array
#undef __string
#undef __text
#define _TRACE_PROG(prog...)	.ncode = sizeof((u64[]){ prog }) / 8, .code = { prog }
#define __field(t, item, prog...)		\
	{ #t, #item, offsetof(__raw, item), sizeof(t), is_signed_type(t), FIELD_VALUE, _TRACE_PROG(prog) },
#define __array(t, item, len, prog...)		\
	{ #t "[" #len "]", #item, offsetof(__raw, item), sizeof(t[len]), is_signed_type(t), FIELD_ARRAY, _TRACE_PROG(prog) },
#define __string(item, prog...)			\
	{ "__data_loc char[]", #item, offsetof(__raw, __data_loc_##item), 4, 1, FIELD_STRING, _TRACE_PROG(prog) },
#define __text(item, prog...)			\
	{ "__data_loc char[]", #item, offsetof(__raw, __data_loc_##item), 4, 1, FIELD_TEXT, _TRACE_PROG(prog) },
/*
 * The function is only a scope in which __raw is the class's struct; it is thrown away: by the linker, or after a module's init.
 * The rows have a name for the assembler, by which the events find them from outside.
 */
#ifdef MODULE
#define __trace_scope __section(".init.text")
#else
#define __trace_scope __section(".discard.text")
#endif
#define DECLARE_EVENT_CLASS(class, proto, args, f, print)							\
	static void __used notrace __trace_scope trace_event_rows_##class(void)				\
	{													\
		typedef struct trace_event_raw_##class __raw;							\
		static const struct trace_event_field rows[] __asm__("trace_event_fields_" #class) __used = { f };	\
	}													\
	extern const struct trace_event_field trace_event_fields_##class[];
#include TRACE_INCLUDE_FILE

#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#define DECLARE_EVENT_CLASS(class, proto, args, f, print)
#define DEFINE_EVENT(cls, sys, event, nr, proto, args)								\
	static const struct trace_event_call event_##event __used __aligned(8) __section("_ftrace_events") = {		\
		#sys, #event, trace_event_print_##cls, &__tracepoint_##event, trace_event_fields_##cls,			\
		trace_event_nfields_##cls, nr, offsetof(struct trace_event_raw_##cls, __data),				\
		sizeof(struct trace_event_raw_##cls), #cls };
#include TRACE_INCLUDE_FILE
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#undef TRACE_EVENT

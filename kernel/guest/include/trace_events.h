/*
 * TRACE_EVENTs (include/trace/trace_events.h). An event is written once, in trace/events/SYSTEM.h:
 *
 *	TRACE_EVENT(system, name, id, TP_PROTO(…), TP_ARGS(…), TP_FIELDS(…), TP_printk(…))
 *
 * and that header is read several times, TRACE_EVENT meaning another thing each time: trace_NAME() in tracepoint.h, the gate
 * in gates.S, and here, once in the kernel and once in each module that has events: the tracepoint's key, the layout of the
 * record (struct trace_event_raw_NAME), and the rows that the host reads from section _ftrace_events. Where Linux has an
 * assignment in C a field here has a short program over the tracepoint's arguments, so that recording runs no instruction of
 * the guest. id is the event's number in Debian's 6.1.0 kernel.
 *
 * Before including: TRACE_INCLUDE_FILE, and the structs that the programs look into.
 */
#include "tracepoint.h"

#ifndef _TRACE_EVENTS_H
#define _TRACE_EVENTS_H
enum { FIELD_VALUE, FIELD_ARRAY, FIELD_STRING, FIELD_TEXT };
struct trace_event_field {
	const char *type, *name;		/* 0, 8 */
	u16 offset, size;			/* 16 */
	u8 is_signed, kind, ncode, pad;		/* 20: kind is FIELD_* */
	u64 code[6];				/* 24 */
};
struct trace_event_call {
	const char *system, *name, *print;	/* 0, 8, 16 */
	struct tracepoint *tp;			/* 24 */
	const struct trace_event_field *fields;	/* 32 */
	u32 nfields, id, data, size;		/* 40, 64 bytes in all: data is where strings begin, size is without them */
	u64 pad;
};
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
#define is_signed_type(type)	(((type)(-1)) < (type)1)
#define TP_FIELDS(f...)		f
#define TP_printk(text)		text
#endif

#undef TRACE_EVENT
#define TRACE_EVENT(sys, event, nr, proto, args, fields, print)	struct tracepoint __tracepoint_##event = { .name = #event };
#include TRACE_INCLUDE_FILE

#undef TRACE_EVENT
#undef __field
#undef __array
#undef __string
#undef __text
#define __field(type, item, prog...)		type item;
#define __array(type, item, len, prog...)	type item[len];
#define __string(item, prog...)			u32 __data_loc_##item;
#define __text(item, prog...)			u32 __data_loc_##item;
#define TRACE_EVENT(sys, event, nr, proto, args, fields, print)	struct trace_event_raw_##event { u64 ent; fields char __data[]; };
#include TRACE_INCLUDE_FILE

#undef TRACE_EVENT
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
/* The function is only a scope in which __raw is the event's struct; it is thrown away: by the linker, or after a module's init. */
#ifdef MODULE
#define __trace_scope __section(".init.text")
#else
#define __trace_scope __section(".discard.text")
#endif
#define TRACE_EVENT(sys, event, nr, proto, args, f, text)							\
	static void __used notrace __trace_scope trace_event_rows_##event(void)			\
	{													\
		typedef struct trace_event_raw_##event __raw;							\
		static const struct trace_event_field trace_event_fields_##event[] __used = { f };		\
		static const struct trace_event_call event_##event __used __aligned(8) __section("_ftrace_events") = {	\
			#sys, #event, text, &__tracepoint_##event, trace_event_fields_##event,			\
			ARRAY_SIZE(trace_event_fields_##event), nr, offsetof(__raw, __data), sizeof(__raw) };	\
	}
#include TRACE_INCLUDE_FILE
#undef TRACE_EVENT

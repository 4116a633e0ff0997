/* What the host reads of an event, in section _ftrace_events (ftrace/tracepoint_image.go). */
#pragma once
#include "types.h"
struct tracepoint;
enum { FIELD_VALUE, FIELD_ARRAY, FIELD_STRING, FIELD_TEXT, FIELD_RAW };	/* RAW: the module has made the record itself */
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
	const char *class;			/* whose function trace_event_raw_event_CLASS it is that records, on Linux */
};
#define is_signed_type(type)	(((type)(-1)) < (type)1)

/*
 * What an event is made of, beyond trace_NAME() (Linux's include/trace/define_trace.h and trace_events.h, for modules). The header
 * of the events, TRACE_INCLUDE_FILE in TRACE_INCLUDE_PATH or else in trace/events, is read once for each: the record's
 * layout, its fields and print format for the host (../../../include/trace_rows.h), the function that makes a record and gives it to
 * the tracepoint's gate, and the tracepoint itself. That function is code of the guest: such an event has an effect on the
 * guest's time even with overhead = "none".
 */
#ifdef CREATE_TRACE_POINTS
#undef CREATE_TRACE_POINTS
#include <linux/string.h>
#include <linux/kernel.h>
#include "../../../include/trace_rows.h"

#ifndef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#define UNDEF_TRACE_INCLUDE_FILE
#endif
#ifndef TRACE_INCLUDE_PATH
#define __TRACE_INCLUDE(system) <trace/events/system.h>
#else
#define __TRACE_INCLUDE(system) __stringify(TRACE_INCLUDE_PATH/system.h)
#endif
#define TRACE_INCLUDE(system) __TRACE_INCLUDE(system)
#define TRACE_HEADER_MULTI_READ

#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)
#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...) args
#define __string(item, src)		__dynamic_array(char, item, strlen((src) ? (const char *)(src) : "(null)") + 1)
#define __string_len(item, src, len)	__dynamic_array(char, item, (len) + 1)
#define __vstring(item, fmt, ap)	__dynamic_array(char, item, 256)
#define __field_ext(type, item, filter_type) __field(type, item)

/* The record's layout. */
#define __field(type, item)		type item;
#define __field_struct(type, item)	type item;
#define __array(type, item, len)	type item[len];
#define __dynamic_array(type, item, len) u32 __data_loc_##item;
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	struct trace_event_raw_##name { u64 ent; tstruct char __data[]; };
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef DECLARE_EVENT_CLASS

/* Where what has no fixed size will lie. */
#define __field(type, item)
#define __field_struct(type, item)
#define __array(type, item, len)
#define __dynamic_array(type, item, len) u32 item;
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	struct trace_event_data_offsets_##name { tstruct };
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef __dynamic_array
#undef DECLARE_EVENT_CLASS
#define __dynamic_array(type, item, len)						\
	__data_offsets->item = (__data_size + offsetof(typeof(*__entry), __data)) | ((len) * sizeof(type)) << 16;	\
	__data_size += (len) * sizeof(type);
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)			\
	static inline notrace int trace_event_get_offsets_##name(struct trace_event_data_offsets_##name *__data_offsets, proto)	\
	{										\
		struct trace_event_raw_##name *__entry __attribute__((unused)) = NULL;	\
		int __data_size = 0;							\
											\
		tstruct									\
		return __data_size;							\
	}
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef DECLARE_EVENT_CLASS

/* How many fields, and how they are printed: in the text of Linux's print fmt. */
#define __field(type, item)		+ 1
#define __field_struct(type, item)	+ 1
#define __array(type, item, len)	+ 1
#define __dynamic_array(type, item, len) + 1
#define __entry REC
#define TP_printk(fmt, args...)		"\"" fmt "\", " __stringify(args)
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	enum { trace_event_nfields_##name = 0 tstruct };		\
	static const char trace_event_print_##name[] = print;
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef __entry
#undef TP_printk
#undef DECLARE_EVENT_CLASS

/* The fields; the function is only a scope, which goes with the module's init. */
#define __raw_field(type, text, item, member, size, sign)	{ text, #item, offsetof(__raw, member), size, sign, FIELD_RAW, 0 },
#define __field(type, item)		__raw_field(type, #type, item, item, sizeof(type), is_signed_type(type))
#define __field_struct(type, item)	__raw_field(type, #type, item, item, sizeof(type), 0)
#define __array(type, item, len)	__raw_field(type, #type "[" __stringify(len) "]", item, item, sizeof(type[len]), is_signed_type(type))
#define __dynamic_array(type, item, len) __raw_field(type, "__data_loc " #type "[]", item, __data_loc_##item, 4, is_signed_type(type))
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)							\
	static void __used notrace __section(".init.text") trace_event_rows_##name(void)				\
	{														\
		typedef struct trace_event_raw_##name __raw;								\
		static const struct trace_event_field rows[] __asm__("trace_event_fields_" #name) __used = { tstruct };	\
	}														\
	extern const struct trace_event_field trace_event_fields_##name[];
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef DECLARE_EVENT_CLASS

/* Making a record, on the stack: at most 1 KiB of what has no fixed size. */
#define __field(type, item)
#define __field_struct(type, item)
#define __array(type, item, len)
#define __dynamic_array(type, item, len) __entry->__data_loc_##item = __data_offsets.item;
#define __get_dynamic_array(field)	((void *)((char *)__entry + (__entry->__data_loc_##field & 0xffff)))
#define __get_dynamic_array_len(field)	((__entry->__data_loc_##field >> 16) & 0xffff)
#define __get_str(field)		((char *)__get_dynamic_array(field))
#define __assign_str(dst, src)		strcpy(__get_str(dst), (src) ? (const char *)(src) : "(null)");
#define __assign_str_len(dst, src, len)	do { memcpy(__get_str(dst), src, len); __get_str(dst)[len] = '\0'; } while (0)
#define __assign_vstr(dst, fmt, va)	vsnprintf(__get_str(dst), 256, fmt, *(va))
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)				\
	noinline notrace void trace_event_raw_event_##name(trace_emit_t *__emit, proto)		\
	{											\
		struct trace_event_data_offsets_##name __data_offsets __attribute__((unused));	\
		int __data_size = trace_event_get_offsets_##name(&__data_offsets, args);	\
		struct trace_event_raw_##name *__entry;						\
												\
		if (__data_size > 1024)								\
			return;									\
		__entry = __builtin_alloca_with_align(sizeof(*__entry) + __data_size, 64);	\
		memset(__entry, 0, sizeof(*__entry) + __data_size);				\
		tstruct										\
		{ assign; }									\
		__emit(__entry, sizeof(*__entry) + __data_size);				\
	}
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __assign_str
#undef __assign_str_len
#undef __assign_vstr
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT

/* The tracepoint and the event's row. */
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT(template, event, proto, args)								\
	struct tracepoint __tracepoint_##event = { .name = #event };						\
	static const struct trace_event_call event_##event __used __aligned(8) __section("_ftrace_events") = {		\
		__stringify(TRACE_SYSTEM), #event, trace_event_print_##template, &__tracepoint_##event,			\
		trace_event_fields_##template, trace_event_nfields_##template, 0,					\
		offsetof(struct trace_event_raw_##template, __data), sizeof(struct trace_event_raw_##template), #template };
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#undef __string
#undef __string_len
#undef __vstring
#undef __field_ext
#undef TP_STRUCT__entry
#undef TP_fast_assign
#undef TRACE_HEADER_MULTI_READ
#undef TRACE_INCLUDE
#undef __TRACE_INCLUDE
#ifdef UNDEF_TRACE_INCLUDE_FILE
#undef UNDEF_TRACE_INCLUDE_FILE
#undef TRACE_INCLUDE_FILE
#endif

/* Other headers of events may follow. */
#define CREATE_TRACE_POINTS
#include <trace/declare_trace.h>
#endif

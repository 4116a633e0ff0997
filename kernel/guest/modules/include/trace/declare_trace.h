/* trace_NAME() of an event; read again when <trace/define_trace.h> has used the same words for other things. */
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)					\
	void trace_event_raw_event_##name(trace_emit_t *__emit, proto);
#define DEFINE_EVENT(template, name, proto, args)							\
	extern struct tracepoint __tracepoint_##name;							\
	trace_emit_t __traceiter_##name;								\
	static __always_inline bool trace_##name##_enabled(void)					\
	{												\
		return tracepoint_enabled(&__tracepoint_##name);					\
	}												\
	static __always_inline void trace_##name(proto)							\
	{												\
		if (tracepoint_enabled(&__tracepoint_##name)) {						\
			trace_event_raw_event_##template(__traceiter_##name, args);			\
			barrier();									\
		}											\
	}

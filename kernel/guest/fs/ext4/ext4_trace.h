/* ext4's events: trace_NAME(), and, in the file that defines CREATE_TRACE_POINTS, all that they are made of. */
#pragma once
#include "../../include/tracepoint.h"
struct ext4_allocation_request;
struct ext4_map_blocks;
#define TRACE_EVENT(sys, event, nr, proto, args, fields, print) DECLARE_TRACE(event, PARAMS(proto), PARAMS(args))
#define DECLARE_EVENT_CLASS(class, proto, args, fields, print)
#define DEFINE_EVENT(class, sys, event, nr, proto, args) DECLARE_TRACE(event, PARAMS(proto), PARAMS(args))
#include "../../include/trace/events/ext4.h"
#undef TRACE_EVENT
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#ifdef CREATE_TRACE_POINTS
#define TRACE_INCLUDE_FILE "trace/events/ext4.h"
#include "../../include/trace_events.h"
#endif

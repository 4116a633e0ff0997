/* The kernel's TRACE_EVENTs: trace/events/, made into keys, layouts and rows by trace_events.h. */
#include "mm.h"
#include "fs.h"
#include "pagemap.h"
#include "interrupt.h"
#include "timer.h"
#include "module.h"
#include "buffer_head.h"
#include "workqueue.h"
#include "pid.h"

#define TRACE_INCLUDE_FILE "trace/events/all.h"
#include "trace_events.h"

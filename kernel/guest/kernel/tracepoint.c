/* The keys of the tracepoints. */
#include "tracepoint.h"

#define DEFINE_TRACE(event) struct tracepoint __tracepoint_##event = { .name = #event }

DEFINE_TRACE(sched_switch);
DEFINE_TRACE(sched_waking);
DEFINE_TRACE(sched_wakeup);
DEFINE_TRACE(sched_wakeup_new);
DEFINE_TRACE(sched_migrate_task);
DEFINE_TRACE(sched_process_fork);
DEFINE_TRACE(sched_process_exec);
DEFINE_TRACE(sched_process_exit);
DEFINE_TRACE(sched_process_wait);
DEFINE_TRACE(softirq_entry);
DEFINE_TRACE(softirq_exit);
DEFINE_TRACE(sys_enter);
DEFINE_TRACE(sys_exit);

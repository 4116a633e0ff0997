#pragma once
/*
 * Tracepoints (include/linux/tracepoint.h): trace_NAME() is a five-byte nop in the code, with a row in __jump_table. When the
 * event is switched on the tracer patches it to a jump (arch/x86/kernel/jump_label.c), behind which __traceiter_NAME is
 * called: a gate, which writes the record. The rows' keys are the structs __tracepoint_NAME.
 */
#include "types.h"
#include "timer.h"

struct task_struct;
struct pid;
struct linux_binprm;
struct pt_regs;
struct irqaction;
struct tasklet_struct;
struct timer_list;
struct hrtimer;
struct page;
struct folio;
struct work_struct;
struct kernel_siginfo;
struct k_sigaction;
struct module;
struct bio;
struct request;
struct request_queue;
struct buffer_head;
struct itimerspec64;
struct mm_struct;

struct tracepoint {
	const char *name;
	unsigned long pad;
};

static __always_inline bool tracepoint_enabled(struct tracepoint *const tp)
{
	asm goto("1:\t.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
		 ".pushsection __jump_table, \"a\"\n\t"
		 ".balign 8\n\t"
		 ".long 1b - ., %l[l_yes] - .\n\t"
		 ".quad %c0 - .\n\t"
		 ".popsection"
		 : : "i" (tp) : : l_yes);
	return false;
l_yes:
	return true;
}

/* A string whose address records hold: tools read it from printk_formats (tracepoint_string). */
#define TPS(str)								\
	({ static const char *const __tp __attribute__((used, section("__tracepoint_str"))) = str; __tp; })

#define PARAMS(args...) args
#define DECLARE_TRACE(event, proto, args)					\
	extern struct tracepoint __tracepoint_##event;				\
	void __traceiter_##event(proto);					\
	static __always_inline void trace_##event(proto)			\
	{									\
		if (tracepoint_enabled(&__tracepoint_##event)) {		\
			__traceiter_##event(args);				\
			barrier();	/* no jump there: the caller stays on the stack */	\
		}								\
	}

DECLARE_TRACE(sched_switch, PARAMS(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state),
	      PARAMS(preempt, prev, next, prev_state))
DECLARE_TRACE(sched_waking, PARAMS(struct task_struct *p), PARAMS(p))
DECLARE_TRACE(sched_wakeup, PARAMS(struct task_struct *p), PARAMS(p))
DECLARE_TRACE(sched_wakeup_new, PARAMS(struct task_struct *p), PARAMS(p))
DECLARE_TRACE(sched_migrate_task, PARAMS(struct task_struct *p, int dest_cpu), PARAMS(p, dest_cpu))
DECLARE_TRACE(sched_process_fork, PARAMS(struct task_struct *parent, struct task_struct *child), PARAMS(parent, child))
DECLARE_TRACE(sched_process_exec, PARAMS(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm), PARAMS(p, old_pid, bprm))
DECLARE_TRACE(sched_process_exit, PARAMS(struct task_struct *p), PARAMS(p))
DECLARE_TRACE(sched_process_wait, PARAMS(struct pid *pid), PARAMS(pid))
DECLARE_TRACE(softirq_entry, PARAMS(unsigned int vec_nr), PARAMS(vec_nr))
DECLARE_TRACE(softirq_exit, PARAMS(unsigned int vec_nr), PARAMS(vec_nr))
DECLARE_TRACE(sys_enter, PARAMS(struct pt_regs *regs, long id), PARAMS(regs, id))
DECLARE_TRACE(sys_exit, PARAMS(struct pt_regs *regs, long ret), PARAMS(regs, ret))

/* The others have an event each, from which all follows: trace_events.h. */
#define TP_PROTO(x...) x
#define TP_ARGS(x...) x
#define TRACE_EVENT(sys, event, nr, proto, args, fields, print) DECLARE_TRACE(event, PARAMS(proto), PARAMS(args))
#define DECLARE_EVENT_CLASS(class, proto, args, fields, print)
#define DEFINE_EVENT(class, sys, event, nr, proto, args) DECLARE_TRACE(event, PARAMS(proto), PARAMS(args))
#include "trace/events/all.h"
#undef TRACE_EVENT
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT

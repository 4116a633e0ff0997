/* System call dispatch and the work on the way back to user mode (arch/x86/entry/common.c, kernel/entry/common.c). */
#include "entry.h"
#include "tracepoint.h"
#include "syscalls.h"
#include "interrupt.h"
#include "task_work.h"

extern const sys_call_ptr_t sys_call_table[NR_syscalls];

/* Files that were closed, and whatever else waits for the task to leave the kernel. */
static inline void resume_user_mode_work(struct pt_regs *regs)
{
	clear_thread_flag(TIF_NOTIFY_RESUME);
	smp_mb();
	if (unlikely(current->task_works))
		task_work_run();
}

static unsigned long exit_to_user_mode_loop(struct pt_regs *regs, unsigned long ti_work)
{
	while (ti_work & (_TIF_NEED_RESCHED | _TIF_SIGPENDING | _TIF_NOTIFY_RESUME)) {
		local_irq_enable();
		if (ti_work & _TIF_NEED_RESCHED)
			schedule();
		if (ti_work & _TIF_SIGPENDING)
			arch_do_signal_or_restart(regs);
		if (ti_work & _TIF_NOTIFY_RESUME)
			resume_user_mode_work(regs);
		local_irq_disable();
		ti_work = READ_ONCE(current->thread_info.flags);
	}
	return ti_work;
}

void noinline exit_to_user_mode_prepare(struct pt_regs *regs)
{
	unsigned long ti_work = READ_ONCE(current->thread_info.flags);

	if (unlikely(ti_work & (_TIF_NEED_RESCHED | _TIF_SIGPENDING | _TIF_NOTIFY_RESUME)))
		exit_to_user_mode_loop(regs, ti_work);
}

/* The work of a call's end that is not also an interrupt's. */
static noinline void syscall_exit_to_user_mode_prepare(struct pt_regs *regs)
{
	trace_sys_exit(regs, regs->ax);
}

/* Of a child's first return from fork too. barrier(): no jump, so that the caller is seen as one in traces. */
void noinstr syscall_exit_to_user_mode(struct pt_regs *regs)
{
	syscall_exit_to_user_mode_prepare(regs);
	local_irq_disable();
	exit_to_user_mode_prepare(regs);
	barrier();
}

static __always_inline bool do_syscall_x64(struct pt_regs *regs, int nr)
{
	unsigned int unr = nr;

	if (likely(unr < NR_syscalls)) {
		regs->ax = sys_call_table[unr](regs);
		return true;
	}
	return false;
}

void noinstr do_syscall_64(struct pt_regs *regs, int nr)
{
	local_irq_enable();
	trace_sys_enter(regs, nr);	/* here and not in a syscall_trace_enter(): what a jump label leads to must end in the gate (kernel/coldtext.go) */
	if (!do_syscall_x64(regs, nr) && nr != -1)
		regs->ax = -ENOSYS;
	syscall_exit_to_user_mode(regs);
	barrier();
}

irqentry_state_t noinstr irqentry_enter(struct pt_regs *regs)
{
	return (irqentry_state_t){ .exit_rcu = !user_mode(regs) && is_idle_task(current) };
}

void noinstr irqentry_exit_to_user_mode(struct pt_regs *regs)
{
	exit_to_user_mode_prepare(regs);
	barrier();
}

/* A return to the kernel does not reschedule: voluntary preemption. */
void noinstr irqentry_exit(struct pt_regs *regs, irqentry_state_t state)
{
	if (user_mode(regs)) {
		local_irq_disable();
		irqentry_exit_to_user_mode(regs);
	}
}

/* The idle task and its class (kernel/sched/idle.c). */
#include "sched.h"
#include "timer.h"
#include "tracepoint.h"

static void noinstr native_safe_halt(void)
{
	asm volatile("sti; hlt" ::: "memory");
}

static void __cpuidle default_idle(void)
{
	native_safe_halt();
}

static void __cpuidle default_idle_call(void)
{
	clear_thread_flag(TIF_POLLING_NRFLAG);	/* current_clr_polling_and_test() */
	smp_mb();
	if (tif_need_resched()) {
		local_irq_enable();
		set_thread_flag(TIF_POLLING_NRFLAG);
		return;
	}
	trace_cpu_idle(1, smp_processor_id());
	default_idle();
	trace_cpu_idle(-1, smp_processor_id());	/* PWR_EVENT_EXIT */
	set_thread_flag(TIF_POLLING_NRFLAG);
}

static inline void cpuidle_idle_call(void)
{
	tick_nohz_idle_stop_tick();
	default_idle_call();
}

/*
 * Between the checks of TIF_NEED_RESCHED interrupts are off, and "sti; hlt" lets none in before the halt: no wake-up is
 * lost.
 */
static noinline void do_idle(void)
{
	set_thread_flag(TIF_POLLING_NRFLAG);
	tick_nohz_idle_enter();
	while (!need_resched()) {
		local_irq_disable();
		if (need_resched()) {
			local_irq_enable();
			break;
		}
		cpuidle_idle_call();
	}
	set_preempt_need_resched();
	tick_nohz_idle_exit();
	clear_thread_flag(TIF_POLLING_NRFLAG);
	smp_mb();
	flush_smp_call_function_queue();
	schedule_idle();
}

void cpu_startup_entry(void)
{
	for (;;)
		do_idle();
}

static void check_preempt_curr_idle(struct rq *rq, struct task_struct *p, int flags)
{
	resched_curr(rq);
}

static void put_prev_task_idle(struct rq *rq, struct task_struct *prev)
{
}

static noinline void set_next_task_idle(struct rq *rq, struct task_struct *next, bool first)
{
	next->se.exec_start = rq->clock_task;
}

static struct task_struct *pick_next_task_idle(struct rq *rq)
{
	set_next_task_idle(rq, rq->idle, true);
	return rq->idle;
}

static void task_tick_idle(struct rq *rq, struct task_struct *curr, int queued)
{
}

static void update_curr_idle(struct rq *rq)
{
}

static int select_task_rq_idle(struct task_struct *p, int cpu, int flags)
{
	return task_cpu(p);
}

static int balance_idle(struct rq *rq, struct task_struct *prev)
{
	return 1;
}

DEFINE_SCHED_CLASS(idle) = {
	.check_preempt_curr = check_preempt_curr_idle,
	.balance = balance_idle,
	.put_prev_task = put_prev_task_idle,
	.pick_next_task = pick_next_task_idle,
	.set_next_task = set_next_task_idle,
	.task_tick = task_tick_idle,
	.update_curr = update_curr_idle,
	.select_task_rq = select_task_rq_idle,
};

/* Interrupt accounting and softirqs (kernel/softirq.c). */
#include "interrupt.h"
#include "tracepoint.h"
#include "timer.h"
#include "apic.h"
#include "smpboot.h"
#include "kernel_stat.h"

DEFINE_PER_CPU(u32, __softirq_pending);
DEFINE_PER_CPU(struct kernel_stat, kstat);
static DEFINE_PER_CPU(struct task_struct *, ksoftirqd);
const char *const softirq_to_name[NR_SOFTIRQS] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"
};
static struct softirq_action softirq_vec[NR_SOFTIRQS];

void __local_bh_disable_ip(unsigned long ip, unsigned int cnt)
{
	__preempt_count_add(cnt);
	barrier();
}

void __local_bh_enable_ip(unsigned long ip, unsigned int cnt)
{
	/* Keep preemption off until the softirqs have run. */
	__preempt_count_sub(cnt - 1);
	if (unlikely(!in_interrupt() && local_softirq_pending()))
		do_softirq();
	__preempt_count_sub(1);
}

void open_softirq(int nr, void (*action)(struct softirq_action *))
{
	softirq_vec[nr].action = action;
}

/* Interrupts off: for what the end of an interrupt cannot or shall not do. */
static noinline void wakeup_softirqd(void)
{
	struct task_struct *tsk = this_cpu_read(ksoftirqd);

	if (tsk)
		wake_up_process(tsk);
}

/* It is about to run and will do the ordinary ones. */
static bool ksoftirqd_running(void)
{
	struct task_struct *tsk = this_cpu_read(ksoftirqd);

	return tsk && READ_ONCE(tsk->__state) == TASK_RUNNING;
}

/* Outside interrupts nobody else would look: the thread is woken. */
void raise_softirq_irqoff(unsigned int nr)
{
	trace_softirq_raise(nr);
	__raise_softirq_irqoff(nr);
	if (!in_interrupt())
		wakeup_softirqd();
}

void raise_softirq(unsigned int nr)
{
	unsigned long flags;

	local_irq_save(flags);
	raise_softirq_irqoff(nr);
	local_irq_restore(flags);
}

#define MAX_SOFTIRQ_RESTART 10
#define MAX_SOFTIRQ_TIME msecs_to_jiffies(2)

/* What is raised again and again for 2 ms, or ten times, or while somebody waits for the CPU, is left to ksoftirqd. IRQs off on entry and exit, on while the handlers run. */
static noinline void handle_softirqs(bool ksirqd)
{
	unsigned long end = jiffies + MAX_SOFTIRQ_TIME;
	int max_restart = MAX_SOFTIRQ_RESTART;
	u32 pending = local_softirq_pending();

	__preempt_count_add(SOFTIRQ_OFFSET);
	do {
		struct softirq_action *h = softirq_vec;

		this_cpu_write(__softirq_pending, 0u);
		local_irq_enable();
		for (; pending; pending >>= 1, h++) {
			if (pending & 1) {
				kstat_incr_softirqs_this_cpu(h - softirq_vec);
				trace_softirq_entry(h - softirq_vec);
				h->action(h);
				trace_softirq_exit(h - softirq_vec);
			}
		}
		local_irq_disable();
		pending = local_softirq_pending();
	} while (pending && time_before(jiffies, end) && !need_resched() && --max_restart);
	__preempt_count_sub(SOFTIRQ_OFFSET);
	if (pending)
		wakeup_softirqd();
}

__used void __do_softirq(void)
{
	handle_softirqs(false);
}

void do_softirq(void)
{
	unsigned long flags;

	if (in_interrupt())
		return;
	local_irq_save(flags);
	if (local_softirq_pending() && !ksoftirqd_running())
		do_softirq_own_stack();
	local_irq_restore(flags);
}

void irq_enter_rcu(void)
{
	__preempt_count_add(HARDIRQ_OFFSET);
	if (is_idle_task(current) && irq_count() == HARDIRQ_OFFSET)
		tick_irq_enter();
}

void irq_enter(void)
{
	irq_enter_rcu();
}

static inline void invoke_softirq(void)
{
	if (ksoftirqd_running())
		return;
	handle_softirqs(false);		/* on the interrupt stack already */
}

/* The interrupt may have armed timers: an idle CPU looks again when it must wake. */
static inline void tick_irq_exit(void)
{
	if (idle_cpu(smp_processor_id()) && !need_resched() && !in_hardirq())
		tick_nohz_irq_exit();
}

static inline void __irq_exit_rcu(void)
{
	__preempt_count_sub(HARDIRQ_OFFSET);
	if (!in_interrupt() && local_softirq_pending())
		invoke_softirq();
	tick_irq_exit();
}

void irq_exit_rcu(void)
{
	__irq_exit_rcu();
}

void irq_exit(void)
{
	__irq_exit_rcu();
}

static int ksoftirqd_should_run(unsigned int cpu)
{
	return local_softirq_pending();
}

static void run_ksoftirqd(unsigned int cpu)
{
	local_irq_disable();
	if (local_softirq_pending()) {
		__do_softirq();
		local_irq_enable();
		cond_resched();
		return;
	}
	local_irq_enable();
}

static struct smp_hotplug_thread softirq_threads = {
	.store = &ksoftirqd,
	.thread_should_run = ksoftirqd_should_run,
	.thread_fn = run_ksoftirqd,
	.thread_comm = "ksoftirqd/%u",
};

static int __init spawn_ksoftirqd(void)
{
	BUG_ON(smpboot_register_percpu_thread(&softirq_threads));
	return 0;
}
early_initcall(spawn_ksoftirqd);

/*
 * migration/N: a thread on each CPU, above all others, that runs what others ask of it (kernel/stop_machine.c). Whatever ran
 * on the CPU has then been switched away: that is what moves a running task.
 */
#include "stop_machine.h"
#include "smpboot.h"
#include "kthread.h"

struct cpu_stop_done { atomic_t nr_todo; int ret; struct completion completion; };
struct cpu_stopper { struct task_struct *thread; raw_spinlock_t lock; bool enabled; struct list_head works; };
static DEFINE_PER_CPU(struct cpu_stopper, cpu_stopper);

static void cpu_stop_init_done(struct cpu_stop_done *done, unsigned int nr_todo)
{
	done->ret = 0;
	atomic_set(&done->nr_todo, nr_todo);
	init_completion(&done->completion);
}

static void cpu_stop_signal_done(struct cpu_stop_done *done)
{
	if (atomic_dec_and_test(&done->nr_todo))
		complete(&done->completion);
}

static noinline bool cpu_stop_queue_work(unsigned int cpu, struct cpu_stop_work *work)
{
	struct cpu_stopper *stopper = &per_cpu(cpu_stopper, cpu);
	unsigned long flags;
	bool enabled;

	preempt_disable();
	raw_spin_lock_irqsave(&stopper->lock, flags);
	enabled = stopper->enabled;
	if (enabled)
		list_add_tail(&work->list, &stopper->works);
	else
		cpu_stop_signal_done(work->done);
	raw_spin_unlock_irqrestore(&stopper->lock, flags);
	if (enabled)
		wake_up_process(stopper->thread);
	preempt_enable();
	return enabled;
}

/* Runs fn on the CPU and waits for it. -ENOENT: the CPU has no stopper. */
int stop_one_cpu(unsigned int cpu, cpu_stop_fn_t fn, void *arg)
{
	struct cpu_stop_done done;
	struct cpu_stop_work work = { .fn = fn, .arg = arg, .done = &done };

	cpu_stop_init_done(&done, 1);
	if (!cpu_stop_queue_work(cpu, &work))
		return -ENOENT;
	cond_resched();
	wait_for_completion(&done.completion);
	return done.ret;
}

static int cpu_stop_should_run(unsigned int cpu)
{
	struct cpu_stopper *stopper = &per_cpu(cpu_stopper, cpu);
	unsigned long flags;
	int run;

	raw_spin_lock_irqsave(&stopper->lock, flags);
	run = !list_empty(&stopper->works);
	raw_spin_unlock_irqrestore(&stopper->lock, flags);
	return run;
}

static void cpu_stopper_thread(unsigned int cpu)
{
	struct cpu_stopper *stopper = &per_cpu(cpu_stopper, cpu);

	for (;;) {
		struct cpu_stop_work *work = NULL;
		struct cpu_stop_done *done;
		int ret;

		raw_spin_lock_irq(&stopper->lock);
		if (!list_empty(&stopper->works)) {
			work = list_first_entry(&stopper->works, struct cpu_stop_work, list);
			list_del_init(&work->list);
		}
		raw_spin_unlock_irq(&stopper->lock);
		if (!work)
			return;
		done = work->done;
		preempt_disable();
		ret = work->fn(work->arg);
		if (ret)
			done->ret = ret;
		preempt_enable();
		cpu_stop_signal_done(done);	/* work is on its owner's stack: gone from here on */
	}
}

static void cpu_stop_create(unsigned int cpu)
{
	sched_set_stop_task(cpu, per_cpu(cpu_stopper, cpu).thread);
	per_cpu(cpu_stopper, cpu).enabled = true;
}

static struct smp_hotplug_thread cpu_stop_threads = {
	.store = &cpu_stopper.thread,
	.thread_should_run = cpu_stop_should_run,
	.thread_fn = cpu_stopper_thread,
	.thread_comm = "migration/%u",
	.create = cpu_stop_create,
};

static int __init cpu_stop_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		raw_spin_lock_init(&per_cpu(cpu_stopper, cpu).lock);
		INIT_LIST_HEAD(&per_cpu(cpu_stopper, cpu).works);
	}
	BUG_ON(smpboot_register_percpu_thread(&cpu_stop_threads));
	return 0;
}
early_initcall(cpu_stop_init);

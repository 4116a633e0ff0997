/*
 * Calling functions on other CPUs (kernel/smp.c) and irq_work (kernel/irq_work.c). Each CPU has a lock-less queue of
 * call_single_data; whoever makes it non-empty sends the interrupt.
 */
#include "sched.h"
#include "tracepoint.h"
#include "apic.h"
#include "interrupt.h"
#include "mm.h"
#include "smpboot.h"
#include "workqueue.h"

struct cpumask __cpu_possible_mask, __cpu_present_mask, __cpu_online_mask, __cpu_active_mask;
atomic_t __num_online_cpus;
#define B4(n) BIT(n), BIT(n + 1), BIT(n + 2), BIT(n + 3)
#define B16(n) B4(n), B4(n + 4), B4(n + 8), B4(n + 12)
const unsigned long cpu_bit_bitmap[NR_CPUS] = { B16(0), B16(16), B16(32), B16(48) };

struct call_function_data { call_single_data_t csd[NR_CPUS]; struct cpumask cpumask, cpumask_ipi; };
static DEFINE_PER_CPU_ALIGNED(struct call_function_data *, cfd_data);
static DEFINE_PER_CPU_ALIGNED(struct llist_head, call_single_queue);
static DEFINE_PER_CPU_ALIGNED(call_single_data_t, csd_data);
static DEFINE_PER_CPU(struct llist_head, raised_list);

static __always_inline void csd_lock_wait(call_single_data_t *csd)
{
	while (smp_load_acquire(&csd->node.u_flags) & CSD_FLAG_LOCK)
		cpu_relax();
}

static __always_inline void csd_lock(call_single_data_t *csd)
{
	csd_lock_wait(csd);
	csd->node.u_flags |= CSD_FLAG_LOCK;
	smp_wmb();
}

static __always_inline void csd_unlock(call_single_data_t *csd)
{
	smp_store_release(&csd->node.u_flags, 0);
}

bool call_function_single_prep_ipi(int cpu);
void sched_ttwu_pending(void *arg);

static noinline void native_send_call_func_single_ipi(int cpu)
{
	x2apic_send_IPI(cpu, CALL_FUNCTION_SINGLE_VECTOR);
}

static noinline void send_call_function_single_ipi(int cpu)
{
	if (call_function_single_prep_ipi(cpu))
		native_send_call_func_single_ipi(cpu);
	else
		trace_sched_wake_idle_without_ipi(cpu);
}

void __smp_call_single_queue(int cpu, struct llist_node *node)
{
	if (llist_add(node, &per_cpu(call_single_queue, cpu)))
		send_call_function_single_ipi(cpu);
}

static noinline int generic_exec_single(int cpu, call_single_data_t *csd)
{
	if (cpu == smp_processor_id()) {
		smp_call_func_t func = csd->func;
		void *info = csd->info;
		unsigned long flags;

		csd_unlock(csd);
		local_irq_save(flags);
		func(info);
		local_irq_restore(flags);
		return 0;
	}
	if (cpu >= nr_cpu_ids || !cpu_online(cpu)) {
		csd_unlock(csd);
		return -ENXIO;
	}
	__smp_call_single_queue(cpu, &csd->node.llist);
	return 0;
}

/* A csd with a waiter (dst set) lives until it is unlocked; another is free before its function runs. */
static inline struct llist_node *flush_one(struct llist_node *entry)
{
	call_single_data_t *csd = llist_entry(entry, call_single_data_t, node.llist);
	struct llist_node *next = entry->next;
	smp_call_func_t func = csd->func;
	void *info = csd->info;

	if (csd->node.dst) {
		func(info);
		csd_unlock(csd);
	} else {
		csd_unlock(csd);
		func(info);
	}
	return next;
}

/* In order of arrival. */
void __flush_smp_call_function_queue(bool warn_cpu_offline)
{
	struct llist_node *entry = llist_reverse_order(llist_del_all(this_cpu_ptr(&call_single_queue)));
	struct llist_node *ttwu = NULL, **tail = &ttwu;

	while (entry) {
		if (llist_entry(entry, struct __call_single_node, llist)->u_flags == CSD_TYPE_TTWU) {
			*tail = entry;			/* wake-ups all together, at the end */
			tail = &entry->next;
			entry = entry->next;
			*tail = NULL;
			continue;
		}
		entry = flush_one(entry);
	}
	if (ttwu)
		sched_ttwu_pending(ttwu);
}

void generic_smp_call_function_single_interrupt(void)
{
	__flush_smp_call_function_queue(true);
}

/* The idle loop's look at the queue, before it schedules. */
void flush_smp_call_function_queue(void)
{
	unsigned long flags;

	if (llist_empty(this_cpu_ptr(&call_single_queue)))
		return;
	local_irq_save(flags);
	__flush_smp_call_function_queue(true);
	if (local_softirq_pending())
		do_softirq();
	local_irq_restore(flags);
}

int smp_call_function_single(int cpu, smp_call_func_t func, void *info, int wait)
{
	call_single_data_t csd_stack = { .node = { .u_flags = CSD_FLAG_LOCK, .dst = 1 } }, *csd = &csd_stack;
	int err;

	get_cpu();
	if (!wait) {
		csd = this_cpu_ptr(&csd_data);
		csd_lock(csd);
		csd->node.dst = 0;
	}
	csd->func = func;
	csd->info = info;
	err = generic_exec_single(cpu, csd);
	if (wait)
		csd_lock_wait(csd);
	put_cpu();
	return err;
}

int smp_call_function_single_async(int cpu, call_single_data_t *csd)
{
	int err = 0;

	preempt_disable();
	if (csd->node.u_flags & CSD_FLAG_LOCK) {
		err = -EBUSY;
	} else {
		csd->node.u_flags = CSD_FLAG_LOCK;
		csd->node.dst = 0;
		smp_wmb();
		err = generic_exec_single(cpu, csd);
	}
	preempt_enable();
	return err;
}

#define SCF_WAIT	1
#define SCF_RUN_LOCAL	2

static noinline void smp_call_function_many_cond(const struct cpumask *mask, smp_call_func_t func, void *info, unsigned int scf_flags,
					smp_cond_func_t cond_func)
{
	unsigned int cpu, last_cpu = 0, this_cpu = smp_processor_id(), nr_cpus = 0;
	struct call_function_data *cfd = this_cpu_read(cfd_data);
	bool wait = scf_flags & SCF_WAIT, run_remote = false;
	unsigned long flags;

	cpumask_and(&cfd->cpumask, mask, cpu_online_mask);
	__cpumask_clear_cpu(this_cpu, &cfd->cpumask);
	if (!cpumask_empty(&cfd->cpumask)) {
		run_remote = true;
		cpumask_clear(&cfd->cpumask_ipi);
		for_each_cpu(cpu, &cfd->cpumask) {
			call_single_data_t *csd = &cfd->csd[cpu];

			if (cond_func && !cond_func(cpu, info)) {
				__cpumask_clear_cpu(cpu, &cfd->cpumask);
				continue;
			}
			csd_lock(csd);
			csd->node.dst = wait;
			csd->func = func;
			csd->info = info;
			if (llist_add(&csd->node.llist, &per_cpu(call_single_queue, cpu))) {
				__cpumask_set_cpu(cpu, &cfd->cpumask_ipi);
				nr_cpus++;
				last_cpu = cpu;
			}
		}
		if (nr_cpus == 1)
			send_call_function_single_ipi(last_cpu);
		else if (nr_cpus > 1)
			x2apic_send_IPI_mask(&cfd->cpumask_ipi, CALL_FUNCTION_VECTOR);
	}
	if ((scf_flags & SCF_RUN_LOCAL) && cpumask_test_cpu(this_cpu, mask) && (!cond_func || cond_func(this_cpu, info))) {
		local_irq_save(flags);
		func(info);
		local_irq_restore(flags);
	}
	if (run_remote && wait) {
		for_each_cpu(cpu, &cfd->cpumask)
			csd_lock_wait(&cfd->csd[cpu]);
	}
}

void smp_call_function_many(const struct cpumask *mask, smp_call_func_t func, void *info, bool wait)
{
	smp_call_function_many_cond(mask, func, info, wait * SCF_WAIT, NULL);
}

void smp_call_function(smp_call_func_t func, void *info, int wait)
{
	preempt_disable();
	smp_call_function_many(cpu_online_mask, func, info, wait);
	preempt_enable();
}

void on_each_cpu_cond_mask(smp_cond_func_t cond_func, smp_call_func_t func, void *info, bool wait, const struct cpumask *mask)
{
	unsigned int scf_flags = SCF_RUN_LOCAL;

	if (wait)
		scf_flags |= SCF_WAIT;
	preempt_disable();
	smp_call_function_many_cond(mask, func, info, scf_flags, cond_func);
	preempt_enable();
}

static void do_nothing(void *unused)
{
}

bool wake_up_if_idle(int cpu)
{
	if (!idle_cpu(cpu))
		return false;
	smp_call_function_single(cpu, do_nothing, NULL, 0);
	return true;
}

void __init call_function_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(cfd_data, cpu) = memblock_alloc(sizeof(struct call_function_data), 64);
}

/* irq_work: a function to run in this CPU's next interrupt. */
bool irq_work_queue(struct irq_work *work)
{
	unsigned int old = READ_ONCE(work->node.u_flags);

	do {
		if (old & IRQ_WORK_PENDING)
			return false;
	} while (!try_cmpxchg(&work->node.u_flags, &old, old | IRQ_WORK_PENDING | IRQ_WORK_BUSY));
	preempt_disable();
	if (llist_add(&work->node.llist, this_cpu_ptr(&raised_list)))
		x2apic_send_IPI_self(IRQ_WORK_VECTOR);
	preempt_enable();
	return true;
}

static noinline void irq_work_single(struct irq_work *work)
{
	unsigned int flags = READ_ONCE(work->node.u_flags) & ~IRQ_WORK_PENDING;

	WRITE_ONCE(work->node.u_flags, flags);
	smp_mb();
	work->func(work);
	cmpxchg(&work->node.u_flags, flags, flags & ~IRQ_WORK_BUSY);
}

static noinline void irq_work_run_list(struct llist_head *list)
{
	struct llist_node *node = llist_del_all(list);

	while (node) {
		struct irq_work *work = llist_entry(node, struct irq_work, node.llist);

		node = node->next;
		irq_work_single(work);
	}
}

void irq_work_run(void)
{
	irq_work_run_list(this_cpu_ptr(&raised_list));
}

static int num_digits(unsigned int val)
{
	int d = 1;

	for (; val >= 10; val /= 10)
		d++;
	return d;
}

/* "#1 #2 …" on one line, sixteen to a row; the boot CPU's place stays blank. */
static void announce_cpu(unsigned int cpu)
{
	int width = num_digits(nr_cpu_ids) + 1;

	if (cpu == 1)
		pr_info(".... node  #0, CPUs:  %*s", width + 1, " ");
	else if (cpu % 16 == 0)
		pr_cont("\n");
	pr_cont("%*s#%u", width - num_digits(cpu), " ", cpu);
}

/* Brings up the other CPUs, one after the other. */
void __init smp_init(void)
{
	unsigned int cpu;

	pr_info("smp: Bringing up secondary CPUs ...\n");
	if (nr_cpu_ids > 1)
		pr_info("x86: Booting SMP configuration:\n");
	for_each_present_cpu(cpu) {
		struct task_struct *idle;

		if (cpu_online(cpu))
			continue;
		idle = fork_idle(cpu);
		if (IS_ERR(idle)) {
			pr_err("fork_idle() failed for CPU %u\n", cpu);
			continue;
		}
		announce_cpu(cpu);
		smpboot_create_threads(cpu);
		workqueue_prepare_cpu(cpu);
		native_cpu_up(cpu, idle);
		smpboot_unpark_threads(cpu);
		workqueue_online_cpu(cpu);
	}
	if (nr_cpu_ids > 1)
		pr_cont("\n");
	pr_info("smp: Brought up 1 node, %u CPU%s\n", num_online_cpus(), num_online_cpus() == 1 ? "" : "s");
	pr_info("smpboot: Total of %u processors activated (%u.00 BogoMIPS)\n", num_online_cpus(), num_online_cpus() * 2000);
}

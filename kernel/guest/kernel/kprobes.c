/*
 * Kprobes for guest code, and the work that needs a process (Linux's kernel/kprobes.c).
 *
 * kscope's package kprobe checks places, patches text and knows what is registered; a hit comes to it first. When a handler
 * is a C function of the guest, the CPU goes on in kprobe_thunk (arch/kprobes_64.S), or straight from ftrace's trampoline, with
 * a struct pt_regs that this code has built, and kprobe_dispatch() asks by kprobe_next() what to call, until nothing is left.
 * Meanwhile preemption is off, and interrupts are as the probed code has them; behind an int3 they are off, and the context is
 * an NMI's (exc_int3 of 6.1 begins with irqentry_nmi_enter).
 *
 * Optimisation: probes that may become jumps wait in a list of kscope's. Five ticks after the last arming the optimiser makes
 * sure that nobody is still within the bytes that the jumps will cover, and has them written.
 */
#include "kprobes.h"
#include "kallsyms.h"
#include "ftrace.h"
#include "gates.h"
#include "sched.h"
#include "slab.h"
#include "smp.h"
#include "workqueue.h"
#include "sysctl.h"
#include "init.h"
#include "rcupdate.h"
#include "export.h"

static DEFINE_MUTEX(kprobe_mutex);

__section(".kprobes.text") notrace void kprobe_dispatch(struct pt_regs *regs)
{
	struct kprobe_call call;
	long ret = 0;
	int context = kprobe_enter(regs);

	preempt_count_add(context);
	while (kprobe_next(regs, &call, ret))
		ret = (int)((long (*)(unsigned long, unsigned long, unsigned long))call.fn)(call.a, call.b, call.c);
	preempt_count_sub(context);
}

static int __register_kprobe(struct kprobe *p, struct kretprobe *rp)
{
	long ret;

	mutex_lock(&kprobe_mutex);
	INIT_LIST_HEAD(&p->list);
	p->nmissed = 0;
	p->flags &= KPROBE_FLAG_DISABLED;	/* users may only set this */
	ret = kprobe_arm(p, rp);
	ftrace_run_update_code();
	mutex_unlock(&kprobe_mutex);
	return ret;
}

int register_kprobe(struct kprobe *p)
{
	return __register_kprobe(p, NULL);
}

static void __unregister_kprobe(struct kprobe *p)
{
	mutex_lock(&kprobe_mutex);
	if (kprobe_disarm(p) < 0)
		p->addr = NULL;
	ftrace_run_update_code();
	mutex_unlock(&kprobe_mutex);
}

void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}

int register_kprobes(struct kprobe **kps, int num)
{
	int i, ret = 0;

	if (num <= 0)
		return -EINVAL;
	for (i = 0; i < num; i++) {
		ret = register_kprobe(kps[i]);
		if (ret < 0) {
			if (i > 0)
				unregister_kprobes(kps, i);
			break;
		}
	}
	return ret;
}

void unregister_kprobes(struct kprobe **kps, int num)
{
	int i;

	if (num <= 0)
		return;
	for (i = 0; i < num; i++)
		__unregister_kprobe(kps[i]);
	synchronize_rcu();	/* handlers that still run have preemption off */
}

/* The instances live in guest memory, since handlers see them; which are free is kscope's business. */
int register_kretprobe(struct kretprobe *rp)
{
	int ret;

	if (rp->data_size > 4096)	/* KRETPROBE_MAX_DATA_SIZE */
		return -E2BIG;
	if (rp->maxactive <= 0)
		rp->maxactive = max(10U, 2 * num_online_cpus());
	rp->nmissed = 0;
	rp->instance_size = ALIGN(sizeof(struct kretprobe_instance) + rp->data_size, 8);
	rp->pool = kcalloc(rp->maxactive, rp->instance_size, GFP_KERNEL);
	if (!rp->pool)
		return -ENOMEM;
	rp->kp.pre_handler = NULL;
	rp->kp.post_handler = NULL;
	ret = __register_kprobe(&rp->kp, rp);
	if (ret < 0) {
		kfree(rp->pool);
		rp->pool = NULL;
	}
	return ret;
}

void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}

int register_kretprobes(struct kretprobe **rps, int num)
{
	int i, ret = 0;

	if (num <= 0)
		return -EINVAL;
	for (i = 0; i < num; i++) {
		ret = register_kretprobe(rps[i]);
		if (ret < 0) {
			if (i > 0)
				unregister_kretprobes(rps, i);
			break;
		}
	}
	return ret;
}

void unregister_kretprobes(struct kretprobe **rps, int num)
{
	int i;

	if (num <= 0)
		return;
	for (i = 0; i < num; i++)
		__unregister_kprobe(&rps[i]->kp);
	synchronize_rcu();
	for (i = 0; i < num; i++) {
		kfree(rps[i]->pool);
		rps[i]->pool = NULL;
	}
}

static int kprobe_enable(struct kprobe *p, bool on)
{
	long ret;

	mutex_lock(&kprobe_mutex);
	ret = kprobe_switch(p, on);
	if (!ret)
		p->flags = on ? p->flags & ~KPROBE_FLAG_DISABLED : p->flags | KPROBE_FLAG_DISABLED;
	ftrace_run_update_code();
	mutex_unlock(&kprobe_mutex);
	return ret;
}

int disable_kprobe(struct kprobe *kp)
{
	return kprobe_enable(kp, false);
}

int enable_kprobe(struct kprobe *kp)
{
	return kprobe_enable(kp, true);
}

EXPORT_SYMBOL_GPL(register_kprobe);
EXPORT_SYMBOL_GPL(unregister_kprobe);
EXPORT_SYMBOL_GPL(register_kprobes);
EXPORT_SYMBOL_GPL(unregister_kprobes);
EXPORT_SYMBOL_GPL(register_kretprobe);
EXPORT_SYMBOL_GPL(unregister_kretprobe);
EXPORT_SYMBOL_GPL(register_kretprobes);
EXPORT_SYMBOL_GPL(unregister_kretprobes);
EXPORT_SYMBOL_GPL(disable_kprobe);
EXPORT_SYMBOL_GPL(enable_kprobe);

#define OPTIMIZE_DELAY 5	/* ticks */

static void kprobe_optimizer(struct work_struct *work);
static DECLARE_DELAYED_WORK(optimizing_work, kprobe_optimizer);

static void kick_kprobe_optimizer(void)
{
	schedule_delayed_work(&optimizing_work, OPTIMIZE_DELAY);
}

notrace void kprobe_pending(long what)
{
	char line[160];

	if (what & KPROBE_PENDING_LOG) {
		while (kprobe_message(line, sizeof(line)) > 0)
			printk("%s\n", line);
	}
	if (what & KPROBE_PENDING_KICK)
		kick_kprobe_optimizer();
}

/* One pass: undo, wait until nobody is in the bytes that jumps will cover, do, free what nobody is in any more. */
static void kprobe_optimizer(struct work_struct *work)
{
	mutex_lock(&kprobe_mutex);
	kprobe_optimizer_step(KPROBE_OPT_UNOPTIMIZE);
	ftrace_run_update_code();
	synchronize_rcu_tasks();
	kprobe_optimizer_step(KPROBE_OPT_OPTIMIZE);
	ftrace_run_update_code();
	if (kprobe_optimizer_step(KPROBE_OPT_FREE))
		kick_kprobe_optimizer();
	mutex_unlock(&kprobe_mutex);
}

/* debug.kprobes-optimization: proc_kprobes_optimization_handler. */
static int proc_kprobes_optimization_handler(struct ctl_table *table, int write, char *buffer, size_t *length, loff_t *ppos)
{
	int ret, value = kprobes_optimization(-1);
	struct ctl_table t = *table;

	mutex_lock(&kprobe_mutex);
	t.data = &value;
	ret = proc_dointvec_minmax(&t, write, buffer, length, ppos);
	if (write && !ret) {
		kprobes_optimization(value);
		ftrace_run_update_code();
	}
	mutex_unlock(&kprobe_mutex);
	return ret;
}

static struct ctl_table kprobe_sysctls[] = {
	{
		.procname = "kprobes-optimization", .maxlen = sizeof(int), .mode = 0644,
		.proc_handler = proc_kprobes_optimization_handler, .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE,
	},
	{ }
};

static int __init kprobe_sysctls_init(void)
{
	return register_sysctl("debug", kprobe_sysctls);
}
late_initcall(kprobe_sysctls_init);

/*
 * Probes of every kind from C, for the tests: a kprobe at symbol+offset with a post handler (post=1) or without, which then may
 * become a jump, and a kretprobe at symbol whose entry handler keeps the time for the return handler. The second of two array
 * registrations fails and must leave nothing.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/errno.h>

static char *symbol = "do_filp_open";
module_param(symbol, charp, 0444);
static unsigned int offset = 5;
module_param(offset, uint, 0444);
static bool post = true;
module_param(post, bool, 0444);
static unsigned int refuse;
module_param(refuse, uint, 0444);
MODULE_PARM_DESC(refuse, "follow only each second call");

static bool loud;
module_param(loud, bool, 0444);
MODULE_PARM_DESC(loud, "the handler prints: with symbol=_printk it hits its own probe");

static unsigned long pre_hits, post_hits, nmi_hits, entries, returns, bad;
static struct kprobe kp, missing = { .symbol_name = "no_such_function" };
static struct kretprobe rp;

struct call {
	u64 entered;
	unsigned long arg;
};

/* Behind an int3: an NMI's context, interrupts off. By ftrace, a jump or a return: preemption off, interrupts as in the probed code. */
static bool context(struct pt_regs *regs)
{
	if (in_nmi())
		return irqs_disabled() && in_hardirq();
	return irqs_disabled() == !(regs->flags & X86_EFLAGS_IF) && (preempt_count() & PREEMPT_MASK);
}

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	if (p != &kp || regs->ip != (unsigned long)kp.addr + 1 || !context(regs) || (in_nmi() && !offset))
		bad++;
	pre_hits++;
	if (in_nmi())
		nmi_hits++;
	if (loud)
		pr_info("kprobe_test: %s calls %s\n", current->comm, symbol);
	return 0;
}

static void behind(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	if (regs->ip <= (unsigned long)kp.addr || !context(regs) || !in_nmi() != !offset)
		bad++;
	post_hits++;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *c = (struct call *)ri->data;

	if (refuse && ++entries % 2)
		return 1;
	c->entered = ktime_get();
	c->arg = regs->di;
	if (get_kretprobe(ri) != &rp || ri->task != current)
		bad++;
	return 0;
}

static int ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *c = (struct call *)ri->data;

	if (!c->entered || ktime_get() < c->entered || regs->ip != get_kretprobe_retaddr(ri) || !context(regs) || in_nmi())
		bad++;
	c->entered = 0;
	returns++;
	return 0;
}

static int __init kprobe_test_init(void)
{
	struct kprobe *two[] = { &kp, &missing };
	int err;

	kp.symbol_name = symbol;
	kp.offset = offset;
	kp.pre_handler = pre;
	kp.post_handler = post ? behind : NULL;
	err = register_kprobes(two, 2);
	if (err != -ENOENT) {
		pr_err("an unknown function: %d\n", err);
		return -EINVAL;
	}
	kp.addr = NULL;		/* as after any registration by name: not both */
	err = register_kprobe(&kp);
	if (err)
		return err;
	err = register_kprobe(&kp);
	if (err != -EINVAL)
		pr_err("registered twice: %d\n", err);
	rp.kp.symbol_name = symbol;
	rp.handler = ret;
	rp.entry_handler = entry;
	rp.data_size = sizeof(struct call);
	rp.maxactive = 4;
	err = register_kretprobe(&rp);
	if (err) {
		unregister_kprobe(&kp);
		return err;
	}
	if (disable_kprobe(&kp) || !kprobe_disabled(&kp) || enable_kprobe(&kp) || kprobe_disabled(&kp))
		pr_err("disable and enable\n");
	return 0;
}

static void __exit kprobe_test_exit(void)
{
	unregister_kretprobe(&rp);
	unregister_kprobe(&kp);
	pr_info("kprobe_test: pre %lu post %lu returns %lu missed %lu %d bad %lu nmi %lu\n", pre_hits, post_hits, returns, kp.nmissed, rp.nmissed, bad, nmi_hits);
}

module_init(kprobe_test_init);
module_exit(kprobe_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kprobes and kretprobes from C");

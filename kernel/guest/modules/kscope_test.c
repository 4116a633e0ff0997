/*
 * The test module: functions of every kind, a thread that counts, a counter that others may use, and faults on demand.
 *
 *	modprobe kscope_test [interval=MS] [count=N] [name=TEXT] [oops=KIND] [fail=ERRNO]
 *
 * oops: 1 a null pointer in the thread, 2 a BUG there, 3 a warning there, 4 a null pointer in the init function; 5 a write to freed
 * memory, 6 a second kfree: found with slub_debug=P on the kernel's command line.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/jiffies.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

static int interval = 1;
module_param(interval, int, 0644);
MODULE_PARM_DESC(interval, "milliseconds between two steps of the thread, 0: no thread");
static unsigned int count;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "where counting begins");
static char *name = "kscope";
module_param(name, charp, 0444);
static int oops;
module_param(oops, int, 0644);
static int fail;
module_param(fail, int, 0);
static bool verbose;
module_param(verbose, bool, 0644);

static struct task_struct *thread;
static unsigned long *table;

/* Static, kept out of line: can be traced. */
static noinline unsigned int kscope_test_mix(unsigned int x)
{
	asm("" : "+r"(x));	/* not pure: its calls stay */
	return x * 2654435761u ^ x >> 16;
}

/* notrace: has no call site. */
static noinline notrace void kscope_test_quiet(unsigned int i)
{
	table[i & 63]++;
}

/* Exported: kscope_test_user calls it. */
noinline unsigned int kscope_test_add(unsigned int n)
{
	count += n;
	kscope_test_quiet(count);
	return kscope_test_mix(count);
}
EXPORT_SYMBOL(kscope_test_add);

static noinline void kscope_test_oops(int kind)
{
	char *volatile freed;
	unsigned long *nothing = (unsigned long *)(unsigned long)(kind == 1 || kind == 4 ? 8 : 0);

	if (kind == 2)
		BUG();
	WARN_ON_ONCE(kind == 3);
	if (kind >= 5) {
		freed = kmalloc(64, GFP_KERNEL);
		kfree(freed);
		if (kind == 5)
			freed[10] = 'x';
		else
			kfree(freed);
		kfree(kmalloc(64, GFP_KERNEL));
	}
	asm("" : "+r"(nothing));	/* the compiler need not know */
	if (nothing)
		WRITE_ONCE(*nothing, count);
}

/* A fault with a way out: reads through the exception table of the module. */
static noinline long kscope_test_peek(const void *p)
{
	unsigned long word = 0;
	long err = 0;

	asm volatile("1:	mov (%2), %1\n2:\n"
		     "	.pushsection .fixup, \"ax\"\n3:	mov %3, %0\n	jmp 2b\n	.popsection\n"
		     "	.pushsection __ex_table, \"a\"\n	.balign 4\n	.long 1b - ., 3b - ., 1\n	.popsection\n"
		     : "+r"(err), "+r"(word) : "r"(p), "i"(-EFAULT));
	return err;
}

static noinline void kscope_test_step(void)
{
	kscope_test_add(1);
	trace_sched_waking(current);	/* a tracepoint's jump label in a module */
	if (oops && oops != 4)
		kscope_test_oops(oops);
}

static int kscope_test_thread(void *data)
{
	while (!kthread_should_stop()) {
		kscope_test_step();
		__set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule_timeout(msecs_to_jiffies(interval));
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

static int __init kscope_test_init(void)
{
	if (fail)
		return -fail;
	table = kcalloc(64, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	pr_info("kscope_test: hello from %s, count %u, peek %ld\n", name, count, kscope_test_peek((void *)16));
	if (oops == 4)
		kscope_test_oops(oops);
	if (interval) {
		thread = kthread_run(kscope_test_thread, NULL, "kscope_test");
		if (IS_ERR(thread)) {
			kfree(table);
			return PTR_ERR(thread);
		}
	}
	return 0;
}

static void __exit kscope_test_exit(void)
{
	if (thread && (!oops || oops == 3))	/* else it is dead */
		kthread_stop(thread);
	if (verbose)
		pr_info("kscope_test: goodbye, count %u\n", count);
	kfree(table);
}

module_init(kscope_test_init);
module_exit(kscope_test_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("kscope");
MODULE_DESCRIPTION("kscope's test module");

/* trace_printk in all its forms, when the module comes and when it goes. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>

static noinline void kscope_trace_all(int n, char *made)
{
	trace_printk("plain\n");
	trace_printk("100%% and %d\n", n);
	trace_printk("%s:%5d|%-5d|%05x|%lld|%c|%%\n", current->comm, n, n, n, 1LL << 40, 'x');
	trace_printk("%pS %ps %px\n", kscope_trace_all, kscope_trace_all, (void *)0xffff888000001000);
	trace_printk("%.3s|%*d|%-*s|\n", "abcdef", 6, n, 4, "z");
	trace_printk("%hhd %hu %#lx\n", (signed char)-1, (unsigned short)65535, 255UL);
	trace_puts("a text with a % in it\n");
	trace_printk(made, n);		/* no constant: the text is made at once */
	trace_dump_stack(0);
}

static int __init kscope_trace_init(void)
{
	static char made[] = "made %d\n";

	kscope_trace_all(42, made);
	tracing_off();
	trace_puts("never seen\n");
	tracing_on();
	return 0;
}

static void __exit kscope_trace_exit(void)
{
	trace_printk("leaving\n");
}

module_init(kscope_trace_init);
module_exit(kscope_trace_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("trace_printk");

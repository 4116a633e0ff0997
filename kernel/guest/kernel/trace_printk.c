/*
 * trace_printk (kernel/trace/trace_printk.c): the events are written by the host; here are the entry points that take a
 * variable number of arguments, and the formats of modules, which outlive them.
 */
#include "kernel.h"
#include "trace_printk.h"
#include "gates.h"
#include "export.h"
#include "module.h"
#include "mutex.h"
#include "notifier.h"
#include "slab.h"
#include "string.h"
#include "init.h"

notrace int __trace_bprintk(unsigned long ip, const char *fmt, ...)
{
	__builtin_va_list args;
	int n;

	if (!fmt)
		return 0;
	__builtin_va_start(args, fmt);
	n = trace_vbprintk(ip, fmt, args);
	__builtin_va_end(args);
	return n;
}

notrace int __trace_printk(unsigned long ip, const char *fmt, ...)
{
	__builtin_va_list args;
	int n;

	__builtin_va_start(args, fmt);
	n = trace_vprintk(ip, fmt, args);
	__builtin_va_end(args);
	return n;
}

/* A tail call: it is not in the stack itself, as in Linux. */
notrace void trace_dump_stack(int skip)
{
	__ftrace_trace_stack(skip);
}

/* Formats that modules have brought along: copies, which records point to after the module has gone. */
struct trace_bprintk_fmt {
	struct trace_bprintk_fmt *next;
	char fmt[];
};

static DEFINE_MUTEX(btrace_mutex);
static struct trace_bprintk_fmt *trace_bprintk_fmt_list;

static const char *lookup_format(const char *fmt)
{
	struct trace_bprintk_fmt *p;

	for (p = trace_bprintk_fmt_list; p; p = p->next)
		if (!strcmp(p->fmt, fmt))
			return p->fmt;
	p = kmalloc(sizeof(*p) + strlen(fmt) + 1, GFP_KERNEL);
	if (!p)
		return NULL;
	strcpy(p->fmt, fmt);
	p->next = trace_bprintk_fmt_list;
	trace_bprintk_fmt_list = p;
	trace_printk_format(p->fmt);
	return p->fmt;
}

/* The first user gets the buffers their full size, and the log a warning. */
static void trace_printk_init_buffers(void)
{
	static bool allocated;

	if (allocated)
		return;
	allocated = true;
	pr_warn("\n");
	pr_warn("**********************************************************\n");
	pr_warn("**   NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE   **\n");
	pr_warn("**                                                      **\n");
	pr_warn("** trace_printk() being used. Allocating extra memory.  **\n");
	pr_warn("**                                                      **\n");
	pr_warn("** This means that this is a DEBUG kernel and it is     **\n");
	pr_warn("** unsafe for production use.                           **\n");
	pr_warn("**                                                      **\n");
	pr_warn("** If you see this message and you are not debugging    **\n");
	pr_warn("** the kernel, report this immediately to your vendor!  **\n");
	pr_warn("**                                                      **\n");
	pr_warn("**   NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE   **\n");
	pr_warn("**********************************************************\n");
	trace_printk_start();
}

static int module_trace_bprintk_format_notify(struct notifier_block *self, unsigned long val, void *data)
{
	struct module *mod = data;
	unsigned int i;

	if (val != MODULE_STATE_COMING || !mod->num_trace_bprintk_fmt)
		return NOTIFY_OK;
	trace_printk_init_buffers();
	mutex_lock(&btrace_mutex);
	for (i = 0; i < mod->num_trace_bprintk_fmt; i++) {
		const char **fmt = &mod->trace_bprintk_fmt_start[i];

		if (*fmt)	/* without memory for a copy nothing will be printed */
			*fmt = lookup_format(*fmt);
	}
	mutex_unlock(&btrace_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_trace_bprintk_format_nb = { .notifier_call = module_trace_bprintk_format_notify };

extern const char *__start___trace_printk_fmt[], *__stop___trace_printk_fmt[];

static int __init init_trace_printk(void)
{
	if (&__start___trace_printk_fmt[0] != &__stop___trace_printk_fmt[0])
		trace_printk_init_buffers();
	return register_module_notifier(&module_trace_bprintk_format_nb);
}
fs_initcall(init_trace_printk);

EXPORT_SYMBOL_GPL(__trace_bprintk);
EXPORT_SYMBOL_GPL(__trace_printk);
EXPORT_SYMBOL_GPL(__trace_bputs);
EXPORT_SYMBOL_GPL(__trace_puts);
EXPORT_SYMBOL_GPL(trace_dump_stack);
EXPORT_SYMBOL_GPL(tracing_on);
EXPORT_SYMBOL_GPL(tracing_off);
EXPORT_SYMBOL_GPL(tracing_is_on);

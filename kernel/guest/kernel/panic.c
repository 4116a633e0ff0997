/* The end of the road, and warnings (kernel/panic.c). */
#include "sched.h"
#include "entry.h"
#include "gates.h"

/* One bit for each letter of print_tainted(); the host's reports read it. */
unsigned long tainted_mask;

void add_taint(unsigned int flag)
{
	set_bit(flag, &tainted_mask);
}

/* "Not tainted", or "Tainted: G    B      ": a letter for each bit that is set. */
const char *print_tainted(void)
{
	static const char letters[] = "PFSRMBUDAWCIOELKXT";
	static char buf[sizeof(letters) + sizeof("Tainted: ")];
	unsigned int i;

	if (!tainted_mask)
		return "Not tainted";
	strcpy(buf, "Tainted: ");
	for (i = 0; letters[i]; i++)
		buf[9 + i] = tainted_mask >> i & 1 ? letters[i] : i ? ' ' : 'G';
	buf[9 + i] = 0;
	return buf;
}

int test_taint(unsigned int flag)
{
	return test_bit(flag, &tainted_mask);
}

/* The host writes the text: who runs, and the stack (lib/dump_stack.c). */
noinline void dump_stack_lvl(const char *log_lvl)
{
	char line[256];

	oops_begin(NULL, "dump_stack", 0, 0);
	while (oops_line(line, sizeof(line)) > 0)
		printk("%s%s\n", log_lvl, line);
}

static atomic_t panic_cpu = ATOMIC_INIT(-1);
void printk_flush(void);

__noreturn void panic(const char *fmt, ...)
{
	static char buf[1024];
	int this_cpu, old_cpu;
	va_list args;

	local_irq_disable();
	preempt_disable();
	this_cpu = raw_smp_processor_id();
	old_cpu = atomic_cmpxchg(&panic_cpu, -1, this_cpu);
	if (old_cpu != -1 && old_cpu != this_cpu) {
		for (;;)
			asm volatile("cli; hlt");
	}
	va_start(args, fmt);
	vscnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	pr_emerg("Kernel panic - not syncing: %s\n", buf);
	if (!test_taint(TAINT_DIE))	/* the report of the fault has the stack */
		dump_stack_lvl(KERN_DEFAULT);
	pr_emerg("---[ end Kernel panic - not syncing: %s ]---\n", buf);
	printk_flush();
	machine_halt(1);
	for (;;)
		asm volatile("cli; hlt");
}

void warn_slowpath_fmt(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	pr_warn("------------[ cut here ]------------\n");
	if (fmt) {
		va_start(args, fmt);
		vprintk(fmt, args);
		va_end(args);
	}
	pr_warn("WARNING: CPU: %d PID: %d at %s:%d\n", raw_smp_processor_id(), current->pid, file, line);
	print_modules();
	dump_stack_lvl(KERN_WARNING);
	pr_warn("---[ end trace 0000000000000000 ]---\n");
	add_taint(TAINT_WARN);
}

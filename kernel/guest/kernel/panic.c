/* The end of the road, and warnings (kernel/panic.c). */
#include "sched.h"
#include "entry.h"
#include "gates.h"

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
	pr_warn("---[ end trace 0000000000000000 ]---\n");
}

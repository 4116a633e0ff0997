/* One initcall (do_one_initcall in init/main.c): of the kernel or of a module. */
#include "kernel.h"
#include "sched.h"
#include "interrupt.h"

int do_one_initcall(initcall_t fn);
int do_one_initcall(initcall_t fn)
{
	int count = preempt_count();
	char msgbuf[64];
	int ret = fn();

	msgbuf[0] = 0;
	if (preempt_count() != count) {
		sprintf(msgbuf, "preemption imbalance ");
		preempt_count_add(count - preempt_count());
	}
	if (irqs_disabled()) {
		strcat(msgbuf, "disabled interrupts ");
		local_irq_enable();
	}
	if (msgbuf[0])
		pr_warn("initcall %pS returned with %s\n", fn, msgbuf);
	return ret;
}

/* The patch race's victim: its 5-byte entry site lies across a 64-byte line (vmlinux.lds puts it at line + 62). */
#include "sched.h"
#include "syscalls.h"
#include "ftrace.h"
#include "truth.h"

DEFINE_PER_CPU_ALIGNED(struct kscope_truth, kscope_truth);

__section(".text.kscope_hot") noinline long kscope_hot(long x)
{
	KSCOPE_TRUTH(kscope_hot);
	return x * 3 + 1;
}

/* kscope(op, arg): what the tests' programs need and Linux has no call for. Op 1: call kscope_hot() arg times. */
SYSCALL_DEFINE2(kscope, int, op, unsigned long, arg)
{
	long x = 0;

	if (op != 1)
		return -EINVAL;
	for (; arg && !signal_pending(current); arg--) {
		x = kscope_hot(x);
		if (!(arg & 1023))
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* The patch race's victim: its 5-byte entry site lies across a 64-byte line (vmlinux.lds puts it at line + 62). */
#include "kernel.h"
#include "ftrace.h"
#include "truth.h"

DEFINE_PER_CPU_ALIGNED(struct kscope_truth, kscope_truth);

__section(".text.kscope_hot") noinline long kscope_hot(long x)
{
	KSCOPE_TRUTH(kscope_hot);
	return x * 3 + 1;
}

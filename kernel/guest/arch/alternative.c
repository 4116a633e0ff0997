/*
 * Patching live text (arch/x86/kernel/alternative.c). The host decides and writes the bytes; the guest gives it a
 * context, holds text_mutex and makes every CPU pass a serialising instruction between the steps:
 *   step 1: int3 on every site   sync   step 2: tails   sync   step 3: heads   sync
 */
#include "sched.h"
#include "gates.h"
#include "ftrace.h"

DEFINE_MUTEX(text_mutex);

static __always_inline void iret_to_self(void)
{
	asm volatile("mov %%ss,%%eax\n\tpushq %%rax\n\tpushq %%rsp\n\taddq $8,(%%rsp)\n\tpushfq\n\tmov %%cs,%%eax\n\t"
		     "pushq %%rax\n\tpushq $1f\n\tiretq\n1:" ::: "rax", "cc", "memory");
}

static noinline void do_sync_core(void *info)
{
	iret_to_self();
	text_poke_sync_ack();
}

void text_poke_sync(void)
{
	on_each_cpu(do_sync_core, NULL, 1);
}

/* Called with text_mutex held. */
static noinline void text_poke_bp_batch(void)
{
	while (text_poke_step())
		text_poke_sync();
}

static noinline void text_poke_flush(void)
{
	while (text_poke_pending())
		text_poke_bp_batch();
}

void text_poke_finish(void)
{
	text_poke_flush();
}

/*
 * What a patcher that knows nothing of cross-modification does: one store after the other into live text, through a
 * writable alias. Other CPUs may run there in between, or run what they fetched before. For the lesson and its test.
 */
void text_poke_naive(void *addr, const void *opcode, size_t len)
{
	volatile u8 *dst = addr;
	const u8 *src = opcode;

	while (len--)
		*dst++ = *src++;
}

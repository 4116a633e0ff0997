/* The guest's side of dynamic ftrace: the conversion at boot and the flush of queued patches (kernel/trace/ftrace.c). */
#include "kernel.h"
#include "gates.h"
#include "bitops.h"
#include "ftrace.h"
#include "kprobes.h"

extern unsigned long __start_mcount_loc[], __stop_mcount_loc[];

/* Linux keeps 16-byte records in pages, in groups whose page count is a power of two at most that of the rest. */
static void __init ftrace_report(long count)
{
	unsigned long pages = 0, groups = 0;

	pr_info("ftrace: allocating %ld entries in %ld pages\n", count, DIV_ROUND_UP(count, 256L));
	while (count > 0) {
		unsigned long order = fls64(DIV_ROUND_UP(count, 256L)) - 1;

		pages += 1UL << order;
		count -= 256L << order;
		groups++;
	}
	pr_info("ftrace: allocated %lu pages with %lu groups\n", pages, groups);
}

void __init ftrace_init(void)
{
	if (&__start_mcount_loc[0] == &__stop_mcount_loc[0])
		return;
	ftrace_report(ftrace_process_locs());
}

static void ftrace_arch_code_modify_prepare(void)
{
	mutex_lock(&text_mutex);
}

static void ftrace_arch_code_modify_post_process(void)
{
	text_poke_finish();
	mutex_unlock(&text_mutex);
}

/* Ends with a question that is answered by no: the tracer learns that all of its text is in place, text_mutex released. */
notrace void ftrace_run_update_code(void)
{
	long what;

	while (text_poke_pending()) {
		ftrace_arch_code_modify_prepare();
		ftrace_arch_code_modify_post_process();
	}
	what = kprobe_optimizer_step(KPROBE_OPT_PENDING);
	if (what)
		kprobe_pending(what);
}

/* Address-space switches and TLB shootdown (arch/x86/mm/tlb.c), without PCIDs. */
#include "mm.h"
#include "tracepoint.h"

struct tlb_state { struct mm_struct *loaded_mm; u64 tlb_gen; bool is_lazy; };
DEFINE_PER_CPU(struct tlb_state, cpu_tlbstate) = { .loaded_mm = &init_mm };

struct flush_tlb_info { struct mm_struct *mm; unsigned long start, end; u64 new_tlb_gen; unsigned int initiating_cpu, stride_shift; bool freed_tables; };
enum { TLB_FLUSH_ON_TASK_SWITCH, TLB_REMOTE_SHOOTDOWN, TLB_LOCAL_SHOOTDOWN, TLB_LOCAL_MM_SHOOTDOWN, TLB_REMOTE_SEND_IPI };
#define TLB_FLUSH_ALL -1UL
static const unsigned long tlb_single_page_flush_ceiling = 33;

static noinline void load_new_mm_cr3(pgd_t *pgdir)
{
	write_cr3(__pa(pgdir));
}

void switch_mm_irqs_off(struct mm_struct *prev, struct mm_struct *next, struct task_struct *tsk)
{
	struct mm_struct *real_prev = this_cpu_read(cpu_tlbstate.loaded_mm);
	bool was_lazy = this_cpu_read(cpu_tlbstate.is_lazy);
	int cpu = smp_processor_id();
	u64 next_tlb_gen;

	this_cpu_write(cpu_tlbstate.is_lazy, false);
	if (real_prev == next) {
		/* While we were lazy nobody sent us IPIs for this address space; catch up when it changed. */
		if (!was_lazy)
			return;
		smp_mb();
		next_tlb_gen = atomic64_read(&next->tlb_gen);
		if (this_cpu_read(cpu_tlbstate.tlb_gen) == next_tlb_gen)
			return;
	} else {
		if (real_prev != &init_mm)
			cpumask_clear_cpu(cpu, mm_cpumask(real_prev));
		if (next != &init_mm)
			cpumask_set_cpu(cpu, mm_cpumask(next));
		next_tlb_gen = atomic64_read(&next->tlb_gen);
	}
	this_cpu_write(cpu_tlbstate.loaded_mm, next);
	this_cpu_write(cpu_tlbstate.tlb_gen, next_tlb_gen);
	load_new_mm_cr3(next->pgd);
	trace_tlb_flush(TLB_FLUSH_ON_TASK_SWITCH, TLB_FLUSH_ALL);
}

void switch_mm(struct mm_struct *prev, struct mm_struct *next, struct task_struct *tsk)
{
	unsigned long flags;

	local_irq_save(flags);
	switch_mm_irqs_off(prev, next, tsk);
	local_irq_restore(flags);
}

void activate_mm(struct mm_struct *prev, struct mm_struct *next)
{
	switch_mm(prev, next, NULL);
}

/* A kernel thread runs on: it keeps the user mappings it found, without looking at them. */
void enter_lazy_tlb(struct mm_struct *mm, struct task_struct *tsk)
{
	if (this_cpu_read(cpu_tlbstate.loaded_mm) == &init_mm)
		return;
	this_cpu_write(cpu_tlbstate.is_lazy, true);
}

static noinline void native_flush_tlb_local(void)
{
	write_cr3(__read_cr3());
}

static noinline void native_flush_tlb_one_user(unsigned long addr)
{
	__invlpg(addr);
}

static noinline void flush_tlb_func(void *info)
{
	const struct flush_tlb_info *f = info;
	struct mm_struct *loaded_mm = this_cpu_read(cpu_tlbstate.loaded_mm);
	u64 mm_tlb_gen, local_tlb_gen = this_cpu_read(cpu_tlbstate.tlb_gen);
	unsigned long addr, pages = TLB_FLUSH_ALL;

	if (loaded_mm == &init_mm || (f->mm && f->mm != loaded_mm))
		return;
	if (this_cpu_read(cpu_tlbstate.is_lazy)) {
		switch_mm_irqs_off(NULL, &init_mm, NULL);	/* freed tables must not be walked */
		return;
	}
	mm_tlb_gen = atomic64_read(&loaded_mm->tlb_gen);
	if (local_tlb_gen == mm_tlb_gen)
		return;
	if (f->end != ~0UL && f->new_tlb_gen == local_tlb_gen + 1 && f->new_tlb_gen == mm_tlb_gen) {
		for (addr = f->start; addr < f->end; addr += 1UL << f->stride_shift)
			native_flush_tlb_one_user(addr);
		pages = (f->end - f->start) >> f->stride_shift;
	} else {
		native_flush_tlb_local();
	}
	trace_tlb_flush(f->initiating_cpu == smp_processor_id() ? f->mm ? TLB_LOCAL_MM_SHOOTDOWN : TLB_LOCAL_SHOOTDOWN :
			TLB_REMOTE_SHOOTDOWN, pages);
	this_cpu_write(cpu_tlbstate.tlb_gen, mm_tlb_gen);
}

static bool tlb_is_not_lazy(int cpu, void *data)
{
	return !per_cpu(cpu_tlbstate, cpu).is_lazy;
}

static noinline void native_flush_tlb_multi(const struct cpumask *cpumask, const struct flush_tlb_info *info)
{
	trace_tlb_flush(TLB_REMOTE_SEND_IPI, info->end == ~0UL ? TLB_FLUSH_ALL : (info->end - info->start) >> PAGE_SHIFT);
	if (info->freed_tables)
		on_each_cpu_mask(cpumask, flush_tlb_func, (void *)info, true);
	else
		on_each_cpu_cond_mask(tlb_is_not_lazy, flush_tlb_func, (void *)info, true, cpumask);
}

void flush_tlb_mm_range(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned int stride_shift, bool freed_tables)
{
	struct flush_tlb_info info = { .mm = mm, .start = start, .end = end, .stride_shift = stride_shift, .freed_tables = freed_tables };
	int cpu = get_cpu();

	if (end == ~0UL || (end - start) >> stride_shift > tlb_single_page_flush_ceiling) {
		info.start = 0;
		info.end = ~0UL;
	}
	info.new_tlb_gen = atomic_long_fetch_add(1, &mm->tlb_gen) + 1;
	info.initiating_cpu = cpu;
	smp_mb();
	if (READ_ONCE(mm_cpumask(mm)->bits[0]) & ~BIT(cpu)) {
		native_flush_tlb_multi(mm_cpumask(mm), &info);
	} else if (mm == this_cpu_read(cpu_tlbstate.loaded_mm)) {
		local_irq_disable();
		flush_tlb_func(&info);
		local_irq_enable();
	}
	put_cpu();
}

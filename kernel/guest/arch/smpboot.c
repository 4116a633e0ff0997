/* Starting the other CPUs (arch/x86/kernel/smpboot.c). */
#include "sched.h"
#include "apic.h"
#include "timer.h"
#include "mm.h"

extern unsigned long initial_code, initial_gs, initial_stack, early_gdt_descr_base;
extern char secondary_startup_64[];
static struct cpumask cpu_callin_mask, cpu_callout_mask;
void start_secondary(void);
void calculate_max_logical_packages(void);

static void smp_callin(void)
{
	setup_local_APIC();
	cpumask_set_cpu(smp_processor_id(), &cpu_callin_mask);
}

/* An AP's first C code, with its GDT, per-CPU base and idle task's stack in place. */
__used void notrace start_secondary(void)
{
	int cpu = raw_smp_processor_id();

	load_current_idt();
	cpu_init_exception_handling();
	cpu_init();
	smp_callin();
	/* The boot CPU lets us go on when it has seen us. */
	while (!cpumask_test_cpu(cpu, &cpu_callout_mask))
		cpu_relax();
	setup_APIC_timer();
	atomic_inc(&__num_online_cpus);
	cpumask_set_cpu(cpu, &__cpu_online_mask);
	cpumask_set_cpu(cpu, &__cpu_active_mask);
	tick_setup_sched_timer();
	local_irq_enable();
	cpu_startup_entry();
}

static int do_boot_cpu(int apicid, int cpu, struct task_struct *idle)
{
	idle->thread.sp = (unsigned long)task_pt_regs(idle);
	per_cpu(current_task, cpu) = idle;
	per_cpu(cpu_current_top_of_stack, cpu) = (unsigned long)idle->stack + THREAD_SIZE;
	per_cpu(cpu_tss_rw, cpu).x86_tss.sp0 = (unsigned long)idle->stack + THREAD_SIZE;
	early_gdt_descr_base = (unsigned long)&per_cpu(gdt_page, cpu);
	initial_code = (unsigned long)start_secondary;
	initial_gs = __per_cpu_offset[cpu];
	initial_stack = idle->thread.sp;
	return wakeup_secondary_cpu_via_init(apicid, __pa(secondary_startup_64));
}

int native_cpu_up(unsigned int cpu, struct task_struct *tidle)
{
	int err = do_boot_cpu(cpu, cpu, tidle);

	if (err)
		return err;
	while (!cpumask_test_cpu(cpu, &cpu_callin_mask))
		cpu_relax();
	cpumask_set_cpu(cpu, &cpu_callout_mask);
	while (!cpu_online(cpu))
		cpu_relax();
	return 0;
}

void __init smp_prepare_boot_cpu(void)
{
	cpumask_set_cpu(0, &cpu_callout_mask);
	cpumask_set_cpu(0, &cpu_callin_mask);
	per_cpu(cpu_current_top_of_stack, 0) = (unsigned long)current->stack + THREAD_SIZE;
	per_cpu(cpu_tss_rw, 0).x86_tss.sp0 = (unsigned long)current->stack + THREAD_SIZE;
}

void __init smp_prepare_cpus(unsigned int max_cpus)
{
	pr_info("smpboot: CPU0: kscope x86-64 (family: 0x6, model: 0x1, stepping: 0x1)\n");
}

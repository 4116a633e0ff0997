/* start_kernel: the order in which everything comes up (init/main.c). */
#include "mm.h"
#include "kthread.h"
#include "interrupt.h"
#include "timer.h"
#include "ftrace.h"
#include "gates.h"
#include "apic.h"
#include "utsname.h"
#include "rcupdate.h"
#include "workqueue.h"
#include "cgroup.h"

extern initcall_t __initcall_start[], __initcall1_start[], __initcall_end[];
void start_kernel(void);
void setup_arch(char **cmdline_p);
void setup_per_cpu_areas(void);
void sort_main_extable(void);
void trap_init(void);
void mmap_init(void);
void vfs_caches_init_early(void);
void vfs_caches_init(void);
extern pid_t last_pid;
static DECLARE_COMPLETION(kthreadd_done);

static void __init boot_cpu_init(void)
{
	__cpumask_set_cpu(0, &__cpu_online_mask);
	__cpumask_set_cpu(0, &__cpu_active_mask);
	__cpumask_set_cpu(0, &__cpu_present_mask);
	__cpumask_set_cpu(0, &__cpu_possible_mask);
	atomic_set(&__num_online_cpus, 1);
}

static void __init do_initcall_level(initcall_t *fn, initcall_t *end)
{
	for (; fn < end; fn++) {
		int ret = (*fn)();

		if (ret && ret != -ENODEV)
			printk(KERN_DEBUG "initcall %pS returned %d\n", *fn, ret);
	}
}

/* pid 1. It has no user program: it reaps what is left to it. */
static int kernel_init(void *unused)
{
	wait_for_completion(&kthreadd_done);
	set_task_comm(current, "init");
	init_pid_ns.child_reaper = current;
	current->signal->flags |= SIGNAL_UNKILLABLE;
	smp_prepare_cpus(nr_cpu_ids);
	workqueue_init();
	do_initcall_level(__initcall_start, __initcall1_start);
	smp_init();
	sched_init_smp();
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	do_initcall_level(__initcall1_start, __initcall_end);
	pr_info("Run /init as init process\n");
	last_pid = max(last_pid, 99);	/* where there are many CPUs their threads need more */
	kscope_boot_done();
	for (;;) {
		wait_event_interruptible(current->signal->wait_chldexit, !list_empty(&current->children));
		kernel_wait4(-1, NULL, 0, NULL);
	}
	return 0;
}

static noinline void rest_init(void)
{
	pid_t pid;

	user_mode_thread(kernel_init, NULL, CLONE_FS);
	pid = kernel_thread(kthreadd, NULL, CLONE_FS | CLONE_FILES);
	kthreadd_task = find_task_by_vpid(pid);
	complete(&kthreadd_done);
	schedule_preempt_disabled();
	cpu_startup_entry();
}

void __init start_kernel(void)
{
	char *command_line;

	boot_cpu_init();
	pr_notice("%s", linux_banner);
	setup_arch(&command_line);
	setup_per_cpu_areas();
	smp_prepare_boot_cpu();
	pr_notice("Kernel command line: %s\n", command_line);
	sort_main_extable();
	call_function_init();
	mem_init();
	kmem_cache_init();
	trap_init();
	ftrace_init();
	sched_init();
	workqueue_init_early();
	rcu_init();
	timekeeping_init();
	tick_init();
	init_timers();
	hrtimers_init();
	setup_local_APIC();
	setup_APIC_timer();
	tick_setup_sched_timer();
	local_irq_enable();
	pr_info("Calibrating delay loop (skipped), value calculated using timer frequency.. 2000.00 BogoMIPS\n");
	pid_idr_init();
	fork_init();
	cgroup_init();
	signals_init();
	mmap_init();
	vfs_caches_init_early();
	vfs_caches_init();
	rest_init();
}

/* /proc/stat, interrupts, softirqs, loadavg: what the kernel counts (Linux's fs/proc/{stat,interrupts,softirqs,loadavg}.c). */
#include "proc_internal.h"
#include "kernel_stat.h"
#include "loadavg.h"
#include "mm.h"

extern pid_t last_pid;

/* The vectors that have no number of their own (arch_show_interrupts in arch/x86/kernel/irq.c). */
static const struct { const char *name, *text; } arch_irqs[NR_KERNEL_IRQS] = {
	[IRQ_LOC] = { "LOC", "Local timer interrupts" },
	[IRQ_SPU] = { "SPU", "Spurious interrupts" },
	[IRQ_IWI] = { "IWI", "IRQ work interrupts" },
	[IRQ_RES] = { "RES", "Rescheduling interrupts" },
	[IRQ_CAL] = { "CAL", "Function call interrupts" },
	[IRQ_TLB] = { "TLB", "TLB shootdowns" },
	[IRQ_KICK] = { "KIC", "Requests of the host" },
	[IRQ_ERR] = { "ERR", NULL },
};

/* The device interrupts; kernel/irq has them, when there are any. */
int __weak show_device_interrupts(struct seq_file *p)
{
	return 0;
}

u64 __weak device_irqs_sum(void)
{
	return 0;
}

static int show_interrupts(struct seq_file *p, void *v)
{
	unsigned int cpu, i, sum = 0;

	seq_printf(p, "%*s", 11, "");
	for_each_online_cpu(cpu)
		seq_printf(p, "CPU%-8d", cpu);
	seq_putc(p, '\n');
	show_device_interrupts(p);
	for (i = 0; i < NR_KERNEL_IRQS; i++) {
		if (!arch_irqs[i].text)
			continue;
		seq_printf(p, "%3s: ", arch_irqs[i].name);
		for_each_online_cpu(cpu)
			seq_printf(p, "%10u ", kstat_cpu(cpu).irqs[i]);
		seq_printf(p, "  %s\n", arch_irqs[i].text);
	}
	for_each_online_cpu(cpu)
		sum += kstat_cpu(cpu).irqs[IRQ_ERR];
	seq_printf(p, "%3s: %10u\n", "ERR", sum);
	return 0;
}

static int show_softirqs(struct seq_file *p, void *v)
{
	unsigned int cpu, i;

	seq_puts(p, "                    ");
	for_each_possible_cpu(cpu)
		seq_printf(p, "CPU%-8d", cpu);
	seq_putc(p, '\n');
	for (i = 0; i < NR_SOFTIRQS; i++) {
		seq_printf(p, "%12s:", softirq_to_name[i]);
		for_each_possible_cpu(cpu)
			seq_printf(p, " %10u", kstat_cpu(cpu).softirqs[i]);
		seq_putc(p, '\n');
	}
	return 0;
}

static u64 nsec_to_clock(u64 ns)
{
	return ns / (NSEC_PER_SEC / 100);
}

static void show_cpu_line(struct seq_file *p, const u64 *t)
{
	seq_printf(p, " %lu %lu %lu %lu %lu %lu %lu 0 0 0\n", nsec_to_clock(t[CPUTIME_USER]), nsec_to_clock(t[CPUTIME_NICE]),
		   nsec_to_clock(t[CPUTIME_SYSTEM]), nsec_to_clock(t[CPUTIME_IDLE]), nsec_to_clock(t[CPUTIME_IOWAIT]),
		   nsec_to_clock(t[CPUTIME_IRQ]), nsec_to_clock(t[CPUTIME_SOFTIRQ]));
}

static void cpu_times(int cpu, u64 *t)
{
	int i;

	for (i = 0; i < NR_STATS; i++)
		t[i] = kstat_cpu(cpu).cpustat[i];
	t[CPUTIME_IDLE] = get_idle_time(cpu);
}

static void count_tasks(unsigned int *procs, unsigned int *blocked)
{
	struct task_struct *p;

	*procs = *blocked = 0;
	read_lock(&tasklist_lock);
	for_each_process(p) {
		*procs += p->signal->nr_threads;
		*blocked += p->in_iowait && READ_ONCE(p->__state) & TASK_UNINTERRUPTIBLE;
	}
	read_unlock(&tasklist_lock);
}

static int show_stat(struct seq_file *p, void *v)
{
	u64 sum[NR_STATS] = { 0 }, t[NR_STATS], irqs = device_irqs_sum(), softirqs[NR_SOFTIRQS] = { 0 }, all = 0;
	unsigned int cpu, i, procs, blocked;

	for_each_possible_cpu(cpu) {
		cpu_times(cpu, t);
		for (i = 0; i < NR_STATS; i++)
			sum[i] += t[i];
		for (i = 0; i < NR_KERNEL_IRQS; i++)
			irqs += kstat_cpu(cpu).irqs[i];
		for (i = 0; i < NR_SOFTIRQS; i++) {
			softirqs[i] += kstat_cpu(cpu).softirqs[i];
			all += kstat_cpu(cpu).softirqs[i];
		}
	}
	seq_puts(p, "cpu ");
	show_cpu_line(p, sum);
	for_each_online_cpu(cpu) {
		cpu_times(cpu, t);
		seq_printf(p, "cpu%d", cpu);
		show_cpu_line(p, t);
	}
	count_tasks(&procs, &blocked);
	seq_printf(p, "intr %lu\nctxt %lu\nbtime %lu\nprocesses %lu\nprocs_running %u\nprocs_blocked %u\nsoftirq %lu", irqs,
		   (unsigned long)nr_context_switches(), (unsigned long)(ktime_get_real_seconds() - ktime_get() / NSEC_PER_SEC), total_forks,
		   nr_running(), blocked, all);
	for (i = 0; i < NR_SOFTIRQS; i++)
		seq_printf(p, " %lu", softirqs[i]);
	seq_putc(p, '\n');
	return 0;
}

static int loadavg_proc_show(struct seq_file *m, void *v)
{
	unsigned long avnrun[3];
	unsigned int procs, blocked;

	get_avenrun(avnrun, FIXED_1 / 200, 0);
	count_tasks(&procs, &blocked);
	seq_printf(m, "%lu.%02lu %lu.%02lu %lu.%02lu %u/%d %d\n", LOAD_INT(avnrun[0]), LOAD_FRAC(avnrun[0]), LOAD_INT(avnrun[1]),
		   LOAD_FRAC(avnrun[1]), LOAD_INT(avnrun[2]), LOAD_FRAC(avnrun[2]), nr_running(), procs, last_pid);
	return 0;
}

static int __init proc_stat_init(void)
{
	proc_create_single("interrupts", 0444, NULL, show_interrupts);
	proc_create_single("loadavg", 0444, NULL, loadavg_proc_show);
	proc_create_single("softirqs", 0444, NULL, show_softirqs);
	proc_create_single("stat", 0444, NULL, show_stat);
	return 0;
}
fs_initcall(proc_stat_init);

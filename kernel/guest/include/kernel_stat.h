#pragma once
/* What /proc/stat, /proc/interrupts and /proc/softirqs count (include/linux/kernel_stat.h, arch/x86 asm/hardirq.h). */
#include "interrupt.h"
enum kernel_irq { IRQ_LOC, IRQ_IWI, IRQ_RES, IRQ_CAL, IRQ_TLB, IRQ_ERR, IRQ_SPU, IRQ_KICK, NR_KERNEL_IRQS };
enum cpu_usage_stat { CPUTIME_USER, CPUTIME_NICE, CPUTIME_SYSTEM, CPUTIME_SOFTIRQ, CPUTIME_IRQ, CPUTIME_IDLE, CPUTIME_IOWAIT, NR_STATS };
struct kernel_stat { u64 cpustat[NR_STATS]; unsigned int softirqs[NR_SOFTIRQS], irqs[NR_KERNEL_IRQS]; };
DECLARE_PER_CPU(struct kernel_stat, kstat);
#define kstat_cpu(cpu)			per_cpu(kstat, cpu)
#define kstat_incr_softirqs_this_cpu(n)	(this_cpu_ptr(&kstat)->softirqs[n]++)
#define inc_irq_stat(which)		(this_cpu_ptr(&kstat)->irqs[which]++)
extern const char *const softirq_to_name[NR_SOFTIRQS];
u64 get_idle_time(int cpu);
unsigned long long nr_context_switches(void);
unsigned int nr_running(void);
extern unsigned long total_forks;

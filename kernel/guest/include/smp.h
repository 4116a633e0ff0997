#pragma once
#include "cpumask.h"
#include "llist.h"
typedef void (*smp_call_func_t)(void *info);
typedef bool (*smp_cond_func_t)(int cpu, void *info);
struct __call_single_node { struct llist_node llist; unsigned int u_flags; u16 src, dst; };
struct __call_single_data { struct __call_single_node node; smp_call_func_t func; void *info; };
typedef struct __call_single_data call_single_data_t;
#define CSD_FLAG_LOCK 1
#define CSD_TYPE_TTWU 0x30	/* the node is a task's wake_entry */
void __smp_call_single_queue(int cpu, struct llist_node *node);
int smp_call_function_single(int cpu, smp_call_func_t func, void *info, int wait);
int smp_call_function_single_async(int cpu, call_single_data_t *csd);
void smp_call_function_many(const struct cpumask *mask, smp_call_func_t func, void *info, bool wait);
void smp_call_function(smp_call_func_t func, void *info, int wait);
void on_each_cpu_cond_mask(smp_cond_func_t cond, smp_call_func_t func, void *info, bool wait, const struct cpumask *mask);
#define on_each_cpu(f, i, w)		on_each_cpu_cond_mask(NULL, f, i, w, cpu_online_mask)
#define on_each_cpu_mask(m, f, i, w)	on_each_cpu_cond_mask(NULL, f, i, w, m)
void flush_smp_call_function_queue(void);
void __flush_smp_call_function_queue(bool warn_cpu_offline);
void generic_smp_call_function_single_interrupt(void);
#define generic_smp_call_function_interrupt generic_smp_call_function_single_interrupt
void call_function_init(void);
void smp_init(void);
void smp_send_reschedule(int cpu);
void smp_prepare_boot_cpu(void);
void smp_prepare_cpus(unsigned int max_cpus);
int native_cpu_up(unsigned int cpu, struct task_struct *tidle);

struct irq_work { struct __call_single_node node; void (*func)(struct irq_work *); };
#define IRQ_WORK_PENDING 1
#define IRQ_WORK_BUSY 2
#define IRQ_WORK_INIT(f) (struct irq_work){ .func = (f) }
bool irq_work_queue(struct irq_work *work);
void irq_work_run(void);

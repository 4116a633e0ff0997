#pragma once
/* Work for a CPU's stopper thread, which runs before all others (include/linux/stop_machine.h). */
#include "list.h"
typedef int (*cpu_stop_fn_t)(void *arg);
struct cpu_stop_done;
struct cpu_stop_work { struct list_head list; cpu_stop_fn_t fn; void *arg; struct cpu_stop_done *done; };
int stop_one_cpu(unsigned int cpu, cpu_stop_fn_t fn, void *arg);

#pragma once
/* Threads of which each CPU has one (include/linux/smpboot.h). */
#include "sched.h"
struct smp_hotplug_thread {
	struct task_struct **store;		/* a per-CPU variable */
	struct list_head list;
	int (*thread_should_run)(unsigned int cpu);
	void (*thread_fn)(unsigned int cpu);
	void (*create)(unsigned int cpu);	/* before it runs first */
	const char *thread_comm;
};
int smpboot_register_percpu_thread(struct smp_hotplug_thread *plug_thread);
int smpboot_create_threads(unsigned int cpu);
void smpboot_unpark_threads(unsigned int cpu);

/* Per-CPU threads: made before their CPU comes up, let run when it is there (kernel/smpboot.c). */
#include "smpboot.h"
#include "kthread.h"
#include "slab.h"

static LIST_HEAD(hotplug_threads);
static DEFINE_MUTEX(smpboot_threads_lock);

struct smpboot_thread_data { unsigned int cpu; struct smp_hotplug_thread *ht; };

static int smpboot_thread_fn(void *data)
{
	struct smpboot_thread_data *td = data;
	struct smp_hotplug_thread *ht = td->ht;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		preempt_disable();
		if (kthread_should_stop()) {
			__set_current_state(TASK_RUNNING);
			preempt_enable();
			kfree(td);
			return 0;
		}
		BUG_ON(td->cpu != smp_processor_id());
		if (!ht->thread_should_run(td->cpu)) {
			preempt_enable_no_resched();
			schedule();
		} else {
			__set_current_state(TASK_RUNNING);
			preempt_enable();
			ht->thread_fn(td->cpu);
		}
	}
}

static int __smpboot_create_thread(struct smp_hotplug_thread *ht, unsigned int cpu)
{
	struct task_struct **slot = per_cpu_ptr(ht->store, cpu), *tsk;
	struct smpboot_thread_data *td;

	if (*slot)
		return 0;
	td = kmalloc(sizeof(*td), GFP_KERNEL);
	if (!td)
		return -ENOMEM;
	td->cpu = cpu;
	td->ht = ht;
	tsk = kthread_create_on_cpu(smpboot_thread_fn, td, cpu, ht->thread_comm);
	if (IS_ERR(tsk)) {
		kfree(td);
		return PTR_ERR(tsk);
	}
	get_task_struct(tsk);
	*slot = tsk;
	if (ht->create)
		ht->create(cpu);
	return 0;
}

int smpboot_create_threads(unsigned int cpu)
{
	struct smp_hotplug_thread *cur;
	int ret = 0;

	mutex_lock(&smpboot_threads_lock);
	list_for_each_entry(cur, &hotplug_threads, list) {
		ret = __smpboot_create_thread(cur, cpu);
		if (ret)
			break;
	}
	mutex_unlock(&smpboot_threads_lock);
	return ret;
}

void smpboot_unpark_threads(unsigned int cpu)
{
	struct smp_hotplug_thread *cur;

	mutex_lock(&smpboot_threads_lock);
	list_for_each_entry(cur, &hotplug_threads, list) {
		if (*per_cpu_ptr(cur->store, cpu))
			wake_up_process(*per_cpu_ptr(cur->store, cpu));
	}
	mutex_unlock(&smpboot_threads_lock);
}

/* Threads for the CPUs that are there; those that come up later get theirs then. */
int smpboot_register_percpu_thread(struct smp_hotplug_thread *plug_thread)
{
	unsigned int cpu;
	int ret = 0;

	mutex_lock(&smpboot_threads_lock);
	for_each_online_cpu(cpu) {
		ret = __smpboot_create_thread(plug_thread, cpu);
		if (ret)
			goto out;
		wake_up_process(*per_cpu_ptr(plug_thread->store, cpu));
	}
	list_add_tail(&plug_thread->list, &hotplug_threads);
out:
	mutex_unlock(&smpboot_threads_lock);
	return ret;
}

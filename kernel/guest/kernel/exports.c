/*
 * What modules may use. Linux says EXPORT_SYMBOL beside each function; here one file says it for all, so that the list can
 * be read (and so that a file's code does not depend on it). The host resolves modules' symbols by these rows.
 */
#include "export.h"
#include "module.h"
#include "notifier.h"
#include "vmalloc.h"
#include "sched.h"
#include "kthread.h"
#include "interrupt.h"
#include "hrtimer.h"
#include "timer.h"
#include "completion.h"
#include "rcupdate.h"
#include "uaccess.h"
#include "fs.h"
#include "kallsyms.h"
#include "smp.h"
#include "entry.h"
#include "tracepoint.h"
#include "workqueue.h"

void __fentry__(void);
EXPORT_SYMBOL(__fentry__);
/* printk, strings */
EXPORT_SYMBOL(_printk);
EXPORT_SYMBOL(vprintk);
EXPORT_SYMBOL(panic);
EXPORT_SYMBOL(warn_slowpath_fmt);
EXPORT_SYMBOL(memcpy);
EXPORT_SYMBOL(memmove);
EXPORT_SYMBOL(memset);
EXPORT_SYMBOL(memcmp);
EXPORT_SYMBOL(memchr);
EXPORT_SYMBOL(strlen);
EXPORT_SYMBOL(strnlen);
EXPORT_SYMBOL(strcpy);
EXPORT_SYMBOL(strncpy);
EXPORT_SYMBOL(strscpy);
EXPORT_SYMBOL(strcat);
EXPORT_SYMBOL(strcmp);
EXPORT_SYMBOL(strncmp);
EXPORT_SYMBOL(strchr);
EXPORT_SYMBOL(strrchr);
EXPORT_SYMBOL(strstr);
EXPORT_SYMBOL(ktime_get);
EXPORT_SYMBOL(skip_spaces);
EXPORT_SYMBOL(simple_strtoul);
EXPORT_SYMBOL(simple_strtoull);
EXPORT_SYMBOL(simple_strtol);
EXPORT_SYMBOL(kstrdup);
EXPORT_SYMBOL(kasprintf);
EXPORT_SYMBOL(snprintf);
EXPORT_SYMBOL(scnprintf);
EXPORT_SYMBOL(vsnprintf);
EXPORT_SYMBOL(vscnprintf);
EXPORT_SYMBOL(sprintf);
EXPORT_SYMBOL(sprint_symbol);
/* memory */
EXPORT_SYMBOL(kmalloc);
EXPORT_SYMBOL(__kmalloc);
EXPORT_SYMBOL(kfree);
EXPORT_SYMBOL(kvmalloc_node);
EXPORT_SYMBOL(kvfree);
EXPORT_SYMBOL(krealloc);
EXPORT_SYMBOL(kmem_cache_create);
EXPORT_SYMBOL(kmem_cache_alloc);
EXPORT_SYMBOL(kmem_cache_free);
EXPORT_SYMBOL(kmem_cache_destroy);
EXPORT_SYMBOL(alloc_pages);
EXPORT_SYMBOL(__free_pages);
EXPORT_SYMBOL(__get_free_pages);
EXPORT_SYMBOL(get_zeroed_page);
EXPORT_SYMBOL(free_pages);
EXPORT_SYMBOL(mem_map);
EXPORT_SYMBOL(_copy_to_user);
EXPORT_SYMBOL(_copy_from_user);
EXPORT_SYMBOL(strncpy_from_user);
/* tasks, time, locks */
EXPORT_PER_CPU_SYMBOL(current_task);
EXPORT_PER_CPU_SYMBOL(__preempt_count);
EXPORT_PER_CPU_SYMBOL(cpu_number);
EXPORT_SYMBOL(__per_cpu_offset);
EXPORT_SYMBOL(schedule);
EXPORT_SYMBOL(schedule_timeout);
EXPORT_SYMBOL(__cond_resched);
EXPORT_SYMBOL(wake_up_process);
EXPORT_SYMBOL(kthread_create_on_node);
EXPORT_SYMBOL(kthread_bind);
EXPORT_SYMBOL(kthread_stop);
EXPORT_SYMBOL(kthread_should_stop);
EXPORT_SYMBOL(jiffies);
EXPORT_SYMBOL(mutex_lock);
EXPORT_SYMBOL(mutex_lock_interruptible);
EXPORT_SYMBOL(mutex_trylock);
EXPORT_SYMBOL(mutex_unlock);
EXPORT_SYMBOL(__mutex_init);
EXPORT_SYMBOL(complete);
EXPORT_SYMBOL(complete_all);
EXPORT_SYMBOL(wait_for_completion);
EXPORT_SYMBOL(__init_swait_queue_head);
EXPORT_SYMBOL(__init_waitqueue_head);
EXPORT_SYMBOL(__wake_up);
EXPORT_SYMBOL(init_wait_entry);
EXPORT_SYMBOL(prepare_to_wait_event);
EXPORT_SYMBOL(finish_wait);
EXPORT_SYMBOL_GPL(synchronize_rcu);
EXPORT_SYMBOL_GPL(call_rcu);
/* files */
EXPORT_SYMBOL(filp_open);
EXPORT_SYMBOL(filp_close);
EXPORT_SYMBOL(kernel_read);
EXPORT_SYMBOL(kernel_write);
EXPORT_SYMBOL(fput);
/* tracepoints */
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) EXPORT_SYMBOL_GPL(__tracepoint_##name); EXPORT_SYMBOL_GPL(__traceiter_##name)
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_switch);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_waking);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_wakeup);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_wakeup_new);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_migrate_task);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_process_fork);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_process_exec);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_process_exit);
EXPORT_TRACEPOINT_SYMBOL_GPL(sched_process_wait);
EXPORT_TRACEPOINT_SYMBOL_GPL(softirq_entry);
EXPORT_TRACEPOINT_SYMBOL_GPL(softirq_exit);
EXPORT_TRACEPOINT_SYMBOL_GPL(sys_enter);
EXPORT_TRACEPOINT_SYMBOL_GPL(sys_exit);
/* modules */
EXPORT_SYMBOL(try_module_get);
EXPORT_SYMBOL(__module_get);
EXPORT_SYMBOL(module_put);
EXPORT_SYMBOL(register_module_notifier);
EXPORT_SYMBOL(unregister_module_notifier);
EXPORT_SYMBOL_GPL(kallsyms_lookup_name);
EXPORT_SYMBOL(param_ops_bool);
EXPORT_SYMBOL(param_ops_byte);
EXPORT_SYMBOL(param_ops_short);
EXPORT_SYMBOL(param_ops_ushort);
EXPORT_SYMBOL(param_ops_int);
EXPORT_SYMBOL(param_ops_uint);
EXPORT_SYMBOL(param_ops_long);
EXPORT_SYMBOL(param_ops_ulong);
EXPORT_SYMBOL(param_ops_charp);
EXPORT_SYMBOL_GPL(blocking_notifier_chain_register);
EXPORT_SYMBOL_GPL(blocking_notifier_chain_unregister);
EXPORT_SYMBOL_GPL(blocking_notifier_call_chain);
/* work queues, threads of real time */
EXPORT_SYMBOL(system_wq);
EXPORT_SYMBOL(system_highpri_wq);
EXPORT_SYMBOL(system_long_wq);
EXPORT_SYMBOL(system_unbound_wq);
EXPORT_SYMBOL(alloc_workqueue);
EXPORT_SYMBOL(destroy_workqueue);
EXPORT_SYMBOL(queue_work_on);
EXPORT_SYMBOL(queue_delayed_work_on);
EXPORT_SYMBOL(mod_delayed_work_on);
EXPORT_SYMBOL(delayed_work_timer_fn);
EXPORT_SYMBOL(flush_work);
EXPORT_SYMBOL(flush_delayed_work);
EXPORT_SYMBOL(cancel_work_sync);
EXPORT_SYMBOL(cancel_delayed_work);
EXPORT_SYMBOL(cancel_delayed_work_sync);
EXPORT_SYMBOL(__flush_workqueue);
EXPORT_SYMBOL(sched_set_fifo);
EXPORT_SYMBOL(set_user_nice);

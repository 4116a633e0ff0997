/* What drivers in modules may use, beyond exports.c: timers, sleeps, files in /proc and /dev, text, numbers in text. */
#include "export.h"
#include "fs.h"
#include "kernel.h"
#include "kstrtox.h"
#include "miscdevice.h"
#include "module.h"
#include "mutex.h"
#include "pid.h"
#include "poll.h"
#include "proc_fs.h"
#include "rcupdate.h"
#include "sched.h"
#include "seq_file.h"
#include "timer.h"
#include "uaccess.h"
#include "wait.h"

/* time */
EXPORT_SYMBOL(add_timer);
EXPORT_SYMBOL(del_timer);
EXPORT_SYMBOL(del_timer_sync);
EXPORT_SYMBOL(mod_timer);
EXPORT_SYMBOL(msleep);
EXPORT_SYMBOL(msleep_interruptible);
EXPORT_SYMBOL(schedule_timeout_interruptible);
EXPORT_SYMBOL(schedule_timeout_uninterruptible);
EXPORT_SYMBOL_GPL(hrtimer_cancel);
EXPORT_SYMBOL_GPL(hrtimer_forward);
EXPORT_SYMBOL_GPL(hrtimer_init);
EXPORT_SYMBOL_GPL(hrtimer_start_range_ns);
EXPORT_SYMBOL(timer_setup);
/* user memory */
EXPORT_SYMBOL(__check_object_size);
EXPORT_SYMBOL(strnlen_user);
/* waiting, locks */
EXPORT_SYMBOL(prepare_to_wait);
EXPORT_SYMBOL(autoremove_wake_function);
EXPORT_SYMBOL(add_wait_queue);
EXPORT_SYMBOL(remove_wait_queue);
EXPORT_SYMBOL(_raw_spin_trylock);
EXPORT_SYMBOL(__local_bh_disable_ip);
EXPORT_SYMBOL(__local_bh_enable_ip);
EXPORT_SYMBOL(find_vpid);
EXPORT_SYMBOL(send_sig);
/* /dev */
EXPORT_SYMBOL(__register_chrdev);
EXPORT_SYMBOL(unregister_chrdev);
EXPORT_SYMBOL(misc_register);
EXPORT_SYMBOL(misc_deregister);
EXPORT_SYMBOL(simple_read_from_buffer);
EXPORT_SYMBOL(noop_llseek);
/* /proc */
EXPORT_SYMBOL(proc_create);
EXPORT_SYMBOL(proc_create_data);
EXPORT_SYMBOL(proc_mkdir);
EXPORT_SYMBOL(proc_remove);
EXPORT_SYMBOL(remove_proc_entry);
EXPORT_SYMBOL(pde_data);
EXPORT_SYMBOL(seq_open);
EXPORT_SYMBOL(seq_read);
EXPORT_SYMBOL(seq_read_iter);
EXPORT_SYMBOL(seq_lseek);
EXPORT_SYMBOL(seq_release);
EXPORT_SYMBOL(seq_printf);
EXPORT_SYMBOL(seq_puts);
EXPORT_SYMBOL(seq_putc);
EXPORT_SYMBOL(seq_write);
EXPORT_SYMBOL(single_open);
EXPORT_SYMBOL(single_release);
/* numbers in text */
EXPORT_SYMBOL(kstrtobool);
EXPORT_SYMBOL(kstrtoint);
EXPORT_SYMBOL(kstrtoll);
EXPORT_SYMBOL(kstrtos16);
EXPORT_SYMBOL(kstrtos8);
EXPORT_SYMBOL(kstrtou16);
EXPORT_SYMBOL(kstrtou8);
EXPORT_SYMBOL(kstrtouint);
EXPORT_SYMBOL(kstrtoull);

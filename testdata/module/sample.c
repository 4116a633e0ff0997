/*
 * A module as somebody writes it for Linux 6.1: a thread, a timer, a file in /proc, a device in /dev, a parameter, a function for
 * other modules (sample_user.c), trace_printk and an event of its own (sample_trace.h). ../../kernel/guest/modules/README.md builds it.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/delay.h>
#include <linux/timer.h>
#include <linux/jiffies.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/atomic.h>

#define CREATE_TRACE_POINTS
#include "sample_trace.h"

static int period = 10;
module_param(period, int, 0644);
MODULE_PARM_DESC(period, "milliseconds between ticks");

struct note {
	struct list_head list;
	int n;
};

static LIST_HEAD(notes);
static DEFINE_MUTEX(notes_lock);
static DEFINE_SPINLOCK(lock);
static atomic_t ticks = ATOMIC_INIT(0);
static struct timer_list timer;
static struct task_struct *thread;

int sample_add(int n)
{
	struct note *note = kmalloc(sizeof(*note), GFP_KERNEL);

	if (!note)
		return -ENOMEM;
	note->n = n;
	mutex_lock(&notes_lock);
	list_add_tail(&note->list, &notes);
	mutex_unlock(&notes_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(sample_add);

static void sample_timer(struct timer_list *t)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	atomic_inc(&ticks);
	spin_unlock_irqrestore(&lock, flags);
	trace_sample_tick(atomic_read(&ticks), "timer");
	mod_timer(&timer, jiffies + msecs_to_jiffies(period));
}

static int sample_thread(void *data)
{
	while (!kthread_should_stop()) {
		trace_printk("thread at %d\n", atomic_read(&ticks));
		msleep_interruptible(period);
	}
	return 0;
}

static int sample_show(struct seq_file *m, void *v)
{
	struct note *n;

	seq_printf(m, "ticks %d\n", atomic_read(&ticks) > 0);
	mutex_lock(&notes_lock);
	list_for_each_entry(n, &notes, list)
		seq_printf(m, "note %d\n", n->n);
	mutex_unlock(&notes_lock);
	return 0;
}

static int sample_open(struct inode *inode, struct file *file)
{
	return single_open(file, sample_show, NULL);
}

static const struct proc_ops sample_ops = {
	.proc_open = sample_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static ssize_t sample_misc_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return simple_read_from_buffer(buf, n, pos, "misc\n", 5);
}

static ssize_t sample_misc_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	char text[16];
	int v;

	if (n >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, n))
		return -EFAULT;
	text[n] = 0;
	if (kstrtoint(text, 0, &v))
		return -EINVAL;
	return sample_add(v) ?: n;
}

static const struct file_operations sample_fops = {
	.owner = THIS_MODULE,
	.read = sample_misc_read,
	.write = sample_misc_write,
};
static struct miscdevice sample_misc = { .minor = MISC_DYNAMIC_MINOR, .name = "sample", .fops = &sample_fops };

static int __init sample_init(void)
{
	int err = misc_register(&sample_misc);

	if (err)
		return err;
	proc_create("sample", 0444, NULL, &sample_ops);
	timer_setup(&timer, sample_timer, 0);
	mod_timer(&timer, jiffies + 1);
	thread = kthread_run(sample_thread, NULL, "sample/%d", 0);
	if (IS_ERR(thread)) {
		del_timer_sync(&timer);
		remove_proc_entry("sample", NULL);
		misc_deregister(&sample_misc);
		return PTR_ERR(thread);
	}
	pr_info("sample: loaded, period %d\n", period);
	return 0;
}

static void __exit sample_exit(void)
{
	struct note *n, *tmp;

	kthread_stop(thread);
	del_timer_sync(&timer);
	remove_proc_entry("sample", NULL);
	misc_deregister(&sample_misc);
	list_for_each_entry_safe(n, tmp, &notes, list) {
		list_del(&n->list);
		kfree(n);
	}
	pr_info("sample: bye\n");
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a sample");
MODULE_AUTHOR("A Stranger");

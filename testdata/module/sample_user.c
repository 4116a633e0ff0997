/* Uses what sample.c exports, from a work item and from its init function. */
#include <linux/module.h>
#include <linux/workqueue.h>

extern int sample_add(int n);

static void work_fn(struct work_struct *w)
{
	sample_add(42);
}
static DECLARE_WORK(work, work_fn);

static int __init user_init(void)
{
	schedule_work(&work);
	flush_work(&work);
	return sample_add(7);
}

static void __exit user_exit(void)
{
}

module_init(user_init);
module_exit(user_exit);
MODULE_LICENSE("GPL");

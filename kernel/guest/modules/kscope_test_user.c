/* A module that needs another one: kscope_test. */
#include <linux/kernel.h>
#include <linux/module.h>

unsigned int kscope_test_add(unsigned int n);

static int __init kscope_test_user_init(void)
{
	pr_info("kscope_test_user: %u\n", kscope_test_add(100));
	return 0;
}

static void __exit kscope_test_user_exit(void)
{
	kscope_test_add(1000);
}

module_init(kscope_test_user_init);
module_exit(kscope_test_user_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("uses kscope_test");

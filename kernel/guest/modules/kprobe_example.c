#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/fs.h>

static struct kprobe kp;
static struct kretprobe rp;

/* kprobe pre_handler: function entry, fetch arguments */
static int handler_pre(struct kprobe *p, struct pt_regs *regs)
{
    /* x86_64 calling convention: rdi=1st(dfd), rsi=2nd(filename)
     * rdx=3rd(flags), rcx=4th(mode) */
    int dfd = (int)regs->di;
    const char __user *filename = (const char __user *)regs->si;
    int flags = (int)regs->dx;

    pr_info("kprobe: do_sys_open called: dfd=%d, filename=%p, flags=0x%x\n",
            dfd, filename, flags);
    return 0;
}

/* kprobe post_handler: after instruction */
static void handler_post(struct kprobe *p, struct pt_regs *regs,
                         unsigned long flags)
{
    pr_info("kprobe: do_sys_open instruction executed\n");
}

/* kretprobe handler: function return, fetch return value */
static int ret_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
    int retval = (int)regs->ax;
    pr_info("kretprobe: do_sys_open returned: fd=%d\n", retval);
    return 0;
}

static int __init kprobe_init(void)
{
    int ret;

    /* Register kprobe at do_sys_open entry */
    kp.symbol_name = "do_sys_open";
    kp.pre_handler = handler_pre;
    kp.post_handler = handler_post;

    ret = register_kprobe(&kp);
    if (ret < 0) {
        pr_err("register_kprobe failed: %d\n", ret);
        return ret;
    }
    pr_info("kprobe registered at do_sys_open\n");

    /* Register kretprobe for return value */
    rp.kp.symbol_name = "do_sys_open";
    rp.handler = ret_handler;
    rp.maxactive = 64;

    ret = register_kretprobe(&rp);
    if (ret < 0) {
        pr_err("register_kretprobe failed: %d\n", ret);
        unregister_kprobe(&kp);
        return ret;
    }
    pr_info("kretprobe registered at do_sys_open\n");

    return 0;
}

static void __exit kprobe_exit(void)
{
    unregister_kretprobe(&rp);
    unregister_kprobe(&kp);
    pr_info("kprobe and kretprobe unregistered\n");
}

module_init(kprobe_init);
module_exit(kprobe_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kprobe example for do_sys_open");

/* The machine part of tasks: stacks, context switch, exec's register state (arch/x86/kernel/process_64.c, process.c). */
#include "entry.h"
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"
#include "calling.h"

_Static_assert(offsetof(struct task_struct, thread.sp) == TASK_threadsp, "TASK_threadsp");
_Static_assert(offsetof(struct x86_hw_tss, sp2) == TSS_sp2, "TSS_sp2");
_Static_assert(sizeof(struct pt_regs) == FRAME_SIZE, "pt_regs");

/* What __switch_to_asm pops for a task that has never run. */
struct inactive_task_frame { unsigned long r15, r14, r13, r12, bx, bp, ret_addr; };
struct fork_frame { struct inactive_task_frame frame; struct pt_regs regs; };

extern char ret_from_fork[];
int copy_thread(struct task_struct *p, const struct kernel_clone_args *args);
struct task_struct *__switch_to(struct task_struct *prev, struct task_struct *next);

/*
 * A program can have changed its base in the register alone (arch_prctl writes both), by loading a selector. A base of 0 stays 0 so:
 * our selectors' bases are, and CR4.FSGSBASE is off. The register need then not be read.
 */
static noinline void current_save_fsgs(void)
{
	unsigned long flags;

	if (!current->mm || !current->thread.fsbase)
		return;
	local_irq_save(flags);
	current->thread.fsbase = rdmsrl(MSR_FS_BASE);
	local_irq_restore(flags);
}

int copy_thread(struct task_struct *p, const struct kernel_clone_args *args)
{
	struct pt_regs *childregs = task_pt_regs(p);
	struct fork_frame *fork_frame = container_of(childregs, struct fork_frame, regs);
	struct inactive_task_frame *frame = &fork_frame->frame;

	frame->bp = 0;
	frame->ret_addr = (unsigned long)ret_from_fork;
	frame->r15 = frame->r14 = frame->r13 = 0;
	p->thread.sp = (unsigned long)fork_frame;
	current_save_fsgs();
	p->thread.fsbase = current->thread.fsbase;
	p->thread.gsbase = current->thread.gsbase;
	if (args->fn) {
		memset(childregs, 0, sizeof(*childregs));
		childregs->cs = __USER_CS;	/* until an exec it has no user context; the unwinder stops at ret_from_fork */
		frame->bx = (unsigned long)args->fn;
		frame->r12 = (unsigned long)args->fn_arg;
		return 0;
	}
	frame->bx = frame->r12 = 0;
	*childregs = *current_pt_regs();
	childregs->ax = 0;
	if (args->stack)
		childregs->sp = args->stack;
	if (args->flags & CLONE_SETTLS)
		p->thread.fsbase = args->tls;
	return 0;
}

/* On next's stack already. Traced in Linux only as its callers; it must not be instrumented: current is changing. */
__used notrace struct task_struct *__switch_to(struct task_struct *prev_p, struct task_struct *next_p)
{
	unsigned long top = (unsigned long)next_p->stack + THREAD_SIZE;

	if (prev_p->mm && unlikely(prev_p->thread.fsbase))
		prev_p->thread.fsbase = rdmsrl(MSR_FS_BASE);
	if (next_p->mm && (next_p->thread.fsbase || prev_p->thread.fsbase))
		wrmsrl(MSR_FS_BASE, next_p->thread.fsbase);
	this_cpu_write(current_task, next_p);
	this_cpu_write(cpu_current_top_of_stack, top);
	this_cpu_ptr(&cpu_tss_rw)->x86_tss.sp0 = top;
	return prev_p;
}

void user_disable_single_step(struct task_struct *child)
{
	if (child->mm)
		task_pt_regs(child)->flags &= ~X86_EFLAGS_TF;
}

void flush_thread(void)
{
	if (current->thread.fsbase)
		wrmsrl(MSR_FS_BASE, 0);
	if (current->thread.gsbase)
		wrmsrl(MSR_KERNEL_GS_BASE, 0);
	current->thread.fsbase = current->thread.gsbase = 0;
}

void start_thread(struct pt_regs *regs, unsigned long new_ip, unsigned long new_sp)
{
	unsigned long nr = regs->orig_ax;	/* the exec's, for whoever traces its exit */

	memset(regs, 0, sizeof(*regs));
	regs->orig_ax = nr;
	regs->ip = new_ip;
	regs->sp = new_sp;
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
	regs->flags = X86_EFLAGS_IF | X86_EFLAGS_FIXED;
}

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004
static noinline long do_arch_prctl_64(int option, unsigned long arg2)
{
	switch (option) {
	case ARCH_SET_FS:
		if (arg2 >= TASK_SIZE_MAX)
			return -EPERM;
		current->thread.fsbase = arg2;
		wrmsrl(MSR_FS_BASE, arg2);
		return 0;
	case ARCH_GET_FS:
		return put_user(rdmsrl(MSR_FS_BASE), (unsigned long *)arg2);
	}
	return -EINVAL;
}

SYSCALL_DEFINE2(arch_prctl, int, option, unsigned long, arg2)
{
	return do_arch_prctl_64(option, arg2);
}

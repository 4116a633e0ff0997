/*
 * Handlers of signals: the frame on the user stack, and the return from it (arch/x86/kernel/signal.c, signal_64.c).
 *
 *	higher   the interrupted code's stack, and 128 bytes below it that it may use (the red zone)
 *	         siginfo
 *	         ucontext: flags, link, stack, registers (sigcontext), signal mask
 *	rsp ->   pretcode: the handler returns to sa_restorer, which calls rt_sigreturn
 *
 * There is no FPU state: no program here has any.
 */
#include "entry.h"
#include "signal.h"
#include "mm.h"
#include "syscalls.h"
#include "uaccess.h"

struct sigcontext_64 {
	u64 r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	u16 cs, gs, fs, ss;
	u64 err, trapno, oldmask, cr2, fpstate, reserved1[8];
};
struct sigaltstack { void __user *ss_sp; int ss_flags; size_t ss_size; };
#define SS_ONSTACK 1
#define SS_DISABLE 2
#define MINSIGSTKSZ 2048
struct ucontext { unsigned long uc_flags; struct ucontext *uc_link; struct sigaltstack uc_stack; struct sigcontext_64 uc_mcontext; u64 uc_sigmask; };
struct rt_sigframe { void *pretcode; struct ucontext uc; struct siginfo info; };
_Static_assert(sizeof(struct siginfo) == 128, "siginfo");

#define UC_STRICT_RESTORE_SS 4
#define UC_SIGCONTEXT_SS 2
#define FIX_EFLAGS (0xcd5UL | BIT(8) | BIT(16) | BIT(18))	/* CF PF AF ZF SF OF DF, TF, RF, AC: what a program may set */

static int on_sig_stack(unsigned long sp)
{
	return sp > current->sas_ss_sp && sp - current->sas_ss_sp <= current->sas_ss_size;
}

static noinline void __user *get_sigframe(struct ksignal *ksig, struct pt_regs *regs, size_t frame_size)
{
	unsigned long sp = regs->sp - 128;

	if (ksig->ka.sa_flags & SA_ONSTACK && current->sas_ss_size && !on_sig_stack(regs->sp))
		sp = current->sas_ss_sp + current->sas_ss_size;
	sp -= frame_size;
	return (void __user *)(round_down(sp, 16) - 8);	/* as after a call */
}

static void fill_sigcontext(struct sigcontext_64 *sc, struct pt_regs *regs, unsigned long mask)
{
	*sc = (struct sigcontext_64){
		.r8 = regs->r8, .r9 = regs->r9, .r10 = regs->r10, .r11 = regs->r11, .r12 = regs->r12, .r13 = regs->r13,
		.r14 = regs->r14, .r15 = regs->r15, .di = regs->di, .si = regs->si, .bp = regs->bp, .bx = regs->bx, .dx = regs->dx,
		.ax = regs->ax, .cx = regs->cx, .sp = regs->sp, .ip = regs->ip, .flags = regs->flags, .cs = regs->cs, .ss = regs->ss,
		.err = current->thread.error_code, .trapno = current->thread.trap_nr, .oldmask = mask, .cr2 = current->thread.cr2,
	};
}

/* siginfo_layout(): which words a receiver may read. */
noinline void copy_siginfo_to_external(struct siginfo *to, const struct kernel_siginfo *from)
{
	memset(to, 0, sizeof(*to));
	to->si_signo = from->si_signo;
	to->si_errno = from->si_errno;
	to->si_code = from->si_code;
	if (from->si_code > 0 && from->si_code < SI_KERNEL && (from->si_signo == SIGSEGV || from->si_signo == SIGBUS ||
	    from->si_signo == SIGILL || from->si_signo == SIGFPE || from->si_signo == SIGTRAP)) {
		to->si_addr = from->si_addr;
		return;
	}
	to->si_pid = from->si_pid;
	to->si_uid = from->si_uid;
	if (from->si_signo == SIGCHLD && from->si_code > 0) {
		to->si_status = from->si_status;
		to->si_utime = from->si_utime;
		to->si_stime = from->si_stime;
	} else if (from->si_code < 0) {
		to->si_value = from->si_value;
	}
}

static noinline int __setup_rt_frame(struct ksignal *ksig, struct pt_regs *regs)
{
	struct rt_sigframe __user *frame = get_sigframe(ksig, regs, sizeof(struct rt_sigframe));
	struct rt_sigframe *k;
	int err;

	if (!(ksig->ka.sa_flags & SA_RESTORER))
		return -EFAULT;
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->pretcode = ksig->ka.sa_restorer;
	k->uc.uc_flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	k->uc.uc_stack.ss_sp = (void *)current->sas_ss_sp;
	k->uc.uc_stack.ss_flags = current->sas_ss_size ? 0 : SS_DISABLE;
	k->uc.uc_stack.ss_size = current->sas_ss_size;
	fill_sigcontext(&k->uc.uc_mcontext, regs, current->blocked.sig[0]);
	k->uc.uc_sigmask = sigmask_to_save()->sig[0];
	copy_siginfo_to_external(&k->info, &ksig->info);
	err = copy_to_user(frame, k, sizeof(*k)) ? -EFAULT : 0;
	kfree(k);
	if (err)
		return err;
	regs->di = ksig->sig;
	regs->ax = 0;			/* for handlers without a prototype: no vector registers hold arguments */
	regs->si = (unsigned long)&frame->info;
	regs->dx = (unsigned long)&frame->uc;
	regs->ip = (unsigned long)ksig->ka.sa_handler;
	regs->sp = (unsigned long)frame;
	regs->cs = __USER_CS;
	regs->ss = __USER_DS;
	return 0;
}

static noinline void handle_signal(struct ksignal *ksig, struct pt_regs *regs)
{
	int failed;

	if ((long)regs->orig_ax >= 0) {
		switch ((long)regs->ax) {
		case -ERESTART_RESTARTBLOCK:
		case -ERESTARTNOHAND:
			regs->ax = -EINTR;
			break;
		case -ERESTARTSYS:
			if (!(ksig->ka.sa_flags & SA_RESTART)) {
				regs->ax = -EINTR;
				break;
			}
			fallthrough;
		case -ERESTARTNOINTR:
			regs->ax = regs->orig_ax;
			regs->ip -= 2;
		}
	}
	failed = __setup_rt_frame(ksig, regs);
	if (!failed)
		regs->flags &= ~(BIT(10) | BIT(16) | X86_EFLAGS_TF);	/* DF, RF, TF: the handler starts clean */
	signal_setup_done(failed, ksig);
}

void arch_do_signal_or_restart(struct pt_regs *regs)
{
	struct ksignal ksig;

	if (get_signal(&ksig)) {
		handle_signal(&ksig, regs);
		return;
	}
	if ((long)regs->orig_ax >= 0) {
		switch ((long)regs->ax) {
		case -ERESTARTNOHAND: case -ERESTARTSYS: case -ERESTARTNOINTR: case -ERESTART_RESTARTBLOCK:
			regs->ax = regs->orig_ax;
			regs->ip -= 2;		/* the syscall instruction again */
		}
	}
	restore_saved_sigmask();
}

/* False: the frame is no good. A program counter outside user space would fault at the IRET, in the kernel. */
static noinline bool restore_sigcontext(struct pt_regs *regs, const struct sigcontext_64 *sc)
{
	if (sc->ip >= TASK_SIZE_MAX)
		return false;
	*regs = (struct pt_regs){
		.r8 = sc->r8, .r9 = sc->r9, .r10 = sc->r10, .r11 = sc->r11, .r12 = sc->r12, .r13 = sc->r13, .r14 = sc->r14,
		.r15 = sc->r15, .di = sc->di, .si = sc->si, .bp = sc->bp, .bx = sc->bx, .dx = sc->dx, .ax = sc->ax, .cx = sc->cx,
		.sp = sc->sp, .ip = sc->ip, .cs = __USER_CS, .ss = __USER_DS,
		.flags = (regs->flags & ~FIX_EFLAGS) | (sc->flags & FIX_EFLAGS), .orig_ax = -1UL,
	};
	return true;
}

static int sas_ss_flags(unsigned long sp)
{
	return !current->sas_ss_size ? SS_DISABLE : on_sig_stack(sp) ? SS_ONSTACK : 0;
}

/* @sp: the user's; the stack that it is on cannot be changed. */
static noinline int do_sigaltstack(const struct sigaltstack *ss, struct sigaltstack *oss, unsigned long sp)
{
	struct sigaltstack new;

	if (oss)
		*oss = (struct sigaltstack){ (void *)current->sas_ss_sp, sas_ss_flags(sp), current->sas_ss_size };
	if (!ss)
		return 0;
	new = *ss;
	if (on_sig_stack(sp))
		return -EPERM;
	if (new.ss_flags & ~(SS_ONSTACK | SS_DISABLE))
		return -EINVAL;
	if (new.ss_flags & SS_DISABLE) {
		new.ss_sp = NULL;
		new.ss_size = 0;
	} else if (new.ss_size < MINSIGSTKSZ) {
		return -ENOMEM;
	}
	current->sas_ss_sp = (unsigned long)new.ss_sp;
	current->sas_ss_size = new.ss_size;
	return 0;
}

/* As the handler has left it; what cannot be is left out. */
static noinline void restore_altstack(const struct sigaltstack *uss)
{
	do_sigaltstack(uss, NULL, current_pt_regs()->sp);
}

SYSCALL_DEFINE0(rt_sigreturn)
{
	struct pt_regs *regs = current_pt_regs();
	struct rt_sigframe __user *frame = (void __user *)(regs->sp - sizeof(long));
	struct ucontext uc;
	sigset_t set;

	if (copy_from_user(&uc, &frame->uc, sizeof(uc)))
		goto badframe;
	set.sig[0] = uc.uc_sigmask;
	set_current_blocked(&set);
	if (!restore_sigcontext(regs, &uc.uc_mcontext))
		goto badframe;
	restore_altstack(&uc.uc_stack);
	return regs->ax;

badframe:
	pr_info("%s[%d] bad frame in rt_sigreturn frame:%px ip:%lx sp:%lx orax:%lx\n", current->comm, current->pid, frame, regs->ip,
		regs->sp, regs->orig_ax);
	force_sig(SIGSEGV);
	return 0;
}

SYSCALL_DEFINE2(sigaltstack, const struct sigaltstack *, uss, struct sigaltstack *, uoss)
{
	struct sigaltstack new, old;
	int err;

	if (uss && copy_from_user(&new, uss, sizeof(new)))
		return -EFAULT;
	err = do_sigaltstack(uss ? &new : NULL, &old, current_pt_regs()->sp);
	if (err)
		return err;
	return uoss && copy_to_user(uoss, &old, sizeof(old)) ? -EFAULT : 0;
}

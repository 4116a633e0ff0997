/* Page faults (arch/x86/mm/fault.c). */
#include "kprobes.h"
#include "entry.h"
#include "mm.h"
#include "uaccess.h"
#include "tracepoint.h"

#define X86_PF_PROT	1
#define X86_PF_WRITE	2
#define X86_PF_USER	4
#define X86_PF_RSVD	8
#define X86_PF_INSTR	16
#define X86_TRAP_PF	14

void oops_die(const char *str, struct pt_regs *regs, long err, unsigned long cr2);

static noinline void page_fault_oops(struct pt_regs *regs, unsigned long error_code, unsigned long address)
{
	current->thread.cr2 = address;
	current->thread.trap_nr = X86_TRAP_PF;
	current->thread.error_code = error_code;
	oops_die("Oops", regs, error_code, address);
}

static noinline void kernelmode_fixup_or_oops(struct pt_regs *regs, unsigned long error_code, unsigned long address, int signal)
{
	if (fixup_exception(regs, X86_TRAP_PF, error_code, address))
		return;
	page_fault_oops(regs, error_code, address);
}

static noinline void __bad_area_nosemaphore(struct pt_regs *regs, unsigned long error_code, unsigned long address, int si_code)
{
	struct task_struct *tsk = current;

	if (!user_mode(regs)) {
		kernelmode_fixup_or_oops(regs, error_code, address, SIGSEGV);
		return;
	}
	tsk->thread.cr2 = address;
	tsk->thread.error_code = error_code;
	tsk->thread.trap_nr = X86_TRAP_PF;
	if (tsk->sighand->action[SIGSEGV - 1].sa_handler == SIG_DFL)
		pr_info("%s[%d]: segfault at %lx ip %016lx sp %016lx error %lx\n", tsk->comm, tsk->pid, address, regs->ip, regs->sp,
			error_code);
	force_sig_fault(SIGSEGV, si_code, (void __user *)address);
}

static noinline void bad_area_nosemaphore(struct pt_regs *regs, unsigned long error_code, unsigned long address)
{
	__bad_area_nosemaphore(regs, error_code, address, SEGV_MAPERR);
}

/* There is memory, but not for this. */
static noinline void bad_area_access_error(struct pt_regs *regs, unsigned long error_code, unsigned long address)
{
	mmap_read_unlock(current->mm);
	__bad_area_nosemaphore(regs, error_code, address, SEGV_ACCERR);
}

/* Behind the end of a mapped file. */
static noinline void do_sigbus(struct pt_regs *regs, unsigned long error_code, unsigned long address)
{
	struct task_struct *tsk = current;

	if (!user_mode(regs)) {
		kernelmode_fixup_or_oops(regs, error_code, address, SIGBUS);
		return;
	}
	tsk->thread.cr2 = address;
	tsk->thread.error_code = error_code;
	tsk->thread.trap_nr = X86_TRAP_PF;
	force_sig_fault(SIGBUS, BUS_ADRERR, (void __user *)address);
}

static inline int access_error(unsigned long error_code, struct vm_area_struct *vma)
{
	if (error_code & X86_PF_WRITE)
		return !(vma->vm_flags & VM_WRITE);
	if (error_code & X86_PF_INSTR)
		return !(vma->vm_flags & VM_EXEC);
	if (error_code & X86_PF_PROT)
		return 1;
	return !(vma->vm_flags & (VM_READ | VM_EXEC | VM_WRITE));
}

static noinline void do_kern_addr_fault(struct pt_regs *regs, unsigned long hw_error_code, unsigned long address)
{
	bad_area_nosemaphore(regs, hw_error_code, address);
}
NOKPROBE_SYMBOL(do_kern_addr_fault);

static noinline void do_user_addr_fault(struct pt_regs *regs, unsigned long error_code, unsigned long address)
{
	struct mm_struct *mm = current->mm;
	unsigned int flags = FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_KILLABLE;
	struct vm_area_struct *vma;
	vm_fault_t fault;

	if (unlikely((error_code & (X86_PF_USER | X86_PF_INSTR)) == X86_PF_INSTR) ||
	    unlikely(in_atomic() || current->pagefault_disabled || !mm)) {
		bad_area_nosemaphore(regs, error_code, address);
		return;
	}
	if (user_mode(regs)) {
		local_irq_enable();
		flags |= FAULT_FLAG_USER;
	} else if (regs->flags & X86_EFLAGS_IF) {
		local_irq_enable();
	}
	if (error_code & X86_PF_WRITE)
		flags |= FAULT_FLAG_WRITE;
	if (error_code & X86_PF_INSTR)
		flags |= FAULT_FLAG_INSTRUCTION;
	vma = lock_mm_and_find_vma(mm, address, regs);
	if (unlikely(!vma)) {
		bad_area_nosemaphore(regs, error_code, address);
		return;
	}
	if (unlikely(access_error(error_code, vma))) {
		bad_area_access_error(regs, error_code, address);
		return;
	}
	fault = handle_mm_fault(vma, address, flags, regs);
	mmap_read_unlock(mm);
	if (likely(!(fault & VM_FAULT_ERROR))) {
		current->min_flt++;	/* mm_account_fault(): none of ours waits for a disk here and is called major */
		return;
	}
	if (fault & VM_FAULT_OOM && user_mode(regs))
		do_group_exit(SIGKILL);
	if (fault & VM_FAULT_SIGBUS)
		do_sigbus(regs, error_code, address);
	else
		bad_area_nosemaphore(regs, error_code, address);
}
NOKPROBE_SYMBOL(do_user_addr_fault);

/* Out of line, unlike Debian's build, so that the whole path of a fault can be traced. */
static noinline void handle_page_fault(struct pt_regs *regs, unsigned long error_code, unsigned long address)
{
	if (user_mode(regs))
		trace_page_fault_user(address, regs, error_code);
	else
		trace_page_fault_kernel(address, regs, error_code);
	if (unlikely(address >= TASK_SIZE_MAX))
		do_kern_addr_fault(regs, error_code, address);
	else
		do_user_addr_fault(regs, error_code, address);
	local_irq_disable();
}

void exc_page_fault(struct pt_regs *regs, unsigned long error_code);
void noinstr exc_page_fault(struct pt_regs *regs, unsigned long error_code)
{
	unsigned long address = read_cr2();
	irqentry_state_t state = irqentry_enter(regs);

	handle_page_fault(regs, error_code, address);
	irqentry_exit(regs, state);
}

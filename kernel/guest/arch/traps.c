/* Exceptions other than page faults; oops and die (arch/x86/kernel/traps.c, dumpstack.c). */
#include "kprobes.h"
#include "entry.h"
#include "mm.h"
#include "uaccess.h"
#include "gates.h"
#include "module.h"

#define X86_TRAP_DE 0
#define X86_TRAP_OF 4
#define X86_TRAP_BR 5
#define X86_TRAP_UD 6
#define X86_TRAP_NM 7
#define X86_TRAP_TS 10
#define X86_TRAP_NP 11
#define X86_TRAP_SS 12
#define X86_TRAP_GP 13
#define X86_TRAP_MF 16
#define X86_TRAP_AC 17
#define X86_TRAP_XF 19

extern struct exception_table_entry __start___ex_table[], __stop___ex_table[];
static DEFINE_RAW_SPINLOCK(die_lock);
int panic_on_oops;

/* The host writes the report, line by line, and we log it. */
static void __show_oops(struct pt_regs *regs, const char *str, long err, unsigned long cr2)
{
	static char line[512];

	oops_begin(regs, str, err, cr2);
	while (oops_line(line, sizeof(line)) > 0)
		printk("%s\n", line);
}

void oops_end(unsigned long flags, struct pt_regs *regs, int signr)
{
	add_taint(TAINT_DIE);
	raw_spin_unlock_irqrestore(&die_lock, flags);
	if (!signr)
		return;
	if (in_interrupt())
		panic("Fatal exception in interrupt");
	if (panic_on_oops)
		panic("Fatal exception");
	make_task_dead(signr);
}
NOKPROBE_SYMBOL(oops_end);

void oops_die(const char *str, struct pt_regs *regs, long err, unsigned long cr2);
void oops_die(const char *str, struct pt_regs *regs, long err, unsigned long cr2)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&die_lock, flags);
	__show_oops(regs, str, err, cr2);
	oops_end(flags, regs, SIGSEGV);
}

void die(const char *str, struct pt_regs *regs, long err)
{
	oops_die(str, regs, err, 0);
}

static struct exception_table_entry *search_exception_tables(unsigned long addr)
{
	struct exception_table_entry *lo = __start___ex_table, *hi = __stop___ex_table;

	while (lo < hi) {
		struct exception_table_entry *mid = lo + (hi - lo) / 2;
		unsigned long ip = (unsigned long)&mid->insn + mid->insn;

		if (ip == addr)
			return mid;
		if (ip < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

int fixup_exception(struct pt_regs *regs, int trapnr, unsigned long error_code, unsigned long fault_addr)
{
	const struct exception_table_entry *e = search_exception_tables(regs->ip) ?: search_module_extables(regs->ip);

	if (!e)
		return 0;
	regs->ip = (unsigned long)&e->fixup + e->fixup;
	return 1;
}

/* The linker keeps file order; the search above wants address order. */
void sort_main_extable(void);
void __init sort_main_extable(void)
{
	struct exception_table_entry *a = __start___ex_table, *end = __stop___ex_table, *p, *q;

	for (p = a; p + 1 < end; p++) {
		for (q = p + 1; q < end; q++) {
			if ((unsigned long)&q->insn + q->insn < (unsigned long)&p->insn + p->insn) {
				long d = (char *)q - (char *)p;
				struct exception_table_entry t = *p;

				p->insn = q->insn + d;
				p->fixup = q->fixup + d;
				q->insn = t.insn - d;
				q->fixup = t.fixup - d;
			}
		}
	}
}

/* code 0: the signal tells nothing but that the kernel has sent it. */
static void do_trap(int trapnr, int signr, const char *str, struct pt_regs *regs, long error_code, int code, void __user *addr)
{
	struct task_struct *tsk = current;

	if (!user_mode(regs)) {
		if (fixup_exception(regs, trapnr, error_code, 0))
			return;
		tsk->thread.error_code = error_code;
		tsk->thread.trap_nr = trapnr;
		die(str, regs, error_code);
		return;
	}
	tsk->thread.error_code = error_code;
	tsk->thread.trap_nr = trapnr;
	if (code)
		force_sig_fault(signr, code, addr);
	else
		force_sig(signr);
}

static void do_error_trap(struct pt_regs *regs, long error_code, const char *str, unsigned long trapnr, int signr, int code,
			  void __user *addr)
{
	if (regs->flags & X86_EFLAGS_IF)
		local_irq_enable();
	do_trap(trapnr, signr, str, regs, error_code, code, addr);
	local_irq_disable();
}

#define DEFINE_IDTENTRY(name, nr, sig, code, text) \
	void name(struct pt_regs *regs); \
	void noinstr name(struct pt_regs *regs) \
	{ \
		irqentry_state_t state = irqentry_enter(regs); \
		do_error_trap(regs, 0, text, nr, sig, code, (void __user *)regs->ip); \
		irqentry_exit(regs, state); \
	}
#define DEFINE_IDTENTRY_ERRORCODE(name, nr, sig, text) \
	void name(struct pt_regs *regs, unsigned long error_code); \
	void noinstr name(struct pt_regs *regs, unsigned long error_code) \
	{ \
		irqentry_state_t state = irqentry_enter(regs); \
		do_error_trap(regs, error_code, text, nr, sig, 0, NULL); \
		irqentry_exit(regs, state); \
	}

DEFINE_IDTENTRY(exc_divide_error, X86_TRAP_DE, SIGFPE, FPE_INTDIV, "divide error")
DEFINE_IDTENTRY(exc_overflow, X86_TRAP_OF, SIGSEGV, 0, "overflow")
DEFINE_IDTENTRY(exc_bounds, X86_TRAP_BR, SIGSEGV, 0, "bounds")
DEFINE_IDTENTRY(exc_invalid_op, X86_TRAP_UD, SIGILL, ILL_ILLOPN, "invalid opcode")
DEFINE_IDTENTRY(exc_device_not_available, X86_TRAP_NM, SIGFPE, 0, "unexpected #NM exception")
DEFINE_IDTENTRY(exc_coprocessor_error, X86_TRAP_MF, SIGFPE, 0, "fpu exception")
DEFINE_IDTENTRY(exc_simd_coprocessor_error, X86_TRAP_XF, SIGFPE, 0, "simd exception")
DEFINE_IDTENTRY_ERRORCODE(exc_invalid_tss, X86_TRAP_TS, SIGSEGV, "invalid TSS")
DEFINE_IDTENTRY_ERRORCODE(exc_segment_not_present, X86_TRAP_NP, SIGBUS, "segment not present")
DEFINE_IDTENTRY_ERRORCODE(exc_stack_segment, X86_TRAP_SS, SIGBUS, "stack segment")
DEFINE_IDTENTRY_ERRORCODE(exc_general_protection, X86_TRAP_GP, SIGSEGV, "general protection fault")
DEFINE_IDTENTRY_ERRORCODE(exc_alignment_check, X86_TRAP_AC, SIGBUS, "alignment check")

/*
 * A fault of the iret at native_irq_return_iret: its frame, where bad_regs->sp points, becomes that of a fault in user mode, at
 * the top of the task's stack (see fixup_bad_iret() of Linux's traps.c).
 */
struct pt_regs *fixup_bad_iret(struct pt_regs *bad_regs);
struct pt_regs noinstr *fixup_bad_iret(struct pt_regs *bad_regs)
{
	struct pt_regs *new_stack = task_pt_regs(current), tmp = *bad_regs;
	unsigned long *frame = (unsigned long *)bad_regs->sp;

	tmp.ip = frame[0];
	tmp.cs = frame[1] | 3;		/* whatever it holds, it was for the user */
	tmp.flags = frame[2];
	tmp.sp = frame[3];
	tmp.ss = frame[4] | 3;
	*new_stack = tmp;
	return new_stack;
}

/* Breakpoints that belong to a patcher or a probe were the host's before they came here. */
void exc_int3(struct pt_regs *regs);
void noinstr exc_int3(struct pt_regs *regs)
{
	irqentry_state_t state = irqentry_enter(regs);

	do_error_trap(regs, 0, "int3", 3, SIGTRAP, 0, NULL);	/* SI_KERNEL, as Linux has it */
	irqentry_exit(regs, state);
}

void exc_debug(struct pt_regs *regs);
void noinstr exc_debug(struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_TF;
	if (user_mode(regs))
		force_sig_fault(SIGTRAP, TRAP_TRACE, (void __user *)regs->ip);
}

DEFINE_PER_CPU(unsigned int, nmi_count);
/*
 * NMIs that came in user mode are on the task's stack, so that those that nest in them find the NMI stack empty and come as far as
 * here: they leave a note, and the first runs once more.
 */
enum nmi_states { NMI_NOT_RUNNING, NMI_EXECUTING, NMI_LATCHED };
static DEFINE_PER_CPU(enum nmi_states, nmi_state);
static DEFINE_PER_CPU(unsigned long, nmi_cr2);

static __always_inline void default_do_nmi(struct pt_regs *regs)
{
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	this_cpu_inc(nmi_count);
	if (kscope_hazard(2, (u64)regs))	/* 2 = NMI taken */
		pr_emerg("Uhhuh. NMI received for unknown reason on CPU %d.\n", smp_processor_id());
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
}

void exc_nmi(struct pt_regs *regs);
void noinstr exc_nmi(struct pt_regs *regs)
{
	if (this_cpu_read(nmi_state) != NMI_NOT_RUNNING) {
		this_cpu_write(nmi_state, NMI_LATCHED);
		return;
	}
	do {
		this_cpu_write(nmi_state, NMI_EXECUTING);
		this_cpu_write(nmi_cr2, read_cr2());	/* a fault in here must not change what an interrupted one is about to read */
		default_do_nmi(regs);
		if (unlikely(this_cpu_read(nmi_cr2) != read_cr2()))
			write_cr2(this_cpu_read(nmi_cr2));
		this_cpu_dec(nmi_state);
	} while (this_cpu_read(nmi_state) != NMI_NOT_RUNNING);
}

void exc_double_fault(struct pt_regs *regs, unsigned long error_code);
void noinstr exc_double_fault(struct pt_regs *regs, unsigned long error_code)
{
	__show_oops(regs, "double fault", error_code, read_cr2());
	panic("Machine halted.");
}

void trap_init(void);
void __init trap_init(void)
{
	cpu_init_exception_handling();
	cpu_init();
}

/*
 * Kernel entry and exit: system calls, exceptions, interrupts, the stack switch (arch/x86/entry/entry_64.S).
 * Every entry builds a struct pt_regs on the stack. TSS.sp0 is the task's own stack top, so there is no trampoline stack
 * to copy from (Linux needs one for page-table isolation, which this machine does not have).
 */
#include "calling.h"
#define MSR_GS_BASE 0xc0000101

	.section .entry.text, "ax", @progbits

SYM_CODE_START(entry_SYSCALL_64)
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %rcx
	swapgs
	movq	%rsp, PER_CPU_VAR(cpu_tss_rw + TSS_sp2)
	movq	PER_CPU_VAR(cpu_current_top_of_stack), %rsp
	pushq	$0x2b				/* ss */
	pushq	PER_CPU_VAR(cpu_tss_rw + TSS_sp2)
	pushq	%r11				/* flags */
	pushq	$0x33				/* cs */
	pushq	%rcx				/* ip */
	.globl entry_SYSCALL_64_after_hwframe
entry_SYSCALL_64_after_hwframe:
	.cfi_endproc
	CFI_IRET_FRAME
	pushq_cfi %rax				/* orig_ax */
	PUSH_REGS rax=$-38
	movq	%rsp, %rdi
	movslq	%eax, %rsi
	call	do_syscall_64			/* IRQs are off again when it returns */

	/* SYSRET restores only what SYSCALL saved: rip from rcx, flags from r11, fixed selectors. */
	movq	RCX(%rsp), %rcx
	cmpq	%rcx, RIP(%rsp)
	jne	swapgs_restore_regs_and_return_to_usermode
	movq	R11(%rsp), %r11
	cmpq	%r11, EFLAGS(%rsp)
	jne	swapgs_restore_regs_and_return_to_usermode
	testq	$0x10100, %r11			/* RF, TF */
	jnz	swapgs_restore_regs_and_return_to_usermode
	cmpq	$0x33, CS(%rsp)
	jne	swapgs_restore_regs_and_return_to_usermode
	shlq	$16, %rcx			/* a non-canonical rip would fault in the kernel */
	sarq	$16, %rcx
	cmpq	%rcx, RIP(%rsp)
	jne	swapgs_restore_regs_and_return_to_usermode
	.globl syscall_return_via_sysret
syscall_return_via_sysret:
	POP_REGS
	movq	RSP-ORIG_RAX(%rsp), %rsp
	.cfi_endproc
	.cfi_startproc simple			/* on the user's stack again: as at the entry, %rcx is where it goes on */
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %rcx
	swapgs
	sysretq
	.cfi_endproc
SYM_CODE_END(entry_SYSCALL_64)

SYM_CODE_START(error_return)
	CFI_FULL_FRAME
	testb	$3, CS(%rsp)
	jz	restore_regs_and_return_to_kernel
	.globl swapgs_restore_regs_and_return_to_usermode
swapgs_restore_regs_and_return_to_usermode:
	POP_REGS
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	swapgs
	.globl native_irq_return_iret
native_irq_return_iret:
	iretq
	.cfi_endproc
SYM_CODE_END(error_return)

SYM_CODE_START(restore_regs_and_return_to_kernel)
	CFI_FULL_FRAME
	POP_REGS
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	iretq
	.cfi_endproc
SYM_CODE_END(restore_regs_and_return_to_kernel)

/* prev in rdi, next in rsi; returns prev (in the context of next) by way of __switch_to. */
SYM_FUNC_START(__switch_to_asm)
	push_saved %rbp
	push_saved %rbx
	push_saved %r12
	push_saved %r13
	push_saved %r14
	push_saved %r15
	movq	%rsp, TASK_threadsp(%rdi)
	movq	TASK_threadsp(%rsi), %rsp
	popq_cfi %r15
	popq_cfi %r14
	popq_cfi %r13
	popq_cfi %r12
	popq_cfi %rbx
	popq_cfi %rbp
	jmp	__switch_to
SYM_FUNC_END(__switch_to_asm)

/* A new task's first instruction: rax = prev, rbx = kernel function or 0, r12 = its argument, rsp = pt_regs. */
SYM_CODE_START(ret_from_fork)
	CFI_FULL_FRAME
	.cfi_undefined %rip			/* the end of every kernel thread's stack */
	movq	%rax, %rdi
	call	schedule_tail
	testq	%rbx, %rbx
	jnz	1f
2:	movq	%rsp, %rdi
	call	syscall_exit_to_user_mode
	jmp	swapgs_restore_regs_and_return_to_usermode
1:	movq	%r12, %rdi
	call	*%rbx
	/* A kernel function returns here only after a successful kernel_execve(). */
	movq	$0, RAX(%rsp)
	jmp	2b
	.cfi_endproc
SYM_CODE_END(ret_from_fork)

	.macro NOKPROBE func			/* _ASM_NOKPROBE */
	.pushsection _kprobe_blacklist, "aw"
	.balign 8
	.quad	\func
	.popsection
	.endm

	/* pt_regs from what the CPU has pushed. */
	.macro IDT_FRAME has_error_code
	.if \has_error_code
	CFI_IRET_FRAME 8
	.else
	CFI_IRET_FRAME
	pushq_cfi $-1
	.endif
	cld
	PUSH_REGS
	.endm

	/* The arguments of a handler: pt_regs and the error code, which does not stay in orig_ax. */
	.macro IDT_ARGS has_error_code
	movq	%rsp, %rdi
	.if \has_error_code
	movq	ORIG_RAX(%rsp), %rsi
	movq	$-1, ORIG_RAX(%rsp)
	.endif
	.endm

	/* The kernel's GS base, whosever it was: ebx is 1 when it was the kernel's already. */
	.macro SAVE_GS
	movl	$1, %ebx
	movl	$MSR_GS_BASE, %ecx
	rdmsr
	testl	%edx, %edx
	js	.Lkernel_gs\@
	swapgs
	xorl	%ebx, %ebx
.Lkernel_gs\@:
	.endm

	/* asm_X: builds pt_regs, calls X(regs[, error code]), returns by iret. */
	.macro idtentry cfunc has_error_code=0
SYM_CODE_START(asm_\cfunc)
	IDT_FRAME \has_error_code
	testb	$3, CS(%rsp)
	.if \has_error_code
	jnz	2f
	/* An iret to bad user state faults in the kernel, with the user's GS base: go on as if the user's instruction had. */
	leaq	native_irq_return_iret(%rip), %rcx
	cmpq	%rcx, RIP(%rsp)
	jne	1f
	swapgs
	movq	%rsp, %rdi
	call	fixup_bad_iret
	movq	%rax, %rsp
	jmp	1f
	.else
	jz	1f
	.endif
2:	swapgs
1:	IDT_ARGS \has_error_code
	call	\cfunc
	jmp	error_return
	.cfi_endproc
SYM_CODE_END(asm_\cfunc)
	NOKPROBE asm_\cfunc
	.endm

	/* For vectors that may arrive between SYSCALL and swapgs: GS base itself tells whose it is. Own stack by IST. */
	.macro idtentry_paranoid cfunc has_error_code=0
SYM_CODE_START(asm_\cfunc)
	IDT_FRAME \has_error_code
	SAVE_GS
	IDT_ARGS \has_error_code
	call	\cfunc
	testl	%ebx, %ebx
	jnz	restore_regs_and_return_to_kernel
	jmp	swapgs_restore_regs_and_return_to_usermode
	.cfi_endproc
SYM_CODE_END(asm_\cfunc)
	NOKPROBE asm_\cfunc
	.endm

	/* In the order of arch/x86/include/asm/idtentry.h. The bounds are those of Linux's: function_graph draws arrows at what is traced between. */
	.balign 16, 0xcc
	.globl __irqentry_text_start, __irqentry_text_end
__irqentry_text_start:
	.skip 16, 0xcc			/* an address of its own */
	idtentry exc_divide_error
	idtentry exc_overflow
	idtentry exc_bounds
	idtentry exc_device_not_available
	idtentry exc_coprocessor_error
	idtentry exc_simd_coprocessor_error
	idtentry exc_invalid_tss 1
	idtentry exc_segment_not_present 1
	idtentry exc_stack_segment 1
	idtentry exc_general_protection 1
	idtentry exc_alignment_check 1
	idtentry exc_invalid_op
	idtentry exc_int3
	idtentry exc_page_fault 1
	idtentry_paranoid exc_debug
	idtentry_paranoid exc_double_fault 1
	idtentry sysvec_apic_timer_interrupt
	idtentry sysvec_reschedule_ipi
	idtentry sysvec_call_function
	idtentry sysvec_call_function_single
	idtentry sysvec_irq_work
	idtentry common_interrupt
	idtentry sysvec_kscope_kick
	idtentry sysvec_error_interrupt
	idtentry sysvec_spurious_apic_interrupt
__irqentry_text_end:

/*
 * NMIs may nest: any iret unblocks them, and an exception within one (a page fault of a probe, a breakpoint) ends with an iret. The
 * second NMI begins at the top of the same stack, where the first's frame is, so the first keeps its frame twice further down, and the
 * second does not run: it makes the first's iret go to repeat_nmi, where the first runs once more (asm_exc_nmi of Linux's
 * entry_64.S tells of each race). From the top of the stack:
 *
 *	ss rsp flags cs rip		by the CPU, spoiled by a nested NMI
 *	rdx				saved, likewise
 *	"NMI executing"			1 from here to just before the iret
 *	"iret" ss rsp flags cs rip	what the iret takes: the outermost frame, or repeat_nmi
 *	"outermost" ss … rip		what was interrupted; never changed
 *	orig_ax … r15			with it, pt_regs
 *
 * An NMI in user mode goes over to the task's own stack: those that nest in it begin on the empty NMI stack (see exc_nmi).
 */
SYM_CODE_START(asm_exc_nmi)
	CFI_IRET_FRAME
	cld
	push_saved %rdx
	testb	$3, 16(%rsp)			/* cs */
	jz	.Lnmi_from_kernel
	swapgs
	movq	%rsp, %rdx
	movq	PER_CPU_VAR(cpu_current_top_of_stack), %rsp
	.cfi_def_cfa %rdx, 48
	pushq	40(%rdx)
	pushq	32(%rdx)
	pushq	24(%rdx)
	pushq	16(%rdx)
	pushq	8(%rdx)
	pushq	$-1
	movq	(%rdx), %rdx
	.cfi_endproc
	CFI_IRET_FRAME 8
	PUSH_REGS
	movq	%rsp, %rdi
	call	exc_nmi
	jmp	swapgs_restore_regs_and_return_to_usermode
	.cfi_endproc

.Lnmi_from_kernel:
	CFI_IRET_FRAME 8
	.cfi_rel_offset %rdx, 0
	/* While the first copies its frame a nested one must not change the copy; there it will see the other anyway. */
	leaq	repeat_nmi(%rip), %rdx
	cmpq	8(%rsp), %rdx
	ja	1f
	leaq	end_repeat_nmi(%rip), %rdx
	cmpq	8(%rsp), %rdx
	ja	.Lnested_nmi_out
1:	cmpl	$1, -8(%rsp)			/* "NMI executing" */
	je	.Lnested_nmi
	/* It may be 0 still, or again, with the first on this stack. A SYSCALL's rsp is the user's: the first has DF set at its end. */
	leaq	48(%rsp), %rdx
	cmpq	%rdx, 32(%rsp)			/* the interrupted rsp */
	ja	.Lfirst_nmi
	subq	$4096, %rdx			/* EXCEPTION_STKSZ */
	cmpq	%rdx, 32(%rsp)
	jb	.Lfirst_nmi
	testb	$4, 25(%rsp)			/* DF */
	jz	.Lfirst_nmi
.Lnested_nmi:
	subq	$8, %rsp			/* below "NMI executing": the "iret" frame */
	.cfi_adjust_cfa_offset 8
	leaq	-80(%rsp), %rdx			/* where rsp is at repeat_nmi */
	pushq_cfi $0x18				/* __KERNEL_DS */
	pushq_cfi %rdx
	pushfq
	.cfi_adjust_cfa_offset 8
	pushq_cfi $0x10				/* __KERNEL_CS */
	leaq	repeat_nmi(%rip), %rdx
	pushq_cfi %rdx
	addq	$48, %rsp
	.cfi_adjust_cfa_offset -48
.Lnested_nmi_out:
	popq_cfi %rdx
	iretq
	.cfi_endproc

.Lfirst_nmi:
	CFI_IRET_FRAME 8
	movq	(%rsp), %rdx
	pushq_cfi $0				/* "NMI executing", when both copies are there */
	subq	$40, %rsp
	.cfi_adjust_cfa_offset 40
	.rept 5
	pushq_cfi 88(%rsp)			/* to "outermost" */
	.endr
	.cfi_endproc
	.globl repeat_nmi, end_repeat_nmi
repeat_nmi:
	CFI_IRET_FRAME
	movq	$1, 80(%rsp)
	addq	$80, %rsp
	.cfi_adjust_cfa_offset -80
	.rept 5
	pushq_cfi -48(%rsp)			/* "outermost" to "iret" */
	.endr
	subq	$40, %rsp
	.cfi_adjust_cfa_offset 40
end_repeat_nmi:
	pushq_cfi $-1
	PUSH_REGS
	SAVE_GS
	movq	%rsp, %rdi
	call	exc_nmi
	testl	%ebx, %ebx
	jnz	2f
	swapgs
2:	POP_REGS
	addq	$48, %rsp			/* orig_ax and "outermost": to "iret" */
	.cfi_adjust_cfa_offset -48
	std					/* from here on a nested NMI knows by it that this is the NMI stack's own rsp */
	movq	$0, 40(%rsp)
	iretq
	.cfi_endproc
SYM_CODE_END(asm_exc_nmi)
	NOKPROBE asm_exc_nmi

/* PREEMPT_DYNAMIC's call sites: in the voluntary mode they return at once. */
SYM_FUNC_START(__SCT__preempt_schedule)
	ret
SYM_FUNC_END(__SCT__preempt_schedule)
	.section .note.GNU-stack, "", @progbits

/*
 * Handlers of guest code (kernel/kprobes.c). kscope sends a CPU here that has hit a probe with such handlers: all registers
 * are the probed code's but for interrupts, which are off, and rip. A struct pt_regs is built below its stack pointer, the
 * handlers get it, and what they have changed is loaded. kprobe_next() has set the words ip, flags and sp.
 */
#include "calling.h"

	.section .kprobes.text, "ax", @progbits

SYM_CODE_START(kprobe_thunk)
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	leaq	-48(%rsp), %rsp			/* ss, sp, flags, cs, ip, orig_ax */
	.cfi_def_cfa_offset 48
	PUSH_REGS
	pushfq
	popq	EFLAGS(%rsp)
	movq	$0x18, SS(%rsp)
	movq	$0x10, CS(%rsp)
	movq	$-1, ORIG_RAX(%rsp)
	leaq	FRAME_SIZE(%rsp), %rax
	movq	%rax, RSP(%rsp)
	movq	%rsp, %rdi
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	cld
	call	kprobe_dispatch
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	pushq	EFLAGS(%rsp)
	.cfi_adjust_cfa_offset 8
	popfq
	.cfi_adjust_cfa_offset -8
	movq	R15(%rsp), %r15
	movq	R14(%rsp), %r14
	movq	R13(%rsp), %r13
	movq	R12(%rsp), %r12
	movq	RBP(%rsp), %rbp
	movq	RBX(%rsp), %rbx
	movq	R11(%rsp), %r11
	movq	R10(%rsp), %r10
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RAX(%rsp), %rax
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
	movq	RSP(%rsp), %rsp
	jmp	kprobe_resume			/* a gate: it does not return */
	.cfi_endproc
SYM_CODE_END(kprobe_thunk)
	.section .note.GNU-stack, "", @progbits

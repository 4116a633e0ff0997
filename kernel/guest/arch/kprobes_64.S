/*
 * Handlers of guest code (kernel/kprobes.c). kscope sends a CPU here that has hit a probe with such handlers: all registers
 * are the probed code's but for TF, which is off, IF, which an int3 has cleared, and rip. A struct pt_regs is built below its stack pointer, the
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

/*
 * What the jump of an optimised probe leads to (optprobe_template_func of arch/x86/kernel/kprobes/opt.c): a template, which kscope
 * copies into a slot of kprobe_optinsn_page (kernel/detour.go). It fills in the probe's ip, the slot's address and the call, and
 * puts the instructions that the jump has overwritten behind it. All registers are saved in a struct pt_regs, the callback gets
 * it, and what handlers have left in it is loaded, but for ip and sp: the code goes on where it was.
 */
SYM_CODE_START(optprobe_template_entry)
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	pushq_cfi $0x18				/* ss */
	pushq_cfi %rsp				/* 8 too low: the callback adds them */
	pushfq
	.cfi_adjust_cfa_offset 8
	pushq_cfi $0x10				/* cs */
	.globl optprobe_template_ip
optprobe_template_ip:
	.byte 0x68				/* pushq $imm32 */
	.long 0
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rip, 0
	pushq_cfi $-1				/* orig_ax */
	PUSH_REGS
	movq	%rsp, %rsi
	.globl optprobe_template_val
optprobe_template_val:
	.byte 0x48, 0xc7, 0xc7			/* movq $imm32, %rdi */
	.long 0
	.globl optprobe_template_call
optprobe_template_call:
	call	optimized_callback
	movq	EFLAGS(%rsp), %rdx		/* where popfq will find them */
	movq	%rdx, SS(%rsp)
	POP_REGS
	leaq	SS - ORIG_RAX(%rsp), %rsp
	.cfi_adjust_cfa_offset -(SS - ORIG_RAX)
	.cfi_restore %rip
	popfq
	.cfi_adjust_cfa_offset -8
	.cfi_endproc
	.globl optprobe_template_end
optprobe_template_end:
SYM_CODE_END(optprobe_template_entry)
	.section .note.GNU-stack, "", @progbits

/* pt_regs offsets and the push/pop of a full frame with unwind rows (arch/x86/entry/calling.h). */
#ifndef CALLING_H
#define CALLING_H
#define FRAME_SIZE 168
#define TASK_threadsp 24
#define TSS_sp2 20
#ifdef __ASSEMBLY__
	.cfi_sections .debug_frame	/* what kernel/unwind.go reads; .eh_frame is thrown away */
#define R15 0
#define R14 8
#define R13 16
#define R12 24
#define RBP 32
#define RBX 40
#define R11 48
#define R10 56
#define R9 64
#define R8 72
#define RAX 80
#define RCX 88
#define RDX 96
#define RSI 104
#define RDI 112
#define ORIG_RAX 120
#define RIP 128
#define CS 136
#define EFLAGS 144
#define RSP 152
#define SS 160
#define PER_CPU_VAR(v) %gs:v

#define SYM_CODE_START(n)	.globl n; .type n, @function; .balign 16; n:
#define SYM_CODE_END(n)		.size n, . - n
#define SYM_FUNC_START(n)	.globl n; .type n, @function; .balign 16; n: .cfi_startproc
#define SYM_FUNC_END(n)		.cfi_endproc; .size n, . - n

	/* An interrupt frame: off bytes lie between rsp and the return rip. */
	.macro CFI_IRET_FRAME off=0
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, \off + 40
	.cfi_rel_offset %rip, \off
	.cfi_rel_offset %rsp, \off + 24
	.endm

	.macro pushq_cfi reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.endm

	/* Which is to be found there. */
	.macro push_saved reg
	pushq_cfi \reg
	.cfi_rel_offset \reg, 0
	.endm

	/* All general registers below orig_ax; then rsp is a struct pt_regs. */
	.macro PUSH_REGS rax=%rax
	push_saved %rdi
	push_saved %rsi
	push_saved %rdx
	push_saved %rcx
	pushq_cfi \rax
	.cfi_rel_offset %rax, 0
	push_saved %r8
	push_saved %r9
	push_saved %r10
	push_saved %r11
	push_saved %rbx
	push_saved %rbp
	push_saved %r12
	push_saved %r13
	push_saved %r14
	push_saved %r15
	.endm

	/* The unwind state of code that is entered with a complete pt_regs at rsp. */
	.macro CFI_FULL_FRAME
	CFI_IRET_FRAME RIP
	.cfi_rel_offset %r15, R15
	.cfi_rel_offset %r14, R14
	.cfi_rel_offset %r13, R13
	.cfi_rel_offset %r12, R12
	.cfi_rel_offset %rbp, RBP
	.cfi_rel_offset %rbx, RBX
	.cfi_rel_offset %r11, R11
	.cfi_rel_offset %r10, R10
	.cfi_rel_offset %r9, R9
	.cfi_rel_offset %r8, R8
	.cfi_rel_offset %rax, RAX
	.cfi_rel_offset %rcx, RCX
	.cfi_rel_offset %rdx, RDX
	.cfi_rel_offset %rsi, RSI
	.cfi_rel_offset %rdi, RDI
	.endm

	.macro popq_cfi reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
	.endm

	.macro POP_REGS
	popq_cfi %r15
	popq_cfi %r14
	popq_cfi %r13
	popq_cfi %r12
	popq_cfi %rbp
	popq_cfi %rbx
	popq_cfi %r11
	popq_cfi %r10
	popq_cfi %r9
	popq_cfi %r8
	popq_cfi %rax
	popq_cfi %rcx
	popq_cfi %rdx
	popq_cfi %rsi
	popq_cfi %rdi
	.endm
#endif
#endif

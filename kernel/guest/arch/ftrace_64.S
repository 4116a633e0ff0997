/*
 * The code that a patched function entry calls (arch/x86/kernel/ftrace_64.S). These are templates: the host copies
 * [ftrace_caller, ftrace_caller_end) to a trampoline, points the movq at the ops' word behind the copy and the call at the
 * ops' gate, and appends a ret. On entry, after "call trampoline" at a function's first byte:
 *
 *	8(%rsp)  parent_ip: the return address into the function's caller
 *	0(%rsp)  ip + 5:    the return address into the function
 *
 * The callback gets rdi = ip, rsi = parent_ip, rdx = ops, rcx = a struct pt_regs as struct ftrace_regs.
 */
#include "calling.h"

	.text
	.macro STORE_ARGS
	movq	%rax, RAX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdi, RDI(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	.endm

	.macro SAVE_CALLER_REGS
	leaq	-(FRAME_SIZE - 8)(%rsp), %rsp	/* the return address stands where ss would be; flags stay as they are */
	.cfi_adjust_cfa_offset FRAME_SIZE - 8
	STORE_ARGS
	movq	%rbp, RBP(%rsp)
	movq	FRAME_SIZE(%rsp), %rsi		/* parent_ip */
	movq	FRAME_SIZE-8(%rsp), %rdi	/* ip + MCOUNT_INSN_SIZE */
	movq	%rdi, RIP(%rsp)
	leaq	-5(%rdi), %rdi
	.endm

	.macro RESTORE_CALLER_REGS
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RDI(%rsp), %rdi
	movq	RSI(%rsp), %rsi
	movq	RDX(%rsp), %rdx
	movq	RCX(%rsp), %rcx
	movq	RAX(%rsp), %rax
	movq	RBP(%rsp), %rbp
	leaq	(FRAME_SIZE - 8)(%rsp), %rsp
	.cfi_adjust_cfa_offset -(FRAME_SIZE - 8)
	.endm

SYM_FUNC_START(ftrace_caller)
	SAVE_CALLER_REGS
	movq	$0, CS(%rsp)			/* no full pt_regs: what an ftrace_regs has is only the arguments, rsp and rip */
	leaq	FRAME_SIZE(%rsp), %rcx
	movq	%rcx, RSP(%rsp)
	movq	%rsp, %rcx
	.globl ftrace_caller_op_ptr
ftrace_caller_op_ptr:
	movq	function_trace_op(%rip), %rdx
	.globl ftrace_call
ftrace_call:
	call	ftrace_stub
	RESTORE_CALLER_REGS
	.globl ftrace_caller_end
ftrace_caller_end:
	ret
SYM_FUNC_END(ftrace_caller)

/* With every register, flags too; the callback may change them, and ip. */
SYM_FUNC_START(ftrace_regs_caller)
	pushfq
	.cfi_adjust_cfa_offset 8
	subq	$FRAME_SIZE, %rsp
	.cfi_adjust_cfa_offset FRAME_SIZE
	STORE_ARGS
	movq	%r10, R10(%rsp)
	movq	%r11, R11(%rsp)
	movq	%rbx, RBX(%rsp)
	movq	%rbp, RBP(%rsp)
	movq	%r12, R12(%rsp)
	movq	%r13, R13(%rsp)
	movq	%r14, R14(%rsp)
	movq	%r15, R15(%rsp)
	movq	FRAME_SIZE(%rsp), %rcx
	movq	%rcx, EFLAGS(%rsp)
	movq	$0x18, SS(%rsp)
	movq	$0x10, CS(%rsp)
	leaq	FRAME_SIZE+16(%rsp), %rcx
	movq	%rcx, RSP(%rsp)			/* as at the function's first instruction */
	movq	FRAME_SIZE+16(%rsp), %rsi	/* parent_ip */
	movq	FRAME_SIZE+8(%rsp), %rdi	/* ip + 5 */
	movq	%rdi, RIP(%rsp)
	movq	$0, ORIG_RAX(%rsp)
	subq	$5, %rdi
	movq	%rsp, %rcx
	.globl ftrace_regs_caller_op_ptr
ftrace_regs_caller_op_ptr:
	movq	function_trace_op(%rip), %rdx
	.globl ftrace_regs_call
ftrace_regs_call:
	call	ftrace_stub
	movq	EFLAGS(%rsp), %rax
	movq	%rax, FRAME_SIZE(%rsp)
	movq	RIP(%rsp), %rax			/* a handler may send us elsewhere */
	movq	%rax, FRAME_SIZE+8(%rsp)
	movq	R15(%rsp), %r15
	movq	R14(%rsp), %r14
	movq	R13(%rsp), %r13
	movq	R12(%rsp), %r12
	movq	R11(%rsp), %r11
	movq	R10(%rsp), %r10
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RBX(%rsp), %rbx
	movq	RBP(%rsp), %rbp
	movq	RDI(%rsp), %rdi
	movq	RSI(%rsp), %rsi
	movq	RDX(%rsp), %rdx
	movq	RCX(%rsp), %rcx
	movq	RAX(%rsp), %rax
	leaq	FRAME_SIZE(%rsp), %rsp
	.cfi_adjust_cfa_offset -FRAME_SIZE
	popfq
	.cfi_adjust_cfa_offset -8
	.globl ftrace_regs_caller_end
ftrace_regs_caller_end:
	ret
SYM_FUNC_END(ftrace_regs_caller)

SYM_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)

	.data
	.balign 8
	.globl function_trace_op
function_trace_op:
	.quad 0
	.section .note.GNU-stack, "", @progbits

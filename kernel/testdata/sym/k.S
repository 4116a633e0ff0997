	.cfi_sections .debug_frame
	.text
	.globl start
	.type start, @function
start:	.cfi_startproc
	.cfi_undefined %rip
	call	start_c
	hlt
	.cfi_endproc
	.size start, . - start

	/* Moves the frame to another stack, as interrupt entry does, and calls through an int3-like frame. */
	.globl call_asm
	.type call_asm, @function
call_asm: .cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	leaq	other_stack_top, %rsp
	call	asm_target
	movl	%eax, %edi
	movl	$0x10, %ecx
	movq	%rsp, %rdx
	pushq	$0x18		/* an interrupt frame: ss rsp flags cs rip */
	pushq	%rdx
	pushfq
	pushq	%rcx
	pushq	$1f
	jmp	interrupted
1:	movl	%edi, %eax
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size call_asm, . - call_asm

	.globl interrupted
	.type interrupted, @function
interrupted: .cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 40
	.cfi_offset %rip, -40
	.cfi_offset %rsp, -16
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rdi, -48
	call	trap
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rdi
	movq	(%rsp), %rax
	movq	24(%rsp), %rsp
	.cfi_endproc
	.cfi_startproc		/* the frame is gone: rax is where it goes on */
	.cfi_undefined %rip
	jmp	*%rax
	.cfi_endproc
	.size interrupted, . - interrupted
	.bss
	.balign 16
	.skip 4096
other_stack_top:
	.section .note.GNU-stack, "", @progbits

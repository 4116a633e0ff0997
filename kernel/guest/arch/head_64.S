/*
 * Where the CPUs begin, already in long mode with paging on (the Go boot loader plays the part of Linux's 16- and 32-bit
 * setup code). CPU 0 gets RSP = init_stack_top; an AP gets RSP = initial_stack and GS base = initial_gs from its SIPI.
 */
#include "calling.h"
#define MSR_GS_BASE 0xc0000101

	.section .head.text, "ax", @progbits
SYM_CODE_START(startup_64)
	.cfi_startproc
	.cfi_undefined rip
	leaq	init_stack_top(%rip), %rsp
	/* Until setup_per_cpu_areas() the load image of the per-CPU section is CPU 0's area. */
	movl	$MSR_GS_BASE, %ecx
	movq	$__per_cpu_load, %rax
	movq	%rax, %rdx
	shrq	$32, %rdx
	wrmsr
	lgdt	early_gdt_descr(%rip)
	movq	$x86_64_start_kernel, %rdi
	jmp	reload_segments
	.cfi_endproc
SYM_CODE_END(startup_64)

SYM_CODE_START(secondary_startup_64)
	.cfi_startproc
	.cfi_undefined rip
	movq	initial_stack(%rip), %rsp
	movl	$MSR_GS_BASE, %ecx
	movq	initial_gs(%rip), %rax
	movq	%rax, %rdx
	shrq	$32, %rdx
	wrmsr
	lgdt	early_gdt_descr(%rip)
	movq	initial_code(%rip), %rdi
	jmp	reload_segments
	.cfi_endproc
SYM_CODE_END(secondary_startup_64)

/* Loads the selectors of the new GDT and jumps to rdi, which does not return. */
SYM_CODE_START(reload_segments)
	.cfi_startproc
	.cfi_undefined rip
	movl	$0x18, %eax
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %ds
	movl	%eax, %es
	pushq	$0x10
	leaq	1f(%rip), %rax
	pushq	%rax
	lretq
1:	xorl	%ebp, %ebp
	call	*%rdi
	ud2
	.cfi_endproc
SYM_CODE_END(reload_segments)

	.data
	.balign 8
	.globl initial_code, initial_gs, initial_stack, early_gdt_descr, early_gdt_descr_base
initial_code:	.quad x86_64_start_kernel
initial_gs:	.quad __per_cpu_load
initial_stack:	.quad init_stack_top
	.balign 16
	.skip 6
early_gdt_descr:
	.word 16 * 8 - 1
early_gdt_descr_base:
	.quad init_per_cpu__gdt_page
	.section .note.GNU-stack, "", @progbits

/*
 * The user stub: the machine code behind every program that is written in Go or Starlark (see package kernel/user).
 *   first vmcall:  "a fresh exec"; the host sets registers and returns
 *   then, for ever: r15 == 1: touch every page of [rdi, rsi) for writing; r15 == 2: take the set of signals that the handler
 *   has been called for; else: do the system call in the registers; and vmcall with the result in rax.
 * A program catches a signal by rt_sigaction with on_signal as the handler and sig_return as the restorer; kernel/user knows
 * where they stand.
 */
	.text
	.globl _start
_start:
	vmcall
next:
	testq	%r15, %r15
	jne	other
	syscall
again:
	vmcall
	jmp	next
other:
	cmpq	$2, %r15
	je	take
touch:
	cmpq	%rsi, %rdi
	jae	again
	lock orb $0, (%rdi)
	addq	$4096, %rdi
	jmp	touch
take:
	xorl	%eax, %eax
	lock xchgq %rax, caught(%rip)
	jmp	again

	.section .text.signal, "ax", @progbits	/* at 0x400200: see stub.lds, and loadStub in kernel/user */
	.globl on_signal
on_signal:				/* the number in edi; every register is the kernel's to restore */
	leal	-1(%rdi), %ecx
	movl	$1, %eax
	shlq	%cl, %rax
	lock orq %rax, caught(%rip)
	ret
	.balign	32
	.globl sig_return
sig_return:
	movl	$15, %eax
	syscall

	.bss
	.balign 4096
	.globl scratch
scratch:
	.skip 65536
caught:	.skip 8
	.section .note.GNU-stack, "", @progbits

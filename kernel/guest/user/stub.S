/*
 * The user stub: the machine code behind every program that is written in Go or Starlark (see package kernel/user).
 *   first vmcall:  "a fresh exec"; the host sets registers and returns
 *   then, for ever: r15 == 1: touch every page of [rdi, rsi) for writing; else: do the system call in the registers;
 *   and vmcall with the result in rax.
 */
	.text
	.globl _start
_start:
	vmcall
next:
	cmpq	$1, %r15
	je	touch
	syscall
again:
	vmcall
	jmp	next
touch:
	cmpq	%rsi, %rdi
	jae	again
	lock orb $0, (%rdi)
	addq	$4096, %rdi
	jmp	touch

	.bss
	.balign 4096
	.globl scratch
scratch:
	.skip 65536
	.section .note.GNU-stack, "", @progbits

/* Memory routines in string instructions (arch/x86/lib/{memcpy,memset,memmove,copy_user,clear_page}_64.S, the ERMS forms). */
#include "calling.h"
	.text

	.macro EXTABLE from to
	.pushsection __ex_table, "a"
	.balign 4
	.long	\from - ., \to - ., 1
	.popsection
	.endm

SYM_FUNC_START(memcpy)
	movq	%rdi, %rax
	movq	%rdx, %rcx
	rep movsb
	ret
SYM_FUNC_END(memcpy)

SYM_FUNC_START(memmove)
	movq	%rdi, %rax
	cmpq	%rdi, %rsi
	jae	1f
	leaq	(%rsi,%rdx), %r8
	cmpq	%rdi, %r8
	ja	2f
1:	movq	%rdx, %rcx
	rep movsb
	ret
2:	movq	%rdx, %rcx			/* overlapping, upwards: copy from the end */
	leaq	-1(%rdi,%rdx), %rdi
	leaq	-1(%rsi,%rdx), %rsi
	std
	rep movsb
	cld
	ret
SYM_FUNC_END(memmove)

SYM_FUNC_START(memset)
	movq	%rdi, %r9
	movl	%esi, %eax
	movq	%rdx, %rcx
	rep stosb
	movq	%r9, %rax
	ret
SYM_FUNC_END(memset)

/* Returns the number of bytes not copied; a fault ends the copy. */
SYM_FUNC_START(copy_user_enhanced_fast_string)
	stac
	movl	%edx, %ecx
1:	rep movsb
	xorl	%eax, %eax
	clac
	ret
2:	movl	%ecx, %eax
	clac
	ret
	EXTABLE 1b, 2b
SYM_FUNC_END(copy_user_enhanced_fast_string)
	.globl copy_user_generic
	.set copy_user_generic, copy_user_enhanced_fast_string

SYM_FUNC_START(__clear_user_erms)
	stac
	movq	%rsi, %rcx
	xorl	%eax, %eax
1:	rep stosb
	clac
	ret
2:	movq	%rcx, %rax
	clac
	ret
	EXTABLE 1b, 2b
SYM_FUNC_END(__clear_user_erms)

SYM_FUNC_START(clear_page_erms)
	movl	$512, %ecx
	xorl	%eax, %eax
	rep stosq
	ret
SYM_FUNC_END(clear_page_erms)
	.globl clear_page
	.set clear_page, clear_page_erms

SYM_FUNC_START(copy_page)
	movl	$512, %ecx
	rep movsq
	ret
SYM_FUNC_END(copy_page)

/* long load_user_byte/word: *err = -EFAULT on a fault. For strncpy_from_user and strnlen_user. */
SYM_FUNC_START(__get_user_nocheck_1)
	stac
1:	movzbl	(%rdi), %eax
	clac
	ret
2:	movl	$-14, (%rsi)
	xorl	%eax, %eax
	clac
	ret
	EXTABLE 1b, 2b
SYM_FUNC_END(__get_user_nocheck_1)

SYM_FUNC_START(__fentry__)
	ret
SYM_FUNC_END(__fentry__)
	.section .note.GNU-stack, "", @progbits

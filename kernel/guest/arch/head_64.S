	.section .head.text, "ax", @progbits
	.globl startup_64
	.type startup_64, @function
startup_64:
	.cfi_startproc
	.cfi_undefined rip
	hlt
	.cfi_endproc
	.size startup_64, . - startup_64
	.section .note.GNU-stack, "", @progbits

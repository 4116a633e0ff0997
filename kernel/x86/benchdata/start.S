	.section .start,"ax"
	.macro entry f
	.p2align 4
	call \f
	hlt
	.endm
	entry bench_alu
	entry bench_crc
	entry bench_calls
	entry bench_words
	entry bench_bytes
	entry bench_kernel
	entry bench_sort

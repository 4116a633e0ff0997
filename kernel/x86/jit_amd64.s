//go:build linux && !race

#include "textflag.h"
#include "go_asm.h"

// Where host code keeps the guest's registers: see jitregs.go. BX is the CPU, 128 bytes on, BP the block.
#define MOVE_IN \
	MOVQ -128(BX), SI   \
	MOVQ -120(BX), R11  \
	MOVQ -112(BX), R8   \
	MOVQ -104(BX), R10  \
	MOVQ -96(BX), R15   \
	MOVQ -88(BX), R14   \
	MOVQ -80(BX), R9    \
	MOVQ -72(BX), DI    \
	MOVQ -32(BX), R13   \
	MOVQ -24(BX), R12

#define MOVE_OUT \
	MOVQ SI, -128(BX)   \
	MOVQ R11, -120(BX)  \
	MOVQ R8, -112(BX)   \
	MOVQ R10, -104(BX)  \
	MOVQ R15, -96(BX)   \
	MOVQ R14, -88(BX)   \
	MOVQ R9, -80(BX)    \
	MOVQ DI, -72(BX)    \
	MOVQ R13, -32(BX)   \
	MOVQ R12, -24(BX)

// func hostCall(c *CPU, host uintptr, from, to *block) (why int64, resume uintptr, at, next *block)
TEXT ·hostCall(SB), NOSPLIT, $32-64
	MOVQ c+0(FP), BX
	MOVQ host+8(FP), DX
	MOVQ to+24(FP), AX
	ADDQ $128, BX
	MOVE_IN
	MOVQ from+16(FP), BP
	CALL DX
	MOVE_OUT
	MOVLQSX CX, CX
	MOVQ CX, why+32(FP)
	MOVQ DX, resume+40(FP)
	MOVQ BP, at+48(FP)
	CMPQ CX, $-1
	JEQ  entering
	MOVQ BP, AX
entering:
	MOVQ AX, next+56(FP)
	RET

// hostEnter is where blocks without host code begin: back to Go code, with the block in AX.
TEXT ·hostEnter(SB), NOSPLIT, $0-0
	MOVL $-1, CX
	RET

// func hostEnterPC() uintptr
TEXT ·hostEnterPC(SB), NOSPLIT, $0-8
	LEAQ ·hostEnter(SB), AX
	MOVQ AX, ret+0(FP)
	RET

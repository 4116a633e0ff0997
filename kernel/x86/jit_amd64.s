//go:build linux && !race

#include "textflag.h"
#include "funcdata.h"
#include "go_asm.h"

// Where host code keeps the guest's registers: see jitregs.go. BX is the CPU, 128 bytes on, BP the budget.
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
	MOVQ -24(BX), R12   \
	MOVQ (CPU_budget-128)(BX), BP

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
	MOVQ R12, -24(BX)   \
	MOVQ BP, (CPU_budget-128)(BX)

// What Go's stack holds while host code runs, and while hostAsk does: its unwinder wants no function there that writes SP, so that
// hostGo and hostExit are only jumped to behind hostCall and hostTurn.
//
//	hostCall's arguments   32(SP)
//	its return address     24(SP)
//	BP of its caller       16(SP)
//	free                    8(SP)
//	return address          0(SP), into hostCall; SP is hostState.goSP

// hostCall has saved BP; a macro, since vet knows only functions that do so themselves.
#define FRAME_OF_CALL LEAQ 16(SP), BP

// func hostCall(c *CPU, host uintptr)
TEXT ·hostCall(SB), NOSPLIT, $8-16
	NO_LOCAL_POINTERS
	MOVQ c+0(FP), BX
	MOVQ host+8(FP), AX
	ADDQ $128, BX
	CALL ·hostGo(SB)
	RET

// hostGo goes to AX on the host code's stack, with RIP in DX.
TEXT ·hostGo(SB), NOSPLIT|NOFRAME, $0-0
	MOVE_IN
	MOVQ (CPU_rip-128)(BX), DX
	MOVQ SP, (CPU_host+hostState_goSP-128)(BX)
	MOVQ (CPU_host+hostState_sp-128)(BX), SP
	JMP  AX

// hostExit is where host code leaves to.
TEXT ·hostExit(SB), NOSPLIT|NOFRAME, $0-0
	MOVE_OUT
	MOVQ SP, (CPU_host+hostState_sp-128)(BX)
	MOVL CX, (CPU_host+hostState_why-128)(BX)
	MOVL AX, (CPU_host+hostState_code-128)(BX)
	MOVQ DX, (CPU_host+hostState_at-128)(BX)
	MOVQ (CPU_host+hostState_goSP-128)(BX), SP
	JMP  ·hostTurn(SB)

// hostTurn calls hostAsk and goes on where it says, or returns.
TEXT ·hostTurn(SB), NOSPLIT|NOFRAME, $0-0
	NO_LOCAL_POINTERS
	FRAME_OF_CALL
	ADJSP $16
	SUBQ  $128, BX
	MOVQ  BX, 0(SP)
	CALL  ·hostAsk(SB)
	MOVQ  8(SP), AX
	ADJSP $-16
	TESTQ AX, AX
	JZ    ends
	MOVQ  32(SP), BX
	ADDQ  $128, BX
	JMP   ·hostGo(SB)

ends:
	RET

// hostEnter is where blocks without host code begin: to Go code, with the block's address in DX.
TEXT ·hostEnter(SB), NOSPLIT|NOFRAME, $0-0
	XORL CX, CX
	JMP  ·hostExit(SB)

// func hostPCs() (enter, exit uintptr)
TEXT ·hostPCs(SB), NOSPLIT, $0-16
	LEAQ ·hostEnter(SB), AX
	MOVQ AX, enter+0(FP)
	LEAQ ·hostExit(SB), AX
	MOVQ AX, exit+8(FP)
	RET

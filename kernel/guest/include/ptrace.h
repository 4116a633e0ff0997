#pragma once
#include "types.h"
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
#define user_mode(r)		(((r)->cs & 3) != 0)
#define instruction_pointer(r)	((r)->ip)
#define kernel_stack_pointer(r)	((r)->sp)
#define regs_return_value(r)	((r)->ax)

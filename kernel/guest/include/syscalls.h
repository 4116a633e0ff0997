#pragma once
/* SYSCALL_DEFINEn: __x64_sys_NAME(regs) unpacks the registers into __do_sys_NAME, which gcc inlines as in Linux. */
#include "kernel.h"
#include "ptrace.h"
#include "gfp.h"
#define SYSCALL_DEFINE0(name) \
	long __x64_sys_##name(const struct pt_regs *__unused); \
	long __x64_sys_##name(const struct pt_regs *__unused)
#define __SYSCALL_DEF(name, params, args) \
	long __x64_sys_##name(const struct pt_regs *regs); \
	static inline long __do_sys_##name params; \
	long __x64_sys_##name(const struct pt_regs *regs) { return __do_sys_##name args; } \
	static inline __attribute__((always_inline)) long __do_sys_##name params
#define SYSCALL_DEFINE1(name, t1, a1) \
	__SYSCALL_DEF(name, (t1 a1), ((t1)regs->di))
#define SYSCALL_DEFINE2(name, t1, a1, t2, a2) \
	__SYSCALL_DEF(name, (t1 a1, t2 a2), ((t1)regs->di, (t2)regs->si))
#define SYSCALL_DEFINE3(name, t1, a1, t2, a2, t3, a3) \
	__SYSCALL_DEF(name, (t1 a1, t2 a2, t3 a3), ((t1)regs->di, (t2)regs->si, (t3)regs->dx))
#define SYSCALL_DEFINE4(name, t1, a1, t2, a2, t3, a3, t4, a4) \
	__SYSCALL_DEF(name, (t1 a1, t2 a2, t3 a3, t4 a4), ((t1)regs->di, (t2)regs->si, (t3)regs->dx, (t4)regs->r10))
#define SYSCALL_DEFINE5(name, t1, a1, t2, a2, t3, a3, t4, a4, t5, a5) \
	__SYSCALL_DEF(name, (t1 a1, t2 a2, t3 a3, t4 a4, t5 a5), \
		((t1)regs->di, (t2)regs->si, (t3)regs->dx, (t4)regs->r10, (t5)regs->r8))
#define SYSCALL_DEFINE6(name, t1, a1, t2, a2, t3, a3, t4, a4, t5, a5, t6, a6) \
	__SYSCALL_DEF(name, (t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6), \
		((t1)regs->di, (t2)regs->si, (t3)regs->dx, (t4)regs->r10, (t5)regs->r8, (t6)regs->r9))
typedef long (*sys_call_ptr_t)(const struct pt_regs *regs);
#define NR_syscalls 640

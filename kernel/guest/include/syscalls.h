#pragma once
/*
 * SYSCALL_DEFINEn: __x64_sys_NAME(regs) unpacks the registers into __do_sys_NAME, which gcc inlines. In Linux the calls of
 * 32-bit programs are its second caller, so that large ones stay out of line, untraced, and stand in traces as "<-__do_sys_…";
 * those are listed here (from Debian 6.1's kallsyms). SYSCALL_DEFINE0's are all out of line there, and traced.
 */
#include "kernel.h"
#include "ptrace.h"
#include "gfp.h"
#define __OOL_brk		~, noinline notrace
#define __OOL_clone		~, noinline notrace
#define __OOL_fstatfs		~, noinline notrace
#define __OOL_getcwd		~, noinline notrace
#define __OOL_getrusage		~, noinline notrace
#define __OOL_newfstat		~, noinline notrace
#define __OOL_newfstatat	~, noinline notrace
#define __OOL_newlstat		~, noinline notrace
#define __OOL_newstat		~, noinline notrace
#define __OOL_newuname		~, noinline notrace
#define __OOL_openat2		~, noinline notrace
#define __OOL_prctl		~, noinline notrace
#define __OOL_prlimit64		~, noinline notrace
#define __OOL_setpgid		~, noinline notrace
#define __OOL_statfs		~, noinline notrace
#define __OOL_sysinfo		~, noinline notrace
#define __OOL_wait4		~, noinline notrace
#define __OOL_waitid		~, noinline notrace
#define __SYS_SECOND(a, b, ...)	b
#define __SYS_PICK(...)		__SYS_SECOND(__VA_ARGS__)
#define __SYS_ATTR(name)	__SYS_PICK(__OOL_##name, __always_inline, ~)

#define SYSCALL_DEFINE0(name) \
	long __x64_sys_##name(const struct pt_regs *__unused); \
	static noinline long __do_sys_##name(const struct pt_regs *__unused); \
	long __x64_sys_##name(const struct pt_regs *__unused) { return __do_sys_##name(__unused); } \
	static noinline long __do_sys_##name(const struct pt_regs *__unused)
#define __SYSCALL_DEF(name, params, args) \
	long __x64_sys_##name(const struct pt_regs *regs); \
	static __SYS_ATTR(name) long __do_sys_##name params; \
	long __x64_sys_##name(const struct pt_regs *regs) { return __do_sys_##name args; } \
	static __SYS_ATTR(name) long __do_sys_##name params
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

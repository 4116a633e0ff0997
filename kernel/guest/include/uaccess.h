#pragma once
/* User memory: arch/lib_64.S does the copying under the exception table, these check the range. */
#include "kernel.h"
#include "processor.h"
#define __access_ok(p, n)	((unsigned long)(n) <= TASK_SIZE_MAX && (unsigned long)(p) <= TASK_SIZE_MAX - (unsigned long)(n))
#define access_ok(p, n)		likely(__access_ok(p, n))
unsigned long copy_user_generic(void *to, const void *from, unsigned long len);	/* returns bytes not copied */
unsigned long _copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long _copy_to_user(void __user *to, const void *from, unsigned long n);
void __check_object_size(const void *ptr, unsigned long n, bool to_user);
/* asm: gcc would take the check for a use of what is there */
#define check_object_size(p, n, to) do { const void *__p = (p); asm("" : "+r"(__p)); if (!__builtin_constant_p(n)) __check_object_size(__p, n, to); } while (0)
static __always_inline unsigned long copy_from_user(void *to, const void __user *from, unsigned long n)
{
	check_object_size(to, n, false);
	return _copy_from_user(to, from, n);
}
static __always_inline unsigned long copy_to_user(void __user *to, const void *from, unsigned long n)
{
	check_object_size(from, n, true);
	return _copy_to_user(to, from, n);
}
#define raw_copy_from_user(t, f, n) copy_user_generic(t, f, n)
#define raw_copy_to_user(t, f, n) copy_user_generic(t, f, n)
unsigned long clear_user(void __user *to, unsigned long n);
long strncpy_from_user(char *dst, const char __user *src, long count);
long strnlen_user(const char __user *str, long n);
long strncpy_from_kernel_nofault(char *dst, const void *src, long count);
long copy_from_kernel_nofault(void *dst, const void *src, size_t size);
void pagefault_disable(void);
void pagefault_enable(void);

/* One entry for each instruction that may fault: 32-bit offsets of the instruction and its fixup, then the type. */
struct exception_table_entry { int insn, fixup, data; };
int fixup_exception(struct pt_regs *regs, int trapnr, unsigned long error_code, unsigned long fault_addr);
#define EX_TYPE_FAULT	1
#define EX_TYPE_EFAULT	3	/* the register number << 8 gets -EFAULT */
#define _ASM_EXTABLE(from, to) \
	".pushsection __ex_table,\"a\"\n.balign 4\n.long (" #from ") - .\n.long (" #to ") - .\n.long 1\n.popsection\n"

#define __get_user_asm(x, p, err, sfx, reg) \
	asm volatile("1: mov" sfx " %2,%" reg "1\n2:\n.pushsection .fixup,\"ax\"\n3: mov %3,%0\n xor %k1,%k1\n jmp 2b\n.popsection\n" \
		_ASM_EXTABLE(1b, 3b) : "+r"(err), "=r"(x) : "m"(*(p)), "i"(-EFAULT))
#define __put_user_asm(x, p, err, sfx, reg) \
	asm volatile("1: mov" sfx " %" reg "1,%2\n2:\n.pushsection .fixup,\"ax\"\n3: mov %3,%0\n jmp 2b\n.popsection\n" \
		_ASM_EXTABLE(1b, 3b) : "+r"(err) : "r"(x), "m"(*(p)), "i"(-EFAULT))
#define __get_user(x, p) ({ int __ge = 0; unsigned long __gv = 0; typeof(p) __gp = (p); switch (sizeof(*__gp)) { \
	case 1: __get_user_asm(__gv, (u8 *)__gp, __ge, "b", "b"); __gv &= 0xff; break; \
	case 2: __get_user_asm(__gv, (u16 *)__gp, __ge, "w", "w"); __gv &= 0xffff; break; \
	case 4: __get_user_asm(__gv, (u32 *)__gp, __ge, "l", "k"); break; \
	case 8: __get_user_asm(__gv, (u64 *)__gp, __ge, "q", "q"); break; } \
	(x) = (typeof(*__gp))__gv; __ge; })
#define __put_user(x, p) ({ int __pe = 0; typeof(p) __pp = (p); unsigned long __pv = (unsigned long)(x); switch (sizeof(*__pp)) { \
	case 1: __put_user_asm(__pv, (u8 *)__pp, __pe, "b", "b"); break; \
	case 2: __put_user_asm(__pv, (u16 *)__pp, __pe, "w", "w"); break; \
	case 4: __put_user_asm(__pv, (u32 *)__pp, __pe, "l", "k"); break; \
	case 8: __put_user_asm(__pv, (u64 *)__pp, __pe, "q", "q"); break; } __pe; })
#define get_user(x, p) ({ typeof(p) __gup = (p); access_ok(__gup, sizeof(*__gup)) ? __get_user(x, __gup) : ((x) = 0, -EFAULT); })
#define put_user(x, p) ({ typeof(p) __pup = (p); access_ok(__pup, sizeof(*__pup)) ? __put_user(x, __pup) : -EFAULT; })

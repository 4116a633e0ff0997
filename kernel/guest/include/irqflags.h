#pragma once
#include "types.h"
#define X86_EFLAGS_CF 1UL
#define X86_EFLAGS_FIXED 2UL
#define X86_EFLAGS_ZF 0x40UL
#define X86_EFLAGS_TF 0x100UL
#define X86_EFLAGS_IF 0x200UL
#define X86_EFLAGS_DF 0x400UL
#define X86_EFLAGS_NT 0x4000UL
#define X86_EFLAGS_RF 0x10000UL
#define X86_EFLAGS_AC 0x40000UL
static __always_inline unsigned long native_save_fl(void) { unsigned long f; asm volatile("pushf; pop %0" : "=rm"(f) :: "memory"); return f; }
static __always_inline void local_irq_disable(void) { asm volatile("cli" ::: "memory"); }
static __always_inline void local_irq_enable(void) { asm volatile("sti" ::: "memory"); }
static __always_inline bool irqs_disabled(void) { return !(native_save_fl() & X86_EFLAGS_IF); }
#define irqs_disabled_flags(f)	(!((f) & X86_EFLAGS_IF))
#define local_save_flags(f)	((f) = native_save_fl())
#define local_irq_save(f)	do { (f) = native_save_fl(); local_irq_disable(); } while (0)
#define local_irq_restore(f)	do { if (__builtin_expect(!!((f) & X86_EFLAGS_IF), 1)) local_irq_enable(); } while (0)

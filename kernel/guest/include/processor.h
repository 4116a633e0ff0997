#pragma once
/* CPU registers, descriptors and the per-thread machine state. */
#include "percpu.h"
#include "irqflags.h"
#include "gfp.h"
#include "ptrace.h"
#define MSR_EFER		0xc0000080
#define MSR_STAR		0xc0000081
#define MSR_LSTAR		0xc0000082
#define MSR_SYSCALL_MASK	0xc0000084
#define MSR_FS_BASE		0xc0000100
#define MSR_GS_BASE		0xc0000101
#define MSR_KERNEL_GS_BASE	0xc0000102
#define MSR_IA32_TSC_DEADLINE	0x6e0
#define APIC_BASE_MSR		0x800
#define __KERNEL_CS		0x10
#define __KERNEL_DS		0x18
#define __USER32_CS		0x23
#define __USER_DS		0x2b
#define __USER_CS		0x33
#define GDT_ENTRY_TSS		8
#define GDT_ENTRIES		16
#define TASK_SIZE_MAX		0x7ffffffff000UL
#define TASK_SIZE		TASK_SIZE_MAX
#define STACK_TOP		TASK_SIZE_MAX
#define STACK_TOP_MAX		TASK_SIZE_MAX
#define THREAD_SIZE_ORDER	2
#define THREAD_SIZE		(PAGE_SIZE << THREAD_SIZE_ORDER)
#define EXCEPTION_STKSZ		PAGE_SIZE
#define IRQ_STACK_SIZE		(PAGE_SIZE << 2)
static __always_inline void cpu_relax(void) { asm volatile("pause" ::: "memory"); }
static __always_inline void wrmsrl(u32 msr, u64 v) { asm volatile("wrmsr" :: "c"(msr), "a"((u32)v), "d"((u32)(v >> 32)) : "memory"); }
static __always_inline u64 rdmsrl(u32 msr) { u32 lo, hi; asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr)); return (u64)hi << 32 | lo; }
static __always_inline void write_cr2(unsigned long v) { asm volatile("mov %0,%%cr2" :: "r"(v)); }
static __always_inline unsigned long read_cr2(void) { unsigned long v; asm volatile("mov %%cr2,%0" : "=r"(v)); return v; }
static __always_inline unsigned long __read_cr3(void) { unsigned long v; asm volatile("mov %%cr3,%0" : "=r"(v)); return v; }
static __always_inline void write_cr3(unsigned long v) { asm volatile("mov %0,%%cr3" :: "r"(v) : "memory"); }
static __always_inline void __invlpg(unsigned long a) { asm volatile("invlpg (%0)" :: "r"(a) : "memory"); }
struct desc_ptr { u16 size; unsigned long address; } __packed;
struct gate_struct { u16 offset_low, segment; u8 ist, type; u16 offset_middle; u32 offset_high, reserved; } __packed;
struct gdt_page { u64 gdt[GDT_ENTRIES]; } __aligned(64);
struct x86_hw_tss { u32 reserved1; u64 sp0, sp1, sp2, reserved2, ist[7]; u32 reserved3, reserved4; u16 reserved5, io_bitmap_base; } __packed;
struct tss_struct { struct x86_hw_tss x86_tss; } __aligned(64);
DECLARE_PER_CPU(struct gdt_page, gdt_page);
DECLARE_PER_CPU(struct tss_struct, cpu_tss_rw);
DECLARE_PER_CPU(unsigned long, cpu_current_top_of_stack);
DECLARE_PER_CPU(void *, hardirq_stack_ptr);
DECLARE_PER_CPU(bool, hardirq_stack_inuse);
struct thread_struct { unsigned long sp, fsbase, gsbase, cr2, trap_nr, error_code; };
struct boot_params {	/* written by the Go boot loader before startup_64; layout fixed, see the asserts in arch/setup.c */
	u32 nr_cpus, pad;
	u64 mem_size, free_start, free_end, initrd_start, initrd_size, init_pgt, boot_time_s;
	char cmdline[256];
};
extern struct boot_params boot_params;
void start_thread(struct pt_regs *regs, unsigned long new_ip, unsigned long new_sp);
void cpu_init(void);
void cpu_init_exception_handling(void);
void switch_to_new_gdt(int cpu);
void idt_setup_traps(void);
void load_current_idt(void);

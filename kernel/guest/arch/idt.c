/* Descriptor tables: the IDT, each CPU's GDT and TSS (arch/x86/kernel/idt.c, cpu/common.c). */
#include "mm.h"
#include "apic.h"
#include "irq.h"

#define GATE_INTERRUPT	0xe
#define IST_DF		1
#define IST_NMI		2
#define IST_DB		3

static struct gate_struct idt_table[256] __aligned(4096);
static const struct desc_ptr idt_descr = { sizeof(idt_table) - 1, (unsigned long)idt_table };

#define ASM_ENTRIES(X) \
	X(0, exc_divide_error, 0, 0) X(1, exc_debug, IST_DB, 0) X(2, exc_nmi, IST_NMI, 0) X(3, exc_int3, 0, 3) \
	X(4, exc_overflow, 0, 3) X(5, exc_bounds, 0, 0) X(6, exc_invalid_op, 0, 0) X(7, exc_device_not_available, 0, 0) \
	X(8, exc_double_fault, IST_DF, 0) X(10, exc_invalid_tss, 0, 0) X(11, exc_segment_not_present, 0, 0) \
	X(12, exc_stack_segment, 0, 0) X(13, exc_general_protection, 0, 0) X(14, exc_page_fault, 0, 0) \
	X(16, exc_coprocessor_error, 0, 0) X(17, exc_alignment_check, 0, 0) X(19, exc_simd_coprocessor_error, 0, 0) \
	X(LOCAL_TIMER_VECTOR, sysvec_apic_timer_interrupt, 0, 0) X(RESCHEDULE_VECTOR, sysvec_reschedule_ipi, 0, 0) \
	X(CALL_FUNCTION_VECTOR, sysvec_call_function, 0, 0) \
	X(CALL_FUNCTION_SINGLE_VECTOR, sysvec_call_function_single, 0, 0) X(IRQ_WORK_VECTOR, sysvec_irq_work, 0, 0) \
	X(VIRTIO_VECTOR, common_interrupt, 0, 0) X(KSCOPE_KICK_VECTOR, sysvec_kscope_kick, 0, 0) X(ERROR_APIC_VECTOR, sysvec_error_interrupt, 0, 0) \
	X(SPURIOUS_APIC_VECTOR, sysvec_spurious_apic_interrupt, 0, 0)

#define DECLARE_ENTRY(vec, name, ist, dpl) extern char asm_##name[];
ASM_ENTRIES(DECLARE_ENTRY)
#define TABLE_ENTRY(vec, name, ist, dpl) { vec, ist, dpl, asm_##name },
static const struct { u8 vector, ist, dpl; char *entry; } idts[] = { ASM_ENTRIES(TABLE_ENTRY) };

DEFINE_PER_CPU(struct gdt_page, gdt_page) = { .gdt = {
	[2] = 0x00af9b000000ffff,	/* kernel code, 64 bit */
	[3] = 0x00cf93000000ffff,	/* kernel data */
	[4] = 0x00cffb000000ffff,	/* user code, 32 bit */
	[5] = 0x00cff3000000ffff,	/* user data */
	[6] = 0x00affb000000ffff,	/* user code, 64 bit */
} };
DEFINE_PER_CPU(struct tss_struct, cpu_tss_rw);

/* Runs before the first printk, with the load image as per-CPU area. */
void notrace idt_setup_traps(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(idts); i++) {
		unsigned long addr = (unsigned long)idts[i].entry;

		idt_table[idts[i].vector] = (struct gate_struct){
			.offset_low = addr, .segment = __KERNEL_CS, .ist = 0, .type = 0x80 | idts[i].dpl << 5 | GATE_INTERRUPT,
			.offset_middle = addr >> 16, .offset_high = addr >> 32,
		};
	}
}

/* From now on #DB, NMI and #DF have stacks of their own: cpu_init_exception_handling() has filled in the TSS. */
static void idt_setup_ist_traps(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(idts); i++)
		idt_table[idts[i].vector].ist = idts[i].ist;
}

void notrace load_current_idt(void)
{
	asm volatile("lidt %0" :: "m"(idt_descr));
}

void switch_to_new_gdt(int cpu)
{
	struct desc_ptr gdt = { sizeof(struct gdt_page) - 1, (unsigned long)&per_cpu(gdt_page, cpu) };

	asm volatile("lgdt %0" :: "m"(gdt));
	wrmsrl(MSR_GS_BASE, __per_cpu_offset[cpu]);
}

void cpu_init_exception_handling(void)
{
	struct x86_hw_tss *tss = &this_cpu_ptr(&cpu_tss_rw)->x86_tss;
	int ist;

	if (!tss->ist[0]) {
		for (ist = IST_DF; ist <= IST_DB; ist++)
			tss->ist[ist - 1] = __get_free_page(GFP_ATOMIC) + EXCEPTION_STKSZ;
	}
	tss->io_bitmap_base = sizeof(*tss);
	this_cpu_ptr(&gdt_page)->gdt[GDT_ENTRY_TSS] &= ~(2UL << 40);	/* clear "busy" */
	asm volatile("ltr %w0" :: "q"(GDT_ENTRY_TSS * 8));
	idt_setup_ist_traps();
	load_current_idt();
}

extern char entry_SYSCALL_64[];
static void syscall_init(void)
{
	wrmsrl(MSR_STAR, (u64)__USER32_CS << 48 | (u64)__KERNEL_CS << 32);
	wrmsrl(MSR_LSTAR, (unsigned long)entry_SYSCALL_64);
	wrmsrl(MSR_SYSCALL_MASK, X86_EFLAGS_CF | 0x14 | X86_EFLAGS_ZF | 0x80 | X86_EFLAGS_TF | X86_EFLAGS_IF | X86_EFLAGS_DF | 0x800 |
				 0x3000 | X86_EFLAGS_NT | X86_EFLAGS_RF | X86_EFLAGS_AC | 0x200000);
}

void cpu_init(void)
{
	wrmsrl(MSR_FS_BASE, 0);
	wrmsrl(MSR_KERNEL_GS_BASE, 0);
	syscall_init();
	mmgrab(&init_mm);			/* each CPU's idle task lends it to kernel threads; see cpu_init() of 6.1 */
	current->active_mm = &init_mm;
	enter_lazy_tlb(&init_mm, current);
}

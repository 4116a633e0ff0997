/*
 * The boot CPU's first C code, the early allocator and per-CPU areas
 * (arch/x86/kernel/head64.c, setup.c, setup_percpu.c; mm/memblock.c).
 */
#include "mm.h"
#include "apic.h"

struct boot_params boot_params __section(".data");
_Static_assert(offsetof(struct boot_params, mem_size) == 8, "boot_params");
_Static_assert(offsetof(struct boot_params, init_pgt) == 48, "boot_params");
_Static_assert(offsetof(struct boot_params, cmdline) == 64, "boot_params");

extern char _text[], _etext[], _sdata[], _edata[], _end[], __bss_start[], __bss_stop[], __start_rodata[], __end_rodata[];
extern char __per_cpu_load[], __per_cpu_start[], __per_cpu_end[], _sinittext[], _einittext[];
void start_kernel(void);
void x86_64_start_kernel(void);
void setup_arch(char **cmdline_p);
void setup_per_cpu_areas(void);

DEFINE_PER_CPU_FIRST(unsigned long, this_cpu_off);
DEFINE_PER_CPU(int, cpu_number);
DEFINE_PER_CPU(struct task_struct *, current_task) = &init_task;
DEFINE_PER_CPU(int, __preempt_count) = INIT_PREEMPT_COUNT;
DEFINE_PER_CPU(unsigned long, cpu_current_top_of_stack);
unsigned long __per_cpu_offset[NR_CPUS];
unsigned int nr_cpu_ids = NR_CPUS;

/* Memory is handed out upwards from the end of the image until mem_init() gives the rest to the buddy allocator. */
static struct { unsigned long next, end; } memblock;

void *memblock_alloc(size_t size, size_t align)
{
	unsigned long start = ALIGN(memblock.next, align);

	if (start + size > memblock.end)
		panic("memblock_alloc: Failed to allocate %lu bytes align=0x%lx", size, align);
	memblock.next = start + size;
	return __va(start);		/* RAM is zero at power-on */
}

unsigned long memblock_free_range(unsigned long *end);
unsigned long memblock_free_range(unsigned long *end)
{
	*end = memblock.end & PAGE_MASK;
	return PAGE_ALIGN(memblock.next);
}

void notrace x86_64_start_kernel(void)
{
	int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		__per_cpu_offset[cpu] = (unsigned long)__per_cpu_load;
	this_cpu_write(this_cpu_off, (unsigned long)__per_cpu_load);
	idt_setup_traps();
	load_current_idt();
	start_kernel();
}

static void __init e820__print_table(const char *who)
{
	pr_info("%s: [mem 0x%016lx-0x%016lx] usable\n", who, 0x1000UL, boot_params.mem_size - 1);
}

void __init setup_arch(char **cmdline_p)
{
	unsigned int cpu;

	pr_info("Command line: %s\n", boot_params.cmdline);
	pr_info("BIOS-provided physical RAM map:\n");
	e820__print_table("BIOS-e820");
	pr_info("NX (Execute Disable) protection: active\n");
	memblock.next = boot_params.free_start;
	memblock.end = boot_params.free_end;
	max_pfn = boot_params.mem_size >> PAGE_SHIFT;
	pr_info("last_pfn = 0x%lx max_arch_pfn = 0x%lx\n", max_pfn, 1UL << 36);
	init_mm.pgd = __va(boot_params.init_pgt);
	if (boot_params.initrd_size)
		pr_info("RAMDISK: [mem 0x%08lx-0x%08lx]\n", boot_params.initrd_start,
			boot_params.initrd_start + boot_params.initrd_size - 1);
	nr_cpu_ids = clamp(boot_params.nr_cpus, 1u, (unsigned int)NR_CPUS);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		__cpumask_set_cpu(cpu, &__cpu_possible_mask);
		__cpumask_set_cpu(cpu, &__cpu_present_mask);
	}
	pr_info("smpboot: Allowing %u CPUs, 0 hotplug CPUs\n", nr_cpu_ids);
	*cmdline_p = boot_params.cmdline;
}

static void __init setup_percpu_gdt(unsigned int cpu)
{
	u64 *gdt = per_cpu(gdt_page, cpu).gdt;
	unsigned long tss = (unsigned long)&per_cpu(cpu_tss_rw, cpu);
	unsigned long limit = sizeof(struct x86_hw_tss) - 1;

	gdt[GDT_ENTRY_TSS] = limit | (tss & 0xffffff) << 16 | 0x89UL << 40 | (tss >> 24 & 0xff) << 56;
	gdt[GDT_ENTRY_TSS + 1] = tss >> 32;
}

/* One copy of the per-CPU section for each possible CPU; CPU 0 moves from the load image to its own copy here. */
void __init setup_per_cpu_areas(void)
{
	size_t size = __per_cpu_end - __per_cpu_start;
	unsigned int cpu;

	pr_info("setup_percpu: NR_CPUS:%d nr_cpumask_bits:%d nr_cpu_ids:%u nr_node_ids:1\n", NR_CPUS, NR_CPUS, nr_cpu_ids);
	for_each_possible_cpu(cpu) {
		char *area = memblock_alloc(size, PAGE_SIZE);

		memcpy(area, __per_cpu_load, size);
		__per_cpu_offset[cpu] = (unsigned long)area;	/* the section is linked at 0 */
		per_cpu(this_cpu_off, cpu) = __per_cpu_offset[cpu];
		per_cpu(cpu_number, cpu) = cpu;
		per_cpu(hardirq_stack_ptr, cpu) = (char *)memblock_alloc(IRQ_STACK_SIZE, PAGE_SIZE) + IRQ_STACK_SIZE - 8;
		setup_percpu_gdt(cpu);
	}
	switch_to_new_gdt(0);
	pr_info("percpu: Embedded %lu pages/cpu s%lu r0 d0 u%lu\n", PAGE_ALIGN(size) >> PAGE_SHIFT, size, PAGE_ALIGN(size));
}

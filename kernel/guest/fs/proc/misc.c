/* The files of /proc that are about the whole machine (Linux's fs/proc/{cmdline,cpuinfo,meminfo,uptime,version}.c, kallsyms.c). */
#include "proc_fs.h"
#include "kallsyms.h"
#include "mm.h"
#include "vmstat.h"
#include "module.h"
#include "export.h"
#include "processor.h"
#include "sched.h"
#include "init.h"
#include "utsname.h"
#include "kernel_stat.h"

static int cmdline_proc_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", boot_params.cmdline);
	return 0;
}

static int version_proc_show(struct seq_file *m, void *v)
{
	seq_puts(m, linux_banner);
	return 0;
}

static int uptime_proc_show(struct seq_file *m, void *v)
{
	u64 up = ktime_get() / (NSEC_PER_SEC / 100), idle = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		idle += get_idle_time(cpu);
	idle /= NSEC_PER_SEC / 100;
	seq_printf(m, "%lu.%02lu %lu.%02lu\n", up / 100, up % 100, idle / 100, idle % 100);
	return 0;
}

static int meminfo_proc_show(struct seq_file *m, void *v)
{
	unsigned long total = totalram_pages() << 2, free = nr_free_pages() << 2, cached = node_page_state(NR_FILE_PAGES) << 2;

	seq_printf(m, "MemTotal:       %8lu kB\nMemFree:        %8lu kB\nMemAvailable:   %8lu kB\nCached:         %8lu kB\n", total, free,
		   free + cached, cached);
	seq_printf(m, "SwapTotal:      %8lu kB\nSwapFree:       %8lu kB\nAnonPages:      %8lu kB\nMapped:         %8lu kB\n", 0UL, 0UL,
		   node_page_state(NR_ANON_MAPPED) << 2, node_page_state(NR_FILE_MAPPED) << 2);
	seq_printf(m, "KernelStack:    %8lu kB\nPageTables:     %8lu kB\n", node_page_state(NR_KERNEL_STACK_KB), node_page_state(NR_PAGETABLE) << 2);
	return 0;
}

static void cpuid(u32 leaf, u32 *a, u32 *b, u32 *c, u32 *d)
{
	asm volatile("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(*d) : "0"(leaf), "2"(0));
}

/* The bits that this CPU may report, word by word, in the order in which Linux numbers them (cpufeatures.h). */
static const struct cpu_flag { u32 leaf; char reg; u8 bit; const char *name; } cpu_flags[] = {
	{ 1, 'd', 3, "pse" }, { 1, 'd', 4, "tsc" }, { 1, 'd', 5, "msr" }, { 1, 'd', 6, "pae" }, { 1, 'd', 8, "cx8" }, { 1, 'd', 9, "apic" },
	{ 1, 'd', 13, "pge" }, { 1, 'd', 15, "cmov" }, { 1, 'd', 16, "pat" }, { 1, 'd', 19, "clflush" },
	{ 0x80000001, 'd', 11, "syscall" }, { 0x80000001, 'd', 20, "nx" }, { 0x80000001, 'd', 26, "pdpe1gb" }, { 0x80000001, 'd', 27, "rdtscp" },
	{ 0x80000001, 'd', 29, "lm" }, { 0x80000007, 'd', 8, "constant_tsc" }, { 0x80000007, 'd', 8, "nonstop_tsc" },
	{ 1, 'c', 13, "cx16" }, { 1, 'c', 21, "x2apic" }, { 1, 'c', 22, "movbe" }, { 1, 'c', 23, "popcnt" },
	{ 1, 'c', 24, "tsc_deadline_timer" }, { 1, 'c', 31, "hypervisor" }, { 0x80000001, 'c', 0, "lahf_lm" },
	{ 7, 'b', 0, "fsgsbase" }, { 7, 'b', 7, "smep" }, { 7, 'b', 9, "erms" },
};

static void show_cpu_flags(struct seq_file *m)
{
	const struct cpu_flag *f;
	u32 a, b, c, d;

	seq_puts(m, "flags\t\t:");
	for (f = cpu_flags; f < cpu_flags + ARRAY_SIZE(cpu_flags); f++) {
		cpuid(f->leaf, &a, &b, &c, &d);
		if ((f->reg == 'b' ? b : f->reg == 'c' ? c : d) >> f->bit & 1)
			seq_printf(m, " %s", f->name);
	}
}

static int show_cpuinfo(struct seq_file *m, void *v)
{
	u32 a, b, c, d, vendor[4] = { 0 }, model[13] = { 0 }, level, sizes, i;
	int cpu;

	cpuid(0, &level, &vendor[0], &vendor[2], &vendor[1]);
	for (i = 0; i < 3; i++)
		cpuid(0x80000002 + i, &model[4 * i], &model[4 * i + 1], &model[4 * i + 2], &model[4 * i + 3]);
	cpuid(0x80000008, &sizes, &b, &c, &d);
	cpuid(1, &a, &b, &c, &d);
	for_each_online_cpu(cpu) {
		seq_printf(m, "processor\t: %d\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\nstepping\t: %u\n", cpu,
			   (char *)vendor, a >> 8 & 15, (a >> 4 & 15) | (a >> 12 & 0xf0), (char *)model, a & 15);
		seq_printf(m, "cpu MHz\t\t: 1000.000\nphysical id\t: 0\nsiblings\t: %u\ncore id\t\t: %d\ncpu cores\t: %u\napicid\t\t: %d\n"
			   "initial apicid\t: %d\n", num_online_cpus(), cpu, num_online_cpus(), cpu, cpu);
		seq_printf(m, "fpu\t\t: %s\nfpu_exception\t: %s\ncpuid level\t: %u\nwp\t\t: yes\n", d & 1 ? "yes" : "no", d & 1 ? "yes" : "no", level);
		show_cpu_flags(m);
		seq_printf(m, "\nbugs\t\t:\nbogomips\t: 2000.00\nclflush size\t: 64\ncache_alignment\t: 64\n"
			   "address sizes\t: %u bits physical, %u bits virtual\npower management:\n\n", sizes & 0xff, sizes >> 8 & 0xff);
	}
	return 0;
}

extern int kptr_restrict;
extern const u32 kallsyms_num_syms __attribute__((weak));

struct ksym { unsigned long addr; char type, name[KSYM_NAME_LEN], module[MODULE_NAME_LEN]; };

/* The kernel's symbols, then those of the modules. */
static bool get_ksym(u64 i, struct ksym *k)
{
	const char *name;

	k->module[0] = 0;
	if (kallsyms_get_symbol(i, &k->addr, &k->type, &name)) {
		strscpy(k->name, name, KSYM_NAME_LEN);
		return true;
	}
	i -= &kallsyms_num_syms ? kallsyms_num_syms : 0;
	return !module_get_kallsym(i, &k->addr, &k->type, k->name, k->module);
}

/* kallsyms=exported on the command line: what a kernel with CONFIG_KALLSYMS_ALL=n is said to show. */
static bool exported_only;
extern const struct kernel_symbol __start___ksymtab[], __stop___ksymtab[];

static bool is_exported(const char *name)
{
	const struct kernel_symbol *s;

	for (s = __start___ksymtab; s < __stop___ksymtab; s++) {
		if (!strcmp((const char *)&s->name_offset + s->name_offset, name))	/* relative to its own place */
			return true;
	}
	return false;
}

static void *s_start(struct seq_file *m, loff_t *pos)
{
	struct ksym k;

	return get_ksym(*pos, &k) ? (void *)(*pos + 1) : NULL;
}

static void *s_next(struct seq_file *m, void *p, loff_t *pos)
{
	++*pos;
	return s_start(m, pos);
}

static void s_stop(struct seq_file *m, void *p)
{
}

static int s_show(struct seq_file *m, void *p)
{
	struct ksym k;

	if (!get_ksym((unsigned long)p - 1, &k) || !k.name[0] || (exported_only && !is_exported(k.name)))
		return SEQ_SKIP;
	if (k.module[0])
		seq_printf(m, "%016lx %c %s\t[%s]\n", kptr_restrict == 2 ? 0 : k.addr, k.type, k.name, k.module);
	else
		seq_printf(m, "%016lx %c %s\n", kptr_restrict == 2 ? 0 : k.addr, k.type, k.name);
	return 0;
}

static const struct seq_operations kallsyms_op = { .start = s_start, .next = s_next, .stop = s_stop, .show = s_show };

void __init proc_misc_init(void)
{
	exported_only = strstr(boot_params.cmdline, "kallsyms=exported");
	proc_create_single("cmdline", 0444, NULL, cmdline_proc_show);
	proc_create_single("cpuinfo", 0444, NULL, show_cpuinfo);
	proc_create_single("filesystems", 0444, NULL, filesystems_proc_show);
	proc_create_seq("kallsyms", 0444, NULL, &kallsyms_op);
	proc_create_single("meminfo", 0444, NULL, meminfo_proc_show);
	proc_symlink("mounts", NULL, "self/mounts");
	proc_symlink("thread-self", NULL, NULL);
	proc_symlink("self", NULL, NULL);	/* for listings: proc_self_lookup() makes the link itself */
	proc_create_single("uptime", 0444, NULL, uptime_proc_show);
	proc_create_single("version", 0444, NULL, version_proc_show);
}

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

static int show_cpuinfo(struct seq_file *m, void *v)
{
	u32 a, b, c, d, vendor[4] = { 0 };
	int cpu;

	cpuid(0, &a, &vendor[0], &vendor[2], &vendor[1]);
	cpuid(1, &a, &b, &c, &d);
	for_each_online_cpu(cpu)
		seq_printf(m, "processor\t: %d\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nstepping\t: %u\ncpu MHz\t\t: 1000.000\n"
			   "apicid\t\t: %d\naddress sizes\t: 36 bits physical, 48 bits virtual\n\n",
			   cpu, (char *)vendor, a >> 8 & 15, (a >> 4 & 15) | (a >> 12 & 0xf0), a & 15, cpu);
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

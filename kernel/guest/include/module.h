#pragma once
/*
 * Loadable modules (include/linux/module.h). The ELF work (checks, layout, symbols, relocations) is the host's
 * (kernel/module.go, behind the gates below); lists, states, references, parameters and memory are kernel/module/'s.
 */
#include "kernel.h"
#include "export.h"
#include "moduleparam.h"
#include "atomic.h"
#include "err.h"
#define MODULE_NAME_LEN	(64 - sizeof(unsigned long))
#define VERMAGIC_STRING	"6.1.0-kscope SMP preempt mod_unload "	/* init/version.c: UTS_RELEASE */
enum module_state { MODULE_STATE_LIVE, MODULE_STATE_COMING, MODULE_STATE_GOING, MODULE_STATE_UNFORMED };
struct module_layout { void *base; unsigned int size, text_size, ro_size, ro_after_init_size; };
struct elf64_sym { u32 st_name; u8 st_info, st_other; u16 st_shndx; u64 st_value, st_size; };
struct mod_kallsyms { struct elf64_sym *symtab; unsigned int num_symtab; char *strtab, *typetab; };
struct exception_table_entry;
struct notifier_block;
struct module {
	enum module_state state;
	struct list_head list;			/* in modules */
	char name[MODULE_NAME_LEN];
	const struct kernel_symbol *syms;
	unsigned int num_syms;
	struct kernel_param *kp;
	unsigned int num_kp, num_gpl_syms;
	const struct kernel_symbol *gpl_syms;
	bool using_gplonly_symbols;
	unsigned int num_exentries;
	struct exception_table_entry *extable;
	int (*init)(void);
	struct module_layout core_layout, init_layout;
	unsigned long taints;
	struct mod_kallsyms *kallsyms, core_kallsyms;
	char *args;
	unsigned long *ftrace_callsites;
	unsigned int num_ftrace_callsites;
	const char **trace_bprintk_fmt_start;
	unsigned int num_trace_bprintk_fmt;
	struct list_head source_list;		/* what uses us */
	struct list_head target_list;		/* what we use */
	void (*exit)(void);
	atomic_t refcnt;			/* MODULE_REF_BASE while it lives */
	u64 id;					/* the host's */
};
extern struct list_head modules;
extern struct module __this_module;
#ifdef MODULE
#define THIS_MODULE	(&__this_module)
#undef module_init
#define module_init(fn) \
	static inline initcall_t __maybe_unused __inittest(void) { return fn; } \
	int init_module(void) __attribute__((alias(#fn)))
#define module_exit(fn) \
	static inline void __maybe_unused __exittest(void) { (void)(void (*)(void))fn; } \
	void cleanup_module(void) __attribute__((alias(#fn)))
#undef __init
#define __init		__attribute__((section(".init.text"))) noinline	/* traced, as since Linux 4.14 */
#undef __exit
#define __exit		__attribute__((section(".exit.text"))) __used
#else
#define THIS_MODULE	((struct module *)0)
#define module_exit(fn)
#endif
#define MODULE_INFO(tag, info)	__MODULE_INFO(tag, info)
#define MODULE_LICENSE(s)	MODULE_INFO(license, s)
#define MODULE_AUTHOR(s)	MODULE_INFO(author, s)
#define MODULE_DESCRIPTION(s)	MODULE_INFO(description, s)
#define MODULE_VERSION(s)	MODULE_INFO(version, s)
#define MODULE_ALIAS(s)		MODULE_INFO(alias, s)

bool try_module_get(struct module *module);
void __module_get(struct module *module);
void module_put(struct module *module);
/* Of an open file: the driver stays loaded. */
#define fops_get(fops)	((fops) && (!(fops)->owner || try_module_get((fops)->owner)) ? (fops) : NULL)
#define replace_fops(f, fops)	do { const struct file_operations *__fops = (fops); fops_put((f)->f_op); (f)->f_op = __fops; } while (0)
#define fops_put(fops)	do { if ((fops) && (fops)->owner) module_put((fops)->owner); } while (0)
int module_refcount(struct module *mod);
struct module *find_module(const char *name);
struct module *__module_address(unsigned long addr);
struct module *__module_text_address(unsigned long addr);
int register_module_notifier(struct notifier_block *nb);
int unregister_module_notifier(struct notifier_block *nb);
const struct exception_table_entry *search_module_extables(unsigned long addr);
void sort_extable(struct exception_table_entry *start, struct exception_table_entry *finish);
const char *module_address_lookup(unsigned long addr, unsigned long *size, unsigned long *offset, const char **modname);
unsigned long module_kallsyms_lookup_name(const char *name);
int module_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *name, char *module_name);
long ksys_load_module_file(const char *path, const char *args);
long ksys_delete_module(const char *name, unsigned int flags);

/* The gates. id names the host's parse of the file from module_elf_check on until module_drop. */
struct load_info {
	const void *hdr;			/* 0: the file */
	unsigned long len;			/* 8 */
	u64 id;					/* 16: out, as all below */
	unsigned long modinfo, modinfo_len;	/* 24, 32: offset and length of .modinfo in the file */
	unsigned long core_size, core_text, core_ro, init_size, init_text, init_ro;	/* 40 .. 80 */
	struct module *mod;			/* 88: this and the rest are ours */
	const char *name;
	bool live;
};
long module_elf_check(struct load_info *info);			/* elf_validity_check, setup_load_info, layout_sections */
long module_move(u64 id, void *core, void *init);		/* copies the sections; where struct module lies, or -errno */
long module_simplify_symbols(u64 id, u64 gplok);		/* resolves what is undefined */
struct module *module_owner(u64 id, u64 i);			/* the i-th module that it now uses, NULL behind the last */
long module_relocate(u64 id);
void *module_section(u64 id, const char *name, u64 *size);	/* where a section lies */
long module_notify(u64 id, struct module *mod, u64 event);	/* MODEV_* */
long module_message(char *buf, u64 len);			/* the next line for the log, with its level; 0: none */
void module_drop(u64 id);					/* forget the parse (failed load, unloaded module) */
enum { MODEV_INIT, MODEV_COMING, MODEV_LIVE, MODEV_FREE_INIT, MODEV_GOING, MODEV_RELEASE };

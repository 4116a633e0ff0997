/* Symbols of modules (kernel/module/kallsyms.c). Readers hold off preemption; a module leaves the list before its memory. */
#include "internal.h"
#include "kallsyms.h"

/* The host has put symbol table, names and types behind the module's data: what kallsyms shows of the sections that stay. */
void add_kallsyms(struct module *mod)
{
	u64 size;

	mod->kallsyms = &mod->core_kallsyms;
	mod->kallsyms->symtab = module_section(mod->id, ".symtab", &size);
	mod->kallsyms->num_symtab = size / sizeof(struct elf64_sym);
	mod->kallsyms->strtab = module_section(mod->id, ".strtab", &size);
	mod->kallsyms->typetab = module_section(mod->id, ".typetab", &size);
}

static const char *kallsyms_symbol_name(struct mod_kallsyms *kallsyms, unsigned int symnum)
{
	return kallsyms->strtab + kallsyms->symtab[symnum].st_name;
}

/* The nearest symbol at or below @addr; it reaches to the next one, or to the end of the text or of the module. */
static noinline const char *find_kallsyms_symbol(struct module *mod, unsigned long addr, unsigned long *size, unsigned long *offset)
{
	struct mod_kallsyms *kallsyms = mod->kallsyms;
	unsigned long base = (unsigned long)mod->core_layout.base, nextval, bestval = 0;
	unsigned int i, best = 0;

	nextval = base + (addr < base + mod->core_layout.text_size ? mod->core_layout.text_size : mod->core_layout.size);
	for (i = 1; i < kallsyms->num_symtab; i++) {
		unsigned long val = kallsyms->symtab[i].st_value;

		if (val <= addr && val > bestval) {
			best = i;
			bestval = val;
		}
		if (val > addr && val < nextval)
			nextval = val;
	}
	if (!best)
		return NULL;
	*size = nextval - bestval;
	*offset = addr - bestval;
	return kallsyms_symbol_name(kallsyms, best);
}

const char *module_address_lookup(unsigned long addr, unsigned long *size, unsigned long *offset, const char **modname)
{
	const char *ret = NULL;
	struct module *mod;

	preempt_disable();
	mod = __module_address(addr);
	if (mod && mod->kallsyms) {
		*modname = mod->name;
		ret = find_kallsyms_symbol(mod, addr, size, offset);
	}
	preempt_enable();
	return ret;
}

static unsigned long find_kallsyms_symbol_value(struct module *mod, const char *name)
{
	unsigned int i;

	for (i = 1; mod->kallsyms && i < mod->kallsyms->num_symtab; i++)
		if (!strcmp(name, kallsyms_symbol_name(mod->kallsyms, i)))
			return mod->kallsyms->symtab[i].st_value;
	return 0;
}

/* "name" or "module:name". */
unsigned long module_kallsyms_lookup_name(const char *name)
{
	const char *colon = strchr(name, ':');
	unsigned long ret = 0;
	struct module *mod;

	preempt_disable();
	list_for_each_entry(mod, &modules, list) {
		if (mod->state == MODULE_STATE_UNFORMED)
			continue;
		if (colon && (strncmp(mod->name, name, colon - name) || mod->name[colon - name]))
			continue;
		ret = find_kallsyms_symbol_value(mod, colon ? colon + 1 : name);
		if (ret)
			break;
	}
	preempt_enable();
	return ret;
}

static bool is_exported(const char *name, struct module *mod)
{
	const struct kernel_symbol *tables[] = { mod->syms, mod->gpl_syms };
	unsigned int nums[] = { mod->num_syms, mod->num_gpl_syms }, t, i;

	for (t = 0; t < 2; t++)
		for (i = 0; i < nums[t]; i++)
			if (!strcmp(name, (const char *)&tables[t][i].name_offset + tables[t][i].name_offset))
				return true;
	return false;
}

/* The symnum-th symbol of all modules; -ERANGE behind the last. */
int module_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *name, char *module_name)
{
	struct module *mod;

	preempt_disable();
	list_for_each_entry(mod, &modules, list) {
		struct mod_kallsyms *kallsyms = mod->kallsyms;

		if (mod->state == MODULE_STATE_UNFORMED || !kallsyms)
			continue;
		if (symnum + 1 < kallsyms->num_symtab) {
			symnum++;	/* entry 0 is empty */
			*value = kallsyms->symtab[symnum].st_value;
			*type = kallsyms->typetab[symnum];
			strscpy(name, kallsyms_symbol_name(kallsyms, symnum), KSYM_NAME_LEN);
			strscpy(module_name, mod->name, MODULE_NAME_LEN);
			if (is_exported(name, mod))
				*type -= 'a' - 'A';
			preempt_enable();
			return 0;
		}
		symnum -= kallsyms->num_symtab - 1;
	}
	preempt_enable();
	return -ERANGE;
}

/* Modules in reports: print_modules (kernel/module/main.c). */
#include "internal.h"

static struct { char name[MODULE_NAME_LEN], taints[MODULE_FLAGS_BUF_SIZE]; } last_unloaded_module;

static size_t module_flags_taint(unsigned long taints, char *buf)
{
	static const char letters[] = "PFSRMBUDAWCIOELKXTN";	/* taint_flags in kernel/panic.c */
	size_t i, l = 0;

	for (i = 0; i < sizeof(letters) - 1; i++)
		if (taints >> i & 1)
			buf[l++] = letters[i];
	return l;
}

char *module_flags(struct module *mod, char *buf, bool show_state)
{
	int bx = 0;

	if (mod->taints || (show_state && (mod->state == MODULE_STATE_GOING || mod->state == MODULE_STATE_COMING))) {
		buf[bx++] = '(';
		bx += module_flags_taint(mod->taints, buf + bx);
		if (show_state && mod->state == MODULE_STATE_GOING)
			buf[bx++] = '-';
		if (show_state && mod->state == MODULE_STATE_COMING)
			buf[bx++] = '+';
		buf[bx++] = ')';
	}
	buf[bx] = 0;
	return buf;
}

void module_remember_unloaded(struct module *mod)
{
	strscpy(last_unloaded_module.name, mod->name, sizeof(last_unloaded_module.name));
	module_flags(mod, last_unloaded_module.taints, false);
}

void print_modules(void)
{
	char buf[MODULE_FLAGS_BUF_SIZE];
	struct module *mod;

	printk(KERN_DEFAULT "Modules linked in:");
	preempt_disable();
	list_for_each_entry(mod, &modules, list)
		if (mod->state != MODULE_STATE_UNFORMED)
			pr_cont(" %s%s", mod->name, module_flags(mod, buf, true));
	preempt_enable();
	if (last_unloaded_module.name[0])
		pr_cont(" [last unloaded: %s%s]", last_unloaded_module.name, last_unloaded_module.taints);
	pr_cont("\n");
}

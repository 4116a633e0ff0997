/* Modules as text: print_modules and /proc/modules (kernel/module/main.c, procfs.c, kernel/module/tracking.c). */
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

static int print_unload_info(struct module *mod, char *buf, size_t size)
{
	struct module_use *use;
	int n = scnprintf(buf, size, " %i ", module_refcount(mod)), printed = 0;

	list_for_each_entry(use, &mod->source_list, source_list) {
		printed = 1;
		n += scnprintf(buf + n, size - n, "%s,", use->source->name);
	}
	if (mod->init && !mod->exit) {
		printed = 1;
		n += scnprintf(buf + n, size - n, "[permanent],");
	}
	if (!printed)
		n += scnprintf(buf + n, size - n, "-");
	return n;
}

static int m_show(struct module *mod, char *buf, size_t size)
{
	char flags[MODULE_FLAGS_BUF_SIZE];
	int n = scnprintf(buf, size, "%s %u", mod->name, mod->init_layout.size + mod->core_layout.size);

	n += print_unload_info(mod, buf + n, size - n);
	n += scnprintf(buf + n, size - n, " %s 0x%016lx", mod->state == MODULE_STATE_GOING ? "Unloading" :
		       mod->state == MODULE_STATE_COMING ? "Loading" : "Live", (unsigned long)mod->core_layout.base);
	if (mod->taints)
		n += scnprintf(buf + n, size - n, " %s", module_flags(mod, flags, true));
	return n + scnprintf(buf + n, size - n, "\n");
}

int modules_show(char *buf, size_t size)
{
	struct module *mod;
	int n = 0;

	mutex_lock(&module_mutex);
	list_for_each_entry(mod, &modules, list)
		if (mod->state != MODULE_STATE_UNFORMED)
			n += m_show(mod, buf + n, size - n);
	mutex_unlock(&module_mutex);
	return n;
}

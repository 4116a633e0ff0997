/* /proc/modules (kernel/module/procfs.c). The reader holds module_mutex from start to stop. */
#include "internal.h"
#include "proc_fs.h"

static void *m_start(struct seq_file *m, loff_t *pos)
{
	struct list_head *p;
	loff_t n = *pos;

	mutex_lock(&module_mutex);
	list_for_each(p, &modules)
		if (n-- == 0)
			return p;
	return NULL;
}

static void *m_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct list_head *p = v;

	++*pos;
	return p->next == &modules ? NULL : p->next;
}

static void m_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&module_mutex);
}

static void print_unload_info(struct seq_file *m, struct module *mod)
{
	struct module_use *use;
	int printed_something = 0;

	seq_printf(m, " %i ", module_refcount(mod));
	list_for_each_entry(use, &mod->source_list, source_list) {
		printed_something = 1;
		seq_printf(m, "%s,", use->source->name);
	}
	if (mod->init && !mod->exit) {
		printed_something = 1;
		seq_puts(m, "[permanent],");
	}
	if (!printed_something)
		seq_puts(m, "-");
}

static int m_show(struct seq_file *m, void *p)
{
	struct module *mod = list_entry((struct list_head *)p, struct module, list);
	char buf[MODULE_FLAGS_BUF_SIZE];

	if (mod->state == MODULE_STATE_UNFORMED)
		return 0;
	seq_printf(m, "%s %u", mod->name, mod->init_layout.size + mod->core_layout.size);
	print_unload_info(m, mod);
	seq_printf(m, " %s", mod->state == MODULE_STATE_GOING ? "Unloading" : mod->state == MODULE_STATE_COMING ? "Loading" : "Live");
	seq_printf(m, " 0x%016lx", (unsigned long)mod->core_layout.base);
	if (mod->taints)
		seq_printf(m, " %s", module_flags(mod, buf, true));
	seq_puts(m, "\n");
	return 0;
}

static const struct seq_operations modules_op = { .start = m_start, .next = m_next, .stop = m_stop, .show = m_show };

static int __init proc_modules_init(void)
{
	proc_create_seq("modules", 0444, NULL, &modules_op);
	return 0;
}
device_initcall(proc_modules_init);

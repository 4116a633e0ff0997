/*
 * Loading modules (kernel/module/main.c). What needs the ELF file is done by the host behind gates; the order of the
 * steps, the list of modules, their states, memory and failures are here:
 *
 *	load_module: elf_validity_check -> layout_and_allocate -> add_unformed_module -> simplify_symbols ->
 *	apply_relocations -> post_relocation -> ftrace_module_init -> complete_formation -> prepare_coming_module ->
 *	parse_args -> do_init_module
 *
 * module_mutex protects the list's writers; readers hold off preemption, and free_module waits for them.
 */
#include "internal.h"
#include "notifier.h"
#include "uaccess.h"
#include "vmalloc.h"
#include "rcupdate.h"
#include "ftrace.h"
#include "tracepoint.h"

LIST_HEAD(modules);
DEFINE_MUTEX(module_mutex);
DECLARE_WAIT_QUEUE_HEAD(module_wq);
BLOCKING_NOTIFIER_HEAD(module_notify_list);
int do_one_initcall(initcall_t fn);

void module_log(void)
{
	char line[256];

	while (module_message(line, sizeof(line)) > 0)
		printk("%s\n", line);
}

int register_module_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&module_notify_list, nb);
}

int unregister_module_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_unregister(&module_notify_list, nb);
}

/* The host's own subscriber: symbols, unwind rows, events. */
static int host_module_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	static const u8 event[] = {
		[MODULE_STATE_LIVE] = MODEV_LIVE, [MODULE_STATE_COMING] = MODEV_COMING, [MODULE_STATE_GOING] = MODEV_GOING,
	};
	struct module *mod = data;

	return notifier_from_errno(module_notify(mod->id, mod, event[val]));
}

static struct notifier_block host_module_nb = { .notifier_call = host_module_notify };

static int __init module_notifier_init(void)
{
	return register_module_notifier(&host_module_nb);
}
core_initcall(module_notifier_init);

struct module *find_module_all(const char *name, size_t len, bool even_unformed)
{
	struct module *mod;

	list_for_each_entry(mod, &modules, list) {
		if (!even_unformed && mod->state == MODULE_STATE_UNFORMED)
			continue;
		if (strlen(mod->name) == len && !memcmp(mod->name, name, len))
			return mod;
	}
	return NULL;
}

struct module *find_module(const char *name)
{
	return find_module_all(name, strlen(name), false);
}

static bool within_layout(unsigned long addr, struct module_layout *l, unsigned long size)
{
	return addr - (unsigned long)l->base < size;
}

struct module *__module_address(unsigned long addr)
{
	struct module *mod;

	if (addr < MODULES_VADDR || addr >= MODULES_END)
		return NULL;
	list_for_each_entry(mod, &modules, list) {
		if (mod->state == MODULE_STATE_UNFORMED)
			continue;
		if (within_layout(addr, &mod->core_layout, mod->core_layout.size) ||
		    within_layout(addr, &mod->init_layout, mod->init_layout.size))
			return mod;
	}
	return NULL;
}

struct module *__module_text_address(unsigned long addr)
{
	struct module *mod = __module_address(addr);

	if (mod && !within_layout(addr, &mod->core_layout, mod->core_layout.text_size) &&
	    !within_layout(addr, &mod->init_layout, mod->init_layout.text_size))
		mod = NULL;
	return mod;
}

const struct exception_table_entry *search_module_extables(unsigned long addr)
{
	const struct exception_table_entry *e = NULL;
	struct module *mod;
	unsigned int i;

	preempt_disable();
	mod = __module_address(addr);
	for (i = 0; mod && i < mod->num_exentries; i++) {
		if ((unsigned long)&mod->extable[i].insn + mod->extable[i].insn == addr) {
			e = &mod->extable[i];
			break;
		}
	}
	preempt_enable();
	return e;
}

/* The value of "tag=value" in .modinfo. */
static char *get_modinfo(const struct load_info *info, const char *tag)
{
	const char *p = (char *)info->hdr + info->modinfo, *end = p + info->modinfo_len;
	unsigned int taglen = strlen(tag);

	while (p < end) {
		if (!strncmp(p, tag, taglen) && p[taglen] == '=')
			return (char *)p + taglen + 1;
		p += strlen(p) + 1;
	}
	return NULL;
}

static int elf_validity_check(struct load_info *info)
{
	int err = module_elf_check(info);

	module_log();
	return err;
}

static int setup_load_info(struct load_info *info)
{
	info->name = get_modinfo(info, "name");
	if (!info->name)
		info->name = "(missing .modinfo name field)";
	return 0;
}

static int check_modinfo(const struct load_info *info)
{
	const char *modmagic = get_modinfo(info, "vermagic");

	if (modmagic && strcmp(modmagic, VERMAGIC_STRING)) {
		pr_err("%s: version magic '%s' should be '%s'\n", info->name, modmagic, VERMAGIC_STRING);
		return -ENOEXEC;
	}
	if (!modmagic) {	/* needs force, which is off: CONFIG_MODULE_FORCE_LOAD */
		pr_err("%s: no version magic\n", info->name);
		return -ENOEXEC;
	}
	return 0;
}

static void add_taint_module(struct module *mod, unsigned int flag)
{
	add_taint(flag);
	set_bit(flag, &mod->taints);
}

static bool license_is_gpl_compatible(const char *license)
{
	static const char *const ok[] = { "GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ok); i++)
		if (!strcmp(license, ok[i]))
			return true;
	return false;
}

static void module_augment_kernel_taints(struct module *mod, struct load_info *info)
{
	const char *license = get_modinfo(info, "license") ?: "unspecified";

	if (!get_modinfo(info, "intree")) {
		if (!test_taint(TAINT_OOT_MODULE))
			pr_warn("%s: loading out-of-tree module taints kernel.\n", mod->name);
		add_taint_module(mod, TAINT_OOT_MODULE);
	}
	if (!license_is_gpl_compatible(license)) {
		if (!test_taint(TAINT_PROPRIETARY_MODULE)) {
			pr_warn("%s: module license '%s' taints kernel.\n", mod->name, license);
			pr_warn("Disabling lock debugging due to kernel taint\n");
		}
		add_taint_module(mod, TAINT_PROPRIETARY_MODULE);
	}
}

static noinline void *move_module(struct load_info *info)
{
	void *core, *init = NULL;
	long mod;

	core = module_alloc(info->core_size);
	if (!core)
		return ERR_PTR(-ENOMEM);
	if (info->init_size) {
		init = module_alloc(info->init_size);
		if (!init) {
			vfree(core);
			return ERR_PTR(-ENOMEM);
		}
	}
	mod = module_move(info->id, core, init);
	if (mod < 0 && mod >= -4095) {
		vfree(init);
		vfree(core);
		return ERR_PTR(mod);
	}
	info->mod = (struct module *)mod;
	info->mod->core_layout = (struct module_layout){ core, info->core_size, info->core_text, info->core_ro, info->core_ro };
	info->mod->init_layout = (struct module_layout){ init, info->init_size, info->init_text, info->init_ro, info->init_ro };
	info->mod->id = info->id;
	strscpy(info->mod->name, info->name, MODULE_NAME_LEN);
	return info->mod;
}

static noinline struct module *layout_and_allocate(struct load_info *info)
{
	int err = check_modinfo(info);

	return err ? ERR_PTR(err) : move_module(info);
}

static void module_deallocate(struct module *mod)
{
	void *core = mod->core_layout.base, *init = mod->init_layout.base;

	vfree(init);
	vfree(core);
}

static bool finished_loading(const char *name)
{
	struct module *mod;
	bool ret;

	mutex_lock(&module_mutex);
	mod = find_module_all(name, strlen(name), true);
	ret = !mod || mod->state == MODULE_STATE_LIVE;
	mutex_unlock(&module_mutex);
	return ret;
}

/* Reserves the name. Who finds another load of it under way waits how that ends. */
static noinline int add_unformed_module(struct module *mod)
{
	struct module *old;
	int err;

	mod->state = MODULE_STATE_UNFORMED;
again:
	mutex_lock(&module_mutex);
	old = find_module_all(mod->name, strlen(mod->name), true);
	if (!old) {
		list_add(&mod->list, &modules);
		err = 0;
	} else if (old->state != MODULE_STATE_LIVE) {
		mutex_unlock(&module_mutex);
		err = wait_event_interruptible(module_wq, finished_loading(mod->name));
		if (err)
			return err;
		goto again;
	} else {
		err = -EEXIST;
	}
	mutex_unlock(&module_mutex);
	return err;
}

static void *section_objs(struct module *mod, const char *name, size_t object_size, unsigned int *num)
{
	u64 size = 0;
	void *p = module_section(mod->id, name, &size);

	*num = size / object_size;
	return p;
}

static int find_module_sections(struct module *mod)
{
	mod->kp = section_objs(mod, "__param", sizeof(*mod->kp), &mod->num_kp);
	mod->syms = section_objs(mod, "__ksymtab", sizeof(*mod->syms), &mod->num_syms);
	mod->gpl_syms = section_objs(mod, "__ksymtab_gpl", sizeof(*mod->gpl_syms), &mod->num_gpl_syms);
	mod->ftrace_callsites = section_objs(mod, "__mcount_loc", sizeof(*mod->ftrace_callsites), &mod->num_ftrace_callsites);
	mod->trace_bprintk_fmt_start = section_objs(mod, "__trace_printk_fmt", sizeof(*mod->trace_bprintk_fmt_start),
						    &mod->num_trace_bprintk_fmt);
	mod->extable = section_objs(mod, "__ex_table", sizeof(*mod->extable), &mod->num_exentries);
	return 0;
}

/* References on the modules whose symbols we now use. */
static int use_owners(struct module *mod)
{
	struct module *owner;
	int i, err = 0;

	for (i = 0; !err && (owner = module_owner(mod->id, i)); i++)
		err = ref_module(mod, owner);
	return err;
}

static long resolve_symbols(struct module *mod, bool give_up)
{
	long err;

	mutex_lock(&module_mutex);
	err = module_simplify_symbols(mod->id, (test_bit(TAINT_PROPRIETARY_MODULE, &mod->taints) ? 0 : 1) | (give_up ? 2 : 0));
	if (!err)
		err = use_owners(mod);
	mutex_unlock(&module_mutex);
	return err;
}

/* A symbol of a module that is still in its init is waited for (resolve_symbol_wait). */
static noinline int simplify_symbols(struct module *mod)
{
	long err = 0, left = 30 * HZ;

	if (___wait_event(module_wq, (err = resolve_symbols(mod, !left)) != -EBUSY || !left, TASK_INTERRUPTIBLE, 0, 0,
			  left = schedule_timeout(left)))
		err = -EINTR;
	module_log();
	return err;
}

static noinline int apply_relocations(struct module *mod)
{
	long err = module_relocate(mod->id);

	module_log();
	return err;
}

static noinline int post_relocation(struct module *mod)
{
	add_kallsyms(mod);
	return 0;
}

static noinline void ftrace_module_init(struct module *mod)
{
	module_notify(mod->id, mod, MODEV_INIT);
}

/* The host forgets text that is about to go, once no batch of pokes is under way in it. */
static void forget_text(struct module *mod, int event)
{
	do
		ftrace_run_update_code();
	while (module_notify(mod->id, mod, event) == -EAGAIN);
}

void ftrace_release_mod(struct module *mod)
{
	forget_text(mod, MODEV_RELEASE);
}

static noinline void ftrace_free_mem(struct module *mod)
{
	forget_text(mod, MODEV_FREE_INIT);
}

static void frob_text(struct module_layout *l, int (*set_memory)(unsigned long start, int num_pages))
{
	set_memory((unsigned long)l->base, l->text_size >> PAGE_SHIFT);
}

static void frob_rodata(struct module_layout *l, int (*set_memory)(unsigned long start, int num_pages))
{
	set_memory((unsigned long)l->base + l->text_size, (l->ro_size - l->text_size) >> PAGE_SHIFT);
}

static void module_enable_ro(const struct module *mod)
{
	struct module *m = (struct module *)mod;

	frob_text(&m->core_layout, set_memory_ro);
	frob_rodata(&m->core_layout, set_memory_ro);
	frob_text(&m->init_layout, set_memory_ro);
	frob_rodata(&m->init_layout, set_memory_ro);
}

static void module_enable_x(const struct module *mod)
{
	struct module *m = (struct module *)mod;

	frob_text(&m->core_layout, set_memory_x);
	frob_text(&m->init_layout, set_memory_x);
}

static noinline int complete_formation(struct module *mod)
{
	mutex_lock(&module_mutex);
	module_enable_ro(mod);
	module_enable_x(mod);
	mod->state = MODULE_STATE_COMING;	/* from here on visible, and its symbols usable */
	mutex_unlock(&module_mutex);
	return 0;
}

static noinline int prepare_coming_module(struct module *mod)
{
	return notifier_to_errno(blocking_notifier_call_chain_robust(&module_notify_list, MODULE_STATE_COMING, MODULE_STATE_GOING, mod));
}

static int unknown_module_param_cb(char *param, char *val, const char *modname, void *arg)
{
	pr_warn("%s: unknown parameter '%s' ignored\n", modname, param);
	return 0;
}

static void destroy_params(struct module *mod)
{
	unsigned int i;

	for (i = 0; i < mod->num_kp; i++)
		if (mod->kp[i].ops == &param_ops_charp && mod->kp[i].flags)
			kfree(*(char **)mod->kp[i].arg);
}

static void free_module_list(struct module *mod)
{
	mutex_lock(&module_mutex);
	list_del(&mod->list);
	mutex_unlock(&module_mutex);
	synchronize_rcu();
}

void free_module(struct module *mod)
{
	u64 id = mod->id;

	trace_module_free(mod);
	mutex_lock(&module_mutex);
	mod->state = MODULE_STATE_UNFORMED;
	mutex_unlock(&module_mutex);
	module_unload_free(mod);
	destroy_params(mod);
	free_module_list(mod);
	kfree(mod->args);
	module_drop(id);
	module_deallocate(mod);
}

static void do_free_init(struct module *mod)
{
	void *init = mod->init_layout.base;

	mod->init_layout = (struct module_layout){ 0 };
	synchronize_rcu();
	vfree(init);
}

static void init_failed(struct module *mod)
{
	synchronize_rcu();	/* somebody may look at it who has not taken a reference */
	mod->state = MODULE_STATE_GOING;
	module_put(mod);
	blocking_notifier_call_chain(&module_notify_list, MODULE_STATE_GOING, mod);
	ftrace_release_mod(mod);
	free_module(mod);
	wake_up_all(&module_wq);
}

static noinline int do_init_module(struct module *mod)
{
	int ret = 0;

	if (mod->init)
		ret = do_one_initcall(mod->init);
	if (ret < 0) {
		init_failed(mod);
		return ret;
	}
	if (ret > 0) {
		pr_warn("%s: '%s'->init suspiciously returned %d, it should follow 0/-E convention\n"
			"%s: loading module anyway...\n", __func__, mod->name, ret, __func__);
		dump_stack_lvl(KERN_DEFAULT);
	}
	mod->state = MODULE_STATE_LIVE;
	blocking_notifier_call_chain(&module_notify_list, MODULE_STATE_LIVE, mod);
	ftrace_free_mem(mod);
	mutex_lock(&module_mutex);
	module_put(mod);	/* the initial reference */
	mutex_unlock(&module_mutex);
	do_free_init(mod);
	wake_up_all(&module_wq);
	return 0;
}

static int load_args(struct module *mod)
{
	char *after_dashes = parse_args(mod->name, mod->args, mod->kp, mod->num_kp, -32768, 32767, mod, unknown_module_param_cb);

	if (IS_ERR(after_dashes))
		return PTR_ERR(after_dashes);
	if (after_dashes)
		pr_warn("%s: parameters '%s' after `--' ignored\n", mod->name, after_dashes);
	return 0;
}

static int link_module(struct module *mod)
{
	int err = find_module_sections(mod);

	err = err ?: simplify_symbols(mod);
	err = err ?: apply_relocations(mod);
	return err ?: post_relocation(mod);
}

/* The end of a module that has not been seen by anyone: from simplify_symbols on. */
static int abandon_module(struct module *mod, int err)
{
	u64 id = mod->id;

	module_unload_free(mod);
	destroy_params(mod);
	free_module_list(mod);
	kfree(mod->args);
	wake_up_all(&module_wq);
	module_deallocate(mod);
	module_drop(id);
	return err;
}

int load_module(struct load_info *info, char *args)
{
	struct module *mod;
	int err = elf_validity_check(info);

	if (!err)
		err = setup_load_info(info);
	mod = err ? ERR_PTR(err) : layout_and_allocate(info);
	if (IS_ERR(mod)) {
		kfree(args);
		module_drop(info->id);
		return PTR_ERR(mod);
	}
	mod->args = args;
	module_unload_init(mod);
	err = add_unformed_module(mod);
	if (err) {
		kfree(args);
		module_deallocate(mod);
		module_drop(info->id);
		return err;
	}
	module_augment_kernel_taints(mod, info);
	err = link_module(mod);
	if (err)
		return abandon_module(mod, err);
	ftrace_module_init(mod);
	err = complete_formation(mod) ?: prepare_coming_module(mod);
	if (!err) {
		err = load_args(mod);
		if (err)
			blocking_notifier_call_chain(&module_notify_list, MODULE_STATE_GOING, mod);
	}
	if (err) {
		mod->state = MODULE_STATE_GOING;
		ftrace_release_mod(mod);
		return abandon_module(mod, err);
	}
	trace_module_load(mod);
	err = do_init_module(mod);
	barrier();	/* a call, no jump: it shows in stacks and graphs */
	return err;
}

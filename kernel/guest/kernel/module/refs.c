/* References to modules and their removal (kernel/module/main.c). module_mutex protects the lists of who uses whom. */
#include "internal.h"
#include "notifier.h"
#include "uaccess.h"
#include "syscalls.h"
#include "cred.h"
#include "slab.h"
#include "fcntl.h"
#include "tracepoint.h"

int module_unload_init(struct module *mod)
{
	INIT_LIST_HEAD(&mod->source_list);
	INIT_LIST_HEAD(&mod->target_list);
	atomic_set(&mod->refcnt, MODULE_REF_BASE);
	atomic_inc(&mod->refcnt);	/* held until its init is over */
	return 0;
}

static int already_uses(struct module *a, struct module *b)
{
	struct module_use *use;

	list_for_each_entry(use, &b->source_list, source_list)
		if (use->source == a)
			return 1;
	return 0;
}

static int add_module_usage(struct module *a, struct module *b)
{
	struct module_use *use = kmalloc(sizeof(*use), GFP_ATOMIC);

	if (!use)
		return -ENOMEM;
	use->source = a;
	use->target = b;
	list_add(&use->source_list, &b->source_list);
	list_add(&use->target_list, &a->target_list);
	return 0;
}

static int strong_try_module_get(struct module *mod)
{
	if (mod->state == MODULE_STATE_COMING)
		return -EBUSY;
	return try_module_get(mod) ? 0 : -ENOENT;
}

/* Module a uses b. module_mutex is held. */
int ref_module(struct module *a, struct module *b)
{
	int err;

	if (!b || already_uses(a, b))
		return 0;
	err = strong_try_module_get(b);
	if (err)
		return err;
	err = add_module_usage(a, b);
	if (err)
		module_put(b);
	return err;
}

void module_unload_free(struct module *mod)
{
	struct module_use *use, *tmp;

	mutex_lock(&module_mutex);
	list_for_each_entry_safe(use, tmp, &mod->target_list, target_list) {
		module_put(use->target);
		list_del(&use->source_list);
		list_del(&use->target_list);
		kfree(use);
	}
	mutex_unlock(&module_mutex);
}

void __module_get(struct module *module)
{
	if (!module)
		return;
	atomic_inc(&module->refcnt);
	trace_module_get(module, 1);
}

bool try_module_get(struct module *module)
{
	if (!module)
		return true;
	if (module->state == MODULE_STATE_GOING || !atomic_inc_not_zero(&module->refcnt))
		return false;
	trace_module_get(module, 1);
	return true;
}

static bool atomic_dec_if_positive_ok(atomic_t *v)
{
	int c = atomic_read(v);

	while (c > 0)
		if (atomic_try_cmpxchg(v, &c, c - 1))
			return true;
	return false;
}

void module_put(struct module *module)
{
	if (!module)
		return;
	WARN_ON(!atomic_dec_if_positive_ok(&module->refcnt));
	trace_module_put(module, 1);
}

int module_refcount(struct module *mod)
{
	return atomic_read(&mod->refcnt) - MODULE_REF_BASE;
}

/* Drops the base reference; whoever came in between keeps the module alive. */
static int try_release_module_ref(struct module *mod)
{
	if (!atomic_dec_return(&mod->refcnt))
		return 0;
	return atomic_inc_not_zero(&mod->refcnt);
}

static noinline int try_stop_module(struct module *mod, int flags, int *forced)
{
	if (try_release_module_ref(mod) != 0) {
		*forced = flags & O_TRUNC;
		if (!*forced)
			return -EAGAIN;
		add_taint(TAINT_FORCED_RMMOD);
	}
	mod->state = MODULE_STATE_GOING;
	return 0;
}

static noinline long check_unload(struct module *mod, unsigned int flags, int *forced)
{
	if (!mod)
		return -ENOENT;
	if (!list_empty(&mod->source_list))
		return -EAGAIN;	/* other modules depend on it */
	if (mod->state != MODULE_STATE_LIVE)
		return -EBUSY;		/* still in init, or somebody else removes it */
	if (mod->init && !mod->exit) {	/* it cannot go */
		*forced = flags & O_TRUNC;
		if (!*forced)
			return -EBUSY;
		add_taint(TAINT_FORCED_RMMOD);
	}
	return try_stop_module(mod, flags, forced);
}

long delete_module(const char *name, unsigned int flags)
{
	struct module *mod;
	int forced = 0;
	long ret;

	if (mutex_lock_interruptible(&module_mutex))
		return -EINTR;
	mod = find_module(name);
	ret = check_unload(mod, flags, &forced);
	mutex_unlock(&module_mutex);
	if (ret)
		return ret;
	if (mod->exit)
		mod->exit();
	blocking_notifier_call_chain(&module_notify_list, MODULE_STATE_GOING, mod);
	ftrace_release_mod(mod);
	module_remember_unloaded(mod);
	free_module(mod);
	wake_up_all(&module_wq);
	return 0;
}

SYSCALL_DEFINE2(delete_module, const char __user *, name_user, unsigned int, flags)
{
	char name[MODULE_NAME_LEN];
	long len;

	if (!capable(CAP_SYS_MODULE))
		return -EPERM;
	len = strncpy_from_user(name, name_user, MODULE_NAME_LEN - 1);
	if (len < 0)
		return -EFAULT;
	name[MODULE_NAME_LEN - 1] = 0;
	return delete_module(name, flags);
}

#pragma once
/* What the files of kernel/module share (kernel/module/internal.h). */
#include "module.h"
#include "mutex.h"
#include "sched.h"
#include "entry.h"
#define TAINT_PROPRIETARY_MODULE	0
#define TAINT_FORCED_RMMOD		3
#define TAINT_OOT_MODULE		12
#define MODULE_FLAGS_BUF_SIZE		(19 + 4)
#define MODULE_REF_BASE			1
struct module_use { struct list_head source_list, target_list; struct module *source, *target; };
extern struct mutex module_mutex;
extern wait_queue_head_t module_wq;
struct module *find_module_all(const char *name, size_t len, bool even_unformed);
char *module_flags(struct module *mod, char *buf, bool show_state);
void add_kallsyms(struct module *mod);
int ref_module(struct module *a, struct module *b);
void module_unload_free(struct module *mod);
int module_unload_init(struct module *mod);
extern struct blocking_notifier_head module_notify_list;
void module_remember_unloaded(struct module *mod);
void free_module(struct module *mod);
void ftrace_release_mod(struct module *mod);
void print_modules(void);
void module_log(void);		/* prints what the host has to say */
#define CAP_SYS_MODULE			16
int load_module(struct load_info *info, char *args);	/* args: ours to free */
long delete_module(const char *name, unsigned int flags);

#pragma once
/* Parameters of modules (include/linux/moduleparam.h, kernel/params.c). */
#include "kernel.h"
struct kernel_param;
struct module;
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
	void (*free)(void *arg);
};
#define KERNEL_PARAM_OPS_FL_NOARG 1
struct kernel_param {
	const char *name;
	struct module *mod;
	const struct kernel_param_ops *ops;
	const u16 perm;
	s8 level;
	u8 flags;
	void *arg;
};
extern const struct kernel_param_ops param_ops_bool, param_ops_byte, param_ops_short, param_ops_ushort, param_ops_int,
	param_ops_uint, param_ops_long, param_ops_ulong, param_ops_charp;
#define __MODULE_INFO_NAME(line) __PASTE(__modinfo_, line)
#define __MODULE_INFO(tag, info) \
	static const char __PASTE(__modinfo_, __COUNTER__)[] __used __section(".modinfo") __aligned(1) = __stringify(tag) "=" info
#define MODULE_PARM_DESC(p, desc)	__MODULE_INFO(parm, #p ":" desc)
#define module_param_named(name, value, type, perm) \
	static const char __param_str_##name[] = #name; \
	static struct kernel_param __param_##name __used __section("__param") __aligned(8) = \
		{ __param_str_##name, THIS_MODULE, &param_ops_##type, perm, -1, 0, &value }; \
	__MODULE_INFO(parmtype, #name ":" #type)
#define module_param(name, type, perm)	module_param_named(name, name, type, perm)
char *parse_args(const char *doing, char *args, const struct kernel_param *params, unsigned int num, s16 min_level,
		 s16 max_level, void *arg, int (*unknown)(char *param, char *val, const char *doing, void *arg));
char *next_arg(char *args, char **param, char **val);
bool parameq(const char *a, const char *b);

/* Parsing of "name=value" lists into kernel_param rows (kernel/params.c, lib/cmdline.c). */
#include "moduleparam.h"
#include "slab.h"

static char dash2underscore(char c)
{
	return c == '-' ? '_' : c;
}

static bool parameqn(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (dash2underscore(a[i]) != dash2underscore(b[i]))
			return false;
	return true;
}

bool parameq(const char *a, const char *b)
{
	return parameqn(a, b, strlen(a) + 1);
}

static bool isspace_at(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Cuts the first word off: quotes keep spaces together, the first '=' outside them ends the name. */
char *next_arg(char *args, char **param, char **val)
{
	bool in_quote = false, quoted = false;
	unsigned int i, equals = 0;

	if (*args == '"') {
		args++;
		in_quote = quoted = true;
	}
	for (i = 0; args[i]; i++) {
		if (isspace_at(args[i]) && !in_quote)
			break;
		if (!equals && args[i] == '=')
			equals = i;
		if (args[i] == '"')
			in_quote = !in_quote;
	}
	*param = args;
	*val = NULL;
	if (equals) {
		args[equals] = 0;
		*val = args + equals + 1;
		if (**val == '"') {
			(*val)++;
			if (args[i - 1] == '"')
				args[i - 1] = 0;
		}
	}
	if (quoted && i > 0 && args[i - 1] == '"')
		args[i - 1] = 0;
	if (args[i]) {
		args[i] = 0;
		args += i + 1;
	} else {
		args += i;
	}
	return skip_spaces(args);
}

static noinline int parse_one(char *param, char *val, const char *doing, const struct kernel_param *params, unsigned int num,
		     s16 min_level, s16 max_level, void *arg, int (*unknown)(char *, char *, const char *, void *))
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		if (!parameq(param, params[i].name))
			continue;
		if (params[i].level < min_level || params[i].level > max_level)
			return 0;
		if (!val && !(params[i].ops->flags & KERNEL_PARAM_OPS_FL_NOARG))
			return -EINVAL;
		return params[i].ops->set(val, &params[i]);
	}
	return unknown ? unknown(param, val, doing, arg) : -ENOENT;
}

/* What stands behind "--" is returned, for init. */
char *parse_args(const char *doing, char *args, const struct kernel_param *params, unsigned int num, s16 min_level,
		 s16 max_level, void *arg, int (*unknown)(char *param, char *val, const char *doing, void *arg))
{
	char *param, *val;
	long ret;

	args = skip_spaces(args);
	while (*args) {
		args = next_arg(args, &param, &val);
		if (!val && !strcmp(param, "--"))
			return args;
		ret = parse_one(param, val, doing, params, num, min_level, max_level, arg, unknown);
		if (!ret)
			continue;
		if (ret == -ENOENT)
			pr_err("%s: Unknown parameter `%s'\n", doing, param);
		else if (ret == -ENOSPC)
			pr_err("%s: `%s' too large for parameter `%s'\n", doing, val ?: "", param);
		else
			pr_err("%s: `%s' invalid for parameter `%s'\n", doing, val ?: "", param);
		return (char *)ret;
	}
	return NULL;
}

/* kstrtoll: the whole text, one newline allowed. */
static int parse_integer(const char *s, bool is_signed, s64 lo, u64 hi, u64 *res)
{
	bool neg = *s == '-';
	char *end;
	u64 v;

	if (neg && !is_signed)
		return -EINVAL;
	if (*s == '-' || *s == '+')
		s++;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	v = simple_strtoull(s, &end, 0);
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (neg ? v > -(u64)lo : v > hi)
		return -ERANGE;
	*res = neg ? -v : v;
	return 0;
}

#define STANDARD_PARAM_DEF(name, type, is_signed, lo, hi, format) \
	static int param_set_##name(const char *val, const struct kernel_param *kp) \
	{ \
		u64 v; \
		int ret = parse_integer(val, is_signed, lo, hi, &v); \
		if (!ret) \
			*(type *)kp->arg = (type)v; \
		return ret; \
	} \
	static int param_get_##name(char *buffer, const struct kernel_param *kp) \
	{ \
		return scnprintf(buffer, PAGE_SIZE, format "\n", *(type *)kp->arg); \
	} \
	const struct kernel_param_ops param_ops_##name = { .set = param_set_##name, .get = param_get_##name }

STANDARD_PARAM_DEF(byte, unsigned char, false, 0, 0xff, "%hhu");
STANDARD_PARAM_DEF(short, short, true, -0x8000, 0x7fff, "%hi");
STANDARD_PARAM_DEF(ushort, unsigned short, false, 0, 0xffff, "%hu");
STANDARD_PARAM_DEF(int, int, true, -0x80000000L, 0x7fffffff, "%i");
STANDARD_PARAM_DEF(uint, unsigned int, false, 0, 0xffffffff, "%u");
STANDARD_PARAM_DEF(long, long, true, (s64)(1UL << 63), LONG_MAX, "%li");
STANDARD_PARAM_DEF(ulong, unsigned long, false, 0, ULONG_MAX, "%lu");

static int param_set_bool(const char *val, const struct kernel_param *kp)
{
	char c = val ? *val : '1';	/* no value: on */

	if (c == 'o' || c == 'O')
		c = val[1] == 'n' || val[1] == 'N' ? '1' : val[1] == 'f' || val[1] == 'F' ? '0' : 'x';
	if (c == 'y' || c == 'Y' || c == 't' || c == 'T' || c == '1')
		*(bool *)kp->arg = true;
	else if (c == 'n' || c == 'N' || c == 'f' || c == 'F' || c == '0')
		*(bool *)kp->arg = false;
	else
		return -EINVAL;
	return 0;
}

static int param_get_bool(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%c\n", *(bool *)kp->arg ? 'Y' : 'N');
}
const struct kernel_param_ops param_ops_bool = { .flags = KERNEL_PARAM_OPS_FL_NOARG, .set = param_set_bool, .get = param_get_bool };

/* The copy lives until the module goes: destroy_params. */
static int param_set_charp(const char *val, const struct kernel_param *kp)
{
	char *copy;

	if (strlen(val) > 1024) {
		pr_err("%s: string parameter too long\n", kp->name);
		return -ENOSPC;
	}
	copy = kstrdup(val, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	if (kp->flags)
		kfree(*(char **)kp->arg);
	*(char **)kp->arg = copy;
	((struct kernel_param *)kp)->flags = 1;	/* ours to free */
	return 0;
}

static int param_get_charp(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%s\n", *(char **)kp->arg);
}
const struct kernel_param_ops param_ops_charp = { .set = param_set_charp, .get = param_get_charp };

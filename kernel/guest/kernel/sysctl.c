/*
 * How settings are read and written, and the tables of those that belong to no other file (kernel/sysctl.c). A setting is
 * here because something reads it; Linux has some 1,500.
 */
#include "sysctl.h"
#include "kernel.h"
#include "init.h"
#include "errno.h"
#include "entry.h"

const int sysctl_vals[] = { 0, 1, 2, 3, 4, 100, 200, 1000, INT_MAX };
int kptr_restrict;
extern int panic_on_oops, console_printk[4];
extern unsigned long tainted_mask;
static int cap_last_cap = 40, randomize_va_space;	/* programs stand where they are linked */

/* A string, up to its newline. */
int proc_dostring(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	char *data = table->data, *p;
	size_t len;

	if (write) {
		len = min(*lenp, (size_t)table->maxlen - 1);
		memcpy(data, buffer, len);
		data[len] = 0;
		p = strchrnul(data, '\n');
		*p = 0;
		*ppos += *lenp;
		return 0;
	}
	len = strlen(data);
	if (*ppos > (loff_t)len) {
		*lenp = 0;
		return 0;
	}
	data += *ppos;
	len = min(len - (size_t)*ppos, *lenp);
	memcpy(buffer, data, len);
	if (len < *lenp)
		buffer[len++] = '\n';
	*lenp = len;
	*ppos += len;
	return 0;
}

static bool isblank_or_nl(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* A number in base 0 at *@p, whose end is @end or a blank; more than 20 characters or more than an int holds is none (proc_get_long). */
static bool proc_get_int(char **p, const char *end, long *val)
{
	char tmp[22], *after, *digits = tmp;
	size_t n = min((size_t)(end - *p), sizeof(tmp) - 1);

	memcpy(tmp, *p, n);
	tmp[n] = 0;
	if (*digits == '-')
		digits++;
	if (*digits < '0' || *digits > '9')
		return false;
	*val = simple_strtoul(digits, &after, 0);
	n = after - tmp;
	if (n == sizeof(tmp) - 1 || after - digits > 16 + (long)strspn(digits, "0xX") || (*p + n < end && !isblank_or_nl(*after)) || (unsigned long)*val > INT_MAX + (digits > tmp ? 1UL : 0UL))
		return false;
	if (digits > tmp)
		*val = -*val;
	*p += n;
	return true;
}

/* Numbers apart by blanks, each within the limits; others are EINVAL and change nothing. */
static int __do_proc_dointvec(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos, const int *lo, const int *hi)
{
	int *vals = table->data, n = table->maxlen / sizeof(int), got[8], i, count = 0;
	char *p = buffer, *end = buffer + *lenp;

	if (!write) {
		char text[128];
		size_t used = 0;

		for (i = 0; i < n; i++)
			used += scnprintf(text + used, sizeof(text) - used, i ? "\t%d" : "%d", vals[i]);
		used += scnprintf(text + used, sizeof(text) - used, "\n");
		/* Only a read from the beginning gives anything, and that once. */
		*lenp = *ppos ? 0 : min(used, *lenp);
		memcpy(buffer, text, *lenp);
		*ppos += *lenp;
		return 0;
	}
	if (*ppos)
		goto out;
	for (i = 0; i < min(n, (int)ARRAY_SIZE(got)); i++) {
		long val;

		while (p < end && isblank_or_nl(*p))
			p++;
		if (p == end)
			break;
		if (!proc_get_int(&p, end, &val) || (lo && val < *lo) || (hi && val > *hi))
			return -EINVAL;
		got[count++] = val;
	}
	if (!count)
		return -EINVAL;
	for (i = 0; i < count; i++)
		WRITE_ONCE(vals[i], got[i]);
out:
	*ppos += *lenp;
	return 0;
}

int proc_dointvec(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	return __do_proc_dointvec(table, write, buffer, lenp, ppos, NULL, NULL);
}

int proc_dointvec_minmax(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	return __do_proc_dointvec(table, write, buffer, lenp, ppos, table->extra1, table->extra2);
}

int proc_doulongvec_minmax(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned long *val = table->data, v;
	char *after;

	if (!write) {
		char text[24];
		size_t used = scnprintf(text, sizeof(text), "%lu\n", *val);

		*lenp = *ppos ? 0 : min(used, *lenp);
		memcpy(buffer, text, *lenp);
	} else {
		v = simple_strtoul(buffer, &after, 0);
		if (after == buffer)
			return -EINVAL;
		WRITE_ONCE(*val, v);
	}
	*ppos += *lenp;
	return 0;
}

/* A write adds what it names; nothing takes a taint away. */
static int proc_taint(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned long mask = tainted_mask;
	struct ctl_table t = *table;
	int err;

	t.data = &mask;
	err = proc_doulongvec_minmax(&t, write, buffer, lenp, ppos);
	for (int bit = 0; !err && write && bit < 64; bit++)
		if (mask >> bit & 1)
			add_taint(bit);
	return err;
}

static struct ctl_table kern_table[] = {
	{ "cap_last_cap", &cap_last_cap, sizeof(int), 0444, proc_dointvec, NULL, NULL },
	{ "kptr_restrict", &kptr_restrict, sizeof(int), 0644, proc_dointvec_minmax, SYSCTL_ZERO, SYSCTL_TWO },
	{ "panic_on_oops", &panic_on_oops, sizeof(int), 0644, proc_dointvec, NULL, NULL },
	{ "printk", console_printk, 4 * sizeof(int), 0644, proc_dointvec, NULL, NULL },
	{ "randomize_va_space", &randomize_va_space, sizeof(int), 0444, proc_dointvec, NULL, NULL },
	{ "tainted", NULL, sizeof(long), 0644, proc_taint, NULL, NULL },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL },
};

static int __init sysctl_init_bases(void)
{
	return register_sysctl("kernel", kern_table);
}
fs_initcall(sysctl_init_bases);

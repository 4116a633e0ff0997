/* The machine's names: sethostname and /proc/sys/kernel (Linux's kernel/utsname_sysctl.c, kernel/sys.c). */
#include "pid.h"
#include "sysctl.h"
#include "init.h"
#include "sched.h"
#include "syscalls.h"
#include "uaccess.h"
#include "utsname.h"
#include "cred.h"

static int set_hostname(const char *name, unsigned int len)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	memset(init_uts.nodename, 0, sizeof(init_uts.nodename));
	memcpy(init_uts.nodename, name, len);
	return 0;
}

SYSCALL_DEFINE2(sethostname, char __user *, name, int, len)
{
	char tmp[64] = { 0 };

	if (len < 0 || len > 64)
		return -EINVAL;
	if (copy_from_user(tmp, name, len))
		return -EFAULT;
	return set_hostname(tmp, len);
}

static int proc_do_uts_string(struct ctl_table *table, int write, char *buffer, size_t *lenp, loff_t *ppos)
{
	if (write && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	return proc_dostring(table, write, buffer, lenp, ppos);
}

static const int pid_max_min = 301, pid_max_max = 32768;	/* RESERVED_PIDS + 1, the bitmap of kernel/pid.c */

#define UTS_FIELD(f) init_uts.f, sizeof(init_uts.f)
static struct ctl_table uts_kern_table[] = {
	{ "arch", UTS_FIELD(machine), 0444, proc_do_uts_string, NULL, NULL },
	{ "domainname", UTS_FIELD(domainname), 0644, proc_do_uts_string, NULL, NULL },
	{ "hostname", UTS_FIELD(nodename), 0644, proc_do_uts_string, NULL, NULL },
	{ "osrelease", UTS_FIELD(release), 0444, proc_do_uts_string, NULL, NULL },
	{ "ostype", UTS_FIELD(sysname), 0444, proc_do_uts_string, NULL, NULL },
	{ "pid_max", &pid_max, sizeof(int), 0644, proc_dointvec_minmax, &pid_max_min, &pid_max_max },
	{ "version", UTS_FIELD(version), 0444, proc_do_uts_string, NULL, NULL },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL },
};

static int __init utsname_sysctl_init(void)
{
	return register_sysctl("kernel", uts_kern_table);
}
device_initcall(utsname_sysctl_init);

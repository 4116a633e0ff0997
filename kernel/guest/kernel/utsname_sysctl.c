/* The machine's names: sethostname and /proc/sys/kernel (Linux's kernel/utsname_sysctl.c, kernel/sys.c). */
#include "proc_fs.h"
#include "init.h"
#include "sched.h"
#include "syscalls.h"
#include "uaccess.h"
#include "utsname.h"

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

static int hostname_store(char *text)
{
	unsigned int len = strlen(text);

	return len > 64 ? -EINVAL : set_hostname(text, len);
}

#define UTS_SHOW(fn, field)						\
static int fn(struct seq_file *m, void *v)				\
{									\
	seq_printf(m, "%s\n", init_uts.field);				\
	return 0;							\
}

UTS_SHOW(ostype_show, sysname)
UTS_SHOW(osrelease_show, release)
UTS_SHOW(version_show, version)
UTS_SHOW(hostname_show, nodename)
UTS_SHOW(domainname_show, domainname)

static int pid_max_show(struct seq_file *m, void *v)
{
	seq_puts(m, "32768\n");
	return 0;
}

struct proc_dir_entry *proc_sys_kernel;

static int __init utsname_sysctl_init(void)
{
	struct proc_dir_entry *sys = proc_mkdir("sys", NULL), *kernel = sys ? proc_mkdir("kernel", sys) : NULL;

	proc_sys_kernel = kernel;

	if (!kernel)
		return -ENOMEM;
	proc_create_single("domainname", 0444, kernel, domainname_show);
	proc_set_store(proc_create_single("hostname", 0644, kernel, hostname_show), hostname_store);
	proc_create_single("osrelease", 0444, kernel, osrelease_show);
	proc_create_single("ostype", 0444, kernel, ostype_show);
	proc_create_single("pid_max", 0444, kernel, pid_max_show);
	proc_create_single("version", 0444, kernel, version_show);
	return 0;
}
device_initcall(utsname_sysctl_init);

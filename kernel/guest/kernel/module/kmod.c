/* Asking for a module by name: /sbin/modprobe is run (Linux's kernel/module/kmod.c). */
#include "kmod.h"
#include "sched.h"
#include "slab.h"
#include "tracepoint.h"

static noinline int call_modprobe(char *module_name, int wait)
{
	static char modprobe_path[] = "/sbin/modprobe";
	char *argv[] = { modprobe_path, "-q", "--", module_name, NULL };
	char *envp[] = { "HOME=/", "TERM=linux", "PATH=/sbin:/usr/sbin:/bin:/usr/bin", NULL };

	return call_usermodehelper(modprobe_path, argv, envp, wait);
}

/* 0: modprobe has found it; its exit status, or an error. */
int __request_module(bool wait, const char *fmt, ...)
{
	char name[64];
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	if (ret >= (int)sizeof(name))
		return -ENAMETOOLONG;
	trace_module_request(name, wait, 1);
	return call_modprobe(name, wait ? UMH_WAIT_PROC : UMH_WAIT_EXEC);
}

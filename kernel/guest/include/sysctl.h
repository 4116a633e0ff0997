#pragma once
/* Tables of settings below /proc/sys (include/linux/sysctl.h); kernel/sysctl.c and fs/proc/proc_sysctl.c. */
#include "types.h"
struct ctl_table;
typedef int proc_handler(struct ctl_table *ctl, int write, char *buffer, size_t *lenp, loff_t *ppos);
struct ctl_table {
	const char *procname;		/* NULL ends the table */
	void *data;
	int maxlen;
	umode_t mode;
	proc_handler *proc_handler;
	const int *extra1, *extra2;	/* the limits of proc_dointvec_minmax */
};
proc_handler proc_dostring, proc_dointvec, proc_dointvec_minmax, proc_doulongvec_minmax;
int register_sysctl(const char *path, struct ctl_table *table);
extern const int sysctl_vals[];		/* 0, 1, 2, 3, 4, 100, 200, 1000, INT_MAX */
#define SYSCTL_ZERO	(&sysctl_vals[0])
#define SYSCTL_ONE	(&sysctl_vals[1])
#define SYSCTL_TWO	(&sysctl_vals[2])
#define SYSCTL_INT_MAX	(&sysctl_vals[8])

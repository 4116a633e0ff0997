#pragma once
/* The namespaces of a task: one of each kind exists (include/linux/nsproxy.h). */
#include "sched.h"
#include "utsname.h"
struct nsproxy { refcount_t count; struct new_utsname *uts; struct pid_namespace *pid_ns_for_children; };
#define CLONE_NEWTIME	0x00000080
#define CLONE_NEWNS	0x00020000
#define CLONE_NEWCGROUP	0x02000000
#define CLONE_NEWUTS	0x04000000
#define CLONE_NEWIPC	0x08000000
#define CLONE_NEWUSER	0x10000000
#define CLONE_NEWPID	0x20000000
#define CLONE_NEWNET	0x40000000
#define CLONE_NEWALL (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP | CLONE_NEWTIME)
extern struct nsproxy init_nsproxy;
int copy_namespaces(unsigned long flags, struct task_struct *tsk);
void exit_task_namespaces(struct task_struct *tsk);

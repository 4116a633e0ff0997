#pragma once
/* Control groups: the root alone, with the pids controller's count (include/linux/cgroup.h). */
#include "sched.h"
/* The tasks that are in the same groups. */
struct css_set { refcount_t refcount; int nr_tasks; struct list_head tasks; };
extern struct css_set init_css_set;
void cgroup_fork(struct task_struct *child);
int cgroup_can_fork(struct task_struct *child, struct kernel_clone_args *kargs);
void cgroup_cancel_fork(struct task_struct *child, struct kernel_clone_args *kargs);
void cgroup_post_fork(struct task_struct *child, struct kernel_clone_args *kargs);
void cgroup_exit(struct task_struct *tsk);
void cgroup_release(struct task_struct *task);
void cgroup_free(struct task_struct *task);
void cgroup_init(void);

/* What the files of fs/proc share (Linux's fs/proc/internal.h). */
#ifndef _PROC_INTERNAL_H
#define _PROC_INTERNAL_H
#include "proc_fs.h"
#include "sched.h"
#include "slab.h"

struct mm_struct *get_task_mm(struct task_struct *task);
unsigned long get_wchan(struct task_struct *p);
char get_task_state(struct task_struct *t);
void proc_task_name(struct seq_file *m, struct task_struct *p);
void seq_cpulist(struct seq_file *m, unsigned long mask);
int proc_pid_status(struct seq_file *m, void *v);
int proc_tgid_stat(struct seq_file *m, void *v);
int proc_tid_stat(struct seq_file *m, void *v);
int proc_pid_statm(struct seq_file *m, void *v);
int proc_pid_wchan(struct seq_file *m, void *v);
int proc_pid_stack(struct seq_file *m, void *v);
int proc_pid_schedstat(struct seq_file *m, void *v);
int proc_pid_io(struct seq_file *m, void *v);
int proc_cgroup_show(struct seq_file *m, void *v);
int proc_pid_limits(struct seq_file *m, void *v);
void thread_group_cputime_adjusted(struct task_struct *p, u64 *ut, u64 *st);
struct sighand_struct *__lock_task_sighand(struct task_struct *tsk, unsigned long *flags);
extern const struct file_operations proc_sys_file_operations;
#endif

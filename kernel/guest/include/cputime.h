#pragma once
/* Who has used the CPU (kernel/sched/cputime.c): ticks sample in which mode, the scheduler measures how long. */
#include "types.h"
struct task_struct;
void account_user_time(struct task_struct *p, u64 cputime);
void account_system_time(struct task_struct *p, int hardirq_offset, u64 cputime);
void account_process_tick(struct task_struct *p, int user_tick);
void acct_account_cputime(struct task_struct *tsk);	/* kernel/tsacct.c */
void task_cputime(struct task_struct *t, u64 *utime, u64 *stime);
void thread_group_cputime(struct task_struct *tsk, u64 *utime, u64 *stime);
void cputime_adjust(u64 rtime, u64 *utime, u64 *stime);
void thread_group_cputime_adjusted(struct task_struct *p, u64 *ut, u64 *st);

#pragma once
#include "types.h"
#include "ktime.h"
struct task_struct;
#define FUTEX_WAKE 1
/* What set_robust_list() tells of: the locks that a thread holds, in its own memory (uapi/linux/futex.h). */
struct robust_list { struct robust_list __user *next; };
struct robust_list_head { struct robust_list list; long futex_offset; struct robust_list __user *list_op_pending; };
void futex_exit_release(struct task_struct *tsk);
void futex_exec_release(struct task_struct *tsk);
long do_futex(u32 __user *uaddr, int op, u32 val, ktime_t *timeout, u32 __user *uaddr2, u32 val2, u32 val3);

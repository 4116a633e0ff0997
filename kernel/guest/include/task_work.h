/* Work for a task to do on its way back to user mode, or when it exits (Linux's kernel/task_work.c). */
#ifndef _TASK_WORK_H
#define _TASK_WORK_H
#include "types.h"

#define callback_head rcu_head
typedef void (*task_work_func_t)(struct callback_head *);

enum task_work_notify_mode { TWA_NONE, TWA_RESUME, TWA_SIGNAL };

static inline void init_task_work(struct callback_head *twork, task_work_func_t func)
{
	twork->func = func;
}

int task_work_add(struct task_struct *task, struct callback_head *twork, enum task_work_notify_mode notify);
void task_work_run(void);

static inline void exit_task_work(struct task_struct *task)
{
	task_work_run();
}
#endif

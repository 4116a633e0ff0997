/* See task_work.h (Linux's kernel/task_work.c). The list is a stack changed by cmpxchg; an exiting task closes it. */
#include "task_work.h"
#include "sched.h"

static struct callback_head work_exited;	/* marks a list that takes nothing more */

int task_work_add(struct task_struct *task, struct callback_head *work, enum task_work_notify_mode notify)
{
	struct callback_head *head;

	do {
		head = READ_ONCE(task->task_works);
		if (unlikely(head == &work_exited))
			return -ESRCH;
		work->next = head;
	} while (cmpxchg(&task->task_works, head, work) != head);
	if (notify == TWA_RESUME) {
		if (!test_and_set_tsk_thread_flag(task, TIF_NOTIFY_RESUME))
			kick_process(task);
	}
	return 0;
}

void task_work_run(void)
{
	struct task_struct *task = current;
	struct callback_head *work, *head, *next;

	for (;;) {
		do {
			work = READ_ONCE(task->task_works);
			/* an exiting task, with nothing left, closes the list */
			head = !work && (task->flags & PF_EXITING) ? &work_exited : NULL;
			if (!work && !head)
				return;
		} while (cmpxchg(&task->task_works, work, head) != work);
		if (!work || work == &work_exited)
			return;
		do {
			next = work->next;
			work->func(work);
			work = next;
			cond_resched();
		} while (work);
	}
}

/* The I/O priority that a request inherits from its task (Linux's block/ioprio.c). */
#include "fs.h"
#include "sched.h"

#define IOPRIO_CLASS_RT		1
#define IOPRIO_CLASS_BE		2
#define IOPRIO_CLASS_SHIFT	13

/* No task sets one of its own here: class and level follow policy and nice value. */
int __get_task_ioprio(struct task_struct *p)
{
	int nice = p->static_prio - DEFAULT_PRIO;
	int class = p->policy == SCHED_NORMAL ? IOPRIO_CLASS_BE : IOPRIO_CLASS_RT;

	return class << IOPRIO_CLASS_SHIFT | (nice + 20) / 5;
}

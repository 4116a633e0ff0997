/* A task's set of namespaces (kernel/nsproxy.c). Tasks share the one there is; making others is refused as by a kernel without them. */
#include "nsproxy.h"
#include "cred.h"

struct nsproxy init_nsproxy = { .count = REFCOUNT_INIT(1), .uts = &init_uts, .pid_ns_for_children = &init_pid_ns };

static void put_nsproxy(struct nsproxy *ns)
{
	if (refcount_dec_and_test(&ns->count))
		BUG_ON(ns == &init_nsproxy);	/* its first reference is nobody's */
}

int copy_namespaces(unsigned long flags, struct task_struct *tsk)
{
	if (likely(!(flags & (CLONE_NEWALL | CLONE_NEWUSER)))) {
		refcount_inc(&tsk->nsproxy->count);
		return 0;
	}
	return capable(CAP_SYS_ADMIN) ? -EINVAL : -EPERM;
}

/* From exit: nobody looks at the task's namespaces without its alloc_lock. */
static noinline void switch_task_namespaces(struct task_struct *p, struct nsproxy *new)
{
	struct nsproxy *ns;

	task_lock(p);
	ns = p->nsproxy;
	p->nsproxy = new;
	task_unlock(p);
	if (ns)
		put_nsproxy(ns);
}

void exit_task_namespaces(struct task_struct *tsk)
{
	switch_task_namespaces(tsk, NULL);
}

/* Kernel threads (kernel/kthread.c): kthreadd, pid 2, forks them all, so that they share nothing with their creator. */
#include "kthread.h"
#include "slab.h"
#include "tracepoint.h"

struct kthread_create_info {
	int (*threadfn)(void *data);
	void *data;
	struct task_struct *result;
	struct completion *done;
	struct list_head list;
};
struct kthread { unsigned long flags; int result; int (*threadfn)(void *); void *data; struct completion exited; };
enum { KTHREAD_SHOULD_STOP = 1 };

static DEFINE_SPINLOCK(kthread_create_lock);
static LIST_HEAD(kthread_create_list);
struct task_struct *kthreadd_task;

/* A user thread has none. */
static struct kthread *to_kthread(struct task_struct *k)
{
	return k->worker_private;
}

bool kthread_should_stop(void)
{
	return test_bit(KTHREAD_SHOULD_STOP, &to_kthread(current)->flags);
}

/* What the thread was made with. */
void *kthread_data(struct task_struct *task)
{
	return to_kthread(task)->data;
}

static int kthread(void *_create)
{
	struct kthread_create_info *create = _create;
	struct kthread *self = kzalloc(sizeof(*self), GFP_KERNEL);
	struct completion *done = create->done;
	int ret = -EINTR;

	self->threadfn = create->threadfn;
	self->data = create->data;
	init_completion(&self->exited);
	current->worker_private = self;
	/* Sleep until the creator has set name and CPU, and wakes us. */
	__set_current_state(TASK_UNINTERRUPTIBLE);
	create->result = current;
	preempt_disable();
	complete(done);
	schedule_preempt_disabled();
	preempt_enable();
	if (!kthread_should_stop())
		ret = self->threadfn(self->data);
	self->result = ret;
	complete_all(&self->exited);
	do_exit(0);
}

static void create_kthread(struct kthread_create_info *create)
{
	pid_t pid = kernel_thread(kthread, create, CLONE_FS | CLONE_FILES | SIGCHLD);

	if (pid < 0) {
		create->result = ERR_PTR(pid);
		complete(create->done);
	}
}

struct task_struct *kthread_create_on_node(int (*threadfn)(void *), void *data, int node, const char *namefmt, ...)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct kthread_create_info *create = kmalloc(sizeof(*create), GFP_KERNEL);
	struct task_struct *task;
	char name[TASK_COMM_LEN];
	va_list args;

	if (!create)
		return ERR_PTR(-ENOMEM);
	create->threadfn = threadfn;
	create->data = data;
	create->done = &done;
	spin_lock(&kthread_create_lock);
	list_add_tail(&create->list, &kthread_create_list);
	spin_unlock(&kthread_create_lock);
	wake_up_process(kthreadd_task);
	wait_for_completion(&done);
	task = create->result;
	if (!IS_ERR(task)) {
		va_start(args, namefmt);
		vsnprintf(name, sizeof(name), namefmt, args);
		va_end(args);
		set_task_comm(task, name);
	}
	kfree(create);
	return task;
}

/* Only for a thread that has not been woken yet. */
void kthread_bind(struct task_struct *p, unsigned int cpu)
{
	wait_task_inactive(p, TASK_UNINTERRUPTIBLE);
	p->cpus_mask = *cpumask_of(cpu);
	p->nr_cpus_allowed = 1;
	p->flags |= PF_NO_SETAFFINITY;
}

/* Made for a CPU that need not be there yet; name holds a %u for its number. */
struct task_struct *kthread_create_on_cpu(int (*threadfn)(void *), void *data, unsigned int cpu, const char *namefmt)
{
	struct task_struct *p = kthread_create_on_node(threadfn, data, -1, namefmt, cpu);

	if (!IS_ERR(p))
		kthread_bind(p, cpu);
	return p;
}

int kthread_stop(struct task_struct *k)
{
	struct kthread *kthread = to_kthread(k);
	int ret;

	trace_sched_kthread_stop(k);
	get_task_struct(k);
	set_bit(KTHREAD_SHOULD_STOP, &kthread->flags);
	wake_up_process(k);
	wait_for_completion(&kthread->exited);
	ret = kthread->result;
	put_task_struct(k);
	trace_sched_kthread_stop_ret(ret);
	return ret;
}

int kthreadd(void *unused)
{
	set_task_comm(current, "kthreadd");
	ignore_signals(current);		/* its children reap themselves */
	set_cpus_allowed_ptr(current, cpu_possible_mask);	/* the first task is bound to CPU 0 by init_idle() */
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (list_empty(&kthread_create_list))
			schedule();
		__set_current_state(TASK_RUNNING);
		spin_lock(&kthread_create_lock);
		while (!list_empty(&kthread_create_list)) {
			struct kthread_create_info *create = list_first_entry(&kthread_create_list, struct kthread_create_info, list);

			list_del_init(&create->list);
			spin_unlock(&kthread_create_lock);
			create_kthread(create);
			spin_lock(&kthread_create_lock);
		}
		spin_unlock(&kthread_create_lock);
	}
	return 0;
}

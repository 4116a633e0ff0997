/*
 * Process numbers (kernel/pid.c). pidmap_lock protects the bitmap and the hash; tasklist_lock (for writing) who has
 * which number.
 */
#include "sched.h"
#include "slab.h"
#include "rcupdate.h"

#define PIDHASH_SIZE 256
#define PID_MAX 32768
#define RESERVED_PIDS 300
struct pid_namespace init_pid_ns = { .count = REFCOUNT_INIT(1), .child_reaper = &init_task };
struct pid init_struct_pid = { .count = REFCOUNT_INIT(1), .nr = 0, .ns = &init_pid_ns };
static struct hlist_head pid_hash[PIDHASH_SIZE];
static DEFINE_SPINLOCK(pidmap_lock);
static unsigned long pidmap[PID_MAX / 64] = { 1 };
static struct kmem_cache *pid_cachep;
pid_t last_pid;
int pid_max = PID_MAX;

/* The next free number, round and round; after a wrap the low ones stay reserved. */
static int alloc_pidmap(void)
{
	unsigned long max = READ_ONCE(pid_max), nr = find_next_zero_bit(pidmap, max, last_pid + 1);

	if (nr >= max)
		nr = find_next_zero_bit(pidmap, max, RESERVED_PIDS);
	if (nr >= max)
		return -EAGAIN;
	__set_bit(nr, pidmap);
	return last_pid = nr;
}

struct pid *alloc_pid(void)
{
	struct pid *pid = kmem_cache_alloc(pid_cachep, GFP_KERNEL);
	enum pid_type type;

	if (!pid)
		return ERR_PTR(-ENOMEM);
	spin_lock_irq(&pidmap_lock);
	pid->nr = alloc_pidmap();
	spin_unlock_irq(&pidmap_lock);
	if (pid->nr < 0) {
		kmem_cache_free(pid_cachep, pid);
		return ERR_PTR(-EAGAIN);
	}
	refcount_set(&pid->count, 1);
	pid->ns = &init_pid_ns;
	spin_lock_init(&pid->lock);
	for (type = 0; type < PIDTYPE_MAX; type++)
		INIT_HLIST_HEAD(&pid->tasks[type]);
	init_waitqueue_head(&pid->wait_pidfd);
	/* All set up: let others find it. */
	spin_lock_irq(&pidmap_lock);
	hlist_add_head(&pid->chain, &pid_hash[pid->nr % PIDHASH_SIZE]);
	spin_unlock_irq(&pidmap_lock);
	return pid;
}

void put_pid(struct pid *pid)
{
	if (pid && refcount_dec_and_test(&pid->count))
		kmem_cache_free(pid_cachep, pid);
}

static void delayed_put_pid(struct rcu_head *rhp)
{
	put_pid(container_of(rhp, struct pid, rcu));
}

/* No task has the number any more. */
void free_pid(struct pid *pid)
{
	unsigned long flags;

	spin_lock_irqsave(&pidmap_lock, flags);
	hlist_del_rcu(&pid->chain);
	__clear_bit(pid->nr, pidmap);
	spin_unlock_irqrestore(&pidmap_lock, flags);
	call_rcu(&pid->rcu, delayed_put_pid);
}

/* Under rcu_read_lock(), or with a lock that keeps the number's tasks. */
struct pid *find_vpid(int nr)
{
	struct pid *pid;

	hlist_for_each_entry(pid, &pid_hash[(unsigned int)nr % PIDHASH_SIZE], chain) {
		if (pid->nr == nr)
			return pid;
	}
	return NULL;
}

struct pid *find_get_pid(pid_t nr)
{
	struct pid *pid;

	rcu_read_lock();
	pid = get_pid(find_vpid(nr));
	rcu_read_unlock();
	return pid;
}

struct task_struct *pid_task(struct pid *pid, enum pid_type type)
{
	struct hlist_node *first = pid ? READ_ONCE(pid->tasks[type].first) : NULL;

	return first ? container_of(first, struct task_struct, pid_links[type]) : NULL;
}

struct task_struct *find_task_by_vpid(pid_t nr)
{
	return pid_task(find_vpid(nr), PIDTYPE_PID);
}

static struct pid **task_pid_ptr(struct task_struct *task, enum pid_type type)
{
	return type == PIDTYPE_PID ? &task->thread_pid : &task->signal->pids[type];
}

/* NULL once the task has been released. */
struct pid_namespace *task_active_pid_ns(struct task_struct *tsk)
{
	return ns_of_pid(READ_ONCE(tsk->thread_pid));
}

struct pid *get_task_pid(struct task_struct *task, enum pid_type type)
{
	struct pid *pid;

	rcu_read_lock();
	pid = get_pid(READ_ONCE(*task_pid_ptr(task, type)));
	rcu_read_unlock();
	return pid;
}

void attach_pid(struct task_struct *task, enum pid_type type)
{
	hlist_add_head(&task->pid_links[type], &(*task_pid_ptr(task, type))->tasks[type]);
}

static noinline void __change_pid(struct task_struct *task, enum pid_type type, struct pid *new)
{
	struct pid **pid_ptr = task_pid_ptr(task, type), *pid = *pid_ptr;
	enum pid_type t;

	hlist_del_rcu(&task->pid_links[type]);
	*pid_ptr = new;
	for (t = 0; t < PIDTYPE_MAX; t++) {
		if (!hlist_empty(&pid->tasks[t]))
			return;
	}
	if (pid->nr)
		free_pid(pid);
}

void detach_pid(struct task_struct *task, enum pid_type type)
{
	__change_pid(task, type, NULL);
}

void change_pid(struct task_struct *task, enum pid_type type, struct pid *pid)
{
	__change_pid(task, type, pid);
	attach_pid(task, type);
}

pid_t pid_vnr(struct pid *pid)
{
	return pid ? pid->nr : 0;
}

/* 0: the number is not seen from that namespace. */
static __always_inline pid_t pid_nr_ns(struct pid *pid, struct pid_namespace *ns)
{
	return pid && pid->ns == ns ? pid->nr : 0;
}

/* NULL: the namespace of the one who asks. */
pid_t __task_pid_nr_ns(struct task_struct *task, enum pid_type type, struct pid_namespace *ns)
{
	pid_t nr;

	rcu_read_lock();
	if (!ns)
		ns = task_active_pid_ns(current);
	nr = pid_nr_ns(READ_ONCE(*task_pid_ptr(task, type)), ns);
	rcu_read_unlock();
	return nr;
}

void __init pid_idr_init(void)
{
	pr_info("pid_max: default: %d minimum: %d\n", PID_MAX, RESERVED_PIDS + 1);
	pid_cachep = KMEM_CACHE(pid, SLAB_PANIC | SLAB_ACCOUNT);
}

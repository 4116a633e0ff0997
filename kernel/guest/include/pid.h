#pragma once
/* Process numbers as objects that outlive their tasks (include/linux/pid.h). */
#include "types.h"
#include "atomic.h"
#include "spinlock.h"
#include "wait.h"
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_PGID, PIDTYPE_SID, PIDTYPE_MAX };
struct pid_namespace { refcount_t count; unsigned int level; struct task_struct *child_reaper; };	/* there is one */
extern struct pid_namespace init_pid_ns;
struct pid {
	refcount_t count;
	int nr;
	struct pid_namespace *ns;
	spinlock_t lock;
	struct hlist_node chain;			/* pid_hash */
	struct hlist_head tasks[PIDTYPE_MAX];		/* who has this number as its pid, tgid, pgid, sid */
	wait_queue_head_t wait_pidfd;
	struct rcu_head rcu;
};
extern struct pid init_struct_pid;
extern int pid_max;	/* kernel.pid_max: numbers are below it */
static __always_inline struct pid *get_pid(struct pid *pid) { if (pid) { refcount_inc(&pid->count); } return pid; }
void put_pid(struct pid *pid);
struct task_struct *pid_task(struct pid *pid, enum pid_type type);
struct pid *find_vpid(int nr);
struct pid *find_get_pid(pid_t nr);
static __always_inline struct pid_namespace *ns_of_pid(struct pid *pid) { return pid ? pid->ns : NULL; }
struct pid_namespace *task_active_pid_ns(struct task_struct *tsk);
struct pid *get_task_pid(struct task_struct *task, enum pid_type type);
struct pid *alloc_pid(void);
void free_pid(struct pid *pid);
void attach_pid(struct task_struct *task, enum pid_type type);
void detach_pid(struct task_struct *task, enum pid_type type);
void change_pid(struct task_struct *task, enum pid_type type, struct pid *pid);
pid_t pid_vnr(struct pid *pid);
pid_t __task_pid_nr_ns(struct task_struct *task, enum pid_type type, struct pid_namespace *ns);
void pid_idr_init(void);

#pragma once
/*
 * The scheduler's own structures (kernel/sched/sched.h). rq->__lock protects everything in a run queue; a task's pi_lock
 * (taken first) protects its wake-up. Lock order between two queues: lower CPU number first (double_rq_lock).
 */
#include "sched.h"
#include "interrupt.h"
#include "mm.h"

struct cfs_rq {
	struct load_weight load;
	unsigned int nr_running;
	u64 min_vruntime;
	struct rb_root_cached tasks_timeline;
	struct sched_entity *curr, *next, *last, *skip;
	struct rq *rq;
	struct sched_avg avg;
};
struct rq {
	raw_spinlock_t __lock;
	unsigned int nr_running;
	int cpu;
	bool online;
	u64 nr_switches;
	unsigned int clock_update_flags;	/* RQCF_* */
	u64 clock, clock_task, clock_idle;
	struct cfs_rq cfs;
	struct task_struct *curr, *idle;
	struct mm_struct *prev_mm;
	unsigned int ttwu_pending, ttwu_count, sched_count, nr_uninterruptible;
	u64 next_balance;
	unsigned long nohz_balance;
	call_single_data_t nohz_csd;
};
DECLARE_PER_CPU(struct rq, runqueues);
#define cpu_rq(c)	(&per_cpu(runqueues, c))
#define this_rq()	this_cpu_ptr(&runqueues)
#define task_rq(p)	cpu_rq(task_cpu(p))
#define cpu_curr(c)	(cpu_rq(c)->curr)
#define rq_of(cfs)	((cfs)->rq)
#define task_of(e)	container_of(e, struct task_struct, se)
#define cfs_rq_of(e)	((e)->cfs_rq)

#define RQCF_REQ_SKIP	1	/* the next __schedule() need not read the clock again */
#define RQCF_ACT_SKIP	2	/* this one need not */
#define TASK_ON_RQ_QUEUED 1
#define DEQUEUE_SLEEP	1
#define ENQUEUE_WAKEUP	1
#define ENQUEUE_INITIAL	0x80
#define ENQUEUE_MIGRATED 0x40
#define ENQUEUE_NOCLOCK	8
#define DEQUEUE_NOCLOCK	8

struct sched_class {
	void (*enqueue_task)(struct rq *rq, struct task_struct *p, int flags);
	void (*dequeue_task)(struct rq *rq, struct task_struct *p, int flags);
	void (*yield_task)(struct rq *rq);
	void (*check_preempt_curr)(struct rq *rq, struct task_struct *p, int flags);
	struct task_struct *(*pick_next_task)(struct rq *rq);
	void (*put_prev_task)(struct rq *rq, struct task_struct *p);
	void (*set_next_task)(struct rq *rq, struct task_struct *p, bool first);
	int (*select_task_rq)(struct task_struct *p, int task_cpu, int flags);
	void (*migrate_task_rq)(struct task_struct *p, int new_cpu);
	void (*task_tick)(struct rq *rq, struct task_struct *p, int queued);
	void (*task_fork)(struct task_struct *p);
	void (*update_curr)(struct rq *rq);
	void (*task_dead)(struct task_struct *p);
};
extern const struct sched_class fair_sched_class, idle_sched_class;
extern const int sched_prio_to_weight[40];

void update_rq_clock(struct rq *rq);
void init_cfs_rq(struct cfs_rq *cfs_rq);
struct task_struct *pick_next_task_fair(struct rq *rq, struct task_struct *prev);
void check_preempt_curr(struct rq *rq, struct task_struct *p, int flags);
void activate_task(struct rq *rq, struct task_struct *p, int flags);
void deactivate_task(struct rq *rq, struct task_struct *p, int flags);
void set_task_cpu(struct task_struct *p, unsigned int new_cpu);
void raw_spin_rq_lock_nested(struct rq *rq, int subclass);
#define raw_spin_rq_lock(rq) raw_spin_rq_lock_nested(rq, 0)
void raw_spin_rq_unlock(struct rq *rq);
struct rq *__task_rq_lock(struct task_struct *p);
void sched_ttwu_pending(void *arg);
void double_rq_lock(struct rq *rq1, struct rq *rq2);
void trigger_load_balance(struct rq *rq);
void nohz_csd_func(void *info);
void init_sched_fair_class(void);
int __update_load_avg_se(u64 now, struct cfs_rq *cfs_rq, struct sched_entity *se);
int __update_load_avg_cfs_rq(u64 now, struct cfs_rq *cfs_rq);
void init_entity_runnable_average(struct sched_entity *se);
void post_init_entity_util_avg(struct task_struct *p);
static __always_inline u64 rq_clock_task(struct rq *rq) { return rq->clock_task; }

/* What happens to p now must be before anything it does elsewhere; see sched_clock_sync(). */
static __always_inline void clock_floor_now(struct task_struct *p)
{
	u64 now = sched_clock();

	if (now > p->clock_floor)
		p->clock_floor = now;
}

#pragma once
/*
 * The scheduler's own structures (kernel/sched/sched.h). rq->__lock protects everything in a run queue; a task's pi_lock
 * (taken first) protects its wake-up. Lock order between two queues: lower CPU number first (double_rq_lock).
 */
#include "sched.h"
#include "interrupt.h"
#include "mm.h"
#include "loadavg.h"

struct cfs_rq {
	struct load_weight load;
	unsigned int nr_running;
	u64 min_vruntime;
	struct rb_root_cached tasks_timeline;
	struct sched_entity *curr, *next, *last, *skip;
	struct rq *rq;
	struct sched_avg avg;
	struct { raw_spinlock_t lock; int nr; unsigned long load_avg; u64 load_sum; } removed;	/* by CPUs without the queue's lock */
};
/* The real-time queues, one for each priority (0 is the highest); bit n of bitmap: queue[n] is not empty. */
struct rt_prio_array {
	unsigned long bitmap[2];		/* MAX_RT_PRIO bits, and one that is always set */
	struct list_head queue[MAX_RT_PRIO];
};
struct rt_rq {
	struct rt_prio_array active;
	unsigned int rt_nr_running, rr_nr_running;
	struct { int curr; } highest_prio;	/* of the runnable tasks, MAX_RT_PRIO - 1 + 1 when there is none */
	bool overloaded;			/* more than one task: others may pull */
	int rt_queued, rt_throttled;
	u64 rt_time, rt_runtime;		/* used of this period, allowed in it */
};
struct balance_callback { struct balance_callback *next; void (*func)(struct rq *rq); };
struct rq {
	raw_spinlock_t __lock;
	unsigned int nr_running;
	int cpu;
	bool online;
	u64 nr_switches;
	unsigned int clock_update_flags;	/* RQCF_* */
	u64 clock, clock_task, clock_idle;
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct task_struct *curr, *idle, *stop;
	struct balance_callback *balance_callback;	/* to be done before the lock is dropped */
	struct mm_struct *prev_mm;
	unsigned int ttwu_pending, ttwu_count, sched_count, nr_uninterruptible;
	unsigned long calc_load_update;
	long calc_load_active;
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
#define TASK_ON_RQ_MIGRATING 2
#define task_on_rq_queued(p)	((p)->on_rq == TASK_ON_RQ_QUEUED)
#define task_on_rq_migrating(p)	(READ_ONCE((p)->on_rq) == TASK_ON_RQ_MIGRATING)
#define task_current(rq, p)	((rq)->curr == (p))
#define DEQUEUE_SLEEP	1
#define DEQUEUE_SAVE	2	/* to be enqueued again at once, with other attributes */
#define DEQUEUE_MOVE	4	/* may change its place among its equals */
#define ENQUEUE_WAKEUP	1
#define ENQUEUE_RESTORE	2
#define ENQUEUE_MOVE	4
#define ENQUEUE_HEAD	0x10
#define ENQUEUE_INITIAL	0x80
#define ENQUEUE_MIGRATED 0x40
#define ENQUEUE_NOCLOCK	8
#define DEQUEUE_NOCLOCK	8

#define RETRY_TASK	((void *)-1UL)
/* In the order of rank, highest first: vmlinux.lds puts stop, rt, fair and idle one after the other. */
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
	int (*balance)(struct rq *rq, struct task_struct *prev);
	void (*task_woken)(struct rq *rq, struct task_struct *p);
	void (*switched_from)(struct rq *rq, struct task_struct *p);
	void (*switched_to)(struct rq *rq, struct task_struct *p);
	void (*prio_changed)(struct rq *rq, struct task_struct *p, int oldprio);
	unsigned int (*get_rr_interval)(struct rq *rq, struct task_struct *p);
};
#define DEFINE_SCHED_CLASS(name) \
	const struct sched_class name##_sched_class __aligned(8) __section("__" #name "_sched_class")
extern const struct sched_class stop_sched_class, rt_sched_class, fair_sched_class, idle_sched_class;
extern const struct sched_class __sched_class_highest[], __sched_class_lowest[];
#define for_class_range(class, from, to) for (class = (from); class < (to); class++)
#define for_each_class(class)	for_class_range(class, __sched_class_highest, __sched_class_lowest)
#define sched_class_above(a, b)	((a) < (b))
static __always_inline int rt_prio(int prio) { return prio < MAX_RT_PRIO; }
static __always_inline int rt_task(struct task_struct *p) { return rt_prio(p->prio); }
static __always_inline int rt_policy(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }
static __always_inline int fair_policy(int policy) { return policy == SCHED_NORMAL || policy == SCHED_BATCH; }
#define idle_policy(policy)	((policy) == SCHED_IDLE)
static __always_inline void put_prev_task(struct rq *rq, struct task_struct *prev) { prev->sched_class->put_prev_task(rq, prev); }
static __always_inline void set_next_task(struct rq *rq, struct task_struct *next) { next->sched_class->set_next_task(rq, next, false); }
static __always_inline void queue_balance_callback(struct rq *rq, struct balance_callback *head, void (*func)(struct rq *))
{
	if (head->func)
		return;				/* is queued */
	head->func = func;
	head->next = rq->balance_callback;
	rq->balance_callback = head;
}
extern const int sched_prio_to_weight[40];

void update_rq_clock(struct rq *rq);
void init_cfs_rq(struct cfs_rq *cfs_rq);
struct task_struct *pick_next_task_fair(struct rq *rq, struct task_struct *prev);
void check_preempt_curr(struct rq *rq, struct task_struct *p, int flags);
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
void init_rt_rq(struct rt_rq *rt_rq);
void init_rt_bandwidth(void);
extern unsigned int sysctl_sched_rt_period;
extern int sysctl_sched_rt_runtime, sched_rr_timeslice;
void balance_callbacks(struct rq *rq);
void set_load_weight(struct task_struct *p, bool update_load);
void reweight_task(struct task_struct *p);
struct rq *task_rq_lock(struct task_struct *p, unsigned long *flags);
void task_rq_unlock(struct rq *rq, struct task_struct *p, unsigned long *flags);
int double_lock_balance(struct rq *this_rq, struct rq *busiest);
void __setscheduler_prio(struct task_struct *p, int prio);
static __always_inline void enqueue_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (!(flags & ENQUEUE_NOCLOCK))
		update_rq_clock(rq);
	p->sched_class->enqueue_task(rq, p, flags);
}
static __always_inline void activate_task(struct rq *rq, struct task_struct *p, int flags)
{
	enqueue_task(rq, p, flags);
	p->on_rq = TASK_ON_RQ_QUEUED;
}
void dequeue_task(struct rq *rq, struct task_struct *p, int flags);
int sched_setscheduler_nocheck(struct task_struct *p, int policy, int priority);
int __update_load_avg_blocked_se(u64 now, struct sched_entity *se);
int __update_load_avg_se(u64 now, struct cfs_rq *cfs_rq, struct sched_entity *se);
int __update_load_avg_cfs_rq(u64 now, struct cfs_rq *cfs_rq);
void init_entity_runnable_average(struct sched_entity *se);
void post_init_entity_util_avg(struct task_struct *p);
static __always_inline u64 rq_clock_task(struct rq *rq) { return rq->clock_task; }

/* What happens to p now must be before anything it does elsewhere; see sched_clock_sync(). */
static __always_inline void clock_floor_now(struct task_struct *p)
{
	u64 now = rdtsc();	/* sched_clock() */

	if (now > p->clock_floor)
		p->clock_floor = now;
}

/* kernel/sched/stats.c */
extern int sched_schedstats;
#define schedstat_enabled()	unlikely(sched_schedstats)
void __update_stats_wait_start(struct rq *rq, struct task_struct *p);
void __update_stats_wait_end(struct rq *rq, struct task_struct *p);
void __update_stats_enqueue_sleeper(struct rq *rq, struct task_struct *p);
void __update_stats_dequeue_sleep(struct rq *rq, struct task_struct *p);

void set_task_rq_fair(struct sched_entity *se, struct cfs_rq *prev, struct cfs_rq *next);

static __always_inline void __set_task_cpu(struct task_struct *p, unsigned int cpu)
{
	struct cfs_rq *next = &cpu_rq(cpu)->cfs;

	set_task_rq_fair(&p->se, p->se.cfs_rq, next);
	p->se.cfs_rq = next;
	WRITE_ONCE(p->thread_info.cpu, cpu);
	p->cpu = cpu;
	p->wake_cpu = cpu;
}

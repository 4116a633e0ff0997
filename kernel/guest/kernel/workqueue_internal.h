#pragma once
/* What the two halves of the work queues share (kernel/workqueue_internal.h). */
#include "workqueue.h"
#include "kthread.h"
#include "slab.h"
#include "interrupt.h"

struct worker_pool {
	raw_spinlock_t lock;
	int cpu, id, nice;			/* cpu -1: unbound */
	struct list_head worklist;
	int nr_workers, nr_idle, nr_running, next_id;
	struct list_head idle_list, busy_list;
	bool manager_active;
	bool ready;				/* its CPU is there */
} __aligned(256);	/* work->data holds its address above WORK_STRUCT_FLAG_MASK */
struct worker {
	struct list_head entry;			/* on idle_list or busy_list */
	struct work_struct *current_work;
	work_func_t current_func;
	struct pool_workqueue *current_pwq;
	struct task_struct *task;
	struct worker_pool *pool;
	struct list_head scheduled;		/* works that this worker must do next */
	int id;
	bool idle, sleeping, running;		/* running: counted in nr_running */
};
struct pool_workqueue {
	struct worker_pool *pool;
	struct workqueue_struct *wq;
	int work_color, nr_in_flight[2];
	int nr_active, max_active;
	struct list_head inactive_works;
} __aligned(256);				/* its address leaves room for the flags of work->data */
struct workqueue_struct {
	struct list_head list;
	struct mutex mutex;			/* one flusher at a time */
	struct wait_queue_head flush_wait;
	unsigned int flags, nr_pwqs;
	struct pool_workqueue **cpu_pwq;	/* one for each CPU, or a single one */
	char name[24];
};

#define NR_STD_WORKER_POOLS 2
#define WQ_DFL_ACTIVE 256
DECLARE_PER_CPU(struct worker_pool, cpu_worker_pools[NR_STD_WORKER_POOLS]);
extern struct worker_pool unbound_pool;

static __always_inline struct pool_workqueue *get_work_pwq(struct work_struct *work)
{
	unsigned long data = READ_ONCE(work->data);

	return data & WORK_STRUCT_PWQ ? (struct pool_workqueue *)(data & ~WORK_STRUCT_FLAG_MASK) : NULL;
}

struct worker *find_worker_executing_work(struct worker_pool *pool, struct work_struct *work);
void insert_work(struct pool_workqueue *pwq, struct work_struct *work, struct list_head *head, unsigned long extra_flags);
void __queue_work(int cpu, struct workqueue_struct *wq, struct work_struct *work);
int try_to_grab_pending(struct work_struct *work, bool is_dwork);
struct worker *create_worker(struct worker_pool *pool);

#pragma once
/* Functions to be called later, in process context (include/linux/workqueue.h; kernel/workqueue.c says how). */
#include "types.h"
#include "list.h"
#include "timer.h"
struct work_struct;
struct task_struct;
struct workqueue_struct;
typedef void (*work_func_t)(struct work_struct *work);
/* data: the bits WORK_STRUCT_*, and while it is queued a pool_workqueue above them; afterwards its pool's number. */
struct work_struct { unsigned long data; struct list_head entry; work_func_t func; };
struct delayed_work { struct work_struct work; struct timer_list timer; struct workqueue_struct *wq; int cpu; };
#define WORK_STRUCT_PENDING_BIT	0	/* queued, or about to be */
#define WORK_STRUCT_INACTIVE	2	/* its queue has max_active others running */
#define WORK_STRUCT_PWQ		4	/* the rest of data is a pool_workqueue */
#define WORK_STRUCT_LINKED	8	/* the next on the list belongs to it */
#define WORK_STRUCT_COLOR	16	/* for flush_workqueue() */
#define WORK_STRUCT_FLAG_MASK	0xffUL
#define WORK_CPU_UNBOUND	64	/* NR_CPUS: no CPU in particular */
#define WQ_UNBOUND		2
#define WQ_FREEZABLE		4
#define WQ_MEM_RECLAIM		8
#define WQ_HIGHPRI		0x10
#define WQ_CPU_INTENSIVE	0x20
#define WQ_SYSFS		0x40
#define __WQ_ORDERED		0x20000
#define __INIT_WORK(w, f)	do { (w)->data = 0; INIT_LIST_HEAD(&(w)->entry); (w)->func = (f); } while (0)
#define INIT_WORK(w, f)		__INIT_WORK(w, f)
#define INIT_DELAYED_WORK(d, f)	do { INIT_WORK(&(d)->work, f); timer_setup(&(d)->timer, delayed_work_timer_fn, 0); } while (0)
#define DECLARE_WORK(n, f)	struct work_struct n = { 0, LIST_HEAD_INIT((n).entry), f }
#define DECLARE_DELAYED_WORK(n, f) struct delayed_work n = { .work = { 0, LIST_HEAD_INIT((n).work.entry), f }, \
	.timer = { .function = delayed_work_timer_fn } }
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define work_pending(w)		test_bit(WORK_STRUCT_PENDING_BIT, &(w)->data)
#define delayed_work_pending(d)	work_pending(&(d)->work)
extern struct workqueue_struct *system_wq, *system_highpri_wq, *system_long_wq, *system_unbound_wq;
__printf(1, 4) struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int max_active, ...);
#define alloc_ordered_workqueue(fmt, flags, ...) alloc_workqueue(fmt, WQ_UNBOUND | __WQ_ORDERED | (flags), 1, ##__VA_ARGS__)
#define create_workqueue(name)	alloc_workqueue("%s", WQ_MEM_RECLAIM, 1, name)
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work);
bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work, unsigned long delay);
bool mod_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay);
bool flush_work(struct work_struct *work);
bool flush_delayed_work(struct delayed_work *dwork);
bool cancel_work_sync(struct work_struct *work);
bool cancel_delayed_work(struct delayed_work *dwork);
bool cancel_delayed_work_sync(struct delayed_work *dwork);
void __flush_workqueue(struct workqueue_struct *wq);
void delayed_work_timer_fn(struct timer_list *t);
#define flush_workqueue(wq)	__flush_workqueue(wq)
#define flush_scheduled_work()	__flush_workqueue(system_wq)
#define queue_work(wq, w)	queue_work_on(WORK_CPU_UNBOUND, wq, w)
#define queue_delayed_work(wq, d, t) queue_delayed_work_on(WORK_CPU_UNBOUND, wq, d, t)
#define mod_delayed_work(wq, d, t) mod_delayed_work_on(WORK_CPU_UNBOUND, wq, d, t)
#define schedule_work(w)	queue_work(system_wq, w)
#define schedule_work_on(cpu, w) queue_work_on(cpu, system_wq, w)
#define schedule_delayed_work(d, t) queue_delayed_work(system_wq, d, t)
void workqueue_init_early(void);
void workqueue_init(void);
int workqueue_prepare_cpu(unsigned int cpu);
int workqueue_online_cpu(unsigned int cpu);
void wq_worker_running(struct task_struct *task);
void wq_worker_sleeping(struct task_struct *task);
void wq_worker_comm(char *buf, unsigned long size, struct task_struct *task);

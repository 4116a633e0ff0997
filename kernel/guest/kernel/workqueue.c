/*
 * Work queues (kernel/workqueue.c): functions that are called later by threads kworker/N:M.
 *
 *	work --queue_work--> pool_workqueue (a queue's share of a pool) --> pool->worklist --> worker_thread --> process_one_work
 *
 * Each CPU has two pools of workers, the second one more urgent (kworker/N:MH), and there is one for work that does not care
 * where it runs (kworker/u…). A pool lets one worker run at a time: it is woken when the pool gets work and none runs, and when
 * the one that runs goes to sleep (wq_worker_sleeping). A pool always keeps an idle worker; the last one that takes up work
 * makes another first.
 *
 * Locks: pool->lock (IRQs off) protects a pool, its pool_workqueues and the works on it. Less than Linux: idle workers do not
 * end, there are no rescuers, no NUMA and no attributes.
 */
#include "workqueue_internal.h"
#include "tracepoint.h"

DEFINE_PER_CPU(struct worker_pool, cpu_worker_pools[NR_STD_WORKER_POOLS]);
struct worker_pool unbound_pool;

static int worker_thread(void *__worker);

/* ---- workers ---- */
static bool need_more_worker(struct worker_pool *pool)
{
	return !list_empty(&pool->worklist) && !pool->nr_running;
}

static bool keep_working(struct worker_pool *pool)
{
	return !list_empty(&pool->worklist) && pool->nr_running <= 1;
}

/* pool->lock held. */
static noinline void wake_up_worker(struct worker_pool *pool)
{
	struct worker *worker = list_first_entry_or_null(&pool->idle_list, struct worker, entry);

	if (likely(worker))
		wake_up_process(worker->task);
}

static struct worker *kthread_worker(struct task_struct *task)
{
	return kthread_data(task);
}

/* It was asleep in the middle of a work: it counts again. From schedule(). */
void wq_worker_running(struct task_struct *task)
{
	struct worker *worker = kthread_worker(task);
	unsigned long flags;

	if (!READ_ONCE(worker->sleeping))
		return;
	raw_spin_lock_irqsave(&worker->pool->lock, flags);
	worker->sleeping = false;
	if (!worker->running) {
		worker->running = true;
		worker->pool->nr_running++;
	}
	raw_spin_unlock_irqrestore(&worker->pool->lock, flags);
}

/* About to sleep in the middle of a work: another may take over. From schedule(). */
void wq_worker_sleeping(struct task_struct *task)
{
	struct worker *worker = kthread_worker(task);
	struct worker_pool *pool = worker->pool;
	unsigned long flags;

	if (!worker->running || READ_ONCE(worker->sleeping))
		return;
	worker->sleeping = true;
	raw_spin_lock_irqsave(&pool->lock, flags);
	worker->running = false;
	pool->nr_running--;
	if (need_more_worker(pool))
		wake_up_worker(pool);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

static void worker_enter_idle(struct worker *worker)
{
	struct worker_pool *pool = worker->pool;

	worker->idle = true;
	pool->nr_idle++;
	list_add(&worker->entry, &pool->idle_list);
	if (worker->running) {
		worker->running = false;
		pool->nr_running--;
	}
}

static void worker_leave_idle(struct worker *worker)
{
	worker->idle = false;
	worker->pool->nr_idle--;
	list_del_init(&worker->entry);
}

noinline struct worker *create_worker(struct worker_pool *pool)
{
	struct worker *worker = kzalloc(sizeof(*worker), GFP_KERNEL);

	if (!worker)
		return NULL;
	INIT_LIST_HEAD(&worker->entry);
	INIT_LIST_HEAD(&worker->scheduled);
	worker->pool = pool;
	raw_spin_lock_irq(&pool->lock);
	worker->id = pool->next_id++;
	raw_spin_unlock_irq(&pool->lock);
	if (pool->cpu >= 0)
		worker->task = kthread_create_on_node(worker_thread, worker, -1, "kworker/%d:%d%s", pool->cpu, worker->id,
						      pool->nice < 0 ? "H" : "");
	else
		worker->task = kthread_create_on_node(worker_thread, worker, -1, "kworker/u%d:%d", nr_cpu_ids * 2, worker->id);
	if (IS_ERR(worker->task)) {
		kfree(worker);
		return NULL;
	}
	set_user_nice(worker->task, pool->nice);
	if (pool->cpu >= 0)
		kthread_bind(worker->task, pool->cpu);
	raw_spin_lock_irq(&pool->lock);
	pool->nr_workers++;
	worker_enter_idle(worker);
	raw_spin_unlock_irq(&pool->lock);
	if (pool->ready)
		wake_up_process(worker->task);
	return worker;
}

/* pool->lock held, dropped meanwhile. True: a worker was made, so things may have changed. */
static noinline bool manage_workers(struct worker *worker)
{
	struct worker_pool *pool = worker->pool;

	if (pool->manager_active)
		return false;
	pool->manager_active = true;
	raw_spin_unlock_irq(&pool->lock);
	create_worker(pool);
	raw_spin_lock_irq(&pool->lock);
	pool->manager_active = false;
	return true;
}

/* ---- works ---- */
static void set_work_data(struct work_struct *work, unsigned long data, unsigned long flags)
{
	WRITE_ONCE(work->data, data | flags | BIT(WORK_STRUCT_PENDING_BIT));
}

/* The work and what is linked to it, in order. @list: where the work stands. */
static void move_linked_works(struct work_struct *work, struct list_head *list, struct list_head *head)
{
	for (;;) {
		struct list_head *next = work->entry.next;
		bool linked = work->data & WORK_STRUCT_LINKED;

		list_move_tail(&work->entry, head);
		if (!linked || next == list)
			break;
		work = list_entry(next, struct work_struct, entry);
	}
}

static noinline void pwq_activate_inactive_work(struct work_struct *work)
{
	struct pool_workqueue *pwq = get_work_pwq(work);

	trace_workqueue_activate_work(work);
	move_linked_works(work, &pwq->inactive_works, &pwq->pool->worklist);
	work->data &= ~(unsigned long)WORK_STRUCT_INACTIVE;
	pwq->nr_active++;
}

/* A work is done with: the next one that waited for its place, and whoever flushes. */
static noinline void pwq_dec_nr_in_flight(struct pool_workqueue *pwq, unsigned long work_data)
{
	int color = !!(work_data & WORK_STRUCT_COLOR);

	if (!(work_data & WORK_STRUCT_INACTIVE)) {
		pwq->nr_active--;
		if (!list_empty(&pwq->inactive_works) && pwq->nr_active < pwq->max_active)
			pwq_activate_inactive_work(list_first_entry(&pwq->inactive_works, struct work_struct, entry));
	}
	if (!--pwq->nr_in_flight[color])
		wake_up_all(&pwq->wq->flush_wait);
}

noinline struct worker *find_worker_executing_work(struct worker_pool *pool, struct work_struct *work)
{
	struct worker *worker;

	list_for_each_entry(worker, &pool->busy_list, entry) {
		if (worker->current_work == work && worker->current_func == work->func)
			return worker;
	}
	return NULL;
}

/* pool->lock held. */
noinline void insert_work(struct pool_workqueue *pwq, struct work_struct *work, struct list_head *head, unsigned long extra_flags)
{
	set_work_data(work, (unsigned long)pwq, WORK_STRUCT_PWQ | extra_flags | (pwq->work_color ? WORK_STRUCT_COLOR : 0));
	list_add_tail(&work->entry, head);
	smp_mb();
	if (!pwq->pool->nr_running)
		wake_up_worker(pwq->pool);
}

/* IRQs off; the caller has set the work's PENDING bit. */
noinline void __queue_work(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	struct pool_workqueue *pwq = wq->cpu_pwq[wq->flags & WQ_UNBOUND ? 0 : cpu == WORK_CPU_UNBOUND ? smp_processor_id() : cpu];
	struct worker_pool *last_pool = READ_ONCE(work->data) & ~WORK_STRUCT_FLAG_MASK && !get_work_pwq(work) ?
		(struct worker_pool *)(work->data & ~WORK_STRUCT_FLAG_MASK) : NULL;

	/* While it runs somewhere it must not run elsewhere too: it goes to the pool where it runs. */
	if (last_pool && last_pool != pwq->pool) {
		struct worker *worker;

		raw_spin_lock(&last_pool->lock);
		worker = find_worker_executing_work(last_pool, work);
		if (worker && worker->current_pwq->wq == wq) {
			pwq = worker->current_pwq;
		} else {
			raw_spin_unlock(&last_pool->lock);
			raw_spin_lock(&pwq->pool->lock);
		}
	} else {
		raw_spin_lock(&pwq->pool->lock);
	}
	trace_workqueue_queue_work(cpu, wq->name, pwq->pool->cpu, work);
	pwq->nr_in_flight[pwq->work_color]++;
	if (likely(pwq->nr_active < pwq->max_active)) {
		trace_workqueue_activate_work(work);
		pwq->nr_active++;
		insert_work(pwq, work, &pwq->pool->worklist, 0);
	} else {
		set_work_data(work, (unsigned long)pwq, WORK_STRUCT_PWQ | WORK_STRUCT_INACTIVE | (pwq->work_color ? WORK_STRUCT_COLOR : 0));
		list_add_tail(&work->entry, &pwq->inactive_works);
	}
	raw_spin_unlock(&pwq->pool->lock);
}

/* False: it was queued already. */
bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;
	bool ret = false;

	local_irq_save(flags);
	if (!test_and_set_bit(WORK_STRUCT_PENDING_BIT, &work->data)) {
		__queue_work(cpu, wq, work);
		ret = true;
	}
	local_irq_restore(flags);
	return ret;
}

void delayed_work_timer_fn(struct timer_list *t)
{
	struct delayed_work *dwork = from_timer(dwork, t, timer);
	unsigned long flags;

	local_irq_save(flags);
	__queue_work(dwork->cpu, dwork->wq, &dwork->work);
	local_irq_restore(flags);
}

static noinline void __queue_delayed_work(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay)
{
	if (!delay) {
		__queue_work(cpu, wq, &dwork->work);
		return;
	}
	dwork->wq = wq;
	dwork->cpu = cpu;
	dwork->timer.expires = jiffies + delay;
	add_timer(&dwork->timer);
}

bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay)
{
	unsigned long flags;
	bool ret = false;

	local_irq_save(flags);
	if (!test_and_set_bit(WORK_STRUCT_PENDING_BIT, &dwork->work.data)) {
		__queue_delayed_work(cpu, wq, dwork, delay);
		ret = true;
	}
	local_irq_restore(flags);
	return ret;
}

/*
 * Takes a work off its timer or list; the PENDING bit is then the caller's. 1: it was queued; 0: it was not (and the bit is
 * set now); -EAGAIN: it is between the two, look again. IRQs off.
 */
noinline int try_to_grab_pending(struct work_struct *work, bool is_dwork)
{
	struct pool_workqueue *pwq;
	unsigned long data;

	if (is_dwork && del_timer(&to_delayed_work(work)->timer))
		return 1;
	if (!test_and_set_bit(WORK_STRUCT_PENDING_BIT, &work->data))
		return 0;
	pwq = get_work_pwq(work);
	if (!pwq)
		return -EAGAIN;
	raw_spin_lock(&pwq->pool->lock);
	data = READ_ONCE(work->data);
	if (get_work_pwq(work) != pwq || list_empty(&work->entry)) {
		raw_spin_unlock(&pwq->pool->lock);
		return -EAGAIN;
	}
	/* One that waits for its place may have others linked to it: they must not wait for a place that never comes. */
	if (data & WORK_STRUCT_INACTIVE) {
		pwq_activate_inactive_work(work);
		data = READ_ONCE(work->data);
	}
	list_del_init(&work->entry);
	pwq_dec_nr_in_flight(pwq, data);
	set_work_data(work, (unsigned long)pwq->pool, 0);
	raw_spin_unlock(&pwq->pool->lock);
	return 1;
}

bool mod_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay)
{
	unsigned long flags;
	int ret;

	do {
		local_irq_save(flags);
		ret = try_to_grab_pending(&dwork->work, true);
		if (likely(ret >= 0))
			__queue_delayed_work(cpu, wq, dwork, delay);
		local_irq_restore(flags);
	} while (ret == -EAGAIN);
	return ret;
}

/* pool->lock held, dropped while the function runs. */
static noinline void process_one_work(struct worker *worker, struct work_struct *work)
{
	struct pool_workqueue *pwq = get_work_pwq(work);
	struct worker_pool *pool = worker->pool;
	struct worker *collision = find_worker_executing_work(pool, work);
	unsigned long work_data;

	/* The function is running here for an earlier queueing: that worker will do this one too. */
	if (unlikely(collision)) {
		move_linked_works(work, &worker->scheduled, &collision->scheduled);
		return;
	}
	worker->current_work = work;
	worker->current_func = work->func;
	worker->current_pwq = pwq;
	work_data = READ_ONCE(work->data);
	list_add_tail(&worker->entry, &pool->busy_list);
	list_del_init(&work->entry);
	if (need_more_worker(pool))
		wake_up_worker(pool);
	/* From here on it may be queued anew, or freed by its own function. */
	smp_store_release(&work->data, (unsigned long)pool);
	raw_spin_unlock_irq(&pool->lock);
	trace_workqueue_execute_start(work);
	worker->current_func(work);
	trace_workqueue_execute_end(work, (void *)worker->current_func);
	if (unlikely(in_atomic()))
		pr_err("BUG: workqueue leaked lock or atomic: %s/0x%08x/%d\n", current->comm, preempt_count(), current->pid);
	cond_resched();
	raw_spin_lock_irq(&pool->lock);
	list_del_init(&worker->entry);
	worker->current_work = NULL;
	worker->current_func = NULL;
	worker->current_pwq = NULL;
	pwq_dec_nr_in_flight(pwq, work_data);
}

static noinline void process_scheduled_works(struct worker *worker)
{
	while (!list_empty(&worker->scheduled))
		process_one_work(worker, list_first_entry(&worker->scheduled, struct work_struct, entry));
}

static int worker_thread(void *__worker)
{
	struct worker *worker = __worker;
	struct worker_pool *pool = worker->pool;

	current->flags |= PF_WQ_WORKER;
woke_up:
	raw_spin_lock_irq(&pool->lock);
	worker_leave_idle(worker);
recheck:
	if (!need_more_worker(pool))
		goto sleep;
	if (unlikely(!pool->nr_idle) && manage_workers(worker))
		goto recheck;
	worker->running = true;
	pool->nr_running++;
	do {
		/* All through the worker's own list, so that the end of that list ends a chain of linked ones. */
		move_linked_works(list_first_entry(&pool->worklist, struct work_struct, entry), &pool->worklist, &worker->scheduled);
		process_scheduled_works(worker);
	} while (keep_working(pool));
sleep:
	worker_enter_idle(worker);
	__set_current_state(TASK_IDLE);
	raw_spin_unlock_irq(&pool->lock);
	schedule();
	goto woke_up;
	return 0;
}

/* ps and /proc show what a worker does: "kworker/0:1-events", with + while it does it. */
void wq_worker_comm(char *buf, unsigned long size, struct task_struct *task)
{
	struct worker *worker = kthread_worker(task);
	struct pool_workqueue *pwq;
	unsigned long len = strscpy(buf, task->comm, size);

	raw_spin_lock_irq(&worker->pool->lock);
	pwq = worker->current_pwq;
	if (pwq)
		scnprintf(buf + len, size - len, "+%s", pwq->wq->name);
	raw_spin_unlock_irq(&worker->pool->lock);
}

/* Work queues, the second half: flushing, cancelling, making and unmaking (kernel/workqueue.c). */
#include "workqueue_internal.h"

struct wq_barrier { struct work_struct work; struct completion done; };
static LIST_HEAD(workqueues);
static DEFINE_MUTEX(wq_pool_mutex);
struct workqueue_struct *system_wq, *system_highpri_wq, *system_long_wq, *system_unbound_wq;

/* ---- waiting for works ---- */
static void wq_barrier_func(struct work_struct *work)
{
	complete(&container_of(work, struct wq_barrier, work)->done);
}

/* Behind the running work of @worker, or behind the queued @target. pool->lock held. */
static noinline void insert_wq_barrier(struct pool_workqueue *pwq, struct wq_barrier *barr, struct work_struct *target, struct worker *worker)
{
	struct list_head *head = worker ? worker->scheduled.next : target->entry.next;
	unsigned long linked = 0;

	INIT_WORK(&barr->work, wq_barrier_func);
	init_completion(&barr->done);
	if (!worker) {
		linked = target->data & WORK_STRUCT_LINKED;
		target->data |= WORK_STRUCT_LINKED;
	}
	pwq->nr_in_flight[pwq->work_color]++;
	/* It takes nobody's place: inactive as far as max_active is concerned. */
	insert_work(pwq, &barr->work, head, linked | WORK_STRUCT_INACTIVE);
}

/* False: the work is idle. */
static noinline bool start_flush_work(struct work_struct *work, struct wq_barrier *barr)
{
	unsigned long data = READ_ONCE(work->data);
	struct pool_workqueue *pwq = get_work_pwq(work);
	struct worker_pool *pool = pwq ? pwq->pool : (struct worker_pool *)(data & ~WORK_STRUCT_FLAG_MASK);
	struct worker *worker = NULL;

	if (!pool)
		return false;
	raw_spin_lock_irq(&pool->lock);
	pwq = get_work_pwq(work);
	if (!pwq || pwq->pool != pool) {
		worker = find_worker_executing_work(pool, work);
		if (!worker) {
			raw_spin_unlock_irq(&pool->lock);
			return false;
		}
		pwq = worker->current_pwq;
	}
	insert_wq_barrier(pwq, barr, work, worker);
	raw_spin_unlock_irq(&pool->lock);
	return true;
}

/* Until its last queueing is done. False: it was idle. */
bool flush_work(struct work_struct *work)
{
	struct wq_barrier barr;

	if (!start_flush_work(work, &barr))
		return false;
	wait_for_completion(&barr.done);
	return true;
}

bool flush_delayed_work(struct delayed_work *dwork)
{
	local_irq_disable();
	if (del_timer_sync(&dwork->timer))
		__queue_work(dwork->cpu, dwork->wq, &dwork->work);
	local_irq_enable();
	return flush_work(&dwork->work);
}

static noinline bool __cancel_work_timer(struct work_struct *work, bool is_dwork)
{
	int ret;

	for (;;) {
		local_irq_disable();
		ret = try_to_grab_pending(work, is_dwork);
		local_irq_enable();
		if (ret != -EAGAIN)
			break;
		cpu_relax();
	}
	flush_work(work);
	clear_bit(WORK_STRUCT_PENDING_BIT, &work->data);
	return ret;
}

/* It neither is queued nor runs afterwards. */
bool cancel_work_sync(struct work_struct *work)
{
	return __cancel_work_timer(work, false);
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	return __cancel_work_timer(&dwork->work, true);
}

bool cancel_delayed_work(struct delayed_work *dwork)
{
	int ret;

	do {
		local_irq_disable();
		ret = try_to_grab_pending(&dwork->work, true);
		if (ret >= 0)
			clear_bit(WORK_STRUCT_PENDING_BIT, &dwork->work.data);
		local_irq_enable();
	} while (ret == -EAGAIN);
	return ret;
}

static bool pwqs_drained(struct workqueue_struct *wq, int color)
{
	unsigned int i;

	for (i = 0; i < wq->nr_pwqs; i++) {
		if (READ_ONCE(wq->cpu_pwq[i]->nr_in_flight[color]))
			return false;
	}
	return true;
}

/* All that is queued now: it has one colour, what comes later has the other. */
void __flush_workqueue(struct workqueue_struct *wq)
{
	unsigned int i;
	int color;

	mutex_lock(&wq->mutex);
	color = wq->cpu_pwq[0]->work_color;
	for (i = 0; i < wq->nr_pwqs; i++) {
		struct pool_workqueue *pwq = wq->cpu_pwq[i];

		raw_spin_lock_irq(&pwq->pool->lock);
		pwq->work_color = !color;
		raw_spin_unlock_irq(&pwq->pool->lock);
	}
	wait_event(wq->flush_wait, pwqs_drained(wq, color));
	mutex_unlock(&wq->mutex);
}

/* ---- queues ---- */
static struct pool_workqueue *alloc_pwq(struct workqueue_struct *wq, struct worker_pool *pool, int max_active)
{
	struct pool_workqueue *pwq = kzalloc(sizeof(*pwq), GFP_KERNEL);

	if (pwq) {
		pwq->pool = pool;
		pwq->wq = wq;
		pwq->max_active = max_active;
		INIT_LIST_HEAD(&pwq->inactive_works);
	}
	return pwq;
}

static int alloc_and_link_pwqs(struct workqueue_struct *wq, int max_active)
{
	bool highpri = wq->flags & WQ_HIGHPRI, unbound = wq->flags & WQ_UNBOUND;
	unsigned int i;

	wq->nr_pwqs = unbound ? 1 : nr_cpu_ids;
	wq->cpu_pwq = kcalloc(wq->nr_pwqs, sizeof(void *), GFP_KERNEL);
	if (!wq->cpu_pwq)
		return -ENOMEM;
	for (i = 0; i < wq->nr_pwqs; i++) {
		wq->cpu_pwq[i] = alloc_pwq(wq, unbound ? &unbound_pool : &per_cpu(cpu_worker_pools[highpri], i), max_active);
		if (!wq->cpu_pwq[i])
			return -ENOMEM;
	}
	return 0;
}

static void free_workqueue(struct workqueue_struct *wq)
{
	unsigned int i;

	for (i = 0; wq->cpu_pwq && i < wq->nr_pwqs; i++)
		kfree(wq->cpu_pwq[i]);
	kfree(wq->cpu_pwq);
	kfree(wq);
}

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int max_active, ...)
{
	struct workqueue_struct *wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	va_list args;

	if (!wq)
		return NULL;
	va_start(args, max_active);
	vsnprintf(wq->name, sizeof(wq->name), fmt, args);
	va_end(args);
	wq->flags = flags;
	mutex_init(&wq->mutex);
	init_waitqueue_head(&wq->flush_wait);
	if (alloc_and_link_pwqs(wq, max_active ?: WQ_DFL_ACTIVE)) {
		free_workqueue(wq);
		return NULL;
	}
	mutex_lock(&wq_pool_mutex);
	list_add_tail(&wq->list, &workqueues);
	mutex_unlock(&wq_pool_mutex);
	return wq;
}

/* Does first what is queued; nobody may queue any more. */
void destroy_workqueue(struct workqueue_struct *wq)
{
	__flush_workqueue(wq);
	mutex_lock(&wq_pool_mutex);
	list_del(&wq->list);
	mutex_unlock(&wq_pool_mutex);
	free_workqueue(wq);
}

static void init_worker_pool(struct worker_pool *pool, int cpu, int nice)
{
	raw_spin_lock_init(&pool->lock);
	pool->cpu = cpu;
	pool->nice = nice;
	INIT_LIST_HEAD(&pool->worklist);
	INIT_LIST_HEAD(&pool->idle_list);
	INIT_LIST_HEAD(&pool->busy_list);
}

/* Works may be queued from here on; they are done when there are workers. */
void __init workqueue_init_early(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		init_worker_pool(&per_cpu(cpu_worker_pools[0], cpu), cpu, 0);
		init_worker_pool(&per_cpu(cpu_worker_pools[1], cpu), cpu, MIN_NICE);
	}
	init_worker_pool(&unbound_pool, -1, 0);
	system_wq = alloc_workqueue("events", 0, 0);
	system_highpri_wq = alloc_workqueue("events_highpri", WQ_HIGHPRI, 0);
	system_long_wq = alloc_workqueue("events_long", 0, 0);
	system_unbound_wq = alloc_workqueue("events_unbound", WQ_UNBOUND, 512);
	BUG_ON(!system_wq || !system_highpri_wq || !system_long_wq || !system_unbound_wq);
}

int workqueue_prepare_cpu(unsigned int cpu)
{
	int i;

	for (i = 0; i < NR_STD_WORKER_POOLS; i++) {
		if (!create_worker(&per_cpu(cpu_worker_pools[i], cpu)))
			return -ENOMEM;
	}
	return 0;
}

static void pool_ready(struct worker_pool *pool)
{
	struct worker *worker;

	raw_spin_lock_irq(&pool->lock);
	pool->ready = true;
	list_for_each_entry(worker, &pool->idle_list, entry)
		wake_up_process(worker->task);
	raw_spin_unlock_irq(&pool->lock);
}

int workqueue_online_cpu(unsigned int cpu)
{
	int i;

	for (i = 0; i < NR_STD_WORKER_POOLS; i++)
		pool_ready(&per_cpu(cpu_worker_pools[i], cpu));
	return 0;
}

void __init workqueue_init(void)
{
	workqueue_prepare_cpu(smp_processor_id());
	workqueue_online_cpu(smp_processor_id());
	unbound_pool.ready = true;
	create_worker(&unbound_pool);
}

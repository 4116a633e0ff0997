/*
 * Spin locks (kernel/locking/spinlock.c, qspinlock.c, qrwlock.c). One word: locked byte, pending bit, tail of a queue
 * of waiters, each spinning on a node of its own:
 *
 *   31           18 17 16      8 7      0
 *   | tail CPU + 1 | idx | .. |P| locked |
 */
#include "sched.h"
#include "interrupt.h"

#define _Q_LOCKED_VAL	1u
#define _Q_LOCKED_MASK	0xffu
#define _Q_PENDING_VAL	0x100u
#define _Q_PENDING_MASK	0xff00u
#define _Q_TAIL_MASK	0xffff0000u

struct mcs_spinlock { struct mcs_spinlock *next; int locked, count; };
/* A CPU waits for at most four locks at once: task, softirq, hardirq, NMI. */
static DEFINE_PER_CPU_ALIGNED(struct mcs_spinlock, qnodes[4]);

static __always_inline u32 encode_tail(int cpu, int idx)
{
	return (u32)(cpu + 1) << 18 | (u32)idx << 16;
}

static __always_inline struct mcs_spinlock *decode_tail(u32 tail)
{
	return &per_cpu(qnodes, (tail >> 18) - 1)[tail >> 16 & 3];
}

static __always_inline u32 xchg_tail(struct qspinlock *lock, u32 tail)
{
	u32 old = READ_ONCE(lock->val);

	while (!try_cmpxchg(&lock->val, &old, (old & ~_Q_TAIL_MASK) | tail))
		;
	return old;
}

/* The queue: link in behind the tail, wait to be its head, then wait for the owner and the pending one. */
static __always_inline void queued_spin_lock_queue(struct qspinlock *lock)
{
	struct mcs_spinlock *node = this_cpu_ptr(&qnodes[0]), *prev, *next;
	int idx = node->count++;
	u32 tail = encode_tail(smp_processor_id(), idx), old, val;

	node += idx;
	node->locked = 0;
	node->next = NULL;
	old = xchg_tail(lock, tail);
	if (old & _Q_TAIL_MASK) {
		prev = decode_tail(old);
		WRITE_ONCE(prev->next, node);
		while (!smp_load_acquire(&node->locked))
			cpu_relax();
	}
	while ((val = smp_load_acquire(&lock->val)) & (_Q_LOCKED_MASK | _Q_PENDING_MASK))
		cpu_relax();
	if ((val & _Q_TAIL_MASK) == tail && try_cmpxchg(&lock->val, &val, _Q_LOCKED_VAL))
		goto release;
	lock_store8(&lock->val, _Q_LOCKED_VAL);
	while (!(next = READ_ONCE(node->next)))
		cpu_relax();
	smp_store_release(&next->locked, 1);
release:
	this_cpu_ptr(&qnodes[0])->count--;
}

void __lockfunc queued_spin_lock_slowpath(struct qspinlock *lock, u32 val)
{
	/* Somebody hands over from pending to locked: give that a moment. */
	while (val == _Q_PENDING_VAL) {
		cpu_relax();
		val = READ_ONCE(lock->val);
	}
	if (!(val & ~_Q_LOCKED_MASK)) {
		/* The first waiter spins on the word itself. */
		bool was;

		asm volatile("lock btsl $8,%0" : "+m"(lock->val), "=@ccc"(was) :: "memory");
		if (!was) {
			val = READ_ONCE(lock->val);
			if (val & _Q_TAIL_MASK) {	/* a queue has formed meanwhile: it goes first */
				asm volatile("lock btrl $8,%0" : "+m"(lock->val) :: "memory", "cc");
			} else {
				while (READ_ONCE(lock->val) & _Q_LOCKED_MASK)
					cpu_relax();
				lock_store16(&lock->val, _Q_LOCKED_VAL);
				return;
			}
		}
	}
	queued_spin_lock_queue(lock);
}

static __always_inline void queued_spin_lock(struct qspinlock *lock)
{
	u32 val = 0;

	if (unlikely(!try_cmpxchg(&lock->val, &val, _Q_LOCKED_VAL)))
		queued_spin_lock_slowpath(lock, val);
}

static __always_inline void queued_spin_unlock(struct qspinlock *lock)
{
	lock_store8(&lock->val, 0);
}

void __lockfunc _raw_spin_lock(raw_spinlock_t *lock)
{
	preempt_disable();
	queued_spin_lock(&lock->raw_lock);
}

void __lockfunc _raw_spin_unlock(raw_spinlock_t *lock)
{
	queued_spin_unlock(&lock->raw_lock);
	preempt_enable();
}

int __lockfunc _raw_spin_trylock(raw_spinlock_t *lock)
{
	preempt_disable();
	if (!READ_ONCE(lock->raw_lock.val) && cmpxchg(&lock->raw_lock.val, 0u, _Q_LOCKED_VAL) == 0)
		return 1;
	preempt_enable();
	return 0;
}

void __lockfunc _raw_spin_lock_irq(raw_spinlock_t *lock)
{
	local_irq_disable();
	preempt_disable();
	queued_spin_lock(&lock->raw_lock);
}

void __lockfunc _raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	queued_spin_unlock(&lock->raw_lock);
	local_irq_enable();
	preempt_enable();
}

unsigned long __lockfunc _raw_spin_lock_irqsave(raw_spinlock_t *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	queued_spin_lock(&lock->raw_lock);
	return flags;
}

void __lockfunc _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
{
	queued_spin_unlock(&lock->raw_lock);
	local_irq_restore(flags);
	preempt_enable();
}

void __lockfunc _raw_spin_lock_bh(raw_spinlock_t *lock)
{
	__local_bh_disable_ip(_THIS_IP_, SOFTIRQ_DISABLE_OFFSET);
	preempt_disable();
	queued_spin_lock(&lock->raw_lock);
}

void __lockfunc _raw_spin_unlock_bh(raw_spinlock_t *lock)
{
	queued_spin_unlock(&lock->raw_lock);
	preempt_enable_no_resched();
	__local_bh_enable_ip(_THIS_IP_, SOFTIRQ_DISABLE_OFFSET);
}

#define _QW_LOCKED	0xff
#define _QW_WAITING	0x100
#define _QR_BIAS	0x200

void __lockfunc _raw_read_lock(rwlock_t *lock)
{
	preempt_disable();
	if (likely(!(atomic_add_return(_QR_BIAS, &lock->cnts) & (_QW_LOCKED | _QW_WAITING))))
		return;
	atomic_sub(_QR_BIAS, &lock->cnts);
	queued_spin_lock(&lock->wait_lock.raw_lock);
	atomic_add(_QR_BIAS, &lock->cnts);
	while (atomic_read(&lock->cnts) & _QW_LOCKED)
		cpu_relax();
	queued_spin_unlock(&lock->wait_lock.raw_lock);
}

void __lockfunc _raw_read_unlock(rwlock_t *lock)
{
	atomic_sub(_QR_BIAS, &lock->cnts);
	preempt_enable();
}

void __lockfunc _raw_write_lock_irq(rwlock_t *lock)
{
	local_irq_disable();
	preempt_disable();
	if (likely(atomic_cmpxchg(&lock->cnts, 0, _QW_LOCKED) == 0))
		return;
	queued_spin_lock(&lock->wait_lock.raw_lock);
	asm volatile("lock orl %1,%0" : "+m"(lock->cnts.counter) : "i"(_QW_WAITING) : "memory", "cc");
	while (atomic_cmpxchg(&lock->cnts, _QW_WAITING, _QW_LOCKED) != _QW_WAITING)
		cpu_relax();
	queued_spin_unlock(&lock->wait_lock.raw_lock);
}

void __lockfunc _raw_write_unlock_irq(rwlock_t *lock)
{
	lock_store8(&lock->cnts.counter, 0);
	local_irq_enable();
	preempt_enable();
}

/* The read side of RCU (kernel/rcu/tree_plugin.h): only a count; voluntary preemption leaves nothing to report. */
void __rcu_read_lock(void)
{
	current->rcu_read_lock_nesting++;
	barrier();
}

/* A dying task must not leave a read side open. */
void exit_rcu(void);
void exit_rcu(void)
{
	if (WARN_ON_ONCE(current->rcu_read_lock_nesting))
		current->rcu_read_lock_nesting = 0;
}

void __rcu_read_unlock(void)
{
	barrier();
	current->rcu_read_lock_nesting--;
}

#pragma once
/*
 * Queued spin locks. The word: bits 0-7 locked, 8 pending, 16-17 nesting index and 18-31 CPU+1 of the queue's tail
 * (include/asm-generic/qspinlock_types.h). All operations are out-of-line functions, as in Debian's kernel.
 */
#include "atomic.h"
#include "preempt.h"
#include "irqflags.h"
typedef struct qspinlock { u32 val; } arch_spinlock_t;
typedef struct raw_spinlock { arch_spinlock_t raw_lock; } raw_spinlock_t;
typedef struct spinlock { struct raw_spinlock rlock; } spinlock_t;
#define __RAW_SPIN_LOCK_UNLOCKED(n)	(raw_spinlock_t){ { 0 } }
#define __SPIN_LOCK_UNLOCKED(n)		(spinlock_t){ { { 0 } } }
#define DEFINE_SPINLOCK(n)		spinlock_t n = { { { 0 } } }
#define DEFINE_RAW_SPINLOCK(n)		raw_spinlock_t n = { { 0 } }
#define spin_lock_init(l)		((l)->rlock.raw_lock.val = 0)
#define raw_spin_lock_init(l)		((l)->raw_lock.val = 0)
void _raw_spin_lock(raw_spinlock_t *lock);
void _raw_spin_unlock(raw_spinlock_t *lock);
int _raw_spin_trylock(raw_spinlock_t *lock);
void _raw_spin_lock_irq(raw_spinlock_t *lock);
void _raw_spin_unlock_irq(raw_spinlock_t *lock);
unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock);
void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags);
void _raw_spin_lock_bh(raw_spinlock_t *lock);
void _raw_spin_unlock_bh(raw_spinlock_t *lock);
void queued_spin_lock_slowpath(struct qspinlock *lock, u32 val);
#define raw_spin_lock(l)		_raw_spin_lock(l)
#define raw_spin_unlock(l)		_raw_spin_unlock(l)
#define raw_spin_trylock(l)		_raw_spin_trylock(l)
#define raw_spin_lock_irq(l)		_raw_spin_lock_irq(l)
#define raw_spin_unlock_irq(l)		_raw_spin_unlock_irq(l)
#define raw_spin_lock_irqsave(l, f)	((f) = _raw_spin_lock_irqsave(l))
#define raw_spin_unlock_irqrestore(l, f) _raw_spin_unlock_irqrestore(l, f)
#define spin_lock(l)			_raw_spin_lock(&(l)->rlock)
#define spin_unlock(l)			_raw_spin_unlock(&(l)->rlock)
#define spin_trylock(l)			_raw_spin_trylock(&(l)->rlock)
#define spin_lock_irq(l)		_raw_spin_lock_irq(&(l)->rlock)
#define spin_unlock_irq(l)		_raw_spin_unlock_irq(&(l)->rlock)
#define spin_lock_irqsave(l, f)		((f) = _raw_spin_lock_irqsave(&(l)->rlock))
#define spin_unlock_irqrestore(l, f)	_raw_spin_unlock_irqrestore(&(l)->rlock, f)
#define spin_lock_bh(l)			_raw_spin_lock_bh(&(l)->rlock)
#define spin_unlock_bh(l)		_raw_spin_unlock_bh(&(l)->rlock)
#define spin_is_locked(l)		(READ_ONCE((l)->rlock.raw_lock.val) != 0)

/* Reader-writer lock: cnts = readers << 9 | writer's byte (0xff held, 0x100 a writer waits); wait_lock queues. */
typedef struct { atomic_t cnts; raw_spinlock_t wait_lock; } rwlock_t;
#define DEFINE_RWLOCK(n)		rwlock_t n = { ATOMIC_INIT(0), { { 0 } } }
void _raw_read_lock(rwlock_t *lock);
void _raw_read_unlock(rwlock_t *lock);
void _raw_write_lock_irq(rwlock_t *lock);
void _raw_write_unlock_irq(rwlock_t *lock);
#define read_lock(l)			_raw_read_lock(l)
#define read_unlock(l)			_raw_read_unlock(l)
#define write_lock_irq(l)		_raw_write_lock_irq(l)
#define write_unlock_irq(l)		_raw_write_unlock_irq(l)

void __local_bh_disable_ip(unsigned long ip, unsigned int cnt);
void __local_bh_enable_ip(unsigned long ip, unsigned int cnt);
#define _THIS_IP_			({ __label__ __here; __here: (unsigned long)&&__here; })
#define local_bh_disable()		__local_bh_disable_ip(_THIS_IP_, SOFTIRQ_DISABLE_OFFSET)
#define local_bh_enable()		__local_bh_enable_ip(_THIS_IP_, SOFTIRQ_DISABLE_OFFSET)

/* PREEMPT_RCU's read side: a nesting count in the task. */
void __rcu_read_lock(void);
void __rcu_read_unlock(void);
#define rcu_read_lock()			__rcu_read_lock()
#define rcu_read_unlock()		__rcu_read_unlock()
#define rcu_dereference(p)		READ_ONCE(p)
#define rcu_assign_pointer(p, v)	smp_store_release(&(p), v)

/*
 * Read-copy-update, preemptible flavour (Linux's kernel/rcu): readers only count nesting in their task; call_rcu()
 * callbacks run in RCU_SOFTIRQ once every CPU has passed a quiescent state (kernel/rcu.c). The read side's macros are in
 * spinlock.h.
 */
#ifndef _RCUPDATE_H
#define _RCUPDATE_H
#include "types.h"
#include "spinlock.h"

typedef void (*rcu_callback_t)(struct rcu_head *head);

void call_rcu(struct rcu_head *head, rcu_callback_t func);
void synchronize_rcu(void);
void rcu_barrier(void);		/* until all callbacks of before have run */
void rcu_init(void);
void rcu_note_context_switch(bool preempt);	/* from __schedule() */
void rcu_sched_clock_irq(int user);		/* from update_process_times() */
bool rcu_needs_cpu(void);			/* from tick_nohz_stop_tick() */

#define RCU_INIT_POINTER(p, v)	WRITE_ONCE(p, v)
#endif

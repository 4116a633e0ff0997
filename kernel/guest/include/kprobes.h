#pragma once
/*
 * Probes from guest code (include/linux/kprobes.h). The structures have Linux's members, so that modules written for it
 * compile; what a probe does to the text is kscope's (package kprobe, behind gates): see kernel/kprobes.c.
 */
#include "kernel.h"
#include "list.h"
#include "ptrace.h"
#include "atomic.h"
#include "percpu.h"
#include "err.h"
struct kprobe;
struct task_struct;
typedef u8 kprobe_opcode_t;
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs, unsigned long flags);
struct kprobe {
	struct list_head list;
	unsigned long nmissed;
	kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	kprobe_pre_handler_t pre_handler;	/* not 0: it has changed regs->ip, do not run the instruction */
	kprobe_post_handler_t post_handler;
	kprobe_opcode_t opcode;
	u32 flags;
};
#define KPROBE_FLAG_GONE	1
#define KPROBE_FLAG_DISABLED	2
#define KPROBE_FLAG_OPTIMIZED	4
#define KPROBE_FLAG_FTRACE	8
static inline bool kprobe_gone(struct kprobe *p) { return p->flags & KPROBE_FLAG_GONE; }
static inline bool kprobe_disabled(struct kprobe *p) { return p->flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE); }

struct kretprobe_instance;
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct pt_regs *regs);
struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler;
	kretprobe_handler_t entry_handler;	/* not 0: do not follow this call */
	int maxactive;
	int nmissed;
	size_t data_size;
	void *pool;				/* the instances: Linux's struct rethook */
	size_t instance_size;
};
struct kretprobe_instance {
	struct kretprobe *rp;
	unsigned long ret_addr;
	struct task_struct *task;
	void *fp;				/* the stack pointer at the function's entry */
	char data[] __aligned(8);		/* data_size bytes */
};
static inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri) { return ri->rp; }
static inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri) { return ri->ret_addr; }

int register_kprobe(struct kprobe *p);
void unregister_kprobe(struct kprobe *p);
int register_kprobes(struct kprobe **kps, int num);
void unregister_kprobes(struct kprobe **kps, int num);
int register_kretprobe(struct kretprobe *rp);
void unregister_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobes(struct kretprobe **rps, int num);
int disable_kprobe(struct kprobe *kp);
int enable_kprobe(struct kprobe *kp);
static inline int disable_kretprobe(struct kretprobe *rp) { return disable_kprobe(&rp->kp); }
static inline int enable_kretprobe(struct kretprobe *rp) { return enable_kprobe(&rp->kp); }
#define NOKPROBE_SYMBOL(fname)	static void *__used __section("_kprobe_blacklist") _kbl_addr_##fname = (void *)fname

void synchronize_rcu_tasks(void);	/* every task has left kernel code by its own will, or sleeps, or is in user mode */
void kprobe_pending(long what);	/* from ftrace_run_update_code(), with what kprobe_optimizer_step(0) has said */

/* gates */
struct kprobe_call {			/* a handler to call: fn(a, b, c) */
	unsigned long fn, a, b, c;
};
long kprobe_arm(struct kprobe *p, struct kretprobe *rp);	/* rp NULL: a kprobe. -errno */
long kprobe_disarm(struct kprobe *p);				/* out of the list; text is restored by the next flush */
long kprobe_switch(struct kprobe *p, u64 on);
long kprobe_enter(struct pt_regs *regs);				/* what to add to __preempt_count while handlers run */
long kprobe_next(struct pt_regs *regs, struct kprobe_call *call, long ret);	/* 1: call it; ret: what the last one returned */
void kprobe_resume(void);					/* jumped to by kprobe_thunk */
enum { KPROBE_PENDING_KICK = 1, KPROBE_PENDING_LOG };
enum { KPROBE_OPT_PENDING, KPROBE_OPT_UNOPTIMIZE, KPROBE_OPT_OPTIMIZE, KPROBE_OPT_FREE };
long kprobe_optimizer_step(u64 step);
long kprobes_optimization(s64 set);				/* debug.kprobes-optimization; set < 0 reads */
long kprobe_message(char *buf, u64 len);			/* a line to log, with its level in front; its length, 0: none */

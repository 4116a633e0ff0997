#pragma once
/* Crossing between user, kernel and interrupt context (include/linux/entry-common.h). */
#include "sched.h"
typedef struct irqentry_state { bool exit_rcu, lockdep; } irqentry_state_t;
irqentry_state_t irqentry_enter(struct pt_regs *regs);
void irqentry_exit(struct pt_regs *regs, irqentry_state_t state);
void irqentry_exit_to_user_mode(struct pt_regs *regs);
void syscall_exit_to_user_mode(struct pt_regs *regs);
void do_syscall_64(struct pt_regs *regs, int nr);
void exit_to_user_mode_prepare(struct pt_regs *regs);
void kscoped_kick(void);
void kscope_irq_work(void);
void die(const char *str, struct pt_regs *regs, long err);
#define TAINT_BAD_PAGE	5
#define TAINT_DIE	7
const char *print_tainted(void);
#define TAINT_WARN	9
void add_taint(unsigned int flag);
int test_taint(unsigned int flag);
void print_modules(void);
void dump_stack_lvl(const char *log_lvl);
void oops_end(unsigned long flags, struct pt_regs *regs, int signr);
#define pr_debug_apic(fmt, ...) printk(KERN_DEBUG fmt, ##__VA_ARGS__)

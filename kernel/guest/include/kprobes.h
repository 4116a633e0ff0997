#pragma once
/*
 * Probes from modules (include/linux/kprobes.h). The structures have Linux's members, so that its examples compile; what
 * exports register_kprobe and the like decides whether such a module loads.
 */
#include "kernel.h"
#include "list.h"
#include "ptrace.h"
#include "atomic.h"
struct kprobe;
typedef u8 kprobe_opcode_t;
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs, unsigned long flags);
struct kprobe {
	struct list_head list;
	unsigned long nmissed;
	kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	kprobe_opcode_t opcode;
	u32 flags;
};
struct kretprobe;
struct kretprobe_instance;
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct pt_regs *regs);
struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler, entry_handler;
	int maxactive, nmissed;
	size_t data_size;
};
struct task_struct;
struct kretprobe_instance {
	struct kretprobe *rp;
	unsigned long ret_addr;
	struct task_struct *task;
	void *fp;
	char data[];
};
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

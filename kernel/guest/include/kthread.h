#pragma once
#include "sched.h"
__printf(4, 5) struct task_struct *kthread_create_on_node(int (*fn)(void *), void *data, int node, const char *namefmt, ...);
#define kthread_create(fn, data, fmt, ...) kthread_create_on_node(fn, data, -1, fmt, ##__VA_ARGS__)
#define kthread_run(fn, data, fmt, ...) ({ struct task_struct *__k = kthread_create(fn, data, fmt, ##__VA_ARGS__); \
	if (!IS_ERR(__k)) { wake_up_process(__k); } __k; })
struct task_struct *kthread_create_on_cpu(int (*fn)(void *), void *data, unsigned int cpu, const char *namefmt);
void kthread_bind(struct task_struct *k, unsigned int cpu);
int kthread_stop(struct task_struct *k);
bool kthread_should_stop(void);
void *kthread_data(struct task_struct *k);
int kthreadd(void *unused);
extern struct task_struct *kthreadd_task;

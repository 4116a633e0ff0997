#pragma once
/*
 * Ground truth: per-CPU counts that the guest itself keeps of a handful of functions, each one incq at the function's start,
 * to hold hits + losses of any tracer against.
 */
#include "percpu.h"
struct kscope_truth {
	u64 vfs_read, vfs_write, do_sys_openat2, do_filp_open, filp_close;
	u64 schedule, try_to_wake_up, kernel_clone, do_exit, handle_mm_fault, kmalloc, kfree, kscope_hot;
};
DECLARE_PER_CPU(struct kscope_truth, kscope_truth);
#define KSCOPE_TRUTH(f) this_cpu_inc(kscope_truth.f)

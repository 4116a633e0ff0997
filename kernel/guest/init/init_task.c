/* The first task, pid 0, CPU 0's idle task (init/init_task.c). Its stack is in the linker script. */
#include "mm.h"
#include "fdtable.h"
#include "fs_struct.h"
#include "nsproxy.h"

extern char init_stack[];

static struct signal_struct init_signals = {
	.sigcnt = REFCOUNT_INIT(1), .nr_threads = 1, .live = ATOMIC_INIT(1),
	.wait_chldexit = __WAIT_QUEUE_HEAD_INITIALIZER(init_signals.wait_chldexit),
	.rlim = { [0 ... RLIM_NLIMITS - 1] = { RLIM_INFINITY, RLIM_INFINITY }, [RLIMIT_STACK] = { 8 << 20, RLIM_INFINITY },
		[RLIMIT_NOFILE] = { 1024, 4096 }, [8] = { 8 << 20, 8 << 20 }, [12] = { 819200, 819200 },	/* locked memory, message queues */
		[4] = { 0, RLIM_INFINITY }, [13] = { 0, 0 }, [14] = { 0, 0 } },	/* no cores; no limits to nice and rtprio for root */
	.pids = { NULL, &init_struct_pid, &init_struct_pid, &init_struct_pid },
	.cred_guard_mutex = __MUTEX_INITIALIZER(init_signals.cred_guard_mutex),
	.exec_update_lock = __RWSEM_INITIALIZER(init_signals.exec_update_lock),
	.shared_pending = { .list = LIST_HEAD_INIT(init_signals.shared_pending.list) },
};
static struct sighand_struct init_sighand = { .count = REFCOUNT_INIT(1) };

struct task_struct init_task = {
	.thread_info = { .flags = 0 },
	.__state = 0,
	.stack = init_stack,
	.usage = REFCOUNT_INIT(2),
	.flags = PF_KTHREAD,
	.prio = DEFAULT_PRIO, .static_prio = DEFAULT_PRIO, .normal_prio = DEFAULT_PRIO,
	.nr_cpus_allowed = NR_CPUS,
	.cpus_mask = { { ~0UL } },
	.active_mm = &init_mm,
	.tasks = LIST_HEAD_INIT(init_task.tasks),
	.real_parent = &init_task, .parent = &init_task, .group_leader = &init_task,
	.children = LIST_HEAD_INIT(init_task.children),
	.sibling = LIST_HEAD_INIT(init_task.sibling),
	.thread_group = LIST_HEAD_INIT(init_task.thread_group),
	.thread_pid = &init_struct_pid,
	.comm = "swapper",
	.signal = &init_signals,
	.sighand = &init_sighand,
	.pending = { .list = LIST_HEAD_INIT(init_task.pending.list) },
	.files = &init_files,
	.fs = &init_fs,
	.cred = &init_cred,
	.nsproxy = &init_nsproxy,
};

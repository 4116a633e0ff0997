#pragma once
/* Tasks and the scheduler's interface (include/linux/sched.h). */
#include "kernel.h"
#include "preempt.h"
#include "processor.h"
#include "spinlock.h"
#include "mutex.h"
#include "wait.h"
#include "cpumask.h"
#include "smp.h"
#include "rbtree.h"
#include "ktime.h"
#include "pid.h"
#include "timer.h"
#include "rwsem.h"
#define TASK_COMM_LEN 16
#define MAX_RT_PRIO 100
#define MAX_PRIO 140
#define DEFAULT_PRIO 120
#define NICE_TO_PRIO(nice) ((nice) + DEFAULT_PRIO)
#define PRIO_TO_NICE(prio) ((prio) - DEFAULT_PRIO)
#define MIN_NICE (-20)
#define MAX_NICE 19
#define task_nice(p) PRIO_TO_NICE((p)->static_prio)
#define NICE_0_LOAD 1024
#define SCHED_NORMAL 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_BATCH 3
#define SCHED_IDLE 5
#define SCHED_RESET_ON_FORK 0x40000000

struct thread_info { unsigned long flags, syscall_work; u32 status, cpu; };
#define TIF_NOTIFY_RESUME	1
#define TIF_SIGPENDING		2
#define TIF_NEED_RESCHED	3
#define TIF_NOTIFY_SIGNAL	17
#define TIF_POLLING_NRFLAG	21
#define _TIF_SIGPENDING		BIT(TIF_SIGPENDING)
#define _TIF_NEED_RESCHED	BIT(TIF_NEED_RESCHED)
#define _TIF_NOTIFY_RESUME	BIT(TIF_NOTIFY_RESUME)
#define _TIF_POLLING_NRFLAG	BIT(TIF_POLLING_NRFLAG)

struct load_weight { unsigned long weight; u32 inv_weight; };
struct sched_avg { u64 last_update_time, load_sum; u32 period_contrib; unsigned long load_avg; };	/* kernel/sched/pelt.c */
struct cfs_rq;
struct sched_entity {
	struct load_weight load;
	struct rb_node run_node;
	unsigned int on_rq;
	u64 exec_start, sum_exec_runtime, vruntime, prev_sum_exec_runtime;
	u64 nr_migrations;
	struct cfs_rq *cfs_rq;
	struct sched_avg avg;
};
struct sched_rt_entity {
	struct list_head run_list;
	unsigned long timeout;
	unsigned int time_slice;		/* ticks left, SCHED_RR only */
	unsigned short on_rq, on_list;
};
struct sched_class;
struct rq;
struct mm_struct;
struct files_struct;
struct fs_struct;

typedef struct { unsigned long sig[1]; } sigset_t;
/* What a signal tells about its sender (siginfo_t's first words). */
struct kernel_siginfo {
	int si_signo, si_errno, si_code;
	pid_t si_pid;
	uid_t si_uid;
	int si_status;
	long si_utime, si_stime;
	void *si_addr;				/* of a fault */
	unsigned long si_value;			/* of sigqueue() */
};
#define SI_QUEUE (-1)
#define SI_TKILL (-6)
#define ILL_ILLOPN 2
#define FPE_INTDIV 1
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN 1
#define BUS_ADRERR 2
#define TRAP_BRKPT 1
#define TRAP_TRACE 2
#define SI_USER 0
#define SI_KERNEL 0x80
#define CLD_EXITED 1
#define CLD_KILLED 2
#define CLD_DUMPED 3
#define CLD_STOPPED 5
#define CLD_CONTINUED 6
#define SEND_SIG_NOINFO ((struct kernel_siginfo *)0)
#define SEND_SIG_PRIV ((struct kernel_siginfo *)1)
struct sighand_struct *__lock_task_sighand(struct task_struct *tsk, unsigned long *flags);
struct sigqueue { struct list_head list; struct kernel_siginfo info; };
struct sigpending { struct list_head list; sigset_t signal; };
struct k_sigaction { void *sa_handler; unsigned long sa_flags; void *sa_restorer; sigset_t sa_mask; };
#define _NSIG 64
#define SIGRTMIN 32
#define SIG_DFL ((void *)0)
#define SIG_IGN ((void *)1)
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGWINCH 28
#define sigmask(s) (1UL << ((s) - 1))
#define RLIMIT_CPU 0
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_SIGPENDING 11
#define RLIM_NLIMITS 16
#define RLIM_INFINITY (~0UL)
#define rlimit(l) READ_ONCE(current->signal->rlim[l].rlim_cur)
struct sighand_struct { spinlock_t siglock; refcount_t count; struct k_sigaction action[_NSIG]; unsigned long changed; };	/* changed: the bits of those that may be other than 0 */
struct signal_struct {
	refcount_t sigcnt;
	atomic_t live;
	int nr_threads;
	wait_queue_head_t wait_chldexit;
	struct sigpending shared_pending;
	int group_exit_code, group_stop_count;	/* count: threads that are still to stop */
	unsigned int flags;
	struct pid *pids[PIDTYPE_MAX];
	struct hrtimer real_timer;		/* setitimer(), alarm(): sends SIGALRM to leader_pid */
	ktime_t it_real_incr;
	struct rlimit { unsigned long rlim_cur, rlim_max; } rlim[RLIM_NLIMITS];
	u64 utime, stime, cutime, cstime;	/* of threads that have left; of children that were waited for, and theirs */
	unsigned long nvcsw, nivcsw, min_flt, cnvcsw, cnivcsw, cmin_flt;
	unsigned long maxrss, cmaxrss;		/* in pages; of address spaces that are gone, and of the biggest child */
	u64 acct_utime, acct_stime;		/* of threads that have left (kernel/tsacct.c) */
	unsigned long acct_mem;
	long acct_exitcode;
	u64 cpu_limit;				/* RLIMIT_CPU in ns, or the next time to warn: kernel/time/posix-cpu-timers.c */
	struct mutex cred_guard_mutex;		/* one exec at a time: fs/exec.c */
	struct rw_semaphore exec_update_lock;	/* the address space and credentials change together */
};
#define SIGNAL_STOP_STOPPED 1
#define SIGNAL_STOP_CONTINUED 2		/* to be reported by wait4(WCONTINUED) */
#define SIGNAL_GROUP_EXIT 4
#define SIGNAL_CLD_STOPPED 0x10		/* the parent is to be told */
#define SIGNAL_CLD_CONTINUED 0x20
#define SIGNAL_CLD_MASK (SIGNAL_CLD_STOPPED | SIGNAL_CLD_CONTINUED)
#define SIGNAL_STOP_MASK (SIGNAL_STOP_STOPPED | SIGNAL_STOP_CONTINUED | SIGNAL_CLD_MASK)
#define SIGNAL_UNKILLABLE 0x40

enum { MM_FILEPAGES, MM_ANONPAGES, NR_MM_COUNTERS };

struct task_struct {
	struct thread_info thread_info;		/* first: entry code reads flags at offset 0 of current */
	struct thread_struct thread;		/* second: __switch_to_asm knows thread.sp's offset, see TASK_threadsp */
	unsigned int __state;
	void *stack;
	refcount_t usage, rcu_users;
	struct rcu_head rcu;
	unsigned int flags;			/* PF_* */
	int on_cpu;
	struct __call_single_node wake_entry;	/* on the wake list of the CPU that will run it */
	bool sched_remote_wakeup;
	int wake_cpu, recent_used_cpu;
	int on_rq;
	int cpu;
	int prio, static_prio, normal_prio;
	unsigned int rt_priority;
	const struct sched_class *sched_class;
	struct sched_entity se;
	struct sched_rt_entity rt;
	unsigned int policy;
	int nr_cpus_allowed;
	cpumask_t cpus_mask;
	int rcu_read_lock_nesting;
	struct list_head tasks;
	struct mm_struct *mm, *active_mm;
	int exit_state, exit_code, exit_signal;
	unsigned int in_execve:1, in_iowait:1, sched_contributes_to_load:1, sched_reset_on_fork:1;
	pid_t pid, tgid;
	struct task_struct *real_parent, *parent;
	struct list_head children, sibling;
	struct task_struct *group_leader;
	struct list_head thread_group;
	struct pid *thread_pid;
	struct hlist_node pid_links[PIDTYPE_MAX];
	struct completion *vfork_done;
	int *set_child_tid, *clear_child_tid;
	void *worker_private;			/* kthread's struct kthread */
	u64 utime, stime;
	unsigned long nvcsw, nivcsw, min_flt;
	unsigned long rcu_tasks_nvcsw;		/* at the start of the grace period that waits for it: kernel/rcu_tasks.c */
	bool rcu_tasks_holdout;
	u64 start_time, start_boottime;
	u64 acct_timexpd, acct_rss_mem1, acct_vm_mem1;
	int rss_delta[NR_MM_COUNTERS];		/* pages mapped that mm->rss_stat does not know yet */
	char comm[TASK_COMM_LEN];
	raw_spinlock_t pi_lock;
	spinlock_t alloc_lock;
	struct fs_struct *fs;
	struct files_struct *files;
	const struct cred *cred;		/* kernel/cred.c */
	struct { u64 rchar, wchar, syscr, syscw; } ioac;	/* bytes and calls of read and write */
	struct rcu_head *task_works;		/* kernel/task_work.c */
	unsigned int jobctl;			/* siglock */
#define JOBCTL_STOP_PENDING	1		/* to stop, with its process */
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	sigset_t blocked, real_blocked;		/* real_blocked: what sigtimedwait() has unblocked for a while */
	struct sigpending pending;
	sigset_t saved_sigmask;			/* to be blocked again when a signal has been looked for (sigsuspend, ppoll) */
	bool restore_sigmask;
	unsigned long sas_ss_sp, sas_ss_size;	/* sigaltstack() */
	int link_count, total_link_count;
	void *nameidata;
	u64 clock_floor;			/* no CPU may run this task before this time; see sched_clock_sync() */
	int pagefault_disabled;
	struct { u64 wait_start, wait_sum, sleep_start, sum_sleep_runtime, block_start, sum_block_runtime; } stats;	/* sched/stats.c */
	struct posix_cputimers_work { struct rcu_head work; struct mutex mutex; bool scheduled; } posix_cputimers_work;
	struct css_set *cgroups;		/* kernel/cgroup/cgroup.c */
	struct list_head cg_list;
	struct nsproxy *nsproxy;
	struct robust_list_head *robust_list;	/* user memory: kernel/futex.c */
	struct blk_plug *plug;			/* requests that it holds back */
	void *journal_info;			/* ext4: how deep in operations it is */
	const char *wchan_why;			/* what it waits for, for the deadlock report */
};
#define PF_IDLE		0x00000002
#define PF_WQ_WORKER	0x00000020
#define PF_EXITING	0x00000004
#define PF_POSTCOREDUMP	0x00000008
#define PF_USER_WORKER	0x00004000
#define PF_FORKNOEXEC	0x00000040
#define PF_SIGNALED	0x00000400
#define PF_KTHREAD	0x00200000
#define PF_NO_SETAFFINITY 0x04000000

DECLARE_PER_CPU(struct task_struct *, current_task);
static __always_inline struct task_struct *get_current(void) { return this_cpu_read_stable(current_task); }
#define current get_current()
#define task_pt_regs(t)		((struct pt_regs *)((unsigned long)(t)->stack + THREAD_SIZE) - 1)
#define current_pt_regs()	((struct pt_regs *)this_cpu_read(cpu_current_top_of_stack) - 1)
#define task_cpu(t)		READ_ONCE((t)->thread_info.cpu)
#define task_thread_info(t)	(&(t)->thread_info)
#define task_pid_nr(t)		((t)->pid)
#define task_pid_vnr(t)		__task_pid_nr_ns(t, PIDTYPE_PID, NULL)
#define task_tgid_vnr(t)	__task_pid_nr_ns(t, PIDTYPE_TGID, NULL)
#define task_pgrp(t)		((t)->signal->pids[PIDTYPE_PGID])
#define task_session(t)		((t)->signal->pids[PIDTYPE_SID])
#define is_idle_task(t)		(!!((t)->flags & PF_IDLE))
#define thread_group_leader(t)	((t)->exit_signal >= 0)
#define thread_group_empty(t)	list_empty(&(t)->thread_group)
#define set_tsk_thread_flag(t, f)	set_bit(f, &(t)->thread_info.flags)
#define clear_tsk_thread_flag(t, f)	clear_bit(f, &(t)->thread_info.flags)
#define test_tsk_thread_flag(t, f)	test_bit(f, &(t)->thread_info.flags)
#define test_and_set_tsk_thread_flag(t, f) test_and_set_bit(f, &(t)->thread_info.flags)
#define set_thread_flag(f)	set_tsk_thread_flag(current, f)
#define clear_thread_flag(f)	clear_tsk_thread_flag(current, f)
#define test_thread_flag(f)	test_tsk_thread_flag(current, f)
#define need_resched()		unlikely(test_thread_flag(TIF_NEED_RESCHED))
#define tif_need_resched()	test_thread_flag(TIF_NEED_RESCHED)
#define signal_pending(t)	unlikely(test_tsk_thread_flag(t, TIF_SIGPENDING))
#define fatal_signal_pending(t)	(signal_pending(t) && ((t)->pending.signal.sig[0] & sigmask(SIGKILL)))
#define task_lock(t)		spin_lock(&(t)->alloc_lock)
#define task_unlock(t)		spin_unlock(&(t)->alloc_lock)
#define set_current_state(s)	do { xchg(&current->__state, (unsigned int)(s)); } while (0)
#define __set_current_state(s)	WRITE_ONCE(current->__state, (s))
static __always_inline bool signal_pending_state(unsigned int state, struct task_struct *p)
{
	if (!(state & (TASK_INTERRUPTIBLE | TASK_WAKEKILL)) || !signal_pending(p))
		return false;
	return (state & TASK_INTERRUPTIBLE) || fatal_signal_pending(p);
}

extern struct task_struct init_task;
extern rwlock_t tasklist_lock;
#define for_each_process(p) \
	for (p = list_entry(init_task.tasks.next, struct task_struct, tasks); p != &init_task; \
	     p = list_entry(p->tasks.next, struct task_struct, tasks))
struct task_struct *find_task_by_vpid(pid_t nr);
static __always_inline struct task_struct *get_task_struct(struct task_struct *t) { refcount_inc(&t->usage); return t; }
void __put_task_struct(struct task_struct *t);
void put_task_struct_rcu_user(struct task_struct *t);
static __always_inline void put_task_struct(struct task_struct *t) { if (refcount_dec_and_test(&t->usage)) __put_task_struct(t); }

void schedule(void);
void schedule_idle(void);
void schedule_preempt_disabled(void);
void io_schedule(void);
long io_schedule_timeout(long timeout);
void yield(void);
int wake_up_process(struct task_struct *p);
void kick_process(struct task_struct *p);
void task_join_group_stop(struct task_struct *task);
int wake_up_state(struct task_struct *p, unsigned int state);
int try_to_wake_up(struct task_struct *p, unsigned int state, int wake_flags);
void wake_up_new_task(struct task_struct *p);
void resched_curr(struct rq *rq);
void scheduler_tick(void);
void scheduler_ipi(void);
void sched_init(void);
void sched_init_smp(void);
void sched_set_stop_task(int cpu, struct task_struct *stop);
int sched_set_fifo(struct task_struct *p);
int sched_fork(unsigned long clone_flags, struct task_struct *p);
void sched_cgroup_fork(struct task_struct *p);
void sched_exec(void);
void sched_post_fork(struct task_struct *p);
void init_idle(struct task_struct *idle, int cpu);
int idle_cpu(int cpu);
bool wake_up_if_idle(int cpu);
void set_user_nice(struct task_struct *p, long nice);
int set_cpus_allowed_ptr(struct task_struct *p, const struct cpumask *mask);
unsigned long wait_task_inactive(struct task_struct *p, unsigned int state);
__noreturn void do_task_dead(void);
void cpu_startup_entry(void);
u64 task_sched_runtime(struct task_struct *p);
#define cond_resched() __cond_resched()
/* For loops that never sleep: synchronize_rcu_tasks() need not wait for them. */
#define cond_resched_tasks_rcu_qs() do { WRITE_ONCE(current->rcu_tasks_holdout, false); cond_resched(); } while (0)
#define WF_EXEC 2
#define WF_FORK 4
#define WF_TTWU 8
#define WF_SYNC 0x10
#define WF_MIGRATED 0x20

/* fork, exec, exit */
#define CSIGNAL		0xff
#define CLONE_VM	0x100
#define CLONE_FS	0x200
#define CLONE_FILES	0x400
#define CLONE_SIGHAND	0x800
#define CLONE_VFORK	0x4000
#define CLONE_PARENT	0x8000
#define CLONE_THREAD	0x10000
#define CLONE_SETTLS	0x80000
#define CLONE_PARENT_SETTID 0x100000
#define CLONE_CHILD_CLEARTID 0x200000
#define CLONE_UNTRACED	0x800000
#define CLONE_CHILD_SETTID 0x1000000
struct kernel_clone_args {
	u64 flags;
	int __user *child_tid, *parent_tid;
	int exit_signal;
	unsigned long stack, stack_size, tls;
	int kthread, io_thread, idle;
	int (*fn)(void *);
	void *fn_arg;
	struct css_set *cset;			/* between cgroup_can_fork() and cgroup_post_fork() */
};
pid_t kernel_clone(struct kernel_clone_args *args);
pid_t kernel_thread(int (*fn)(void *), void *arg, unsigned long flags);
pid_t user_mode_thread(int (*fn)(void *), void *arg, unsigned long flags);
struct task_struct *fork_idle(int cpu);
void fork_init(void);
void acct_update_integrals(struct task_struct *tsk);
void acct_clear_integrals(struct task_struct *tsk);
void acct_collect(long exitcode, int group_dead);
void sync_mm_rss(struct mm_struct *mm);
void user_disable_single_step(struct task_struct *child);
void release_task(struct task_struct *p);
__noreturn void do_exit(long code);
__noreturn void do_group_exit(int code);
__noreturn void make_task_dead(int signr);
int kernel_wait(pid_t pid, int *stat);
struct rusage {				/* as user programs see it */
	struct { long tv_sec, tv_usec; } ru_utime, ru_stime;
	long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv,
		ru_nsignals, ru_nvcsw, ru_nivcsw;
};
#define RUSAGE_SELF	0
#define RUSAGE_CHILDREN	(-1)
#define RUSAGE_BOTH	(-2)			/* the kernel's own */
#define RUSAGE_THREAD	1
void task_cputime(struct task_struct *t, u64 *utime, u64 *stime);
void getrusage(struct task_struct *p, int who, struct rusage *r);
long kernel_wait4(pid_t upid, int __user *stat_addr, int options, struct rusage *ru);
int kernel_execve(const char *filename, const char *const *argv, const char *const *envp);
void __set_task_comm(struct task_struct *tsk, const char *from, bool exec);
#define set_task_comm(t, s) __set_task_comm(t, s, false)
void flush_thread(void);
/* signals */
int send_sig(int sig, struct task_struct *p, int priv);
int do_send_sig_info(int sig, struct kernel_siginfo *info, struct task_struct *p, bool group);
void flush_sigqueue(struct sigpending *queue);
int sigqueue_count(void);
void signals_init(void);
bool do_notify_parent(struct task_struct *tsk, int sig);
void ignore_signals(struct task_struct *t);
void flush_signal_handlers(struct task_struct *t, int force_default);
void force_sig(int sig);
int force_sig_fault(int sig, int code, void __user *addr);
void recalc_sigpending(void);
void exit_task_stack_account(struct task_struct *tsk);
void exit_signals(struct task_struct *tsk);
void zap_other_threads(struct task_struct *p);
void arch_do_signal_or_restart(struct pt_regs *regs);
void sched_clock_sync(struct task_struct *p);

/* Making tasks and address spaces (kernel/fork.c). */
#include "mm.h"
#include "tracepoint.h"
#include "syscalls.h"
#include "uaccess.h"
#include "fdtable.h"
#include "fs_struct.h"
#include "truth.h"
#include "futex.h"
#include "rmap.h"
#include "vmstat.h"
#include "binfmts.h"
#include "module.h"
#include "cgroup.h"
#include "nsproxy.h"

enum hrtimer_restart it_real_fn(struct hrtimer *timer);
int copy_thread(struct task_struct *p, const struct kernel_clone_args *args);
void posix_cputimers_group_init(struct signal_struct *sig);
void clear_posix_cputimers_work(struct task_struct *p);
void put_task_stack(struct task_struct *tsk);
static struct kmem_cache *task_struct_cachep, *signal_cachep, *sighand_cachep, *mm_cachep;
unsigned long total_forks;		/* tasklist_lock */
DEFINE_RWLOCK(tasklist_lock);		/* the task list, family ties, the pid table */

/* ---- task_struct and stack ---- */
/* Each CPU keeps the stacks of the last tasks to die on it for the next ones to be born; what it has too many of, others may take. */
#define NR_CACHED_STACKS 2
#define NR_SPARE_STACKS 4
static DEFINE_PER_CPU(void *, cached_stacks[NR_CACHED_STACKS]);
static DEFINE_SPINLOCK(spare_stacks_lock);
static void *spare_stacks[NR_SPARE_STACKS];
static unsigned int nr_spare_stacks;

static __always_inline bool put_spare_stack(void *stack)
{
	bool room;

	spin_lock(&spare_stacks_lock);
	room = nr_spare_stacks < NR_SPARE_STACKS;
	if (likely(room))
		spare_stacks[nr_spare_stacks++] = stack;
	spin_unlock(&spare_stacks_lock);
	return room;
}

static __always_inline void *get_spare_stack(void)
{
	void *stack = NULL;

	spin_lock(&spare_stacks_lock);
	if (likely(nr_spare_stacks))
		stack = spare_stacks[--nr_spare_stacks];
	spin_unlock(&spare_stacks_lock);
	return stack;
}

static bool try_release_thread_stack_to_cache(void *stack)
{
	void **slot = this_cpu_ptr(&cached_stacks[0]);
	unsigned int i;

	for (i = 0; i < NR_CACHED_STACKS; i++) {
		if (!slot[i] && !cmpxchg(&slot[i], NULL, stack))
			return true;
	}
	return put_spare_stack(stack);
}

static int alloc_thread_stack_node(struct task_struct *tsk)
{
	void **slot = this_cpu_ptr(&cached_stacks[0]);
	unsigned int i;

	for (i = 0; i < NR_CACHED_STACKS; i++) {
		if (slot[i] && (tsk->stack = xchg(&slot[i], NULL)))
			return 0;
	}
	tsk->stack = get_spare_stack();
	if (!tsk->stack)
		tsk->stack = (void *)__get_free_pages(GFP_KERNEL_ACCOUNT, THREAD_SIZE_ORDER);
	return tsk->stack ? 0 : -ENOMEM;
}

static __always_inline void account_kernel_stack(struct task_struct *tsk, int account)
{
	__mod_lruvec_page_state(virt_to_page(tsk->stack), NR_KERNEL_STACK_KB, account * (int)(THREAD_SIZE / 1024));
}

/* It is on its way out: the stack is as good as free. */
void exit_task_stack_account(struct task_struct *tsk)
{
	account_kernel_stack(tsk, -1);
}

void put_task_stack(struct task_struct *tsk)
{
	if (!try_release_thread_stack_to_cache(tsk->stack))
		free_pages((unsigned long)tsk->stack, THREAD_SIZE_ORDER);
	tsk->stack = NULL;
}

static void free_task(struct task_struct *tsk)
{
	if (tsk->stack)
		put_task_stack(tsk);
	kfree(tsk->worker_private);
	kmem_cache_free(task_struct_cachep, tsk);
}

static void put_signal_struct(struct signal_struct *sig)
{
	if (refcount_dec_and_test(&sig->sigcnt))
		kmem_cache_free(signal_cachep, sig);
}

static void delayed_put_task_struct(struct rcu_head *rhp)
{
	struct task_struct *tsk = container_of(rhp, struct task_struct, rcu);

	trace_sched_process_free(tsk);
	put_task_struct(tsk);
}

/* The list's users hold rcu_users; readers under RCU may still look at the task a while after both are gone. */
void put_task_struct_rcu_user(struct task_struct *task)
{
	if (refcount_dec_and_test(&task->rcu_users))
		call_rcu(&task->rcu, delayed_put_task_struct);
}

void __put_task_struct(struct task_struct *tsk)
{
	cgroup_free(tsk);
	put_signal_struct(tsk->signal);
	exit_creds(tsk);
	free_task(tsk);
}

static noinline void arch_dup_task_struct(struct task_struct *dst, struct task_struct *src)
{
	memcpy(dst, src, sizeof(*dst));
}

static struct task_struct *dup_task_struct(struct task_struct *orig)
{
	struct task_struct *tsk = kmem_cache_alloc_node(task_struct_cachep, GFP_KERNEL, NUMA_NO_NODE);

	if (!tsk)
		return NULL;
	arch_dup_task_struct(tsk, orig);
	tsk->worker_private = NULL;
	if (alloc_thread_stack_node(tsk)) {
		kmem_cache_free(task_struct_cachep, tsk);
		return NULL;
	}
	account_kernel_stack(tsk, 1);
	tsk->thread_info.flags &= ~(_TIF_NEED_RESCHED | _TIF_SIGPENDING | _TIF_POLLING_NRFLAG);
	refcount_set(&tsk->rcu_users, 2);	/* its own, dropped after the last switch away, and its parent's */
	refcount_set(&tsk->usage, 1);
	return tsk;
}

/* ---- mm ---- */
static noinline struct mm_struct *mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&mm->mmap);
	atomic_set(&mm->mm_users, 1);
	atomic_set(&mm->mm_count, 1);
	__init_rwsem(&mm->mmap_lock);
	spin_lock_init(&mm->page_table_lock);
	mm->map_count = 0;
	mm->total_vm = mm->stack_vm = 0;
	atomic_long_set(&mm->pgtables_bytes, 0);
	atomic_long_set(&mm->rss_stat[MM_FILEPAGES], 0);
	atomic_long_set(&mm->rss_stat[MM_ANONPAGES], 0);
	atomic64_set(&mm->tlb_gen, 1);
	cpumask_clear(mm_cpumask(mm));
	mm->exe_file = NULL;
	mm->pgd = pgd_alloc(mm);
	if (!mm->pgd) {
		kmem_cache_free(mm_cachep, mm);
		return NULL;
	}
	return mm;
}

struct mm_struct *mm_alloc(void)
{
	struct mm_struct *mm = kmem_cache_zalloc(mm_cachep, GFP_KERNEL);

	return mm ? mm_init(mm) : NULL;
}

void __mmdrop(struct mm_struct *mm)
{
	BUG_ON(mm == &init_mm);
	pgd_free(mm, mm->pgd);
	kmem_cache_free(mm_cachep, mm);
}

/* The program that @mm runs, if any, cannot be written to meanwhile. */
int set_mm_exe_file(struct mm_struct *mm, struct file *new_exe_file)
{
	struct file *old_exe_file = mm->exe_file;

	if (new_exe_file) {
		if (unlikely(deny_write_access(new_exe_file)))
			return -EACCES;
		get_file(new_exe_file);
	}
	mm->exe_file = new_exe_file;
	if (old_exe_file) {
		allow_write_access(old_exe_file);
		fput(old_exe_file);
	}
	return 0;
}

static void __mmput(struct mm_struct *mm)
{
	exit_mmap(mm);
	set_mm_exe_file(mm, NULL);
	if (mm->binfmt)
		module_put(mm->binfmt->module);
	mmdrop(mm);
}

void mmput(struct mm_struct *mm)
{
	might_sleep();
	if (atomic_dec_and_test(&mm->mm_users))
		__mmput(mm);
}

struct file *get_mm_exe_file(struct mm_struct *mm)
{
	return mm->exe_file ? get_file(mm->exe_file) : NULL;
}

static noinline int dup_mmap(struct mm_struct *mm, struct mm_struct *oldmm)
{
	struct vm_area_struct *mpnt, *tmp;
	int retval = 0;

	if (mmap_write_lock_killable(oldmm))
		return -EINTR;
	mmap_write_lock(mm);
	mm->exe_file = get_mm_exe_file(oldmm);
	if (mm->exe_file)
		deny_write_access(mm->exe_file);
	mm->hiwater_vm = mm->total_vm = oldmm->total_vm;
	mm->hiwater_rss = get_mm_rss(oldmm);
	mm->stack_vm = oldmm->stack_vm;
	list_for_each_entry(mpnt, &oldmm->mmap, vm_list) {
		tmp = vm_area_dup(mpnt);
		if (!tmp) {
			retval = -ENOMEM;
			break;
		}
		tmp->vm_mm = mm;
		if (tmp->vm_file) {
			struct address_space *mapping = get_file(tmp->vm_file)->f_mapping;

			i_mmap_lock_write(mapping);
			vma_interval_tree_insert_after(tmp, mpnt, &mapping->i_mmap);
			i_mmap_unlock_write(mapping);
		}
		list_add_tail(&tmp->vm_list, &mm->mmap);
		mm->map_count++;
		retval = copy_page_range(tmp, mpnt);
		if (tmp->vm_ops && tmp->vm_ops->open)
			tmp->vm_ops->open(tmp);
		if (retval)
			break;
	}
	mmap_write_unlock(mm);
	flush_tlb_mm(oldmm);
	mmap_write_unlock(oldmm);
	return retval;
}

static __always_inline struct mm_struct *dup_mm(struct task_struct *tsk, struct mm_struct *oldmm)
{
	struct mm_struct *mm = kmem_cache_alloc(mm_cachep, GFP_KERNEL);

	if (!mm)
		return NULL;
	*mm = *oldmm;
	if (!mm_init(mm))
		return NULL;
	if (dup_mmap(mm, oldmm)) {
		mm->binfmt = NULL;	/* its reference has not been taken yet */
		mmput(mm);
		return NULL;
	}
	if (mm->binfmt && !try_module_get(mm->binfmt->module)) {
		mm->binfmt = NULL;
		mmput(mm);
		return NULL;
	}
	return mm;
}

static __always_inline int copy_mm(unsigned long clone_flags, struct task_struct *tsk)
{
	struct mm_struct *oldmm = current->mm, *mm;

	tsk->nvcsw = tsk->nivcsw = tsk->min_flt = 0;
	tsk->mm = tsk->active_mm = NULL;
	if (!oldmm)
		return 0;
	if (clone_flags & CLONE_VM) {
		mmget(oldmm);
		mm = oldmm;
	} else {
		mm = dup_mm(tsk, oldmm);
		if (!mm)
			return -ENOMEM;
	}
	tsk->mm = tsk->active_mm = mm;
	return 0;
}

static void complete_vfork_done(struct task_struct *tsk)
{
	struct completion *vfork;

	task_lock(tsk);
	vfork = tsk->vfork_done;
	if (vfork) {
		tsk->vfork_done = NULL;
		complete(vfork);
	}
	task_unlock(tsk);
}

static noinline void mm_release(struct task_struct *tsk, struct mm_struct *mm)
{
	if (tsk->clear_child_tid) {
		/* Whoever joins the thread waits for this word; not when the process dies by a signal. */
		if (!(tsk->signal->flags & SIGNAL_GROUP_EXIT) && atomic_read(&mm->mm_users) > 1) {
			put_user(0, tsk->clear_child_tid);
			do_futex((u32 *)tsk->clear_child_tid, FUTEX_WAKE, 1, NULL, NULL, 0, 0);
		}
		tsk->clear_child_tid = NULL;
	}
	if (tsk->vfork_done)
		complete_vfork_done(tsk);
}

void exit_mm_release(struct task_struct *tsk, struct mm_struct *mm)
{
	futex_exit_release(tsk);
	mm_release(tsk, mm);
}

void exec_mm_release(struct task_struct *tsk, struct mm_struct *mm)
{
	futex_exec_release(tsk);
	mm_release(tsk, mm);
}

/* ---- copy_process ---- */
static int copy_fs(unsigned long clone_flags, struct task_struct *tsk)
{
	struct fs_struct *fs = current->fs;

	if (!fs)
		return 0;
	if (clone_flags & CLONE_FS) {
		spin_lock(&fs->lock);
		fs->users++;
		spin_unlock(&fs->lock);
		return 0;
	}
	tsk->fs = copy_fs_struct(fs);
	return tsk->fs ? 0 : -ENOMEM;
}

static int copy_files(unsigned long clone_flags, struct task_struct *tsk)
{
	struct files_struct *oldf = current->files;
	int error = 0;

	if (!oldf)
		return 0;
	if (clone_flags & CLONE_FILES) {
		atomic_inc(&oldf->count);
		return 0;
	}
	tsk->files = dup_fd(oldf, NR_OPEN_MAX, &error);
	return tsk->files ? 0 : error;
}

static int copy_sighand(unsigned long clone_flags, struct task_struct *tsk)
{
	struct sighand_struct *sig;

	if (clone_flags & CLONE_SIGHAND) {
		refcount_inc(&current->sighand->count);
		return 0;
	}
	sig = kmem_cache_alloc(sighand_cachep, GFP_KERNEL);
	if (!sig)
		return -ENOMEM;
	tsk->sighand = sig;
	spin_lock_init(&sig->siglock);
	refcount_set(&sig->count, 1);
	spin_lock_irq(&current->sighand->siglock);
	memcpy(sig->action, current->sighand->action, sizeof(sig->action));
	sig->changed = current->sighand->changed;
	spin_unlock_irq(&current->sighand->siglock);
	return 0;
}

void __cleanup_sighand(struct sighand_struct *sighand);
void __cleanup_sighand(struct sighand_struct *sighand)
{
	if (refcount_dec_and_test(&sighand->count))
		kmem_cache_free(sighand_cachep, sighand);
}

static int copy_signal(unsigned long clone_flags, struct task_struct *tsk)
{
	struct signal_struct *sig;

	if (clone_flags & CLONE_THREAD) {
		refcount_inc(&tsk->signal->sigcnt);
		return 0;
	}
	sig = kmem_cache_zalloc(signal_cachep, GFP_KERNEL);
	if (!sig)
		return -ENOMEM;
	tsk->signal = sig;
	sig->nr_threads = 1;
	atomic_set(&sig->live, 1);
	refcount_set(&sig->sigcnt, 1);
	init_waitqueue_head(&sig->wait_chldexit);
	INIT_LIST_HEAD(&sig->shared_pending.list);
	hrtimer_init(&sig->real_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	sig->real_timer.function = it_real_fn;
	task_lock(current->group_leader);
	memcpy(sig->rlim, current->signal->rlim, sizeof(sig->rlim));
	task_unlock(current->group_leader);
	posix_cputimers_group_init(sig);
	mutex_init(&sig->cred_guard_mutex);
	init_rwsem(&sig->exec_update_lock);
	return 0;
}

static void init_task_fields(struct task_struct *p, struct kernel_clone_args *args)
{
	p->flags &= ~(PF_IDLE | PF_WQ_WORKER | PF_NO_SETAFFINITY | PF_SIGNALED | PF_EXITING);
	p->flags |= PF_FORKNOEXEC;
	if (args->kthread)
		p->flags |= PF_KTHREAD;
	else if (args->fn || current->mm)
		p->flags &= ~PF_KTHREAD;
	INIT_LIST_HEAD(&p->children);
	INIT_LIST_HEAD(&p->sibling);
	INIT_LIST_HEAD(&p->thread_group);
	INIT_LIST_HEAD(&p->tasks);
	memset(p->pid_links, 0, sizeof(p->pid_links));
	p->thread_pid = NULL;
	p->rcu_read_lock_nesting = 0;
	p->vfork_done = NULL;
	spin_lock_init(&p->alloc_lock);
	raw_spin_lock_init(&p->pi_lock);
	p->pending.signal.sig[0] = 0;
	INIT_LIST_HEAD(&p->pending.list);
	p->rss_delta[MM_FILEPAGES] = p->rss_delta[MM_ANONPAGES] = 0;
	p->restore_sigmask = false;
	p->real_blocked.sig[0] = 0;
	p->jobctl = 0;
	if ((args->flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM)	/* a thread has no alternate signal stack yet */
		p->sas_ss_sp = p->sas_ss_size = 0;
	p->utime = p->stime = 0;
	p->exit_state = p->exit_code = 0;
	p->pagefault_disabled = 0;
	p->set_child_tid = args->flags & CLONE_CHILD_SETTID ? args->child_tid : NULL;
	p->clear_child_tid = args->flags & CLONE_CHILD_CLEARTID ? args->child_tid : NULL;
	p->wchan_why = NULL;
	p->robust_list = NULL;
}

static void init_task_pid(struct task_struct *task, enum pid_type type, struct pid *pid)
{
	if (type == PIDTYPE_PID)
		task->thread_pid = pid;
	else
		task->signal->pids[type] = pid;
}

/*
 * Makes the new task visible: family, list, pid table. False when the parent is being killed: a kill of all tasks that
 * has passed the parent already would miss the child.
 */
static bool link_task(struct task_struct *p, unsigned long clone_flags, struct kernel_clone_args *args)
{
	write_lock_irq(&tasklist_lock);
	total_forks++;
	spin_lock(&current->sighand->siglock);
	if (fatal_signal_pending(current)) {
		spin_unlock(&current->sighand->siglock);
		write_unlock_irq(&tasklist_lock);
		return false;
	}
	if (clone_flags & (CLONE_PARENT | CLONE_THREAD)) {
		p->real_parent = current->real_parent;
		p->exit_signal = clone_flags & CLONE_THREAD ? -1 : current->group_leader->exit_signal;
		if (!(clone_flags & CLONE_THREAD) && args->exit_signal)
			p->exit_signal = args->exit_signal;
	} else {
		p->real_parent = current;
		p->exit_signal = args->exit_signal;
	}
	p->parent = p->real_parent;
	if (clone_flags & CLONE_THREAD) {
		current->signal->nr_threads++;
		atomic_inc(&current->signal->live);
		list_add_tail(&p->thread_group, &p->group_leader->thread_group);
		task_join_group_stop(p);
	} else {
		init_task_pid(p, PIDTYPE_TGID, p->thread_pid);
		init_task_pid(p, PIDTYPE_PGID, task_pgrp(current));
		init_task_pid(p, PIDTYPE_SID, task_session(current));
		list_add_tail(&p->sibling, &p->real_parent->children);
		list_add_tail(&p->tasks, &init_task.tasks);
		attach_pid(p, PIDTYPE_TGID);
		attach_pid(p, PIDTYPE_PGID);
		attach_pid(p, PIDTYPE_SID);
	}
	attach_pid(p, PIDTYPE_PID);
	spin_unlock(&current->sighand->siglock);
	write_unlock_irq(&tasklist_lock);
	return true;
}

/* Threads share their signals, and who shares signals shares memory. */
static inline bool clone_flags_valid(unsigned long flags)
{
	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return false;
	return !(flags & CLONE_SIGHAND) || (flags & CLONE_VM);
}

static noinline struct task_struct *copy_process(struct pid *pid, struct kernel_clone_args *args)
{
	unsigned long clone_flags = args->flags;
	struct task_struct *p;
	int retval;

	if (!clone_flags_valid(clone_flags))
		return ERR_PTR(-EINVAL);
	spin_lock_irq(&current->sighand->siglock);
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);
	if (fatal_signal_pending(current))
		return ERR_PTR(-ERESTARTNOINTR);
	p = dup_task_struct(current);
	if (!p)
		return ERR_PTR(-ENOMEM);
	init_task_fields(p, args);
	acct_clear_integrals(p);
	p->task_works = NULL;
	p->plug = NULL;
	p->journal_info = NULL;
	retval = copy_creds(p, clone_flags);
	if (retval)
		goto bad_creds;
	cgroup_fork(p);
	sched_fork(clone_flags, p);
	retval = copy_files(clone_flags, p);
	if (retval)
		goto bad_files;
	retval = copy_fs(clone_flags, p);
	if (retval)
		goto bad_fs;
	retval = copy_sighand(clone_flags, p);
	if (retval)
		goto bad_sighand;
	retval = copy_signal(clone_flags, p);
	if (retval)
		goto bad_signal;
	retval = copy_mm(clone_flags, p);
	if (retval)
		goto bad_mm;
	retval = copy_namespaces(clone_flags, p);
	if (retval)
		goto bad_namespaces;
	retval = copy_thread(p, args);
	if (retval)
		goto bad_thread;
	if (pid != &init_struct_pid) {
		pid = alloc_pid();
		if (IS_ERR(pid)) {
			retval = PTR_ERR(pid);
			goto bad_thread;
		}
	}
	p->pid = pid->nr;
	init_task_pid(p, PIDTYPE_PID, pid);
	p->group_leader = clone_flags & CLONE_THREAD ? current->group_leader : p;
	p->tgid = clone_flags & CLONE_THREAD ? current->tgid : p->pid;
	user_disable_single_step(p);
	clear_posix_cputimers_work(p);
	p->start_time = ktime_get();
	p->start_boottime = ktime_get_with_offset(0);
	retval = cgroup_can_fork(p, args);
	if (retval)
		goto bad_cgroup;
	sched_cgroup_fork(p);
	if (args->idle) {
		cgroup_post_fork(p, args);
		return p;
	}
	if (clone_flags & CLONE_PARENT_SETTID)
		put_user(p->pid, args->parent_tid);
	if (!link_task(p, clone_flags, args)) {
		retval = -EINTR;
		cgroup_cancel_fork(p, args);
		goto bad_cgroup;
	}
	sched_post_fork(p);
	cgroup_post_fork(p, args);
	trace_task_newtask(p, clone_flags);
	return p;

bad_cgroup:
	if (pid != &init_struct_pid)
		free_pid(pid);
bad_thread:
	exit_task_namespaces(p);
bad_namespaces:
	if (p->mm)
		mmput(p->mm);
bad_mm:
	put_signal_struct(p->signal);
bad_signal:
	__cleanup_sighand(p->sighand);
bad_sighand:
	exit_fs(p);
bad_fs:
	exit_files(p);
bad_files:
	exit_creds(p);
bad_creds:
	exit_task_stack_account(p);
	free_task(p);
	return ERR_PTR(retval);
}

struct task_struct *fork_idle(int cpu)
{
	struct kernel_clone_args args = { .flags = CLONE_VM, .idle = 1, .kthread = 1 };
	struct task_struct *task = copy_process(&init_struct_pid, &args);

	if (!IS_ERR(task)) {
		task->files = NULL;
		task->fs = NULL;
		init_idle(task, cpu);
	}
	return task;
}

static void wait_for_vfork_done(struct task_struct *child, struct completion *vfork)
{
	wait_for_completion(vfork);
	put_task_struct(child);
}

pid_t kernel_clone(struct kernel_clone_args *args)
{
	unsigned long clone_flags = args->flags;
	DECLARE_COMPLETION_ONSTACK(vfork);
	struct task_struct *p;
	struct pid *pid;
	pid_t nr;

	KSCOPE_TRUTH(kernel_clone);
	p = copy_process(NULL, args);
	if (IS_ERR(p))
		return PTR_ERR(p);
	trace_sched_process_fork(current, p);
	pid = get_task_pid(p, PIDTYPE_PID);
	nr = pid_vnr(pid);
	if (clone_flags & CLONE_VFORK) {
		p->vfork_done = &vfork;
		get_task_struct(p);
	}
	wake_up_new_task(p);
	if (clone_flags & CLONE_VFORK)
		wait_for_vfork_done(p, &vfork);
	put_pid(pid);
	return nr;
}

pid_t kernel_thread(int (*fn)(void *), void *arg, unsigned long flags)
{
	struct kernel_clone_args args = {
		.flags = (flags | CLONE_VM | CLONE_UNTRACED) & ~CSIGNAL, .exit_signal = flags & CSIGNAL, .fn = fn, .fn_arg = arg, .kthread = 1,
	};

	return kernel_clone(&args);
}

/* A kernel function that will kernel_execve(). */
pid_t user_mode_thread(int (*fn)(void *), void *arg, unsigned long flags)
{
	struct kernel_clone_args args = {
		.flags = (flags | CLONE_VM | CLONE_UNTRACED) & ~CSIGNAL, .exit_signal = flags & CSIGNAL, .fn = fn, .fn_arg = arg,
	};

	return kernel_clone(&args);
}

SYSCALL_DEFINE0(fork)
{
	struct kernel_clone_args args = { .exit_signal = SIGCHLD };

	return kernel_clone(&args);
}

SYSCALL_DEFINE0(vfork)
{
	struct kernel_clone_args args = { .flags = CLONE_VFORK | CLONE_VM, .exit_signal = SIGCHLD };

	return kernel_clone(&args);
}

SYSCALL_DEFINE5(clone, unsigned long, clone_flags, unsigned long, newsp, int *, parent_tidptr, int *, child_tidptr, unsigned long, tls)
{
	struct kernel_clone_args args = {
		.flags = (u32)clone_flags & ~CSIGNAL, .child_tid = child_tidptr, .parent_tid = parent_tidptr,
		.exit_signal = clone_flags & CSIGNAL, .stack = newsp, .tls = tls,
	};

	return kernel_clone(&args);
}

SYSCALL_DEFINE1(set_tid_address, int *, tidptr)
{
	current->clear_child_tid = tidptr;
	return task_pid_vnr(current);
}

/* As many threads as an eighth of memory has stacks for; a user's share of processes and of queued signals is half of it. */
static void set_max_threads(void)
{
	unsigned long threads = max((totalram_pages() << PAGE_SHIFT) / (THREAD_SIZE * 8UL), 20UL);

	init_task.signal->rlim[RLIMIT_NPROC].rlim_cur = init_task.signal->rlim[RLIMIT_NPROC].rlim_max = threads / 2;
	init_task.signal->rlim[RLIMIT_SIGPENDING] = init_task.signal->rlim[RLIMIT_NPROC];
}

void __init fork_init(void)
{
	set_max_threads();
	task_struct_cachep = KMEM_CACHE(task_struct, SLAB_PANIC | SLAB_ACCOUNT);
	signal_cachep = KMEM_CACHE(signal_struct, SLAB_PANIC);
	sighand_cachep = KMEM_CACHE(sighand_struct, SLAB_PANIC);
	mm_cachep = KMEM_CACHE(mm_struct, SLAB_PANIC);
}

/*
 * What /proc/PID says about a task in words and numbers: stat, status, statm, stack, wchan, limits, io (Linux's fs/proc/array.c
 * and base.c). Lines of Linux's status whose subject is not here (seccomp, speculation, huge pages) say what Linux says of a
 * kernel without it; memory peaks and NUMA are left out.
 */
#include "proc_internal.h"
#include "cred.h"
#include "fdtable.h"
#include "fs_struct.h"
#include "gates.h"
#include "mm.h"
#include "workqueue.h"

/* A worker's name says what it does. */
void proc_task_name(struct seq_file *m, struct task_struct *p)
{
	char tcomm[64];

	if (p->flags & PF_WQ_WORKER)
		wq_worker_comm(tcomm, sizeof(tcomm), p);
	else
		strscpy(tcomm, p->comm, sizeof(tcomm));
	seq_puts(m, tcomm);
}

char get_task_state(struct task_struct *t)
{
	unsigned int state = READ_ONCE(t->__state) | t->exit_state;

	if (state & EXIT_ZOMBIE)
		return 'Z';
	if (state & EXIT_DEAD)
		return 'X';
	if (state & __TASK_STOPPED)
		return 'T';
	if ((state & TASK_IDLE) == TASK_IDLE)
		return 'I';
	return state & TASK_UNINTERRUPTIBLE ? 'D' : state & TASK_INTERRUPTIBLE ? 'S' : 'R';
}

static const char *task_state_name(char c)
{
	static const char *const names[] = { "R (running)", "S (sleeping)", "D (disk sleep)", "T (stopped)", "X (dead)", "Z (zombie)",
					     "I (idle)" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i][0] == c)
			return names[i];
	return names[0];
}

static noinline void task_state(struct seq_file *m, struct task_struct *t)
{
	const struct cred *cred = t->cred ? t->cred : &init_cred;
	unsigned int max_fds = 0;

	task_lock(t);
	if (t->files)
		max_fds = t->files->fdt->max_fds;
	seq_printf(m, "Umask:\t%04o\n", t->fs ? t->fs->umask : 0);
	task_unlock(t);
	seq_printf(m, "State:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n", task_state_name(get_task_state(t)), t->tgid,
		   t->pid, t->real_parent ? t->real_parent->tgid : 0);
	seq_printf(m, "Uid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nFDSize:\t%u\nGroups:\t \n", cred->uid.val, cred->euid.val, cred->suid.val,
		   cred->fsuid.val, cred->gid.val, cred->egid.val, cred->sgid.val, cred->fsgid.val, max_fds);
	seq_printf(m, "NStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n", t->tgid, t->pid, __task_pid_nr_ns(t, PIDTYPE_PGID, NULL),
		   __task_pid_nr_ns(t, PIDTYPE_SID, NULL));
}

/* What the task has mapped since it last told its mm counts too. */
static unsigned long get_task_rss(struct task_struct *t, struct mm_struct *mm)
{
	return max((long)get_mm_rss(mm) + READ_ONCE(t->rss_delta[MM_FILEPAGES]) + READ_ONCE(t->rss_delta[MM_ANONPAGES]), 0L);
}

struct task_mem_sum { unsigned long data, text, lib; };

static struct task_mem_sum sum_vmas(struct mm_struct *mm)
{
	struct task_mem_sum sum = { 0, 0, 0 };
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	list_for_each_entry(vma, &mm->mmap, vm_list) {
		unsigned long size = (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;

		if ((vma->vm_flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE)
			sum.data += size;
		else if ((vma->vm_flags & (VM_EXEC | VM_WRITE)) == VM_EXEC)
			sum.text += size;
	}
	mmap_read_unlock(mm);
	return sum;
}

static noinline void task_mem(struct seq_file *m, struct task_struct *t, struct mm_struct *mm)
{
	struct task_mem_sum sum = sum_vmas(mm);

	unsigned long rss = get_task_rss(t, mm), anon = max((long)get_mm_counter(mm, MM_ANONPAGES) + READ_ONCE(t->rss_delta[MM_ANONPAGES]), 0L);

	anon = min(anon, rss);
	seq_printf(m, "VmPeak:\t%8lu kB\nVmSize:\t%8lu kB\nVmLck:\t%8lu kB\nVmPin:\t%8lu kB\nVmHWM:\t%8lu kB\nVmRSS:\t%8lu kB\n",
		   max(mm->hiwater_vm, mm->total_vm) << 2, mm->total_vm << 2, 0UL, 0UL, max(mm->hiwater_rss, rss) << 2, rss << 2);
	seq_printf(m, "RssAnon:\t%8lu kB\nRssFile:\t%8lu kB\nRssShmem:\t%8lu kB\n", anon << 2, (rss - anon) << 2, 0UL);
	seq_printf(m, "VmData:\t%8lu kB\nVmStk:\t%8lu kB\nVmExe:\t%8lu kB\nVmLib:\t%8lu kB\nVmPTE:\t%8lu kB\nVmSwap:\t%8lu kB\n",
		   sum.data << 2, mm->stack_vm << 2, sum.text << 2, 0UL, atomic_long_read(&mm->pgtables_bytes) >> 10, 0UL);
	seq_printf(m, "HugetlbPages:\t%8lu kB\n", 0UL);
	seq_puts(m, "CoreDumping:\t0\nTHP_enabled:\t0\n");
}

/* siglock held or not: a moment's picture. */
static noinline void task_sig(struct seq_file *m, struct task_struct *p)
{
	unsigned long ignored = 0, caught = 0, shared = 0, flags;
	struct sighand_struct *sighand;
	int i, threads = 1;

	sighand = __lock_task_sighand(p, &flags);
	if (sighand) {
		threads = p->signal->nr_threads;
		shared = p->signal->shared_pending.signal.sig[0];
		for (i = 0; i < _NSIG; i++) {
			if (sighand->action[i].sa_handler == SIG_IGN)
				ignored |= BIT(i);
			else if (sighand->action[i].sa_handler != SIG_DFL)
				caught |= BIT(i);
		}
		spin_unlock_irqrestore(&sighand->siglock, flags);
	}
	seq_printf(m, "Threads:\t%d\nSigQ:\t%d/%lu\nSigPnd:\t%016lx\nShdPnd:\t%016lx\nSigBlk:\t%016lx\nSigIgn:\t%016lx\nSigCgt:\t%016lx\n", threads,
		   sigqueue_count(), p->signal->rlim[RLIMIT_SIGPENDING].rlim_cur, p->pending.signal.sig[0], shared, p->blocked.sig[0], ignored, caught);
}

static noinline void task_cap(struct seq_file *m, struct task_struct *p)
{
	u64 cap = (p->cred ? p->cred : &init_cred)->cap_effective & 0x1ffffffffffUL;

	seq_printf(m, "CapInh:\t%016lx\nCapPrm:\t%016lx\nCapEff:\t%016lx\nCapBnd:\t%016lx\nCapAmb:\t%016lx\n", 0UL, (unsigned long)cap,
		   (unsigned long)cap, 0x1ffffffffffUL, 0UL);
}

/* A mask as "0-2,5". */
void seq_cpulist(struct seq_file *m, unsigned long mask)
{
	bool first = true;
	int i, j;

	for (i = 0; i < NR_CPUS; i = j + 1) {
		j = i;
		if (!(mask >> i & 1))
			continue;
		while (j + 1 < NR_CPUS && mask >> (j + 1) & 1)
			j++;
		seq_printf(m, j > i ? "%s%d-%d" : "%s%d", first ? "" : ",", i, j);
		first = false;
	}
}

int proc_pid_status(struct seq_file *m, void *v)
{
	struct task_struct *t = m->private;
	struct mm_struct *mm = get_task_mm(t);
	unsigned long mask = t->cpus_mask.bits[0] & cpu_possible_mask->bits[0];
	int i;

	seq_puts(m, "Name:\t");
	proc_task_name(m, t);
	seq_putc(m, '\n');
	task_state(m, t);
	if (mm) {
		task_mem(m, t, mm);
		mmput(mm);
	}
	task_sig(m, t);
	task_cap(m, t);
	seq_puts(m, "NoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nSpeculation_Store_Bypass:\tnot vulnerable\n"
		 "SpeculationIndirectBranch:\talways enabled\nCpus_allowed:\t");
	if (nr_cpu_ids > 32)			/* %*pb: groups of 32 bits, as many digits as there are CPUs */
		seq_printf(m, "%lx,", mask >> 32);
	seq_printf(m, nr_cpu_ids > 32 ? "%08lx" : "%lx", mask & 0xffffffff);
	seq_puts(m, "\nCpus_allowed_list:\t");
	seq_cpulist(m, mask);
	seq_puts(m, "\nMems_allowed:\t");
	for (i = 0; i < 31; i++)		/* of 1024 nodes that the kernel could have there is one */
		seq_puts(m, "00000000,");
	seq_printf(m, "00000001\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t%lu\nnonvoluntary_ctxt_switches:\t%lu\n", t->nvcsw, t->nivcsw);
	return 0;
}

static u64 to_clock_t(u64 ns)
{
	return ns / (NSEC_PER_SEC / 100);
}

static noinline int do_task_stat(struct seq_file *m, struct task_struct *t, int whole)
{
	u64 utime = t->utime, stime = t->stime, cutime = 0, cstime = 0;
	unsigned long min_flt = t->min_flt, cmin_flt = 0;
	unsigned long shared = 0, ignored = 0, caught = 0, flags, wchan = 0;
	struct mm_struct *mm = get_task_mm(t);
	struct sighand_struct *sighand = __lock_task_sighand(t, &flags);
	int i, threads = 0;

	if (sighand) {
		threads = t->signal->nr_threads;
		shared = t->pending.signal.sig[0] | t->signal->shared_pending.signal.sig[0];
		cutime = t->signal->cutime;
		cstime = t->signal->cstime;
		cmin_flt = t->signal->cmin_flt;
		if (whole)
			min_flt += t->signal->min_flt;
		for (i = 0; i < _NSIG; i++) {
			if (sighand->action[i].sa_handler == SIG_IGN)
				ignored |= BIT(i);
			else if (sighand->action[i].sa_handler != SIG_DFL)
				caught |= BIT(i);
		}
		spin_unlock_irqrestore(&sighand->siglock, flags);
		if (whole)
			thread_group_cputime_adjusted(t, &utime, &stime);
	}
	if (!t->on_rq)
		wchan = get_wchan(t) != 0;
	seq_printf(m, "%d (", t->pid);
	proc_task_name(m, t);
	seq_printf(m, ") %c %d %d %d 0 -1 %u %lu %lu 0 0 %lu %lu %lu %lu %d %d %d 0 %lu %lu %lu ", get_task_state(t),
		   t->real_parent ? t->real_parent->tgid : 0, __task_pid_nr_ns(t, PIDTYPE_PGID, NULL), __task_pid_nr_ns(t, PIDTYPE_SID, NULL),
		   t->flags, min_flt, cmin_flt, to_clock_t(utime), to_clock_t(stime), to_clock_t(cutime), to_clock_t(cstime), t->prio - MAX_RT_PRIO,
		   task_nice(t), threads, to_clock_t(t->start_time), mm ? mm->total_vm << PAGE_SHIFT : 0,
		   mm ? get_task_rss(t, mm) : 0);
	seq_printf(m, "18446744073709551615 %lu %lu %lu 0 0 %lu %lu %lu %lu %lu 0 0 %d %d %u %u 0 0 0", mm ? mm->start_code : 0,
		   mm ? mm->end_code : 0, mm ? mm->start_stack : 0, shared & 0x7fffffff, t->blocked.sig[0] & 0x7fffffff,
		   ignored & 0x7fffffff, caught & 0x7fffffff, wchan, t->exit_signal, task_cpu(t), t->rt_priority, t->policy);
	if (mm)
		seq_printf(m, " %lu %lu %lu %lu %lu 0 0 %d\n", 0UL, 0UL, mm->start_brk, mm->arg_start, mm->arg_end, t->exit_code);
	else
		seq_printf(m, " 0 0 0 0 0 0 0 %d\n", t->exit_code);
	if (mm)
		mmput(mm);
	return 0;
}

int proc_tgid_stat(struct seq_file *m, void *v)
{
	return do_task_stat(m, m->private, 1);
}

int proc_tid_stat(struct seq_file *m, void *v)
{
	return do_task_stat(m, m->private, 0);
}

int proc_pid_statm(struct seq_file *m, void *v)
{
	struct mm_struct *mm = get_task_mm(m->private);
	struct task_mem_sum sum = { 0, 0, 0 };

	if (mm)
		sum = sum_vmas(mm);
	seq_printf(m, "%lu %lu 0 %lu 0 %lu 0\n", mm ? mm->total_vm : 0, mm ? get_task_rss(m->private, mm) : 0, sum.text,
		   sum.data + (mm ? mm->stack_vm : 0));
	if (mm)
		mmput(mm);
	return 0;
}

extern char _text[], _etext[], __sched_text_start[], __sched_text_end[];

/* Where a sleeping task is, outside the scheduler: the first such return address on its stack, which may be a stale one. */
unsigned long get_wchan(struct task_struct *p)
{
	unsigned long addr, *sp, *end = (unsigned long *)task_pt_regs(p);

	if (p == current || p->on_rq || !READ_ONCE(p->__state))
		return 0;
	for (sp = (unsigned long *)p->thread.sp; sp > (unsigned long *)p->stack && sp < end; sp++) {
		addr = READ_ONCE(*sp);
		if (addr >= (unsigned long)_text && addr < (unsigned long)_etext &&
		    (addr < (unsigned long)__sched_text_start || addr >= (unsigned long)__sched_text_end))
			return addr;
	}
	return 0;
}

int proc_pid_wchan(struct seq_file *m, void *v)
{
	unsigned long wchan = get_wchan(m->private);

	if (wchan)
		seq_printf(m, "%ps", (void *)wchan);
	else
		seq_putc(m, '0');
	return 0;
}

#define MAX_STACK_TRACE_DEPTH 64

/* Innermost first; the unwinder is the host's. Of a task that runs on another CPU nothing can be said. */
int proc_pid_stack(struct seq_file *m, void *v)
{
	unsigned long *entries = kmalloc_array(MAX_STACK_TRACE_DEPTH, sizeof(*entries), GFP_KERNEL);
	long i, nr;

	if (!entries)
		return -ENOMEM;
	nr = stack_trace_save_tsk(m->private, entries, MAX_STACK_TRACE_DEPTH, 0);
	for (i = 0; i < nr; i++)
		seq_printf(m, "[<0>] %pB\n", (void *)entries[i]);
	kfree(entries);
	return 0;
}

int proc_pid_schedstat(struct seq_file *m, void *v)
{
	struct task_struct *t = m->private;

	seq_printf(m, "%lu %lu %lu\n", (unsigned long)t->se.sum_exec_runtime, 0UL, t->nvcsw + t->nivcsw);
	return 0;
}

int proc_pid_io(struct seq_file *m, void *v)
{
	struct task_struct *t = m->private;

	seq_printf(m, "rchar: %lu\nwchar: %lu\nsyscr: %lu\nsyscw: %lu\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n",
		   (unsigned long)t->ioac.rchar, (unsigned long)t->ioac.wchar, (unsigned long)t->ioac.syscr, (unsigned long)t->ioac.syscw);
	return 0;
}

static void seq_limit(struct seq_file *m, unsigned long value)
{
	if (value == RLIM_INFINITY)
		seq_printf(m, "%-20s ", "unlimited");
	else
		seq_printf(m, "%-20lu ", value);
}

int proc_pid_limits(struct seq_file *m, void *v)
{
	static const struct { const char *name, *unit; } lnames[RLIM_NLIMITS] = {
		{ "Max cpu time", "seconds" }, { "Max file size", "bytes" }, { "Max data size", "bytes" }, { "Max stack size", "bytes" },
		{ "Max core file size", "bytes" }, { "Max resident set", "bytes" }, { "Max processes", "processes" },
		{ "Max open files", "files" }, { "Max locked memory", "bytes" }, { "Max address space", "bytes" },
		{ "Max file locks", "locks" }, { "Max pending signals", "signals" }, { "Max msgqueue size", "bytes" },
		{ "Max nice priority", "" }, { "Max realtime priority", "" }, { "Max realtime timeout", "us" },
	};
	struct task_struct *t = m->private;
	unsigned int i;

	seq_puts(m, "Limit                     Soft Limit           Hard Limit           Units     \n");
	for (i = 0; i < RLIM_NLIMITS; i++) {
		seq_printf(m, "%-25s ", lnames[i].name);
		seq_limit(m, t->signal->rlim[i].rlim_cur);
		seq_limit(m, t->signal->rlim[i].rlim_max);
		seq_printf(m, "%-10s\n", lnames[i].unit);
	}
	return 0;
}

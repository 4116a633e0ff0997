/*
 * Programs that the kernel itself needs (Linux's kernel/umh.c): a worker forks the child, so that it has nothing of the
 * task that asked, and waits for its end when that task does.
 */
#include "kmod.h"
#include "sched.h"
#include "cred.h"
#include "slab.h"
#include "workqueue.h"
#include "completion.h"

struct umh_info {
	struct work_struct work;
	struct completion done;
	const char *path;
	char **argv, **envp;
	int wait, retval;
};

/* The child, before it is a program. */
static int umh_child(void *data)
{
	struct umh_info *info = data;
	const char *base;

	spin_lock_irq(&current->sighand->siglock);
	flush_signal_handlers(current, 1);
	spin_unlock_irq(&current->sighand->siglock);
	base = strrchr(info->path, '/');
	set_task_comm(current, base ? base + 1 : info->path);
	info->retval = kernel_execve(info->path, (const char *const *)info->argv, (const char *const *)info->envp);
	if (info->wait == UMH_WAIT_EXEC)
		complete(&info->done);
	if (!info->retval)
		return 0;
	do_exit((info->retval == -ENOENT ? 127 : 126) << 8);
}

/* A kernel thread ignores its children; while it waits for this one it must not. */
static noinline void call_usermodehelper_exec_sync(struct umh_info *info)
{
	struct k_sigaction *ka = &current->sighand->action[SIGCHLD - 1];
	void *old = ka->sa_handler;
	pid_t pid;

	ka->sa_handler = SIG_DFL;
	pid = user_mode_thread(umh_child, info, SIGCHLD);
	if (pid < 0)
		info->retval = pid;
	else
		kernel_wait(pid, &info->retval);
	ka->sa_handler = old;
	complete(&info->done);
}

static void call_usermodehelper_exec_work(struct work_struct *work)
{
	struct umh_info *info = container_of(work, struct umh_info, work);
	pid_t pid;

	if (info->wait == UMH_WAIT_PROC) {
		call_usermodehelper_exec_sync(info);
		return;
	}
	pid = user_mode_thread(umh_child, info, CLONE_PARENT | SIGCHLD);
	if (pid < 0) {
		info->retval = pid;
		complete(&info->done);
	}
}

/* The exit status of the program (as wait reports it), or the error that kept it from running. */
noinline int call_usermodehelper(const char *path, char **argv, char **envp, int wait)
{
	struct umh_info info = { .path = path, .argv = argv, .envp = envp, .wait = wait == UMH_NO_WAIT ? UMH_WAIT_EXEC : wait };

	init_completion(&info.done);
	INIT_WORK(&info.work, call_usermodehelper_exec_work);
	queue_work(system_unbound_wq, &info.work);
	wait_for_completion(&info.done);
	return info.retval;
}

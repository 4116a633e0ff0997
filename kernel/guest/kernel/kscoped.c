/*
 * kscoped: the kernel thread that does what the host asks for (tracer commands, file access, starting programs), so that
 * every such thing has a CPU and a task. One request at a time, in a fixed block that the host fills.
 */
#include "mm.h"
#include "entry.h"
#include "kthread.h"
#include "gates.h"
#include "ftrace.h"
#include "fs.h"
#include "fdtable.h"
#include "namei.h"
#include "tracefs.h"
#include "uaccess.h"
#include "module.h"

extern wait_queue_head_t hostcons_wait;		/* drivers/hostcons.c */
static DECLARE_WAIT_QUEUE_HEAD(kscoped_wait);
static bool kscoped_kicked;
static struct kscope_req kscope_req;
#define KSCOPE_FILES 64
static struct file *kscope_files[KSCOPE_FILES];	/* the host's handles: index + 1 */
int kill_pid_from_kernel(int sig, pid_t pid);
int ksys_setsid(void);

/* In the interrupt of vector 0xf2. */
void kscoped_kick(void)
{
	WRITE_ONCE(kscoped_kicked, true);
	wake_up_interruptible(&kscoped_wait);
}

/* In the interrupt of vector 0xf6: a blocking file of the host may have become readable, or the tracer has lines for the log. */
void kscope_irq_work(void)
{
	char line[256];

	while (tracefs_dump_line(line, sizeof(line)) > 0)
		printk(KERN_EMERG "%s\n", line);
	wake_up_interruptible_all(&tracefs_wait);
	wake_up_interruptible_all(&hostcons_wait);
}

static struct file *handle_file(u64 handle)
{
	return handle - 1 < KSCOPE_FILES ? kscope_files[handle - 1] : NULL;
}

static long req_open(struct kscope_req *r)
{
	struct file *file;
	int i;

	for (i = 0; i < KSCOPE_FILES && kscope_files[i]; i++)
		;
	if (i == KSCOPE_FILES)
		return -EMFILE;
	file = filp_open(r->path, r->flags, r->arg);
	if (IS_ERR(file))
		return PTR_ERR(file);
	kscope_files[i] = file;
	return i + 1;
}

static long req_rw(struct kscope_req *r, bool write)
{
	struct file *file = handle_file(r->arg);
	loff_t pos = r->pos;
	long ret;

	if (!file)
		return -EBADF;
	r->len = min(r->len, (u64)KSCOPE_BUF_SIZE);
	ret = write ? kernel_write(file, r->buf, r->len, &pos) : kernel_read(file, r->buf, r->len, &pos);
	r->pos = pos;
	return ret;
}

static long req_close(struct kscope_req *r)
{
	struct file *file = handle_file(r->arg);

	if (!file)
		return -EBADF;
	kscope_files[r->arg - 1] = NULL;
	__fput_sync(file);	/* what a close does must be done when the host is answered */
	return 0;
}

struct readdir_ctx { struct dir_context ctx; struct kscope_req *r; u64 used; };

/* {u64 ino; u8 type, pad; u16 reclen; char name[]} padded to 8. */
static bool fill_dirent(struct dir_context *ctx, const char *name, int namlen, loff_t offset, u64 ino, unsigned int d_type)
{
	struct readdir_ctx *rc = container_of(ctx, struct readdir_ctx, ctx);
	u64 reclen = ALIGN(12 + namlen + 1, 8);
	char *p = rc->r->buf + rc->used;

	if (rc->used + reclen > KSCOPE_BUF_SIZE)
		return false;
	memset(p, 0, reclen);
	*(u64 *)p = ino;
	p[8] = d_type;
	*(u16 *)(p + 10) = reclen;
	memcpy(p + 12, name, namlen);
	rc->used += reclen;
	return true;
}

static long req_readdir(struct kscope_req *r)
{
	struct readdir_ctx rc = { .ctx.actor = fill_dirent, .r = r };
	struct file *file = filp_open(r->path, O_RDONLY | O_DIRECTORY, 0);
	long ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	file->f_pos = r->pos;
	rc.ctx.pos = r->pos;
	ret = iterate_dir(file, &rc.ctx);
	r->pos = file->f_pos;
	r->len = rc.used;
	__fput_sync(file);
	return ret < 0 ? ret : (long)rc.used;
}

/* ---- programs (kernel/umh.c) ---- */
struct subprocess_info { char *path, **argv, **envp; u64 stream; char *strings; int cpu; };

static char **split_strings(char *p, char *end)
{
	char **v, *q;
	int n = 0;

	for (q = p; q < end; q += strlen(q) + 1)
		n++;
	v = kcalloc(n + 1, sizeof(char *), GFP_KERNEL);
	for (n = 0, q = p; v && q < end; q += strlen(q) + 1)
		v[n++] = q;
	return v;
}

static void call_usermodehelper_freeinfo(struct subprocess_info *info)
{
	kfree(info->argv);
	kfree(info->envp);
	kfree(info->strings);
	kfree(info);
}

/* The child, before it is a program. */
static int call_usermodehelper_exec_async(void *data)
{
	struct subprocess_info *sub_info = data;
	const char *base;
	int retval;

	spin_lock_irq(&current->sighand->siglock);
	flush_signal_handlers(current, 1);
	spin_unlock_irq(&current->sighand->siglock);
	ksys_setsid();
	base = strrchr(sub_info->path, '/');
	set_task_comm(current, base ? base + 1 : sub_info->path);
	if (sub_info->cpu >= 0)
		set_cpus_allowed_ptr(current, cpumask_of(sub_info->cpu));
	retval = hostcons_install(sub_info->stream);
	if (!retval)
		retval = kernel_execve(sub_info->path, (const char *const *)sub_info->argv, (const char *const *)sub_info->envp);
	call_usermodehelper_freeinfo(sub_info);
	if (!retval)
		return 0;
	user_task_exit(current->pid, (retval == -ENOENT ? 127 : 126) << 8);
	do_exit((retval == -ENOENT ? 127 : 126) << 8);
}

static long call_usermodehelper_exec(struct kscope_req *r)
{
	struct subprocess_info *info = kzalloc(sizeof(*info), GFP_KERNEL);
	u64 argv_len = r->pos && r->pos < r->len ? r->pos : r->len;
	struct path path;
	long pid;

	if (!info)
		return -ENOMEM;
	pid = kern_path(r->path, LOOKUP_FOLLOW, &path);	/* a missing file is the caller's error, not the child's */
	if (pid) {
		kfree(info);
		return pid;
	}
	path_put(&path);
	info->strings = kmalloc(r->len + sizeof(r->path) + 1, GFP_KERNEL);
	memcpy(info->strings, r->buf, r->len);
	info->strings[r->len] = 0;
	info->path = info->strings + r->len + 1;
	strscpy(info->path, r->path, sizeof(r->path));
	info->argv = split_strings(info->strings, info->strings + argv_len);
	info->envp = split_strings(info->strings + argv_len, info->strings + r->len);
	info->stream = r->arg;
	info->cpu = r->flags - 1;
	pid = user_mode_thread(call_usermodehelper_exec_async, info, CLONE_PARENT | SIGCHLD);
	if (pid < 0)
		call_usermodehelper_freeinfo(info);
	return pid;
}

/* ---- the hot function's load ---- */
static u64 hot_loops;

static int hot_thread(void *data)
{
	u64 i, n = (u64)data;
	long x = 0;

	for (i = 0; (!n || i < n) && !kthread_should_stop(); i++) {
		x = kscope_hot(x);
		if (!(i & 1023))
			cond_resched_tasks_rcu_qs();
	}
	WRITE_ONCE(hot_loops, hot_loops + i);
	return 0;
}

static long req_hot(struct kscope_req *r)
{
	unsigned int cpu;
	long started = 0;

	for_each_online_cpu(cpu) {
		struct task_struct *k;

		if (!(r->arg >> cpu & 1))
			continue;
		k = kthread_create(hot_thread, (void *)r->len, "hot/%u", cpu);
		if (IS_ERR(k))
			return PTR_ERR(k);
		kthread_bind(k, cpu);
		wake_up_process(k);
		started++;
	}
	return started;
}

static long kscoped_handle(struct kscope_req *r)
{
	switch (r->op) {
	case KSCOPE_OP_CALL:
		return kscoped_call(r->id);
	case KSCOPE_OP_OPEN:
		return req_open(r);
	case KSCOPE_OP_READ:
		return req_rw(r, false);
	case KSCOPE_OP_WRITE:
		return req_rw(r, true);
	case KSCOPE_OP_CLOSE:
		return req_close(r);
	case KSCOPE_OP_READDIR:
		return req_readdir(r);
	case KSCOPE_OP_MKDIR:
		return do_mkdirat(AT_FDCWD, getname_kernel(r->path), r->arg);
	case KSCOPE_OP_UNLINK:
		return r->flags ? do_rmdir(AT_FDCWD, getname_kernel(r->path)) : do_unlinkat(AT_FDCWD, getname_kernel(r->path));
	case KSCOPE_OP_EXEC:
		return call_usermodehelper_exec(r);
	case KSCOPE_OP_KILL:
		return kill_pid_from_kernel(r->flags, (pid_t)r->arg);
	case KSCOPE_OP_HOT:
		return req_hot(r);
	case KSCOPE_OP_POKE:
		text_poke_naive((void *)r->pos, r->buf, min(r->len, (u64)KSCOPE_BUF_SIZE));
		return 0;
	case KSCOPE_OP_INSMOD:
		return ksys_load_module_file(r->path, r->buf);
	case KSCOPE_OP_RMMOD:
		return ksys_delete_module(r->path, r->flags);
	}
	return -EINVAL;
}

static int kscoped(void *unused)
{
	struct kscope_req *r = &kscope_req;

	while (!kthread_should_stop()) {
		wait_event_interruptible(kscoped_wait, READ_ONCE(kscoped_kicked));
		WRITE_ONCE(kscoped_kicked, false);
		while (kscoped_next(r)) {
			r->ret = kscoped_handle(r);
			ftrace_run_update_code();
			kscoped_done(r);
			cond_resched();
		}
	}
	return 0;
}

static int __init kscoped_init(void)
{
	kscope_req.buf = (char *)__get_free_pages(GFP_KERNEL, 4);
	kthread_run(kscoped, NULL, "kscoped");
	return 0;
}
late_initcall(kscoped_init);

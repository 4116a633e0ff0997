#pragma once
/*
 * Native gates: calls into kscope's Go half. Each symbol is a 16-byte slot in .gates (arch/gates.S); executing its address
 * runs the Go function registered under that name with the SysV argument registers and returns rax. A gate is indivisible:
 * it does not wait, yield, fault on user memory or take guest locks; every pointer given is a kernel address.
 */
#include "types.h"
void kscope_boot_done(void);				/* end of boot: the machine snapshots here; runs in pid 1 */
void console_emit(const char *s, u32 len, u32 level);	/* one printk record, no newline */
long ftrace_process_locs(void);				/* all sites -> nops; returns their number */
long text_poke_step(void);				/* 1: bytes written, sync all CPUs and call again; 0: batch finished */
void text_poke_sync_ack(void);				/* this CPU has just executed a serialising instruction */
long text_poke_pending(void);				/* 1: Go has queued pokes */
struct kscope_req {
	u64 id;			/* 0 */
	u32 op;			/* 8: KSCOPE_OP_* */
	s32 flags;		/* 12: open flags, signal number */
	s64 ret;		/* 16: result or -errno */
	u64 pos;		/* 24: file position in and out; READDIR: index to resume at */
	u64 len;		/* 32: bytes in buf, in and out */
	u64 arg;		/* 40: handle, stream id, pid, mode */
	char path[256];		/* 48 */
	char *buf;		/* 304: KSCOPE_BUF_SIZE bytes, allocated once by the guest */
};
#define KSCOPE_BUF_SIZE 65536
enum {
	KSCOPE_OP_CALL = 1,	/* gate kscoped_call(id), then flush pokes */
	KSCOPE_OP_OPEN,		/* path, flags, arg=mode -> ret = handle (a struct file *, as a small index) */
	KSCOPE_OP_READ,		/* arg=handle, pos, len -> buf, ret = bytes */
	KSCOPE_OP_WRITE,	/* arg=handle, pos, len, buf */
	KSCOPE_OP_CLOSE,	/* arg=handle */
	KSCOPE_OP_READDIR,	/* path, pos=resume -> buf = {u64 ino; u8 type; u8 0; u16 reclen; char name[] NUL}…, ret = bytes, 0 = end */
	KSCOPE_OP_MKDIR,	/* path, arg=mode */
	KSCOPE_OP_UNLINK,	/* path; rmdir when flags = 1 */
	KSCOPE_OP_EXEC,		/* path, buf = argv NUL-separated (len bytes), then env NUL-separated in buf[pos..]; arg = stream id ; flags = CPU + 1 to run on alone, 0: any -> ret = pid */
	KSCOPE_OP_KILL,		/* arg = pid, flags = signal */
	KSCOPE_OP_HOT,		/* start kthreads "hot/N" on the CPUs of mask arg, each calling kscope_hot() len times (0 = until stopped) */
	KSCOPE_OP_POKE,		/* text_poke_naive(pos, buf, len): store over live text, byte by byte */
	KSCOPE_OP_INSMOD,	/* load the module file path; buf = arguments, NUL-terminated */
	KSCOPE_OP_RMMOD,	/* delete_module(path, flags) */
};
long kscoped_next(struct kscope_req *r);		/* 1: r filled; 0: nothing to do */
void kscoped_done(struct kscope_req *r);
long kscoped_call(u64 id);
long hostcons_write(u64 stream, u32 fd, const char *s, u64 len);
long hostcons_read(u64 stream, char *s, u64 len);	/* -EAGAIN: wait on hostcons_wait, vector 0xf6 wakes it */
void user_task_exit(s64 pid, s64 code);
void user_task_exec(s64 pid);
void oops_begin(struct pt_regs *regs, const char *what, u64 err, u64 cr2);
long oops_line(char *buf, u64 len);			/* next line (no newline), its length; 0 = no more; may start with KERN_SOH level */
long tracefs_lookup(u64 dir, const char *name, u64 *id, u32 *mode);
long tracefs_iterate(u64 dir, u64 index, char *name, u64 *id, u32 *mode);
long tracefs_open(u64 id, u32 flags, u64 *handle);
long tracefs_read(u64 handle, char *kbuf, u64 len, u64 pos);
long tracefs_write(u64 handle, const char *kbuf, u64 len, u64 pos);
long tracefs_release(u64 handle);
long tracefs_readable(u64 handle, u64 how);		/* 0: a read, 1: what poll(2) says, 2: a splice */
long tracefs_dump_line(char *line, u64 size);		/* the next line of ftrace_dump(); 0: no more */
long tracefs_splice(u64 handle, char *page, u64 len, u64 waited);	/* as much of a page as a splice of len gets */
long tracefs_mkdir(u64 dir, const char *name);
long tracefs_rmdir(u64 dir, const char *name);
int trace_vbprintk(unsigned long ip, const char *fmt, __builtin_va_list args);	/* a bprint event; bytes written */
int trace_vprintk(unsigned long ip, const char *fmt, __builtin_va_list args);	/* a print event */
void trace_printk_format(const char *fmt);		/* a module's format, for printk_formats */
void __ftrace_trace_stack(int skip);			/* a stack into the trace, from here on */
void trace_printk_start(void);				/* the rings get their full size */
long tracefs_set_enabled(u64 on);			/* /proc/sys/kernel/ftrace_enabled; -ENOSYS: no tracer is attached */
long tracefs_set_stack_tracer(u64 on);			/* /proc/sys/kernel/stack_tracer_enabled; -ENOSYS as above */
void machine_halt(u64 why);				/* 0 halt, 1 panic: the machine stops for good */
long stack_trace_save_tsk(struct task_struct *tsk, unsigned long *store, u64 size, u64 skipnr);	/* /proc/PID/stack */
u64 kscope_hazard(u64 kind, u64 arg);			/* test hook */

/*
 * The native gates (gates.h): one 16-byte slot each. The interpreter stops at a slot's address before executing it; the
 * ud2 only shows when no Go function is registered.
 */
	.file	"gates.S"	/* or the object's, whose name depends on where it was built */
	.cfi_sections .debug_frame
	.section .gates, "ax", @progbits
	.macro GATE name
	.balign 16, 0xcc
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	ud2
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm

	GATE kscope_boot_done
	GATE console_emit
	GATE ftrace_process_locs
	GATE text_poke_step
	GATE text_poke_sync_ack
	GATE text_poke_pending
	GATE kscoped_next
	GATE kscoped_done
	GATE kscoped_call
	GATE hostcons_write
	GATE hostcons_read
	GATE user_task_exit
	GATE user_task_exec
	GATE oops_begin
	GATE oops_line
	GATE tracefs_lookup
	GATE tracefs_iterate
	GATE tracefs_open
	GATE tracefs_read
	GATE tracefs_write
	GATE tracefs_release
	GATE tracefs_readable
	GATE tracefs_splice
	GATE tracefs_dump_line
	GATE tracefs_mkdir
	GATE tracefs_rmdir
	GATE tracefs_set_enabled
	GATE tracefs_set_stack_tracer
	GATE machine_halt
	GATE module_elf_check
	GATE module_move
	GATE module_simplify_symbols
	GATE module_owner
	GATE module_relocate
	GATE module_section
	GATE module_notify
	GATE module_message
	GATE module_drop
	GATE stack_trace_save_tsk
	GATE kscope_hazard
	GATE vp_config
	GATE vp_setup_vq
	GATE vp_doorbell
	/* called by trampolines only */
	GATE function_trace_call
	GATE function_trace_probe_call
	GATE arch_ftrace_ops_list_func
	GATE ftrace_graph_func
	GATE prepare_ftrace_return
	GATE ftrace_return_to_handler
	GATE kprobe_ftrace_handler
	GATE optimized_callback
	GATE arch_rethook_trampoline_callback
	GATE stack_trace_call
	/* called by trace_printk.h */
	GATE trace_vbprintk
	GATE trace_vprintk
	GATE __trace_bputs
	GATE __trace_puts
	GATE __ftrace_trace_stack
	GATE trace_printk_format
	GATE trace_printk_start
	GATE tracing_on
	GATE tracing_off
	GATE tracing_is_on
	/* called by kernel/kprobes.c */
	GATE kprobe_arm
	GATE kprobe_disarm
	GATE kprobe_switch
	GATE kprobe_enter
	GATE kprobe_next
	GATE kprobe_resume
	GATE kprobe_optimizer_step
	GATE kprobes_optimization
	GATE kprobe_message
	/* called by tracepoints that are switched on: tracepoint.h */
	GATE __traceiter_sched_switch
	GATE __traceiter_sched_waking
	GATE __traceiter_sched_wakeup
	GATE __traceiter_sched_wakeup_new
	GATE __traceiter_sched_migrate_task
	GATE __traceiter_sched_process_fork
	GATE __traceiter_sched_process_exec
	GATE __traceiter_sched_process_exit
	GATE __traceiter_sched_process_wait
	GATE __traceiter_softirq_entry
	GATE __traceiter_softirq_exit
	GATE __traceiter_sys_enter
	GATE __traceiter_sys_exit
	/* for the tracepoints of modules: the loader gives each a slot */
	.altmacro
	.macro TRACE_SLOT n
	GATE __traceiter_slot_\n
	.endm
	.set slot, 0
	.rept 48
	TRACE_SLOT %slot
	.set slot, slot + 1
	.endr
	.noaltmacro
#define TRACE_EVENT(sys, event, ...) GATE __traceiter_##event
#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(class, sys, event, ...) GATE __traceiter_##event
#include "trace/events/all.h"
	.section .note.GNU-stack, "", @progbits

/* Exceptions (arch/x86/include/asm/trace/exceptions.h): Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

DECLARE_EVENT_CLASS(x86_exceptions,
	TP_PROTO(unsigned long address, struct pt_regs *regs, unsigned long error_code), TP_ARGS(address, regs, error_code),
	TP_FIELDS(
		__field(unsigned long, address, T_ARG(0))
		__field(unsigned long, ip, T_ARG(1), T_LD(8, struct pt_regs, ip))
		__field(unsigned long, error_code, T_ARG(2))),
	TP_printk("\"address=%ps ip=%ps error_code=0x%lx\", (void *)REC->address, (void *)REC->ip, REC->error_code"))

DEFINE_EVENT(x86_exceptions, exceptions, page_fault_user, 113, TP_PROTO(unsigned long address, struct pt_regs *regs, unsigned long error_code), TP_ARGS(address, regs, error_code))
DEFINE_EVENT(x86_exceptions, exceptions, page_fault_kernel, 112, TP_PROTO(unsigned long address, struct pt_regs *regs, unsigned long error_code), TP_ARGS(address, regs, error_code))

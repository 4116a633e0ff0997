/* Modules: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(module, module_load, 357,
	TP_PROTO(struct module *mod), TP_ARGS(mod),
	TP_FIELDS(
		__field(unsigned int, taints, T_ARG(0), T_LD(4, struct module, taints))
		__string(name, T_ARG(0), T_ADD(struct module, name))),
	TP_printk("\"%s %s\", __get_str(name), __print_flags(REC->taints, \"\", { (1UL << 0), \"P\" }, { (1UL << 12), \"O\" "
		"}, { (1UL << 1), \"F\" }, { (1UL << 10), \"C\" }, { (1UL << 13), \"E\" })"))

TRACE_EVENT(module, module_free, 356,
	TP_PROTO(struct module *mod), TP_ARGS(mod),
	TP_FIELDS(
		__string(name, T_ARG(0), T_ADD(struct module, name))),
	TP_printk("\"%s\", __get_str(name)"))

DECLARE_EVENT_CLASS(module_refcnt,
	TP_PROTO(struct module *mod, unsigned long ip), TP_ARGS(mod, ip),
	TP_FIELDS(
		__field(unsigned long, ip, T_ARG(1), T_CALLER)
		__field(int, refcnt, T_ARG(0), T_LD(4, struct module, refcnt))
		__string(name, T_ARG(0), T_ADD(struct module, name))),
	TP_printk("\"%s call_site=%ps refcnt=%d\", __get_str(name), (void *)REC->ip, REC->refcnt"))

DEFINE_EVENT(module_refcnt, module, module_get, 355, TP_PROTO(struct module *mod, unsigned long ip), TP_ARGS(mod, ip))
DEFINE_EVENT(module_refcnt, module, module_put, 354, TP_PROTO(struct module *mod, unsigned long ip), TP_ARGS(mod, ip))

TRACE_EVENT(module, module_request, 353,
	TP_PROTO(const char *name, bool wait, unsigned long ip), TP_ARGS(name, wait, ip),
	TP_FIELDS(
		__field(unsigned long, ip, T_ARG(2), T_CALLER)
		__field(bool, wait, T_ARG(1))
		__string(name, T_ARG(0))),
	TP_printk("\"%s wait=%d call_site=%ps\", __get_str(name), (int)REC->wait, (void *)REC->ip"))

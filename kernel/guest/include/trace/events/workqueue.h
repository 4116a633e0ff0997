/* Work queues: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

TRACE_EVENT(workqueue, workqueue_queue_work, 259,
	TP_PROTO(int req_cpu, const char *workqueue, int cpu, struct work_struct *work), TP_ARGS(req_cpu, workqueue, cpu, work),
	TP_FIELDS(
		__field(void *, work, T_ARG(3))
		__field(void *, function, T_ARG(3), T_LD(8, struct work_struct, func))
		__string(workqueue, T_ARG(1))
		__field(int, req_cpu, T_ARG(0))
		__field(int, cpu, T_ARG(2))),
	TP_printk("\"work struct=%p function=%ps workqueue=%s req_cpu=%d cpu=%d\", REC->work, REC->function, "
		"__get_str(workqueue), REC->req_cpu, REC->cpu"))

TRACE_EVENT(workqueue, workqueue_activate_work, 258,
	TP_PROTO(struct work_struct *work), TP_ARGS(work),
	TP_FIELDS(
		__field(void *, work, T_ARG(0))),
	TP_printk("\"work struct %p\", REC->work"))

TRACE_EVENT(workqueue, workqueue_execute_start, 257,
	TP_PROTO(struct work_struct *work), TP_ARGS(work),
	TP_FIELDS(
		__field(void *, work, T_ARG(0))
		__field(void *, function, T_ARG(0), T_LD(8, struct work_struct, func))),
	TP_printk("\"work struct %p: function %ps\", REC->work, REC->function"))

TRACE_EVENT(workqueue, workqueue_execute_end, 256,
	TP_PROTO(struct work_struct *work, void *function), TP_ARGS(work, function),
	TP_FIELDS(
		__field(void *, work, T_ARG(0))
		__field(void *, function, T_ARG(1))),
	TP_printk("\"work struct %p: function %ps\", REC->work, REC->function"))

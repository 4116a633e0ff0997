package ftrace

import (
	"slices"
	"strings"

	"kscope/kernel"
)

// The stack of an event begins, on Linux, in the function that writes the record: trace_event_raw_event_CLASS. Here Go writes
// it, so the name stands on a piece of shadow text of its own, made when a stack first needs it.

// eventClasses are the classes of the events that are not their own (DECLARE_EVENT_CLASS in include/trace/events).
var eventClasses = map[string]string{
	"sched_wakeup": "sched_wakeup_template", "sched_wakeup_new": "sched_wakeup_template", "sched_waking": "sched_wakeup_template",
	"sched_process_exit": "sched_process_template", "sched_process_free": "sched_process_template", "sched_wait_task": "sched_process_template",
	"sched_stat_wait": "sched_stat_template", "sched_stat_sleep": "sched_stat_template", "sched_stat_iowait": "sched_stat_template",
	"sched_stat_blocked": "sched_stat_template",
	"softirq_entry":      "softirq", "softirq_exit": "softirq", "softirq_raise": "softirq",
	"timer_init": "timer_class", "timer_cancel": "timer_class", "timer_expire_exit": "timer_class",
	"hrtimer_cancel": "hrtimer_class", "hrtimer_expire_exit": "hrtimer_class",
	"page_fault_user": "x86_exceptions", "page_fault_kernel": "x86_exceptions", "cpu_idle": "cpu",
	"mm_page_alloc_zone_locked": "mm_page", "module_get": "module_refcnt", "module_put": "module_refcnt",
	"mm_filemap_add_to_page_cache":      "mm_filemap_op_page_cache",
	"mm_filemap_delete_from_page_cache": "mm_filemap_op_page_cache",
}

// recorderName is the function that records an event.
func (ev *TraceEvent) recorderName() string {
	switch {
	case ev.System == "syscalls" && strings.HasPrefix(ev.Name, "sys_enter_"):
		return "ftrace_syscall_enter"
	case ev.System == "syscalls":
		return "ftrace_syscall_exit"
	case ev.System == "irq_vectors" && !strings.HasPrefix(ev.Name, "vector_"):
		return "trace_event_raw_event_x86_irq_vector"
	}
	if class := eventClasses[ev.Name]; class != "" {
		return "trace_event_raw_event_" + class
	}
	return "trace_event_raw_event_" + ev.Name
}

// recorder is the address on top of the stacks of an event of a tracepoint; none for those of probes, whose stacks begin at the
// probed place.
func (ev *TraceEvent) recorder(root *Tracer) []uint64 {
	if !ev.point {
		return nil
	}
	if ev.top == 0 {
		if ev.top = root.shadowName(ev.recorderName()); ev.top == 0 {
			return nil
		}
	}
	if ev.System == "sched" && slices.Contains(sharedPoints, ev.Name) {
		if va, ok := root.m.Symbols().Lookup("__traceiter_" + ev.Name); ok {
			return []uint64{ev.top, va}
		}
	}
	return []uint64{ev.top}
}

// shadowName is the address of a function by name, of shadow text when the image has none; 0: there is no room.
func (t *Tracer) shadowName(name string) uint64 {
	if va, ok := t.m.Symbols().Lookup(name); ok {
		return va
	}
	va, err := t.m.ShadowAlloc(16, name)
	if err != nil {
		return 0
	}
	t.m.Symbols().Add(kernel.Sym{Name: name, Addr: va, Size: 16, ELFSize: 16, Kind: 't', Section: ".shadow"})
	return va
}

// sharedPoints are the tracepoints that have a second user on Linux, which notes the names of tasks (tracing_sched_register):
// they call through __traceiter_NAME, where one with a single user calls it directly.
var sharedPoints = []string{"sched_switch", "sched_wakeup", "sched_wakeup_new"}

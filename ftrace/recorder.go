package ftrace

import (
	"slices"
	"strings"

	"kscope/kernel"
)

// The stack of an event begins, on Linux, in the function that writes the record: trace_event_raw_event_CLASS. Here Go writes
// it, so the name stands on a piece of shadow text of its own, made when a stack first needs it.

// eventClasses are the classes of the events in tracepoint_rows.go that are not their own; the guest says those of its events itself.
var eventClasses = map[string]string{
	"sched_wakeup": "sched_wakeup_template", "sched_wakeup_new": "sched_wakeup_template", "sched_waking": "sched_wakeup_template",
	"sched_process_exit": "sched_process_template", "softirq_entry": "softirq", "softirq_exit": "softirq",
}

// recorderName is the function that records an event.
func (ev *TraceEvent) recorderName() string {
	switch {
	case ev.System == "syscalls" && strings.HasPrefix(ev.Name, "sys_enter_"):
		return "ftrace_syscall_enter"
	case ev.System == "syscalls":
		return "ftrace_syscall_exit"
	case ev.class != "":
		return "trace_event_raw_event_" + ev.class
	}
	if class := eventClasses[ev.Name]; class != "" {
		return "trace_event_raw_event_" + class
	}
	return "trace_event_raw_event_" + ev.Name
}

// recorder is the address on top of the stacks of an event of a tracepoint; none for those of probes, whose stacks begin at the
// probed place, and those that a module makes by such a function of its own.
func (ev *TraceEvent) recorder(root *Tracer) []uint64 {
	if !ev.point || ev.made {
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

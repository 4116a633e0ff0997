package ftrace

import (
	"strings"

	"kscope/ftrace/event"
	"kscope/ftrace/ring"
	"kscope/kernel"
)

// The calls of the host: scripts, tests, tools. Those that change something run in the guest's kthread kscoped (Do), so that
// patches have a CPU and a task; the machine must be stopped. Those that read do not run the guest.

// WriteFile does `printf %s data > path`, or `>> path` with app, in this tracefs.
func (t *Tracer) WriteFile(path, data string, app bool) error {
	path = t.path(path)
	return t.m.Do("writing "+path, func(c *kernel.VCPU) error { return t.fs.WriteFile(c, path, []byte(data), app) })
}

// ReadFile reads a file of this tracefs; trace_pipe is read up to where it would wait.
func (t *Tracer) ReadFile(path string) (string, error) {
	b, err := t.fs.ReadFile(t.someCPU(), t.path(path))
	return string(b), err
}

// path is where a file of this tracer is in the tree.
func (t *Tracer) path(file string) string {
	if t.top != nil {
		return "instances/" + t.name + "/" + file
	}
	return file
}

// someCPU is the CPU whose clock a host's read sees.
func (t *Tracer) someCPU() *kernel.VCPU {
	if t.m == nil {
		return nil
	}
	if c := t.m.Running(); c != nil {
		return c
	}
	return t.m.VCPU(0)
}

// Set makes name the current tracer.
func (t *Tracer) Set(name string) error { return t.WriteFile("current_tracer", name, false) }

// Current is the name of the current tracer.
func (t *Tracer) Current() string { return t.current.name }

// On and Off are tracing_on.
func (t *Tracer) On() error  { return t.WriteFile("tracing_on", "1", false) }
func (t *Tracer) Off() error { return t.WriteFile("tracing_on", "0", false) }

// Clear empties the rings.
func (t *Tracer) Clear() error { return t.WriteFile("trace", "", false) }

// Filter makes patterns the filter; none trace every function.
func (t *Tracer) Filter(patterns ...string) error {
	return t.WriteFile("set_ftrace_filter", strings.Join(patterns, "\n")+"\n", false)
}

// Notrace makes patterns the functions not to trace.
func (t *Tracer) Notrace(patterns ...string) error {
	return t.WriteFile("set_ftrace_notrace", strings.Join(patterns, "\n")+"\n", false)
}

// Stats are the counters of one CPU's ring.
func (t *Tracer) Stats(cpu int) ring.Stats { return t.cpu[cpu].ring.Stats() }

// Ring is the ring of one CPU, for consuming reads from other goroutines and for those that look inside.
func (t *Tracer) Ring(cpu int) *ring.Buffer { return t.cpu[cpu].ring }

// Recursed is the number of function events that the recursion guard kept out on one CPU.
func (t *Tracer) Recursed(cpu int) uint64 { return t.cpu[cpu].recurse }

// Pipe takes at most n events (all with n < 0) out of the rings. It does not wait: run the machine for that.
func (t *Tracer) Pipe(cpu, n int) []Rec {
	var out []Rec
	for len(out) != n {
		r, ok := t.Take(cpu)
		if !ok {
			break
		}
		out = append(out, r)
	}
	return out
}

// Name is the event's name.
func (r *Rec) Name() string {
	if r.Format == nil {
		return ""
	}
	return r.Format.Name
}

// Field decodes a field by name.
func (r *Rec) Field(name string) (event.Value, bool) {
	if r.Format == nil {
		return event.Value{}, false
	}
	f, ok := r.Format.Field(name)
	if !ok {
		return event.Value{}, false
	}
	return f.Decode(r.Data)
}

// Loss is an event that was not kept: when, where, which and why.
type Loss struct {
	TS    uint64 // by the trace clock: when it was written, or would have been
	CPU   int
	Cause string // "overrun": overwritten by newer ones; "dropped": the ring was full in discard mode; "commit overrun"; "recursion"
	IP    uint64 // of a function event
	PID   int32
	Type  uint16 // of the event
	Data  []byte // an overwritten record, until the hook returns; nil: it was never written
}

// OnLost has fn called for each event that is lost from now on; nil ends that. It costs time only when events are lost.
func (t *Tracer) OnLost(fn func(l Loss)) {
	t.lost = fn
	for i := range t.cpu {
		if fn == nil {
			t.cpu[i].ring.OnLost(nil)
			continue
		}
		t.cpu[i].ring.OnLost(func(e ring.Event) {
			h, _ := event.Parse(e.Data)
			l := Loss{TS: e.TS, CPU: i, Cause: "overrun", PID: h.PID, Type: h.Type, Data: e.Data}
			if h.Type == event.IDFunction {
				l.IP = functionIP(e.Data)
			}
			fn(l)
		})
	}
}

// OnEndless has fn called once, when the file trace, of this tracer or an instance, has grown by 100,000 lines while one
// reader read it: its reading may well be what is traced, and then has no end, as on Linux. The guest does not notice.
func (t *Tracer) OnEndless(fn func()) { t.root().endless = fn }

func functionIP(d []byte) (ip uint64) {
	if len(d) >= event.FunctionSize {
		for i := range 8 {
			ip |= uint64(d[8+i]) << (8 * i)
		}
	}
	return ip
}

// FunctionCounts counts the function events that the rings hold, by call site. With the losses that OnLost tells and what
// readers have taken, they are all the calls that were traced.
func (t *Tracer) FunctionCounts() map[uint64]uint64 {
	n := map[uint64]uint64{}
	m := t.merge(-1, false)
	for e, ok := m.next(); ok; e, ok = m.next() {
		if h, ok := event.Parse(e.Data); ok && h.Type == event.IDFunction {
			n[functionIP(e.Data)]++
		}
	}
	return n
}

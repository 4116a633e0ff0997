package ftrace

import (
	"strings"

	"kscope/ftrace/ring"
	"kscope/kernel"
)

// tracerType is a row of available_tracers: Linux's struct tracer.
type tracerType struct {
	name    string
	records bool // saves the names of tasks
	top     bool // not in instances
	init    func(t *Tracer) error
	reset   func(t *Tracer) error
}

const (
	graphTracer = iota
	functionTracer
	nopTracer
)

// tracers are in the order of available_tracers: Linux lists the last registered first.
var tracers = [...]tracerType{
	graphTracer: {
		name: "function_graph", records: true, top: true,
		init:  func(t *Tracer) error { return t.grapher.start() },
		reset: func(t *Tracer) error { return t.grapher.stop() },
	},
	functionTracer: {
		name: "function", records: true,
		init: func(t *Tracer) error {
			if !t.opt(optFunction) {
				return nil
			}
			t.setCPU = t.someCPU().ID
			return t.startFunctions()
		},
		reset: func(t *Tracer) error {
			if !t.ops.Registered() {
				return nil
			}
			return t.sites.Unregister(t.ops)
		},
	},
	nopTracer: {name: "nop"},
}

// startFunctions is tracing_start_function_trace: the patching of its own sites is not recorded.
func (t *Tracer) startFunctions() error {
	t.starting = true
	return t.sites.Register(t.ops)
}

// Tracers are the names in available_tracers.
func Tracers() (names []string) {
	for i := range tracers {
		names = append(names, tracers[i].name)
	}
	return names
}

// mayUse says whether a tracer is one of this instance's.
func (t *Tracer) mayUse(k *tracerType) bool {
	return t.top == nil || !k.top || t.feature(featureInstances)
}

// bind gives the tracer's own op its callback.
func (t *Tracer) bind(o *Ops) { o.Call = t.traceFunction }

// setTracer makes name the current tracer and empties the rings; see tracing_set_tracer.
func (t *Tracer) setTracer(name string) error {
	name = strings.TrimSpace(name)
	if err := t.expandOwn(); err != nil {
		return err
	}
	var next *tracerType
	for i := range tracers {
		if tracers[i].name == name {
			next = &tracers[i]
		}
	}
	switch {
	case next == nil || !t.mayUse(next):
		return kernel.EINVAL
	case next == t.current:
		return nil
	case t.pipes > 0:
		return kernel.EBUSY // an open trace_pipe holds on to it
	}
	if old := t.current; old.reset != nil {
		if err := old.reset(t); err != nil {
			return err
		}
	}
	t.current = &tracers[nopTracer]
	t.reset()
	if next.init != nil {
		if err := next.init(t); err != nil {
			return err
		}
	}
	t.current = next
	return nil
}

// reset empties all rings.
func (t *Tracer) reset() {
	t.started = t.stamp(t.someCPU())
	for i := range t.cpu {
		t.cpu[i].ring.Reset()
	}
}

// expand gives the machine's rings their full size on first use, also of an instance's events (tracing_update_buffers).
func (t *Tracer) expand() error { return t.root().expandOwn() }

// expandOwn gives t's rings their full size where none was used before: a tracer's start (ring_buffer_expanded).
func (t *Tracer) expandOwn() error {
	if t.root().expanded {
		return nil
	}
	return t.resize(defaultKB, -1)
}

// maxTotalKB bounds all rings together: beyond it the answer is ENOMEM. They live outside guest RAM, on the host.
const maxTotalKB = 1 << 20

// resize sets the size of one CPU's ring, or of all with cpu < 0.
func (t *Tracer) resize(kb uint64, cpu int) error {
	if kb == 0 {
		return kernel.EINVAL
	}
	if kb > maxTotalKB {
		return kernel.ENOMEM
	}
	total := uint64(0)
	for i := range t.cpu {
		if cpu < 0 || cpu == i {
			total += kb
		} else {
			total += ring.KB(t.cpu[i].ring.Len())
		}
	}
	if total > maxTotalKB {
		return kernel.ENOMEM
	}
	t.root().expanded = true
	for i := range t.cpu {
		if (cpu < 0 || cpu == i && t.cpu[i].ring.Len() != ring.Pages(kb)) && t.cpu[i].readers[0] > 0 {
			return kernel.EBUSY
		}
	}
	for i := range t.cpu {
		if cpu < 0 || cpu == i {
			t.cpu[i].ring.Resize(ring.Pages(kb))
		}
	}
	return nil
}

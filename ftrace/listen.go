package ftrace

import (
	"slices"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// listener is a Go function that sees an event as it happens, whether a tracer records it or not. Listeners are of this
// machine alone: a fork has none.
type listener struct {
	t   *Tracer
	fn  func(c *kernel.VCPU, d []byte)
	buf []byte
}

// Listen has fn called with each record of an event, header in place, when the event happens; nothing is recorded for it, and
// no filter or list of pids is asked. The record is good until fn returns. Call it, and remove, where text may be patched (in
// Machine.Do).
func (t *Tracer) Listen(ev *TraceEvent, fn func(c *kernel.VCPU, d []byte)) (remove func() error, err error) {
	l := &listener{t: t, fn: fn}
	if err := ev.setListeners(append(slices.Clone(ev.listeners), l)); err != nil {
		return nil, err
	}
	return func() error {
		return ev.setListeners(slices.DeleteFunc(slices.Clone(ev.listeners), func(x *listener) bool { return x == l }))
	}, nil
}

// setListeners changes the list, and arms the event with the first that wants it.
func (ev *TraceEvent) setListeners(list []*listener) error {
	for _, l := range append(slices.Clip(ev.listeners), list...) {
		if err := ev.rearm(l.t.root(), len(ev.users)+len(list)); err != nil {
			return err
		}
		break // one of them: they are of one machine
	}
	ev.listeners = list
	return nil
}

// hear makes the record for the listeners.
func (ev *TraceEvent) hear(c *kernel.VCPU, n int, fill func(d []byte)) {
	t := ev.listeners[0].t
	w := t.running(c)
	w.pc += ev.depth
	h := t.header(c, ev.ID, w)
	c.Charge(costEvent)
	for _, l := range ev.listeners {
		if cap(l.buf) < n {
			l.buf = make([]byte, n)
		}
		d := l.buf[:n]
		clear(d)
		h.Put(d)
		fill(d)
		l.fn(c, d)
	}
}

// lossWatch is one of the functions behind OnLost.
type lossWatch struct{ fn func(l Loss) }

// Losses has fn called for each event that is lost from now on, until remove is called; several may watch.
func (t *Tracer) Losses(fn func(l Loss)) (remove func()) {
	w := &lossWatch{fn}
	t.setLosses(append(slices.Clone(t.losses), w))
	return func() {
		t.setLosses(slices.DeleteFunc(slices.Clone(t.losses), func(x *lossWatch) bool { return x == w }))
	}
}

func (t *Tracer) setLosses(list []*lossWatch) {
	t.losses = list
	if len(list) == 0 {
		t.OnLost(nil)
		return
	}
	t.OnLost(func(l Loss) {
		for _, w := range t.losses {
			w.fn(l)
		}
	})
}

// RecordText is what the file trace shows of a record behind the event's name.
func (t *Tracer) RecordText(d []byte) string {
	h, ok := event.Parse(d)
	if !ok || t.events.ByID(h.Type) == nil {
		return ""
	}
	p := newPrinter(t)
	p.Mode = event.ModeText
	t.events.Line(&p.Printer, d)
	return strings.TrimSuffix(string(p.Buf), "\n")
}

// CompileFilter compiles a filter on an event, as its filter file takes it.
func (t *Tracer) CompileFilter(ev *TraceEvent, text string) (*event.Filter, *event.FilterError) {
	return event.ParseFilter(ev.Format, text, t.filterEnv())
}

// EventFilter compiles a filter for listeners of an event: whether a record of it, of the task that runs on c, passes.
func (t *Tracer) EventFilter(ev *TraceEvent, text string) (func(c *kernel.VCPU, d []byte) bool, *event.FilterError) {
	f, err := event.ParseFilter(ev.Format, text, t.filterEnv())
	if err != nil {
		return nil, err
	}
	u := &eventUse{t: t, ev: ev, filter: f}
	return func(c *kernel.VCPU, d []byte) bool { return u.passes(c, d, c.CurrentAddr()) }, nil
}

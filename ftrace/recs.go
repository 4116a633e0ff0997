package ftrace

import (
	"strings"

	"kscope/ftrace/event"
)

// Rec is one event for Go readers: what its line in the file trace is made of.
type Rec struct {
	CPU    int
	TS     uint64 // by the trace clock
	Lost   uint64 // events that were overwritten just before it
	Missed bool   // an unknown number was
	Header event.Header
	Format *event.Format // nil: a type that nobody knows
	Data   []byte
	Comm   string
	Line   string // as the file trace prints it
	Text   string // the event's part of it
}

// Records are the events of one CPU or, with cpu < 0, of all, in the order of the file trace. Nothing is consumed.
func (t *Tracer) Records(cpu int) []Rec {
	var out []Rec
	p, m := newPrinter(t), t.merge(cpu, false)
	for {
		e, ok := m.next()
		if !ok {
			return out
		}
		out = append(out, t.rec(p, &e))
	}
}

// Take consumes the oldest event, as trace_pipe does; false when there is none.
func (t *Tracer) Take(cpu int) (Rec, bool) {
	e, ok := t.consume(cpu, nil)
	if !ok {
		return Rec{}, false
	}
	return t.rec(newPrinter(t), &e), true
}

// rec copies what an entry holds, which is only valid until a ring is written.
func (t *Tracer) rec(p *printer, e *entry) Rec {
	h, _ := event.Parse(e.Data)
	r := Rec{CPU: e.cpu, TS: e.TS, Lost: e.Lost, Missed: e.missed, Header: h, Format: t.events.ByID(h.Type),
		Data: append([]byte(nil), e.Data...), Comm: t.cmdline.find(h.PID)}
	e.Lost, e.missed = 0, false // told by their own fields, not by a line
	p.Buf = p.Buf[:0]
	p.line(e)
	r.Line = strings.TrimSuffix(string(p.Buf), "\n")
	p.Buf = p.Buf[:0]
	p.Mode = event.ModeText
	t.events.Line(&p.Printer, r.Data)
	r.Text = strings.TrimSuffix(string(p.Buf), "\n")
	return r
}

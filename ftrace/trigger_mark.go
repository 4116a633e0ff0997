package ftrace

import (
	"kscope/ftrace/event"
	"kscope/kernel"
)

// Triggers of trace_marker: the event ftrace:print, which is no tracepoint's, has a trigger file too; see tracing_mark_write.

// markEvent is the event; the machine has one.
func (t *Tracer) markEvent() *TraceEvent {
	r := t.root()
	if r.marker == nil {
		for i := range event.Core {
			if event.Core[i].ID == event.IDPrint {
				r.marker = &TraceEvent{Format: &event.Core[i], point: true, top: r.markIP}
			}
		}
	}
	return r.marker
}

// markTriggers shows a mark that is about to be committed to its triggers, and says which are to act behind it.
func (t *Tracer) markTriggers(c *kernel.VCPU, d []byte, task uint64) (u *eventUse, post uint) {
	r := t.root()
	if r.marker == nil {
		return nil, 0
	}
	if u = t.uses[r.marker]; u == nil || u.trig == nil {
		return nil, 0
	}
	if r.trigDepth == maxTrigDepth {
		return nil, 0
	}
	e := &r.trigs[r.trigDepth]
	e.d, e.task, e.ts = d, task, t.now(c)
	r.trigDepth++
	post = u.show(c, e)
	r.trigDepth--
	return u, post
}

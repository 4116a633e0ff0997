package ftrace

import (
	"kscope/ftrace/event"
)

// Losses with everything that is known of them, for scripts: a tracer keeps them from KeepLosses on.

// Lost is a record that the trace does not have.
type Lost struct {
	Loss
	Format *event.Format // nil: an event that is gone
	Comm   string
	Text   string // of an overwritten record, as the trace would have shown it
}

// maxLost is how many losses are kept, the newest ones; the rings' counters are exact all the same.
const maxLost = 1 << 17

// lossKeeper keeps them.
type lossKeeper struct {
	list   []Loss // a circle once it is full
	next   int
	remove func()
}

// KeepLosses begins to keep what is lost from now on, or ends that and forgets it. It costs host time only when events are
// lost, and no virtual time.
func (t *Tracer) KeepLosses(on bool) {
	if !on {
		if t.keeper != nil {
			t.keeper.remove()
			t.keeper = nil
		}
		return
	}
	if t.keeper != nil {
		return
	}
	k := &lossKeeper{}
	k.remove = t.Losses(func(l Loss) {
		l.Data = append([]byte(nil), l.Data...)
		if len(k.list) < maxLost {
			k.list = append(k.list, l)
			return
		}
		k.list[k.next] = l
		k.next = (k.next + 1) % maxLost
	})
	t.keeper = k
}

// KeepsLosses says whether they are kept.
func (t *Tracer) KeepsLosses() bool { return t.keeper != nil }

// Lost lists the losses that were kept, in the order in which they were noticed.
func (t *Tracer) Lost() (out []Lost) {
	if t.keeper == nil {
		return nil
	}
	p := newPrinter(t)
	for i := range t.keeper.list {
		l := Lost{Loss: t.keeper.list[(t.keeper.next+i)%len(t.keeper.list)]}
		l.Format, l.Comm = t.events.ByID(l.Type), t.cmdline.find(l.PID)
		if len(l.Data) > 0 {
			p.Buf, p.Mode = p.Buf[:0], event.ModeText
			t.events.Line(&p.Printer, l.Data)
			l.Text = string(p.Buf)
		}
		out = append(out, l)
	}
	return out
}

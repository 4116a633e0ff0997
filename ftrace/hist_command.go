package ftrace

import (
	"slices"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// histCommand is what a write of "hist…" or "!hist…" does.
func (u *eventUse) histCommand(c *kernel.VCPU, text string, remove bool) error {
	p := &histParser{cmd: "hist:" + text, c: c}
	now := u.t.stamp(c)
	p.log = func(msg string, pos int) { u.t.LogError(now, "hist:"+u.ev.Key(), msg, p.cmd, pos) }
	return p.command(u, text, remove)
}

// command is event_hist_trigger_parse.
func (p *histParser) command(u *eventUse, text string, remove bool) error {
	if text == "" {
		return kernel.EINVAL
	}
	text, filter, err := cutFilter(text)
	if err != nil {
		return err
	}
	a, err := p.attrs(strings.ReplaceAll(text, ".sym-offset", ".symXoffset"))
	if err != nil {
		return err
	}
	if err := p.make(u, a, remove); err != nil {
		return err
	}
	x := &trigger{kind: &triggerKinds[len(triggerKinds)-1], use: u, count: -1, hist: p.h}
	if filter != "" {
		if err := x.setFilter(filter); err != nil {
			return err
		}
	}
	named := u.t.namedHist(a.name)
	if remove {
		return p.remove(x, named)
	}
	return p.register(x, named)
}

// cutFilter finds the "if" that stands alone; see event_hist_trigger_parse.
func cutFilter(text string) (spec, filter string, err error) {
	blank := func(i int) bool { return text[i] == ' ' || text[i] == '\t' }
	for at := 0; ; at++ {
		i := strings.Index(text[at:], "if")
		if i < 0 {
			return text, "", nil
		}
		at += i
		switch {
		case at == 0:
			return "", "", kernel.EINVAL
		case !blank(at - 1):
			continue
		case at >= len(text)-len("if")-1:
			return "", "", kernel.EINVAL
		case !blank(at + len("if")):
			continue
		}
		return trimBlanks(text[:at-1]), trimBlanks(text[at:]), nil
	}
}

// namedHist is find_named_trigger: the first trigger of a name, "name=NAME", in all tracers.
func (t *Tracer) namedHist(name string) *trigger {
	if name == "" {
		return nil
	}
	for _, x := range t.root().named {
		if x.owner == nil && x.hist.attrs.name == name {
			return x
		}
	}
	return nil
}

// register is hist_register_trigger, and what event_hist_trigger_parse does behind it.
func (p *histParser) register(x *trigger, named *trigger) error {
	u, h := x.use, x.hist
	if named != nil && !x.sameHist(named, named, true) {
		return p.fail("Named hist trigger doesn't match existing named trigger (includes variables)", h.attrs.name)
	}
	if h.attrs.name == "" || named != nil {
		if y := u.findHist(x, named); y != nil {
			switch {
			case h.attrs.pause:
				y.paused = true
			case h.attrs.cont:
				y.paused = false
			case h.attrs.clear:
				y.hist.m.Clear()
			default:
				p.log("Hist trigger already exists", 0)
				return kernel.EEXIST
			}
			return nil
		}
	}
	if h.attrs.cont || h.attrs.clear {
		p.log("Can't clear or continue a nonexistent hist trigger", 0)
		return kernel.ENOENT
	}
	x.paused = h.attrs.pause
	if h.stamps {
		if err := u.t.setClock(h.attrs.clock); err != nil {
			return p.fail("Couldn't set trace_clock", h.attrs.clock)
		}
	}
	if named != nil {
		x.owner, x.hist = named, named.hist
		named.refs++
	} else if err := p.complete(); err != nil {
		return err
	}
	x.refs++
	if h.attrs.name != "" {
		r := u.t.root()
		r.named = append([]*trigger{x}, r.named...)
	}
	if err := u.addTrigger(x, true); err != nil {
		return err
	}
	u.countSynth(1)
	return nil
}

// complete gives a new histogram its actions and its table.
func (p *histParser) complete() error {
	h := p.h
	t := h.u.t
	if h.hasVars() {
		t.histVars = append([]*hist{h}, t.histVars...)
	}
	if err := p.createActions(); err != nil {
		h.dropActions()
		t.forgetVars(h)
		if e := h.dropOthers(); e != nil {
			return e
		}
		return err
	}
	h.m.Init()
	return nil
}

// dropOthers removes the histograms that were made for the actions: unregister_field_var_hists.
func (h *hist) dropOthers() error {
	for _, o := range h.varHists {
		p := &histParser{log: func(string, int) {}}
		if err := p.command(o.u, o.cmd, true); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tracer) forgetVars(h *hist) {
	t.histVars = slices.DeleteFunc(slices.Clone(t.histVars), func(o *hist) bool { return o == h })
}

func (h *hist) dropActions() {
	for _, a := range h.actions {
		if a.to != nil {
			a.to.ref--
			a.to = nil
		}
	}
	if s := h.u.t.cond; s != nil && s.h == h {
		h.u.t.cond = nil
	}
}

// remove is what "!hist…" does. What is not there is removed without an error; what others refer to is busy.
func (p *histParser) remove(x *trigger, named *trigger) error {
	y := x.use.findHist(x, named)
	switch {
	case y == nil:
		return nil
	case y.hist.referenced():
		return kernel.EBUSY
	}
	return x.use.dropTrigger(y)
}

// findHist finds the event's histogram that is the same as x.
func (u *eventUse) findHist(x, named *trigger) *trigger {
	for _, y := range u.triggers() {
		if y.hist != nil && x.sameHist(y, named, false) {
			return y
		}
	}
	return nil
}

// sameHist is hist_trigger_match.
func (x *trigger) sameHist(y, named *trigger, anyFilter bool) bool {
	h, o := x.hist, y.hist
	switch {
	case named != nil && named != y && named != y.owner:
		return false
	case named == nil && slices.Contains(x.use.t.root().named, y):
		return false
	case h.nVals != o.nVals || len(h.fields) != len(o.fields) || !slices.Equal(h.sort, o.sort):
		return false
	case !anyFilter && x.text != y.text:
		return false
	}
	for i, f := range h.fields {
		g := o.fields[i]
		if f.flags != g.flags || !sameField(f.field, g.field) || f.offset != g.offset || f.size != g.size || f.signed != g.signed || f.varName != g.varName {
			return false
		}
	}
	return h.sameActions(o)
}

// sameField is compatible_field.
func sameField(a, b *event.Field) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && a.Type == b.Type && a.Size == b.Size && a.Signed == b.Signed
}

// freeHist is event_hist_trigger_free: what a trigger has of a histogram, and the histogram with the last of its triggers.
func (x *trigger) freeHist() error {
	x.use.countSynth(-1)
	if x.owner != nil {
		x.refs--
		x.unname()
		return x.owner.releaseHist()
	}
	return x.releaseHist()
}

func (x *trigger) releaseHist() error {
	if x.refs--; x.refs > 0 {
		return nil
	}
	x.unname()
	h := x.hist
	h.u.t.forgetVars(h)
	h.dropActions()
	return h.dropOthers()
}

func (x *trigger) unname() {
	r := x.use.t.root()
	r.named = slices.DeleteFunc(slices.Clone(r.named), func(y *trigger) bool { return y == x })
}

// countSynth notes in a synthetic event how many histograms it has.
func (u *eventUse) countSynth(n int) {
	if se := u.t.root().synth(u.ev.Name); se != nil {
		se.ref += n
	}
}

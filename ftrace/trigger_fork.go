package ftrace

import "slices"

// trigCopier copies triggers for a fork of the machine. What does not change is shared: filters, fields, formats.
type trigCopier struct {
	uses   map[*eventUse]*eventUse
	events map[*TraceEvent]*TraceEvent
	trigs  map[*trigger]*trigger
	hists  map[*hist]*hist
	synths map[*synthEvent]*synthEvent
}

// forkTriggers gives the forks of events' uses triggers of their own, and the fork n of the machine's tracer t, and its instances,
// what they know of them.
func (n *Tracer) forkTriggers(t *Tracer, uses map[*eventUse]*eventUse) {
	c := &trigCopier{uses, n.eventForks, map[*trigger]*trigger{}, map[*hist]*hist{}, n.forkSynths(t)}
	n.trigDepth, n.trigs = 0, [maxTrigDepth]trigEvent{}
	for u, v := range uses {
		if u.trig == nil {
			continue
		}
		s := &trigSet{cond: u.trig.cond, time: u.trig.time}
		for _, x := range u.trig.list {
			s.list = append(s.list, c.trigger(x))
		}
		v.trig = s
	}
	n.named = nil
	for _, x := range t.named {
		n.named = append(n.named, c.trigger(x))
	}
	c.tracer(n, t)
	for i, x := range n.instances {
		c.tracer(x, t.instances[i])
	}
}

func (c *trigCopier) tracer(n, t *Tracer) {
	n.histVars = nil
	for _, h := range t.histVars {
		n.histVars = append(n.histVars, c.hist(h))
	}
	if n.cond = nil; t.cond != nil {
		s := *t.cond
		s.h = c.hist(s.h)
		s.a = s.h.actions[slices.Index(t.cond.h.actions, t.cond.a)]
		s.elt.Key = slices.Clone(s.elt.Key)
		n.cond = &s
	}
}

func (c *trigCopier) trigger(x *trigger) *trigger {
	if x == nil {
		return nil
	}
	if y := c.trigs[x]; y != nil {
		return y
	}
	y := *x
	c.trigs[x] = &y
	y.probe = c.events[x.probe]
	y.use, y.target, y.owner, y.hist = c.uses[x.use], c.uses[x.target], c.trigger(x.owner), c.hist(x.hist)
	return &y
}

func (c *trigCopier) hist(h *hist) *hist {
	if h == nil {
		return nil
	}
	if n := c.hists[h]; n != nil {
		return n
	}
	n := *h
	c.hists[h] = &n
	n.u, n.m, n.scratch = c.uses[h.u], h.m.Clone(), &histScratch{}
	n.refs, n.actions, n.varHists = nil, nil, nil
	for _, r := range h.refs {
		x := *r
		x.varOf = c.hist(r.varOf)
		n.refs = append(n.refs, &x)
	}
	for _, a := range h.actions {
		b := *a
		b.to = c.synths[a.to]
		n.actions = append(n.actions, &b)
	}
	for _, o := range h.varHists {
		n.varHists = append(n.varHists, &histOther{c.uses[o.u], o.cmd})
	}
	return &n
}

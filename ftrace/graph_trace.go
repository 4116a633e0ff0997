package ftrace

import (
	"kscope/ftrace/event"
	"kscope/kernel"
	"kscope/kernel/x86"
)

// The tracer function_graph as a user of the shadow stacks: kernel/trace/trace_functions_graph.c.

// wants decides whether a user follows a function, and writes a tracer's entry; see trace_graph_entry.
func (u *graphUser) wants(c *kernel.VCPU, s *retStack, r *graphRet, depth int, regs uint64, w running) bool {
	if u.prof != nil {
		u.prof.enter(c, r.fn)
		return true
	}
	t, g, m := u.t, u.g, &s.marks[u.id]
	switch {
	case m.notrace:
		return false
	case g.notrace.Len() > 0 && g.notrace.Has(r.fn):
		m.notrace = true // until it returns
		return true
	case t.pids.active() && t.pids.ignores(s.pid):
		return false
	}
	if !m.inside && !g.selected(m, r.fn, depth, w.pc) || g.maxDepth != 0 && uint32(depth) >= g.maxDepth {
		return false
	}
	if !t.opt(optGraphIrqs) && !m.irq && w.pc&hardirqMask != 0 {
		return false
	}
	if g.thresh != 0 {
		return true // only returns are written
	}
	root := t.root()
	d, ok := t.reserve(c, event.IDGraphEntry, g.entrySize(root.options))
	if !ok {
		return false
	}
	w.pc++ // its guard against recursion holds preemption off; an exit's does not
	event.PutGraphEntry(d, t.header(c, event.IDGraphEntry, w), r.fn, uint32(depth))
	if len(d) > event.GraphEntrySize {
		root.putGraphExtra(d, g.topReturn(s, r), regs)
	}
	t.commit(c, w)
	c.Charge(costEvent)
	return true
}

// selected is ftrace_graph_addr: a function of set_graph_function marks its task until it returns. When its entry then is
// not written (tracing is off), Linux forgets to take the mark back, and so do we: the next function of that task at the same
// depth is traced, whatever it is.
func (g *graph) selected(m *graphMarkers, fn uint64, depth int, pc uint32) bool {
	if g.function.Len() == 0 {
		return true
	}
	if !g.function.Has(fn) {
		return false
	}
	m.inside, m.insideDepth, m.irq = true, uint8(depth&3), pc&hardirqMask != 0
	return true
}

// leave is trace_graph_return or trace_graph_thresh_return.
func (u *graphUser) leave(c *kernel.VCPU, s *retStack, r *graphRet, depth int, now uint64, w running) {
	t, g, m := u.t, u.g, &s.marks[u.id]
	if m.inside && uint8(depth) == m.insideDepth {
		m.inside = false
	}
	if m.notrace {
		m.notrace = false
		g.counts.Unwritten++
		return
	}
	if g.threshOps && g.thresh != 0 && now-r.call < g.thresh {
		g.counts.Unwritten++
		return
	}
	size, retval := event.GraphExitSize, g.retval
	if retval {
		size = event.GraphRetvalSize
	}
	d, ok := t.reserve(c, event.IDGraphExit, size)
	if !ok {
		g.counts.Unwritten++
		return
	}
	h := t.header(c, event.IDGraphExit, w)
	if retval {
		event.PutGraphRetval(d, h, r.fn, c.CPU.Reg(x86.RAX), uint32(depth), s.overrun, r.call, now)
	} else {
		event.PutGraphExit(d, h, r.fn, uint32(depth), s.overrun, r.call, now)
	}
	t.commit(c, w)
	c.Charge(costEvent)
}

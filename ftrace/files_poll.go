package ftrace

import "kscope/kernel"

// waiters are the guest's sleepers on trace_pipe and its like. They are woken by an interrupt, once, and look again.
type waiters struct {
	pending bool     // there are any
	next    bool     // by the next event
	full    []uint64 // by CPU: when so much of its ring is full, in percent, the least of them; 0: nobody
}

// anyPage stands for a percentage: one full page.
const anyPage = 1<<64 - 1

func (w *waiters) forNext() { w.pending, w.next = true, true }

func (w *waiters) forFull(cpus, cpu int, percent uint64) {
	if w.full == nil {
		w.full = make([]uint64, cpus)
	}
	if w.full[cpu] == 0 || percent == anyPage || percent < w.full[cpu] {
		w.full[cpu] = percent
	}
	w.pending = true
}

// wake wakes who waits for an event, as one has come on c; see rb_wakeups in kernel/trace/ring_buffer.c.
func (t *Tracer) wake(c *kernel.VCPU) {
	w := &t.wait
	if w.next {
		w.next = false
	} else if w.full == nil || w.full[c.ID] == 0 || !t.fullHit(c.ID, w.full[c.ID], false) {
		return
	}
	if w.full != nil {
		w.full[c.ID] = 0
	}
	w.pending = false
	for _, percent := range w.full {
		w.pending = w.pending || percent != 0
	}
	c.RaiseIRQWork()
}

// fullHit says whether that part of a CPU's ring is full: full_hit.
func (t *Tracer) fullHit(cpu int, percent uint64, snap bool) bool {
	r := t.ringOf(cpu, snap)
	if r == nil {
		return false
	}
	if percent == anyPage {
		return r.Whole()
	}
	return (r.Dirty()+1)*100 >= percent*uint64(r.Len())
}

// polled is trace_poll: whether poll(2) finds a pipe readable; it heeds the option block, and buffer_percent where the file is of one
// CPU. When it is not, the caller is woken when it is.
func polled(h *Handle) bool {
	t, snap := h.T, false
	if r, ok := h.state.(*rawReader); ok {
		snap = r.snap
	}
	switch {
	case t.opt(optBlock):
		return true
	case h.CPU < 0 || t.percent == 0:
		if entries, _ := t.counts(h.CPU, snap); entries > 0 { // not empty: looking ahead takes a page out of the ring
			return true
		}
		t.wait.forNext()
	default:
		if t.fullHit(h.CPU, t.percent, snap) {
			return true
		}
		t.wait.forFull(len(t.cpu), h.CPU, t.percent)
	}
	return false
}

// EndReaders ends the reads that wait for an event, with EDEADLK, once; false: there are none. It is for a host that finds that
// nothing in the guest can ever run again. The machine must be stopped.
func (t *Tracer) EndReaders() bool {
	found := false
	for _, h := range t.root().fs.open {
		if h.waits {
			h.waits, h.ended, found = false, true, true
		}
	}
	if found {
		t.someCPU().RaiseIRQWork()
	}
	return found
}

package ftrace

import "kscope/ftrace/ring"

// entry is one event on its way out: which CPU, when, what.
type entry struct {
	cpu int
	ring.Event
	missed bool // the reader was overtaken: an unknown number is lost before it
}

// merger reads the rings of some CPUs as one sequence by time; at equal times the lowest CPU goes first, as in
// __find_next_entry of kernel/trace/trace.c. It does not consume.
type merger struct {
	cpus []mergeCPU
}

type mergeCPU struct {
	cpu    int
	it     ring.Iter
	head   ring.Event
	ok     bool
	missed bool
}

// merge starts at the oldest events of the CPUs.
func (t *Tracer) merge(cpu int, snap bool) *merger {
	m := &merger{}
	for i := range t.cpu {
		if r := t.ringOf(i, snap); r != nil && (cpu < 0 || cpu == i) {
			m.cpus = append(m.cpus, mergeCPU{cpu: i, it: r.Iterate()})
		}
	}
	return m
}

// next gives the next event; false when there is none now. Its data is valid until a ring is written.
func (m *merger) next() (e entry, ok bool) {
	var best *mergeCPU
	for i := range m.cpus {
		c := &m.cpus[i]
		if !c.ok {
			if c.head, c.ok = c.it.Next(); !c.ok {
				continue
			}
			c.missed = c.it.Missed()
		}
		if best == nil || c.head.TS < best.head.TS {
			best = c
		}
	}
	if best == nil {
		return e, false
	}
	best.ok = false
	return entry{cpu: best.cpu, Event: best.head, missed: best.missed}, true
}

// nextTime is the time of the next event of all.
func (m *merger) nextTime() (ts uint64, ok bool) {
	for i := range m.cpus {
		if d, found := m.peek(m.cpus[i].cpu); found && d != nil && (!ok || m.cpus[i].head.TS < ts) {
			ts, ok = m.cpus[i].head.TS, true
		}
	}
	return ts, ok
}

// peek looks at the next event of one CPU; drop passes over it.
func (m *merger) peek(cpu int) ([]byte, bool) {
	for i := range m.cpus {
		c := &m.cpus[i]
		if c.cpu != cpu {
			continue
		}
		if !c.ok {
			if c.head, c.ok = c.it.Next(); !c.ok {
				return nil, false
			}
			c.missed = c.it.Missed()
		}
		return c.head.Data, true
	}
	return nil, false
}

func (m *merger) drop(cpu int) {
	for i := range m.cpus {
		if m.cpus[i].cpu == cpu {
			m.cpus[i].ok = false
		}
	}
}

// consumer looks ahead in the rings for a reader that consumes.
type consumer struct {
	t   *Tracer
	buf []byte
}

func (c *consumer) peek(cpu int) ([]byte, bool) {
	e, ok := c.t.cpu[cpu].ring.PeekEvent(c.buf)
	c.buf = e.Data
	return e.Data, ok
}

func (c *consumer) nextTime() (ts uint64, ok bool) {
	for i := range c.t.cpu {
		if at, _, found := c.t.cpu[i].ring.Peek(); found && (!ok || at < ts) {
			ts, ok = at, true
		}
	}
	return ts, ok
}

func (c *consumer) drop(cpu int) {
	if e, ok := c.t.cpu[cpu].ring.Consume(c.buf); ok {
		c.buf = e.Data
	}
}

// refresh drops the events that were looked at but not given out: the guest has run since, and their bytes may be gone.
// They are found again.
func (m *merger) refresh() {
	for i := range m.cpus {
		if c := &m.cpus[i]; c.ok {
			c.ok = false
			c.it.Back()
		}
	}
}

// empty says whether the CPUs' rings hold nothing to read.
func (t *Tracer) empty(cpu int, snap bool) bool {
	for i := range t.cpu {
		if r := t.ringOf(i, snap); r != nil && (cpu < 0 || cpu == i) {
			if _, _, ok := r.Peek(); ok {
				return false
			}
		}
	}
	return true
}

// consume takes the oldest event out of the rings.
func (t *Tracer) consume(cpu int, buf []byte) (e entry, ok bool) {
	best := -1
	var least uint64
	for i := range t.cpu {
		if cpu < 0 || cpu == i {
			if ts, _, ok := t.cpu[i].ring.Peek(); ok && (best < 0 || ts < least) {
				best, least = i, ts
			}
		}
	}
	if best < 0 {
		return e, false
	}
	e.cpu = best
	e.Event, ok = t.cpu[best].ring.Consume(buf)
	return e, ok
}

// counts gives the numbers of the header: events that can be read, and events written in all.
func (t *Tracer) counts(cpu int, snap bool) (entries, total uint64) {
	for i := range t.cpu {
		if r := t.ringOf(i, snap); r != nil && (cpu < 0 || cpu == i) {
			s := r.Stats()
			entries += s.Entries
			total += s.Entries + s.Overrun
		}
	}
	return entries, total
}

// overruns says whether any of the CPUs has overwritten events.
func (t *Tracer) overruns(snap bool) bool {
	for i := range t.cpu {
		if r := t.ringOf(i, snap); r != nil && r.Stats().Overrun > 0 {
			return true
		}
	}
	return false
}

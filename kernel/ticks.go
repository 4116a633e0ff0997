package kernel

import "slices"

// ticks are the host's own clocks on a machine: they call a function when virtual time or the count of instructions has moved
// by a period. They cost no time and change no schedule. They are of this machine alone: a fork has none.
type ticks struct {
	list  []*tick // in order of attachment
	due   uint64  // the least due time; never without any
	insns uint64  // the least due count of instructions
}

type tick struct {
	period, due uint64
	insns       bool // by instructions, else by time
	each        bool // on each CPU, else on one
	fn          func(c *VCPU)
}

// Every has fn called every period ns of virtual time, on the boot CPU or on each: between slices, as soon as no CPU that runs
// is before the due time, so at most one slice (1 us) late. A halted CPU is as it is while it waits. fn may call RequestStop.
func (m *Machine) Every(period uint64, each bool, fn func(c *VCPU)) (remove func()) {
	period = max(period, 1)
	return m.addTick(&tick{period: period, due: m.Now() + period, each: each, fn: fn})
}

// EveryInsns has fn called whenever the machine has executed n more counted instructions, exactly, on the CPU that executed
// the last one.
func (m *Machine) EveryInsns(n uint64, fn func(c *VCPU)) (remove func()) {
	n = max(n, 1)
	return m.addTick(&tick{period: n, due: m.Insns() + n, insns: true, fn: fn})
}

func (m *Machine) addTick(t *tick) (remove func()) {
	change := func(list []*tick) {
		m.ticks.list = list
		m.ticks.plan()
		m.unchain()
	}
	change(append(slices.Clone(m.ticks.list), t))
	return func() { change(slices.DeleteFunc(slices.Clone(m.ticks.list), func(x *tick) bool { return x == t })) }
}

// plan finds what is due next.
func (s *ticks) plan() {
	s.due, s.insns = never, never
	for _, t := range s.list {
		if t.insns {
			s.insns = min(s.insns, t.due)
		} else {
			s.due = min(s.due, t.due)
		}
	}
}

// nextInsns is the count of instructions at which a clock is due.
func (s *ticks) nextInsns() uint64 {
	if len(s.list) == 0 {
		return never
	}
	return s.insns
}

// ticked calls what is due before v, the next CPU to run, or nil, does; it tells whether there was any.
func (m *Machine) ticked(v *VCPU, u Until) bool {
	if len(m.ticks.list) == 0 || m.resume != nil {
		return false
	}
	now := never
	switch {
	case v != nil:
		now = v.key()
	case u.Time == 0:
		return false // nothing can ever run again: the clocks do not keep the machine going
	}
	if u.Time != 0 {
		now = min(now, u.Time)
	}
	t := m.ticks.due
	if t > now {
		return false
	}
	was := m.waitUntil(t)
	for _, k := range m.ticks.list {
		if k.insns || k.due > t {
			continue
		}
		k.due = t + k.period
		for _, c := range m.cpus {
			if (k.each || c.ID == 0) && c.state >= cpuRunning && m.stopWhy == nil {
				m.running = c
				k.fn(c)
				m.running = nil
			}
		}
	}
	for _, w := range was { // the clocks of waiting CPUs stand still, as they would without
		w.c.off = w.off
	}
	m.ticks.plan()
	return true
}

// waiting is a halted CPU's clock.
type waiting struct {
	c   *VCPU
	off int64
}

// waitUntil moves the clocks of halted CPUs to t for the calls, and says what they were.
func (m *Machine) waitUntil(t uint64) (was []waiting) {
	for _, c := range m.cpus {
		if c.state == cpuHalted && c.Now() < t {
			was = append(was, waiting{c, c.off})
		}
	}
	m.idleUntil(t)
	return was
}

// tickedInsns calls what is due by the count of instructions, on v.
func (m *Machine) tickedInsns(v *VCPU) {
	for _, k := range m.ticks.list {
		if k.insns && k.due <= m.insns && m.stopWhy == nil {
			k.due = m.insns + k.period
			k.fn(v)
		}
	}
	m.ticks.plan()
}

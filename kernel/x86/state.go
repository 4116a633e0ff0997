package x86

import "kscope/kernel/mem"

// State is everything of a CPU that a snapshot keeps. It holds no pointers to the machine.
type State struct {
	R      [numSlots]uint64
	RIP    uint64
	RFLAGS uint64
	arch   archState
	win    window
	Insns  uint64
	Exc    Exception
	irq    bool
	pendDB bool
	stale  uint64
	int3   uint64
}

// SaveState returns the CPU's state, between two Runs.
func (c *CPU) SaveState() State {
	return State{R: c.r, RIP: c.rip, RFLAGS: c.Flags(), arch: c.archState, win: c.win, Insns: c.Insns, Exc: c.Exc,
		irq: c.irq, pendDB: c.pendDB, stale: c.StaleInsns, int3: c.Int3Hits}
}

// LoadState makes the CPU what it was at SaveState.
func (c *CPU) LoadState(s State) {
	c.r, c.rip = s.R, s.RIP
	c.archState, c.win = s.arch, s.win
	c.SetFlags(s.RFLAGS)
	c.Insns, c.Exc = s.Insns, s.Exc
	c.irq, c.pendDB = s.irq, s.pendDB
	c.StaleInsns, c.Int3Hits = s.stale, s.int3
	c.cur = nil
	c.setCPL(c.cpl)
	c.flushTLB()
}

// Fork returns a copy of the CPU for a fork of its machine's memory. The parent is stopped and may be forked from
// several goroutines at once; what it has decoded is shared.
func (c *CPU) Fork(phys *mem.Phys, env Env) *CPU {
	c.cache.fork(phys)
	n := &CPU{ID: c.ID, phys: phys, env: env}
	n.attach()
	n.LoadState(c.SaveState())
	return n
}

package x86

import "kscope/kernel/mem"

// State is everything of a CPU that a snapshot keeps. It holds no pointers to the machine.
type State struct {
	R      [numSlots]uint64
	RIP    uint64
	RFLAGS uint64
	arch   archState
	win    window
	kept   kept
	Insns  uint64
	Exc    Exception
	irq    bool
	pendDB bool
	stale  uint64
	int3   uint64

	inBlock bool   // RIP is in the middle of a block: fetch windows count from its start
	curVA   uint64 // that starts here
	curIdx  uint8  // and RIP is at its instruction with this number
}

// SaveState returns the CPU's state, between two Runs.
func (c *CPU) SaveState() State {
	s := State{R: c.r, RIP: c.rip, RFLAGS: c.Flags(), arch: c.archState, win: c.win, kept: c.kept, Insns: c.Insns, Exc: c.Exc,
		irq: c.irq, pendDB: c.pendDB, stale: c.StaleInsns, int3: c.Int3Hits}
	if b := c.cur; b != nil && !b.dead && c.ku > 0 {
		s.inBlock, s.curVA, s.curIdx = true, b.start, b.code.precise[c.ku].idx
	}
	return s
}

// LoadState makes the CPU what it was at SaveState.
func (c *CPU) LoadState(s State) {
	c.flushTLB()
	c.adopt(s)
}

// adopt is LoadState without a flush of what is still empty.
func (c *CPU) adopt(s State) {
	c.r, c.rip = s.R, s.RIP
	c.archState, c.win, c.kept = s.arch, s.win, s.kept
	c.SetFlags(s.RFLAGS)
	c.Insns, c.Exc = s.Insns, s.Exc
	c.irq, c.pendDB = s.irq, s.pendDB
	c.StaleInsns, c.Int3Hits = s.stale, s.int3
	c.cur = nil
	c.setCPL(c.cpl)
	if s.inBlock {
		c.resumeIn(s.curVA, s.curIdx)
		c.Exc = s.Exc
	}
}

// resumeIn finds the block at va again and goes on within it, if it still has an instruction idx at RIP.
func (c *CPU) resumeIn(va uint64, idx uint8) {
	b := c.lookup(va)
	if b == nil || int(idx) >= int(b.code.count) {
		return
	}
	if k := preciseIndex(b.code, idx); b.rip(&b.code.precise[k]) == c.rip {
		c.cur, c.ku = b, k
	}
}

// Fork returns a copy of the CPU for a fork of its machine's memory. The parent is stopped and may be forked from
// several goroutines at once; what it has decoded is shared.
func (c *CPU) Fork(phys *mem.Phys, env Env) *CPU {
	c.cache.fork(phys)
	n := &CPU{ID: c.ID, phys: phys, env: env}
	n.attach()
	n.adopt(c.SaveState())
	return n
}

// ArchWords are the architectural state beside the registers of State.R: flags, control, debug and model-specific registers,
// tables, selectors, and what is pending or blocked. Two CPUs with equal words and equal R run on alike on equal memory.
func (c *CPU) ArchWords() []uint64 {
	a := &c.archState
	w := []uint64{c.rip, c.Flags(), a.cr0, a.cr2, a.cr3, a.cr4, a.cr8, a.efer, a.star, a.lstar, a.cstar, a.fmask, a.kgsBase, a.tscAux, a.pat,
		a.gdt.base, uint64(a.gdt.limit), a.idt.base, uint64(a.idt.limit), a.tss.base, uint64(a.tss.limit), uint64(a.ldtr), uint64(a.tr),
		uint64(a.cpl), word(a.shadow), word(a.nmiBlock), word(c.pendDB), c.FSBase(), c.GSBase()}
	w = append(w, a.dr[:]...)
	for _, s := range a.seg {
		w = append(w, uint64(s))
	}
	return w
}

func word(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

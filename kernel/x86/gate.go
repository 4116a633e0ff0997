package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Gater is an Env that settles gates and breakpoints itself, with RIP, Insns and all else exact, so that the CPU goes on without
// leaving Run: a way out and in again costs more than most gates. Both say how many counted instructions more the CPU may execute;
// InShadow: it is in shadow text, and none behind that. 0 has Run return ExitGate, and the machine look at everything.
type Gater interface {
	// RunGate runs the gate at RIP.
	RunGate() int64
	// RunTrap settles c.Exc, the trap of an int3.
	RunTrap() int64
	// GateText is asked when code is decoded: a gate at va stands for so many bytes of shadow text, within one page, as long as
	// nobody writes there; 0: there is none.
	GateText(va uint64) int
}

// InShadow is an answer of a Gater.
const InShadow = -1

// opGate is a gate: the whole block.
func (c *CPU) opGate(u *uop) int {
	c.rip, c.exit = c.b.start, ExitGate
	if c.gater == nil {
		return stExit
	}
	tl := c.tl
	c.Insns = c.limit - uint64(c.budget) // a gate counts nothing
	return c.settled(c.gater.RunGate(), tl)
}

// settleTrap has the trap in c.Exc settled, of the instruction that u ends.
func (c *CPU) settleTrap(u *uop) int {
	left := int64(0)
	if c.b.cost != 0 {
		left = c.b.cost - int64(u.idx) - 1
	}
	c.exit = ExitGate
	tl := c.tl
	c.budget += left
	c.Insns = c.limit - uint64(c.budget)
	b := c.b
	c.b = nil // Insns is exact: a store to code need not find it
	r := c.settled(c.gater.RunTrap(), tl)
	if c.b = b; r == stExit {
		c.budget -= left // leave gives it back
	}
	return r
}

// settled goes on at RIP for n counted instructions, unless the machine, the flags or the privilege level, which shows in the TLB, want
// to be looked at.
func (c *CPU) settled(n int64, tl *mem.TLB) int {
	c.smc = false
	if n != 0 && !c.stop && !c.irq && !c.pendDB && !c.win.held && !c.archState.shadow && c.tl == tl {
		c.budget = max(n, 0)
		c.limit = c.Insns + uint64(c.budget)
		tl.Sync(c.phys) // what the gate has stored may have moved frames
		if c.sys&FlagTF == 0 {
			return stJump
		}
		if c.InShadow() {
			c.exit = exitStep
		}
		return stExit
	}
	c.limit = c.Insns + uint64(c.budget)
	return stExit
}

// steps executes instructions of shadow text one at a time, and has the traps behind them settled, until one is without TF: stJump.
// stExit: c.exit says what has come in between.
func (c *CPU) steps() int {
	for c.exit == exitStep {
		r := c.single()
		c.cur = nil // who settles the trap need not set RIP
		c.Insns = c.limit - uint64(c.budget)
		switch {
		case r == xFault && c.Exc.Vec == VecDB:
			c.exit = ExitGate
			tl := c.tl
			if c.settled(c.gater.RunTrap(), tl) == stJump {
				return stJump
			}
		case r == xFault:
			c.exit = ExitException
		case r != xExit:
			c.exit = ExitGate
		}
	}
	return stExit
}

// GateReturn returns from a gate with a result, as its ret would; false: the ret faulted and c.Exc says how.
func (c *CPU) GateReturn(rax uint64) bool {
	sp := c.r[RSP]
	var va uint64
	if e := &c.tl.R[mem.Index(sp)]; sp-e.VA <= mem.PageSize-8 {
		va = *(*uint64)(unsafe.Add(e.P, sp-e.VA))
	} else if v, ok := c.load(sp, 8); ok {
		va = v
	} else {
		return false
	}
	c.r[RAX] = rax
	c.r[RSP] += 8
	c.transfer(va)
	return true
}

// Near is the word at va, if the CPU has its translation at hand: it has been there lately.
func (c *CPU) Near(va uint64) (x uint64, ok bool) {
	c.tl.Sync(c.phys)
	if e := &c.tl.R[mem.Index(va)]; va-e.VA <= mem.PageSize-8 {
		return *(*uint64)(unsafe.Add(e.P, va-e.VA)), true
	}
	return 0, false
}

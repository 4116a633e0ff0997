package x86

// Hooks is an Env that wants to be told before the instructions at some addresses execute. Nothing is patched, no
// instruction or time is counted, and fetch windows and the ends of blocks' counting stay where they are.
type Hooks interface {
	// Hooked is asked when code is decoded: call InvalidateCode when the answer changes.
	Hooked(va uint64) bool
	// Hook is called before the instruction at va; RIP, flags, registers and Insns are exact. It may change them, and may call
	// RequestStop: the CPU then stops before the instruction, and does not ask again when it goes on there. An instruction that
	// starts again (a fault, an iteration of rep) is asked about again.
	Hook(c *CPU, va uint64)
}

// hookAt remembers that the instruction at va has been asked about, and on which stack.
type hookAt struct {
	asked  bool
	va, sp uint64
}

// hook puts the question before the instruction's own uops.
func (l *lowering) hook() {
	if l.in.hooked {
		l.emit(o_hook, uop{})
	}
}

func (c *CPU) opHook(u *uop) int {
	va, sys := c.b.rip(u), c.sys
	at := hookAt{true, va, c.r[RSP]}
	if was := c.hookAt; was.asked {
		c.hookAt.asked = false
		if was == at {
			return stNext
		}
	}
	c.sync()
	c.rip = va
	b := c.b
	c.hooks.Hook(c, va)
	c.tl.Sync(c.phys)
	switch {
	case c.rip != va:
	case c.stop || b.dead || c.sys != sys:
		at.sp = c.r[RSP]
		c.hookAt = at
	default:
		return stNext
	}
	c.noTrap = true
	return stRepeat
}

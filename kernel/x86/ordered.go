package x86

import "golang.org/x/arch/x86/x86asm"

// Locked accesses in the order of time.
//
// The CPUs of a machine take turns, each a slice ahead of the others, so a CPU could read at its t what another has written
// at a later t. For data under locks an Env that is Ordered rules this out: it is asked at each locked access at CPL 0, and
// at each release that the guest marks with xrelease (a hint of TSX on mov, ignored by CPUs without it), and may move the
// CPU's time and have the instruction wait for its turn.

// Ordered is an Env that orders locked accesses.
type Ordered interface {
	// Locked is asked before the access at va; false: the instruction starts again when the CPU runs next. c.Insns is exact.
	Locked(c *CPU, va uint64) bool
}

// isLocked reports whether the instruction is a locked access, or a release.
func (in *inst) isLocked(lock bool) bool {
	_, mem := in.memArg()
	return mem && (lock || in.Op == x86asm.XCHG || in.Op == x86asm.MOV && in.rep == 0xf3)
}

func (in *inst) memArg() (x86asm.Mem, bool) {
	for _, a := range in.Args {
		if m, ok := a.(x86asm.Mem); ok {
			return m, true
		}
	}
	return x86asm.Mem{}, false
}

// order puts the question before the instruction's own uops.
func (l *lowering) order() {
	if l.ordered && l.in.locked {
		m, _ := l.in.memArg()
		u, _ := l.addr(m)
		l.emit(o_locked, u)
	}
}

func (c *CPU) opLocked(u *uop) int {
	if c.user() {
		return stNext
	}
	c.sync()
	if c.ordered.Locked(c, c.ea(u)) {
		return stNext
	}
	c.stop = true
	c.rip = c.b.rip(u)
	return stRepeat
}

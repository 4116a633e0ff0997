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
	// Order is what Locked goes by, so that host code can record accesses whose turn it is, and where the CPU keeps what its t
	// is ahead of its Insns; nil: Locked is asked each time. TSC is t.
	Order() (o *Order, ahead *int64)
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

// Order remembers the last locked access to each of some words, by all CPUs of a machine. A word that is pushed out only loses
// its rule.
type Order struct {
	words [1 << orderBits]orderedWord
}

// orderedWord is the last locked access to the 8 bytes at va.
type orderedWord struct {
	va, t uint64
	cpu   int
}

const (
	orderBits = 11
	orderHash = 0x9e3779b97f4a7c15
)

// Locked records an access of a CPU at its t. 0: it was that CPU's turn; else it was not, and this is the first t that is.
func (o *Order) Locked(va uint64, cpu int, t uint64) uint64 {
	va &^= 7
	e := &o.words[va*orderHash>>(64-orderBits)]
	if e.va == va && e.cpu != cpu && e.t >= t {
		return e.t + 1
	}
	*e = orderedWord{va, t, cpu}
	return 0
}

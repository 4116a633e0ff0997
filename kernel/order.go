package kernel

import "kscope/kernel/x86"

// Locked accesses in the order of t.
//
// A CPU runs a slice of up to 1 us while the others stand still, so that it may be ahead of them. Without a rule, a CPU could
// take a lock at t = 500 that another has released at t = 900: it would switch to a task before its waking. The rule is
// Lamport's: a locked access comes after the last one to the same word by another CPU, in t as in the order of execution. A CPU
// that is too early waits until t is its turn. Releases count too (the guest's unlock is an xrelease mov), so critical
// sections never overlap in t. What goes by plain loads and stores (flags, seqcounts, RCU) is ordered only by the locks
// around it. Rejected: slices of one instruction (5 MIPS), and a time for every word of memory.

// orderSize is the number of words whose last access is remembered; a word that is pushed out only loses its rule.
const orderSize = 1 << 11

// lockedWord is the last locked access to the 8 bytes at va.
type lockedWord struct {
	va, t uint64
	cpu   int
}

// Locked implements x86.Ordered.
func (v *VCPU) Locked(_ *x86.CPU, va uint64) bool {
	va &^= 7
	e := &v.m.order[va*0x9e3779b97f4a7c15>>53]
	now := v.Now()
	if e.va == va && e.cpu != v.ID && e.t >= now {
		v.off += int64(e.t + 1 - now)
		return false
	}
	*e = lockedWord{va, now, v.ID}
	return true
}

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

// Locked implements x86.Ordered.
func (v *VCPU) Locked(_ *x86.CPU, va uint64) bool {
	now := v.Now()
	if turn := v.m.order.Locked(va, v.ID, now); turn != 0 {
		v.m.settle(v, false)
		v.off += int64(turn - now)
		return false
	}
	return true
}

// Order is what Locked goes by.
func (v *VCPU) Order() (*x86.Order, *int64) { return v.m.order, &v.off }

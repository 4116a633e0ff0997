package x86

// Kept is a CPU's general registers and flags at one place, for code that must leave no trace in them. The arithmetic flags are kept
// as they are, not yet computed.
type Kept struct {
	r                   [16]uint64
	sys, fa, fb, sa, sb uint64
	fop, sop            uint8
}

// SP is the stack pointer there.
func (k *Kept) SP() uint64 { return k.r[RSP] }

// Keep notes them; PutBack has them again.
func (c *CPU) Keep(k *Kept) {
	copy(k.r[:], c.r[:16])
	k.sys, k.fa, k.fb, k.sa, k.sb, k.fop, k.sop = c.sys, c.fa, c.fb, c.sa, c.sb, c.fop, c.sop
}

// PutBack undoes what has changed since Keep.
func (c *CPU) PutBack(k *Kept) {
	copy(c.r[:16], k.r[:])
	c.sys, c.fa, c.fb, c.sa, c.sb, c.fop, c.sop = k.sys, k.fa, k.fb, k.sa, k.sb, k.fop, k.sop
}

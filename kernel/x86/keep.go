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
	k.r[0], k.r[1], k.r[2], k.r[3] = c.r[0], c.r[1], c.r[2], c.r[3] // word by word, as host code has just stored them: a copy of more
	k.r[4], k.r[5], k.r[6], k.r[7] = c.r[4], c.r[5], c.r[6], c.r[7] // at once would wait for that
	k.r[8], k.r[9], k.r[10], k.r[11] = c.r[8], c.r[9], c.r[10], c.r[11]
	k.r[12], k.r[13], k.r[14], k.r[15] = c.r[12], c.r[13], c.r[14], c.r[15]
	k.sys, k.fa, k.fb, k.sa, k.sb, k.fop, k.sop = c.sys, c.fa, c.fb, c.sa, c.sb, c.fop, c.sop
}

// PutBack undoes what has changed since Keep.
func (c *CPU) PutBack(k *Kept) {
	*(*[16]uint64)(c.r[:]) = k.r
	c.sys, c.fa, c.fb, c.sa, c.sb, c.fop, c.sop = k.sys, k.fa, k.fb, k.sa, k.sb, k.fop, k.sop
}

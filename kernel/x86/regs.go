package x86

// reg reads sz-log2 bytes of the register slot at byte offset off, zero-extended.
func (c *CPU) reg(off, sz uint8) uint64 {
	return readN(c.slotBytes(off), 1<<sz)
}

// setReg writes it; a 32-bit result clears the upper half.
func (c *CPU) setReg(off, sz uint8, v uint64) {
	if sz == 2 {
		sz, v = 3, uint64(uint32(v))
	}
	writeN(c.slotBytes(off), v, 1<<sz)
}

// ea is the effective address of a uop.
func (c *CPU) ea(u *uop) uint64 {
	return c.reg(u.m, 3) + c.reg(u.x, 3)<<(u.sc&63) + u.disp
}

package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Below is the host's view of the n bytes below the stack pointer, at most a page, for who does in one step what shadow text would
// do there; nil when a fault or the end of a page might be seen between its instructions, or a trap behind them.
func (c *CPU) Below(n uint64) unsafe.Pointer {
	if c.stop || c.pendDB || c.sys&FlagTF != 0 {
		return nil
	}
	c.tl.Sync(c.phys)
	va := c.r[RSP] - n
	e := &c.tl.W[mem.Index(va)]
	if va-e.VA > mem.PageSize-n {
		if va&(mem.PageSize-1) > mem.PageSize-n {
			return nil
		}
		if p, _, code, ok := c.writePtr(va); !ok || code || p == nil || va-e.VA > mem.PageSize-n {
			return nil
		}
	}
	return unsafe.Add(e.P, va-e.VA)
}

// SaveRegs and LoadRegs copy the general registers but for rsp, in the order of Linux's struct pt_regs.
func (c *CPU) SaveRegs(p *[15]uint64) {
	r := &c.r
	p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = r[R15], r[R14], r[R13], r[R12], r[RBP], r[RBX], r[R11], r[R10]
	p[8], p[9], p[10], p[11], p[12], p[13], p[14] = r[R9], r[R8], r[RAX], r[RCX], r[RDX], r[RSI], r[RDI]
}

func (c *CPU) LoadRegs(p *[15]uint64) {
	r := &c.r
	r[R15], r[R14], r[R13], r[R12], r[RBP], r[RBX], r[R11], r[R10] = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	r[R9], r[R8], r[RAX], r[RCX], r[RDX], r[RSI], r[RDI] = p[8], p[9], p[10], p[11], p[12], p[13], p[14]
}

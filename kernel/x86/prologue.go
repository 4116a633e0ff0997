package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Prologue is a trampoline from its first byte to its gate, as GatePrologue does it in one step: a lea that makes the frame, stores
// of registers and of a few words in it, loads of the arguments, the call.
//
//	sp+Frame+8  the return address above the site's: argument 1
//	sp+Frame    the address behind the site
//	sp          the frame: Regs; IP = the word at sp+Frame; SP = sp+Frame+8; Zero = 0
//	sp-8        From
type Prologue struct {
	Gate, From uint64 // what is called, and the address behind the call
	Frame      uint64 // less than 512
	Regs       []Load // stores, here
	IP, SP     uint8  // offsets of words
	Zero       uint8
	Back       uint64 // what argument 0 is less than the word at IP
	Op         uint64 // argument 2; argument 3 is the frame
	Lea        uint64 // the length of the first instruction
}

// GatePrologue does what p says, as the CPU would in shadow text, whose instructions count nothing. When something might be seen
// between the instructions, a fault or the end of a page, it does the first of them alone.
func (c *CPU) GatePrologue(p *Prologue) bool {
	c.tl.Sync(c.phys)
	top := c.r[RSP]
	sp := top - p.Frame
	te := &c.tl.W[mem.Index(sp)]
	if sp-8-te.VA > mem.PageSize-32-p.Frame || c.stop || c.pendDB || c.sys&FlagTF != 0 {
		c.writePtr(sp - 8) // for the next time; a fault will be the store's
		c.r[RSP] = sp
		c.transfer(c.rip + p.Lea)
		return false
	}
	f := unsafe.Add(te.P, sp-te.VA)
	word := func(off uint64) *uint64 { return (*uint64)(unsafe.Add(f, off)) }
	for _, l := range p.Regs {
		*word(uint64(l.Off)) = c.r[l.Reg&15]
	}
	ip, parent := *word(p.Frame), *word(p.Frame + 8)
	*word(uint64(p.IP)) = ip
	*word(uint64(p.Zero)) = 0
	*word(uint64(p.SP)) = top + 8
	*(*uint64)(unsafe.Add(f, -8)) = p.From
	c.r[RDI], c.r[RSI], c.r[RDX], c.r[RCX], c.r[RSP] = ip-p.Back, parent, p.Op, sp, sp-8
	c.transfer(p.Gate)
	return true
}

package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Trampoline is a piece of shadow text around a gate, as EnterTrampoline and LeaveTrampoline do it: a lea that makes the frame, stores
// of registers and of a few words in it, loads of the arguments, the call; loads of registers, a lea that drops the frame, a ret.
//
//	sp+Frame+8  the return address above the site's: argument 1
//	sp+Frame    the address behind the site
//	sp          the frame: Regs; IP = the word at sp+Frame; SP = sp+Frame+8; Zero = 0
//	sp-8        From
type Trampoline struct {
	Gate, From uint64               // what is called, and the address behind the call
	Frame      uint64               // less than 512
	Regs       [trampolineRegs]Load // stores, here
	IP, SP     uint8                // offsets of words
	Zero       uint8
	Back       uint64               // what argument 0 is less than the word at IP
	Op         uint64               // argument 2; argument 3 is the frame
	Lea        uint64               // the length of the first instruction
	Loads      [trampolineRegs]Load // behind the call
}

// trampolineRegs is how many registers a trampoline saves: those that a call may change, but for r10 and r11, and rbp.
const trampolineRegs = 8

// Load is a register and its place above the stack pointer, less than Frame.
type Load struct {
	Reg, Off uint8
}

// EnterTrampoline comes to the gate and gives its first two arguments, as the CPU would in shadow text, whose instructions count
// nothing. When something might be seen between the instructions, a fault or the end of a page, it does the first of them alone.
func (c *CPU) EnterTrampoline(t *Trampoline) (ip, parent uint64, ok bool) {
	c.tl.Sync(c.phys)
	top := c.r[RSP]
	sp := top - t.Frame
	te := &c.tl.W[mem.Index(sp)]
	if sp-8-te.VA > mem.PageSize-32-t.Frame || c.stop || c.pendDB || c.sys&FlagTF != 0 {
		c.writePtr(sp - 8) // for the next time; a fault will be the store's
		c.r[RSP] = sp
		c.transfer(c.rip + t.Lea)
		return 0, 0, false
	}
	f := unsafe.Add(te.P, sp-te.VA)
	word := func(off uint64) *uint64 { return (*uint64)(unsafe.Add(f, off)) }
	save := func(l Load) { *word(uint64(l.Off)) = c.r[l.Reg&15] }
	r := &t.Regs // not a loop, which took longer than what it does
	save(r[0])
	save(r[1])
	save(r[2])
	save(r[3])
	save(r[4])
	save(r[5])
	save(r[6])
	save(r[7])
	ip, parent = *word(t.Frame), *word(t.Frame + 8)
	*word(uint64(t.IP)) = ip
	*word(uint64(t.Zero)) = 0
	*word(uint64(t.SP)) = top + 8
	*(*uint64)(unsafe.Add(f, -8)) = t.From
	ip -= t.Back
	c.r[RDI], c.r[RSI], c.r[RDX], c.r[RCX], c.r[RSP] = ip, parent, t.Op, sp, sp-8
	c.transfer(t.Gate)
	return ip, parent, true
}

// LeaveTrampoline returns from the gate and does the rest; false: something wants to be seen between the instructions, and nothing is
// done.
func (c *CPU) LeaveTrampoline(t *Trampoline) bool {
	if c.stop || c.irq || c.pendDB || c.sys&FlagTF != 0 {
		return false
	}
	c.tl.Sync(c.phys)
	sp := c.r[RSP] + 8
	te := &c.tl.W[mem.Index(sp)] // the stores have been there
	if sp-8-te.VA > mem.PageSize-16-t.Frame {
		return false
	}
	f := unsafe.Add(te.P, sp-te.VA)
	ret := *(*uint64)(unsafe.Add(f, t.Frame))
	if *(*uint64)(unsafe.Add(f, -8)) != t.From || !mem.Canonical(ret) {
		return false
	}
	load := func(l Load) { c.r[l.Reg&15] = *(*uint64)(unsafe.Add(f, l.Off)) }
	r := &t.Loads
	load(r[0])
	load(r[1])
	load(r[2])
	load(r[3])
	load(r[4])
	load(r[5])
	load(r[6])
	load(r[7])
	c.r[RSP] = sp + t.Frame + 8
	c.transfer(ret)
	return true
}

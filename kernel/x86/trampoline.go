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
//	sp          the frame: see FrameReg; IP = the word at sp+Frame; SP = sp+Frame+8; CS = 0
//	sp-8        From
type Trampoline struct {
	Gate, From uint64 // what is called, and the address behind the call
	Frame      uint64 // less than 512
	Back       uint64 // what argument 0 is less than the word at IP
	Op         uint64 // argument 2; argument 3 is the frame
	Lea        uint64 // the length of the first instruction
}

// ptRegs is Linux's struct pt_regs, which is the frame. Rejected: places in rows, as they are read from the code, at twice the time.
type ptRegs struct{ r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig, ip, cs, flags, sp uint64 }

// Offsets in a frame.
const (
	FrameIP = uint64(unsafe.Offsetof(ptRegs{}.ip))
	FrameCS = uint64(unsafe.Offsetof(ptRegs{}.cs))
	FrameSP = uint64(unsafe.Offsetof(ptRegs{}.sp))
)

// FrameReg is the offset of a register that a trampoline saves: those that a call may change, but for r10 and r11, and rbp.
func FrameReg(r uint8) (off uint64, ok bool) {
	off, ok = map[uint8]uint64{
		RAX: uint64(unsafe.Offsetof(ptRegs{}.ax)), RCX: uint64(unsafe.Offsetof(ptRegs{}.cx)), RDX: uint64(unsafe.Offsetof(ptRegs{}.dx)),
		RSI: uint64(unsafe.Offsetof(ptRegs{}.si)), RDI: uint64(unsafe.Offsetof(ptRegs{}.di)), R8: uint64(unsafe.Offsetof(ptRegs{}.r8)),
		R9: uint64(unsafe.Offsetof(ptRegs{}.r9)), RBP: uint64(unsafe.Offsetof(ptRegs{}.bp)),
	}[r]
	return off, ok
}

// FrameRegs is how many there are.
const FrameRegs = 8

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
	p := unsafe.Add(te.P, sp-te.VA)
	f, above := (*ptRegs)(p), (*[2]uint64)(unsafe.Add(p, t.Frame))
	ip, parent = above[0], above[1]
	f.bp, f.r9, f.r8, f.ax, f.cx, f.dx, f.si, f.di = c.r[RBP], c.r[R9], c.r[R8], c.r[RAX], c.r[RCX], c.r[RDX], c.r[RSI], c.r[RDI]
	f.ip, f.cs, f.sp = ip, 0, top+8
	*(*uint64)(unsafe.Add(p, -8)) = t.From
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
	p := unsafe.Add(te.P, sp-te.VA)
	ret := *(*uint64)(unsafe.Add(p, t.Frame))
	if *(*uint64)(unsafe.Add(p, -8)) != t.From || !mem.Canonical(ret) {
		return false
	}
	f := (*ptRegs)(p)
	c.r[RBP], c.r[R9], c.r[R8], c.r[RAX], c.r[RCX], c.r[RDX], c.r[RSI], c.r[RDI] = f.bp, f.r9, f.r8, f.ax, f.cx, f.dx, f.si, f.di
	c.r[RSP] = sp + t.Frame + 8
	c.transfer(ret)
	return true
}

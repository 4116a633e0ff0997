package x86

import "kscope/kernel/mem"

const dr6BS = 1 << 14

// contributory exceptions, and how two of them combine (Intel SDM vol. 3A, table 6-5).
func contributory(vec uint8) bool { return vec == VecDE || vec >= VecTS && vec <= VecGP }

func doubles(first, second uint8) bool {
	if contributory(first) {
		return contributory(second)
	}
	return first == VecPF && (second == VecPF || contributory(second))
}

// faultClass reports whether a vector's saved flags have RF set: the instruction will be restarted.
func faultClass(vec uint8) bool {
	switch vec {
	case VecDB, VecNMI, VecBP, VecOF, VecDF, 18:
		return false
	}
	return vec < 32
}

// Deliver enters the guest's handler of a vector with a real frame. An exception on the way is delivered instead, or
// becomes a double fault; false is a triple fault.
func (c *CPU) Deliver(vec uint8, err uint32, hasErr, soft bool) bool {
	c.transfer(c.rip)
	c.archState.shadow = false
	for {
		if c.enter(vec, err, hasErr, soft) {
			return true
		}
		second := c.Exc
		if vec == VecDF {
			return false
		}
		if doubles(vec, second.Vec) {
			vec, err, hasErr = VecDF, 0, true
		} else {
			vec, err, hasErr = second.Vec, second.Err, second.HasErr
			if vec == VecPF {
				c.cr2 = second.CR2
			}
		}
		soft = false
	}
}

// DeliverExc delivers c.Exc. What CR2 and DR6 say of it is written now: an exception that somebody owned leaves no trace.
func (c *CPU) DeliverExc() bool {
	e := c.Exc
	switch {
	case e.Soft:
	case e.Vec == VecPF:
		c.cr2 = e.CR2
	case e.Vec == VecDB: // there is no source but TF
		c.dr[6] |= dr6BS
	}
	return c.Deliver(e.Vec, e.Err, e.HasErr, e.Soft)
}

// Interrupt delivers an external interrupt.
func (c *CPU) Interrupt(vec uint8) bool { return c.Deliver(vec, 0, false, false) }

// NMI delivers a non-maskable interrupt; false when one is being handled: until iret there is no other.
func (c *CPU) NMI() bool {
	if c.nmiBlock {
		return false
	}
	c.nmiBlock = true
	return c.Deliver(VecNMI, 0, false, false)
}

// enter builds the frame for one vector and goes to its handler; false leaves c.Exc and changes nothing else.
func (c *CPU) enter(vec uint8, err uint32, hasErr, soft bool) bool {
	ext := uint32(1)
	if soft {
		ext = 0
	}
	bad := func(v uint8, e uint32) bool { c.raise(v, e, true); return false }
	if uint32(vec)*16+15 > c.idt.limit {
		return bad(VecGP, uint32(vec)*8+2+ext)
	}
	lo, ok1 := c.sysLoad(c.idt.base+uint64(vec)*16, 8)
	hi, ok2 := c.sysLoad(c.idt.base+uint64(vec)*16+8, 8)
	if !ok1 || !ok2 {
		return false
	}
	typ, dpl := lo>>40&15, uint8(lo>>45&3)
	if typ != 14 && typ != 15 || soft && dpl < c.cpl {
		if soft && c.Exc.Soft && c.Exc.Vec == vec { // a fault at the instruction
			c.rip = c.Exc.At
		}
		return bad(VecGP, uint32(vec)*8+2+ext)
	}
	if lo>>47&1 == 0 {
		return bad(VecNP, uint32(vec)*8+2+ext)
	}
	target := lo&0xffff | lo>>48<<16 | hi<<32
	sp, ok := c.trapStack(uint8(lo >> 32 & 7))
	if !ok {
		return false
	}
	flags := c.Flags()
	if faultClass(vec) && !soft {
		flags |= FlagRF
	}
	words := [6]uint64{uint64(c.seg[SS]), c.r[RSP], flags, uint64(c.seg[CS])&^3 | uint64(c.cpl), c.rip, uint64(err)}
	frame := words[:6]
	if !hasErr {
		frame = words[:5]
	}
	cpl := c.cpl
	c.setCPL(0)
	for _, v := range frame {
		sp -= 8
		if !c.store(sp, v, 8) {
			c.setCPL(cpl)
			return false
		}
	}
	c.smc = false
	c.r[RSP] = sp
	if cpl != 0 {
		c.seg[SS] = 0
	}
	c.seg[CS] = uint16(lo>>16) &^ 3
	c.sys &^= FlagTF | FlagRF | FlagNT
	if typ == 14 {
		c.sys &^= FlagIF
	}
	c.transfer(target)
	return true
}

// trapStack returns the stack pointer that a handler starts with.
func (c *CPU) trapStack(ist uint8) (uint64, bool) {
	switch {
	case ist != 0:
		sp, ok := c.sysLoad(c.tss.base+0x1c+uint64(ist)*8, 8)
		return sp &^ 15, ok
	case c.cpl != 0:
		sp, ok := c.sysLoad(c.tss.base+4, 8)
		return sp &^ 15, ok
	}
	return c.r[RSP] &^ 15, true
}

func (c *CPU) opGP(u *uop) int { return c.raiseGP(0) }

func (c *CPU) opUD(u *uop) int { return c.raise(VecUD, 0, false) }

// softTrap raises a trap whose saved RIP is behind the instruction.
func (c *CPU) softTrap(u *uop, vec uint8) int {
	next := c.b.next(u)
	c.rip = next
	c.Exc = Exception{Vec: vec, Soft: true, At: c.b.rip(u)}
	return stTrap
}

func (c *CPU) opInt3(u *uop) int {
	c.Int3Hits++
	r := c.softTrap(u, VecBP)
	if c.gater != nil && c.sys&FlagTF == 0 && !c.win.held {
		return c.settleTrap(u)
	}
	return r
}

// opInt is int n. A gate that is not there, or that the privilege level may not use, is a fault at the instruction.
func (c *CPU) opInt(u *uop) int {
	vec := uint8(u.imm)
	if uint32(vec)*16+15 > c.idt.limit {
		return c.raiseGP(uint32(vec)*8 + 2)
	}
	lo, ok := c.sysLoad(c.idt.base+uint64(vec)*16, 8)
	if !ok {
		return stFault
	}
	if uint8(lo>>45&3) < c.cpl {
		return c.raiseGP(uint32(vec)*8 + 2)
	}
	if lo>>47&1 == 0 {
		return c.raise(VecNP, uint32(vec)*8+2, true)
	}
	return c.softTrap(u, vec)
}

func (c *CPU) opInt1(u *uop) int {
	r := c.softTrap(u, VecDB)
	c.Exc.Soft = false
	return r
}

// loadFrame pops n words at RSP without moving it.
func (c *CPU) loadFrame(n int) (f [5]uint64, ok bool) {
	for i := range n {
		if f[i], ok = c.load(c.r[RSP]+uint64(i)*8, 8); !ok {
			return f, false
		}
	}
	return f, true
}

// popfMask is what popf and iret may change at CPL 0.
const popfMask = FlagTF | FlagIF | FlagDF | FlagIOPL | FlagNT | FlagAC | FlagID

// flagMask is popfMask for the current privilege level.
func (c *CPU) flagMask() uint64 {
	m := uint64(popfMask)
	if c.cpl != 0 {
		m &^= FlagIOPL
		if uint64(c.cpl) > c.sys>>12&3 {
			m &^= FlagIF
		}
	}
	return m
}

func (c *CPU) opIretq(u *uop) int {
	f, ok := c.loadFrame(5)
	if !ok {
		return stFault
	}
	rip, cs, flags, sp, ss := f[0], uint16(f[1]), f[2], f[3], uint16(f[4])
	cpl := uint8(cs & 3)
	if cs&^3 == 0 || cpl < c.cpl || c.sys&FlagNT != 0 {
		return c.raiseGP(uint32(cs &^ 3))
	}
	if !mem.Canonical(rip) {
		return c.raiseGP(0)
	}
	if !c.codeSegment(cs) {
		return stFault
	}
	if ss&3 != uint16(cpl) || ss&^3 == 0 && cpl == 3 {
		return c.raiseGP(uint32(ss &^ 3))
	}
	if ss&^3 != 0 && !c.stackSegment(ss) {
		return stFault
	}
	mask := c.flagMask() | FlagRF
	c.setArith(flags)
	c.sys = c.sys&^mask | flags&mask&^FlagRF
	c.seg[CS], c.seg[SS], c.r[RSP] = cs, ss, sp
	c.nmiBlock = false
	if cpl != c.cpl {
		c.leaveKernel(cpl)
	}
	c.rip = rip
	return stResync
}

// codeSegment checks that cs selects 64-bit code of its own level.
func (c *CPU) codeSegment(cs uint16) bool {
	d, ok := c.descriptor(cs)
	if !ok {
		return false
	}
	switch {
	case d>>43&3 != 3 || d>>53&1 == 0 || d>>42&1 == 0 && d>>45&3 != uint64(cs&3):
		c.raiseGP(uint32(cs &^ 3))
		return false
	case d>>47&1 == 0:
		c.raise(VecNP, uint32(cs&^3), true)
		return false
	}
	return true
}

// stackSegment checks that ss selects writable data of its own level.
func (c *CPU) stackSegment(ss uint16) bool {
	d, ok := c.descriptor(ss)
	switch {
	case !ok:
		return false
	case d>>44&1 == 0 || d>>41&5 != 1 || d>>45&3 != uint64(ss&3): // system, code or read-only
		c.raiseGP(uint32(ss &^ 3))
		return false
	case d>>47&1 == 0:
		c.raise(VecSS, uint32(ss&^3), true)
		return false
	}
	return true
}

// leaveKernel switches to an outer level.
func (c *CPU) leaveKernel(cpl uint8) { c.setCPL(cpl) }

// opLretq pops a far return address, and with a change of level the stack too.
func (c *CPU) opLretq(u *uop) int {
	f, ok := c.loadFrame(2)
	if !ok {
		return stFault
	}
	rip, cs := f[0], uint16(f[1])
	cpl := uint8(cs & 3)
	if cs&^3 == 0 || cpl < c.cpl {
		return c.raiseGP(uint32(cs &^ 3))
	}
	if !mem.Canonical(rip) {
		return c.raiseGP(0)
	}
	if !c.codeSegment(cs) {
		return stFault
	}
	if cpl > c.cpl {
		sp, ok1 := c.load(c.r[RSP]+16+u.imm, 8)
		ss, ok2 := c.load(c.r[RSP]+24+u.imm, 8)
		if !ok1 || !ok2 {
			return stFault
		}
		c.r[RSP], c.seg[SS] = sp+u.imm, uint16(ss)
		c.leaveKernel(cpl)
	} else {
		c.r[RSP] += 16 + u.imm
	}
	c.seg[CS] = cs
	c.rip = rip
	return stResync
}

func (c *CPU) opSyscall(u *uop) int {
	if c.efer&eferSCE == 0 {
		return c.raise(VecUD, 0, false)
	}
	flags := c.Flags()
	c.r[RCX], c.r[R11] = c.b.next(u), flags&^FlagRF
	c.seg[CS] = uint16(c.star>>32) &^ 3
	c.seg[SS] = c.seg[CS] + 8
	c.SetFlags(flags &^ (c.fmask | FlagRF))
	c.noTrap = c.sys&FlagTF == 0
	c.setCPL(0)
	c.rip = c.lstar
	return stResync
}

func (c *CPU) opSysretq(u *uop) int {
	if c.efer&eferSCE == 0 {
		return c.raise(VecUD, 0, false)
	}
	if c.cpl != 0 || !mem.Canonical(c.r[RCX]) {
		return c.raiseGP(0)
	}
	c.SetFlags(c.r[R11] & 0x3c7fd7)
	c.seg[CS] = uint16(c.star>>48) + 16 | 3
	c.seg[SS] = uint16(c.star>>48) + 8 | 3
	c.rip = c.r[RCX]
	c.setCPL(3)
	return stResync
}

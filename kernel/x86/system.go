package x86

import (
	"kscope/kernel/mem"
)

// privileged raises #GP above CPL 0.
func (c *CPU) privileged() bool {
	if c.cpl != 0 {
		c.raiseGP(0)
		return false
	}
	return true
}

// mayIO reports whether cli and sti are allowed.
func (c *CPU) mayIO() bool {
	if uint64(c.cpl) > c.sys>>12&3 {
		c.raiseGP(0)
		return false
	}
	return true
}

func (c *CPU) opCli(u *uop) int {
	if !c.mayIO() {
		return stFault
	}
	c.sys &^= FlagIF
	return c.resync(u)
}

// opSti allows interrupts from the instruction after the next one on.
func (c *CPU) opSti(u *uop) int {
	if !c.mayIO() {
		return stFault
	}
	if c.sys&FlagIF == 0 {
		c.archState.shadow = true
	}
	c.sys |= FlagIF
	return c.resync(u)
}

func (c *CPU) opHlt(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	return c.exitAs(u, ExitHalt)
}

func (c *CPU) opPause(u *uop) int { return c.exitAs(u, ExitPause) }

func (c *CPU) opVmcall(u *uop) int {
	if c.cpl != 3 {
		return c.raise(VecUD, 0, false)
	}
	return c.exitAs(u, ExitHypercall)
}

func (c *CPU) opPushf(u *uop) int {
	n := uint64(1) << u.sc
	if !c.store(c.r[RSP]-n, c.Flags()&^FlagRF, n) {
		return stFault
	}
	c.r[RSP] -= n
	return stNext
}

func (c *CPU) opPopf(u *uop) int {
	n := uint64(1) << u.sc
	v, ok := c.load(c.r[RSP], n)
	if !ok {
		return stFault
	}
	mask := c.flagMask()
	if n == 2 {
		mask &= 0xffff
	}
	c.r[RSP] += n
	c.setArith(v)
	c.sys = c.sys&^mask | v&mask
	return c.resync(u)
}

// opFlag is clc, stc, cmc, cld, std.
func (c *CPU) opFlag(u *uop) int {
	switch u.sc {
	case 0:
		c.setCF(0)
	case 1:
		c.setCF(1)
	case 2:
		c.setCF(c.cf() ^ 1)
	case 3:
		c.sys &^= FlagDF
	case 4:
		c.sys |= FlagDF
	}
	return stNext
}

func (c *CPU) opLahf(*uop) int {
	c.setReg(RAX*8+1, 0, c.arith()&0xff|2)
	return stNext
}

func (c *CPU) opSahf(*uop) int {
	c.setArith(c.arith()&FlagOF | c.reg(RAX*8+1, 0))
	return stNext
}

func (c *CPU) opXlat(u *uop) int {
	v, ok := c.load(c.ea(u)+c.r[RAX]&255, 1)
	if !ok {
		return stFault
	}
	c.setReg(RAX*8, 0, v)
	return stNext
}

func (c *CPU) opPush16(u *uop) int {
	if !c.store(c.r[RSP]-2, c.reg(u.s, 1), 2) {
		return stFault
	}
	c.r[RSP] -= 2
	return stNext
}

func (c *CPU) opPop16(u *uop) int {
	v, ok := c.load(c.r[RSP], 2)
	if !ok {
		return stFault
	}
	c.r[RSP] += 2
	c.setReg(u.d, 1, v)
	return stNext
}

func (c *CPU) opPopMem(u *uop) int {
	v, ok := c.load(c.r[RSP], u.imm)
	if !ok {
		return stFault
	}
	if !c.store(c.ea(u), v, u.imm) {
		return stFault
	}
	c.r[RSP] += u.imm
	return stNext
}

// opEnter makes a frame; sc is the nesting level.
func (c *CPU) opEnter(u *uop) int {
	sp, bp := c.r[RSP]-8, c.r[RBP]
	if !c.store(sp, bp, 8) {
		return stFault
	}
	frame := sp
	for i := 1; i < int(u.sc); i++ {
		bp -= 8
		v, ok := c.load(bp, 8)
		if sp -= 8; !ok || !c.store(sp, v, 8) {
			return stFault
		}
	}
	if u.sc > 0 {
		if sp -= 8; !c.store(sp, frame, 8) {
			return stFault
		}
	}
	c.r[RSP], c.r[RBP] = sp-u.imm, frame
	return stNext
}

// opIO is port input and output, which only the kernel may try: there are no ports.
func (c *CPU) opIO(u *uop) int {
	if !c.mayIO() {
		return stFault
	}
	return c.raise(VecUD, 0, false)
}

// opLoopCX is loop, loope and loopne that count in ECX.
func (c *CPU) opLoopCX(u *uop) int {
	c.setReg(RCX*8, 2, c.r[RCX]-1)
	t := u.x == 0 || c.cond(4) == (u.x == 1)
	c.rip = c.b.fva
	if t && c.r[RCX] != 0 {
		c.rip = c.b.tva
	}
	return stJump
}

func (c *CPU) opLoope(*uop) int  { return c.loopIf(c.cond(4)) }
func (c *CPU) opLoopne(*uop) int { return c.loopIf(c.cond(5)) }

func (c *CPU) loopIf(t bool) int {
	c.r[RCX]--
	c.rip = c.b.fva
	if t && c.r[RCX] != 0 {
		c.rip = c.b.tva
	}
	return stJump
}

func (c *CPU) opRdtsc(u *uop) int {
	c.sync()
	t := c.env.TSC(c)
	c.r[RAX], c.r[RDX] = uint64(uint32(t)), t>>32
	return stNext
}

func (c *CPU) opRdtscp(u *uop) int {
	c.r[RCX] = uint64(uint32(c.tscAux))
	return c.opRdtsc(u)
}

func (c *CPU) opMovFromCR(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	v := [...]uint64{0: c.cr0, 2: c.cr2, 3: c.cr3, 4: c.cr4, 8: c.cr8, 15: 0}
	if u.x != 0 && u.x != 2 && u.x != 3 && u.x != 4 && u.x != 8 {
		return c.raise(VecUD, 0, false)
	}
	c.setReg(u.d, 3, v[u.x])
	return stNext
}

func (c *CPU) opMovToCR(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	v := c.reg(u.s, 3)
	switch u.x {
	case 0:
		const must = cr0PE | cr0PG
		if v&must != must || v>>32 != 0 {
			return c.raiseGP(0)
		}
		c.cr0 = v | cr0ET
		c.flushAll()
	case 2:
		c.cr2 = v
	case 3:
		c.switchSpace(v &^ (1 << 63))
	case 4:
		if v&cr4PAE == 0 || v&^0x3509ff != 0 {
			return c.raiseGP(0)
		}
		c.cr4 = v
		c.flushAll()
	case 8:
		if v > 15 {
			return c.raiseGP(0)
		}
		c.cr8 = v
	default:
		return c.raise(VecUD, 0, false)
	}
	return c.resync(u)
}

func (c *CPU) opMovFromDR(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	c.setReg(u.d, 3, c.dr[drIndex(u.x)])
	return stNext
}

func (c *CPU) opMovToDR(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	v := c.reg(u.s, 3)
	i := drIndex(u.x)
	switch i {
	case 6:
		v = v&0xe00f | 0xffff0ff0
	case 7:
		v = v&0xffffffff | 0x400
	}
	c.dr[i] = v
	return c.resync(u)
}

// drIndex maps DR4 and DR5 to DR6 and DR7.
func drIndex(n uint8) uint8 {
	if n == 4 || n == 5 {
		n += 2
	}
	return n & 7
}

func (c *CPU) opClts(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	c.cr0 &^= 1 << 3
	return c.resync(u)
}

func (c *CPU) loadTable(u *uop, t *table) int {
	if !c.privileged() {
		return stFault
	}
	va := c.ea(u)
	limit, ok := c.load(va, 2)
	if !ok {
		return stFault
	}
	base, ok := c.load(va+2, 8)
	if !ok {
		return stFault
	}
	*t = table{base, uint32(limit)}
	return c.resync(u)
}

func (c *CPU) storeTable(u *uop, t table) int {
	va := c.ea(u)
	if _, ok := c.loadW(va+2, 8); !ok || !c.store(va, uint64(t.limit), 2) {
		return stFault
	}
	c.store(va+2, t.base, 8)
	return c.resync(u)
}

func (c *CPU) opLgdt(u *uop) int { return c.loadTable(u, &c.gdt) }
func (c *CPU) opLidt(u *uop) int { return c.loadTable(u, &c.idt) }
func (c *CPU) opSgdt(u *uop) int { return c.storeTable(u, c.gdt) }
func (c *CPU) opSidt(u *uop) int { return c.storeTable(u, c.idt) }

// descriptor reads an entry of the GDT.
func (c *CPU) descriptor(sel uint16) (uint64, bool) {
	if uint32(sel|7) > c.gdt.limit || sel&4 != 0 {
		c.raiseGP(uint32(sel &^ 3))
		return 0, false
	}
	return c.sysLoad(c.gdt.base+uint64(sel&^7), 8)
}

func segmentBase(d uint64) uint64 { return d>>16&0xffffff | d>>56<<24 }

func (c *CPU) opLtr(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	sel := uint16(c.reg(u.s, 1))
	if sel&^3 == 0 {
		return c.raiseGP(0)
	}
	d, ok := c.descriptor(sel)
	if !ok {
		return stFault
	}
	hi, ok := c.sysLoad(c.gdt.base+uint64(sel&^7)+8, 8)
	if !ok {
		return stFault
	}
	if t := d >> 40 & 31; t != 9 && t != 11 {
		return c.raiseGP(uint32(sel &^ 3))
	}
	c.tr = sel
	c.tss = table{segmentBase(d) | hi<<32, uint32(d&0xffff | d>>48&15<<16)}
	return c.resync(u)
}

func (c *CPU) opLldt(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	sel := uint16(c.reg(u.s, 1))
	if sel&^3 != 0 { // there is no LDT to load
		return c.raiseGP(uint32(sel &^ 3))
	}
	c.ldtr = sel
	return c.resync(u)
}

func (c *CPU) opStr(u *uop) int {
	c.setReg(u.d, u.sc, uint64(c.tr))
	return stNext
}

func (c *CPU) opMovFromSeg(u *uop) int {
	c.setReg(u.d, u.sc, uint64(c.seg[u.x]))
	return stNext
}

// opMovToSeg loads segment register x from register s, or pops it when m is 1.
func (c *CPU) opMovToSeg(u *uop) int {
	sel := uint16(0)
	if u.m == 1 {
		v, ok := c.load(c.r[RSP], 8)
		if !ok {
			return stFault
		}
		sel = uint16(v)
	} else {
		sel = uint16(c.reg(u.s, 1))
	}
	if u.x == CS {
		return c.raise(VecUD, 0, false)
	}
	base := uint64(0)
	switch {
	case sel&^3 != 0:
		d, ok := c.descriptor(sel)
		if !ok {
			return stFault
		}
		if d>>47&1 == 0 {
			return c.raise(VecNP, uint32(sel&^3), true)
		}
		dpl, rpl := uint8(d>>45&3), uint8(sel&3)
		if d>>44&1 == 0 || u.x == SS && (dpl != c.cpl || rpl != c.cpl) || u.x != SS && dpl < max(rpl, c.cpl) {
			return c.raiseGP(uint32(sel &^ 3))
		}
		base = segmentBase(d)
	case u.x == SS && c.cpl == 3:
		return c.raiseGP(0)
	}
	c.seg[u.x] = sel
	switch u.x {
	case FS:
		c.r[slotFS/8] = base
	case GS:
		c.r[slotGS/8] = base
	case SS:
		c.archState.shadow = true
		c.noTrap = true
	}
	if u.m == 1 {
		c.r[RSP] += 8
	}
	return c.resync(u)
}

func (c *CPU) opInvlpg(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	c.flushPage(c.ea(u))
	return c.resync(u)
}

func (c *CPU) opWbinvd(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	return c.resync(u)
}

func (c *CPU) opRdBase(u *uop) int {
	if c.cr4&cr4FSGSBASE == 0 {
		return c.raise(VecUD, 0, false)
	}
	c.setReg(u.d, u.sc, c.r[slotFS/8+u.x])
	return stNext
}

func (c *CPU) opWrBase(u *uop) int {
	v := c.reg(u.s, u.sc)
	if c.cr4&cr4FSGSBASE == 0 {
		return c.raise(VecUD, 0, false)
	}
	if !mem.Canonical(v) {
		return c.raiseGP(0)
	}
	c.r[slotFS/8+u.x] = v
	return stNext
}

func (c *CPU) opSwapgs(u *uop) int {
	if !c.privileged() {
		return stFault
	}
	c.r[slotGS/8], c.kgsBase = c.kgsBase, c.r[slotGS/8]
	return c.resync(u)
}

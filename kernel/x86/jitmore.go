//go:build linux && amd64 && !race

package x86

func (t *translator) incDec(u *uop, f *template) {
	inMem := f.form == "m"
	if inMem {
		t.probe(u, f, f.sz, true)
		t.hot.load(f.sz, hDX, hAX, t.at)
	} else {
		t.read(u.d, f.sz, hDX)
	}
	if t.fop < kINC || t.fop >= kEXP {
		t.call(t.shared.carry)
	}
	kind, by := uint8(kINC), int32(1)
	if f.k == 1 {
		kind, by = kDEC, -1
	}
	t.hot.group1(max(f.sz, 2), 0, hDX, by)
	if inMem {
		t.hot.store(f.sz, hDX, hAX, t.at)
	} else {
		t.write(u.d, f.sz, hDX)
	}
	t.setFA(f.sz, hDX, hDX)
	t.setFop(kind | f.sz)
	if f.sz >= 2 {
		t.flags = flagsNoCarry
	}
}

func (t *translator) neg(u *uop, f *template) {
	t.read(u.d, f.sz, hDX)
	if f.flags {
		t.hot.rm(3, opStore, hDX, hBX, atFB)
	}
	t.hot.rr(max(f.sz, 2), opGroup3, 3, hDX)
	t.write(u.d, f.sz, hDX)
	if f.flags {
		t.setFA(f.sz, hDX, hDX)
		t.setFop(kSUB | f.sz)
	}
}

func (t *translator) not(u *uop, f *template) {
	t.read(u.d, f.sz, hDX)
	t.hot.rr(max(f.sz, 2), opGroup3, 2, hDX)
	t.write(u.d, f.sz, hDX)
}

// shift is shl, shr, sar, rol and ror of 32 or 64 bits.
func (t *translator) shift(u *uop, f *template) {
	h := t.operand(u.d, f.sz, hAX)
	byCL, zero := f.form == "rc", 0
	if byCL {
		t.read(RCX*8, 0, hCX)
	}
	if byCL && f.flags { // a count of zero leaves the flags
		if f.sz == 2 {
			t.hot.rr(2, opMov, h, h)
		}
		t.hot.group1(2, 4, hCX, 8<<f.sz-1)
		t.fop = -1
		zero = t.hot.short(ccE)
	}
	if f.flags && f.k == 5 { // shr: OF is the operand's sign
		t.topBit(f.sz, h)
	}
	if byCL {
		t.hot.rr(f.sz, opGroup2CL, f.k, h)
	} else {
		t.hot.rr(f.sz, opGroup2, f.k, h)
		t.hot.put(byte(u.imm))
	}
	if f.flags {
		t.shiftFlags(f, h)
	}
	if zero != 0 {
		t.hot.land(zero)
		t.fop = -1
	}
	t.keep(u.d, h)
}

// topBit moves the sign of h to the low bit of rdx.
func (t *translator) topBit(sz, h uint8) {
	t.hot.rr(sz, opMov, hDX, h)
	t.hot.rr(sz, opGroup2, 5, hDX)
	t.hot.put(8<<sz - 1)
}

func (t *translator) shiftFlags(f *template, h uint8) {
	t.hot.rr(0, opSet|ccB, 0, hCX)
	t.hot.rr8(2, opMovzx8, hCX, hCX)
	if f.k == 4 { // shl: OF is CF xor the result's sign
		t.topBit(f.sz, h)
		t.hot.rr(2, opXor, hDX, hCX)
	}
	if f.k != 7 {
		t.hot.rr(2, opGroup2, 4, hDX)
		t.hot.put(11)
		t.hot.rr(2, opOr, hCX, hDX)
	}
	t.hot.rm(3, opStore, hCX, hBX, atFB)
	t.setFA(f.sz, h, hDX)
	t.setFop(kRES | f.sz)
}

// carryOverflow sets fb to CF and OF when the host's carry is set.
func (t *translator) carryOverflow() {
	t.hot.rr(0, opSet|ccB, 0, hCX)
	t.hot.rr8(2, opMovzx8, hCX, hCX)
	t.hot.rr(2, opImulImm, hCX, hCX)
	t.hot.u32(flagCF | flagOF)
	t.hot.rm(3, opStore, hCX, hBX, atFB)
}

func (t *translator) imul(u *uop, f *template) {
	switch {
	case f.sz < 2, f.form == "rri" && u.imm != uint64(int64(int32(u.imm))):
		t.slow()
		return
	case f.form == "rri":
		t.hot.rr(f.sz, opImulImm, hDX, t.operand(u.s, f.sz, hCX))
		t.hot.u32(uint32(u.imm))
	default:
		t.read(u.d, f.sz, hDX)
		t.hot.rr(f.sz, opImul, hDX, t.operand(u.s, f.sz, hCX))
	}
	if f.flags {
		t.carryOverflow()
	}
	t.write(u.d, f.sz, hDX)
	if f.flags {
		t.setFA(f.sz, hDX, hDX)
		t.setFop(kRES | f.sz)
	}
}

func (t *translator) mul(u *uop, f *template) {
	t.read(RAX*8, f.sz, hAX)
	t.hot.rr(f.sz, opGroup3, 4, t.operand(u.s, f.sz, hCX))
	t.carryOverflow()
	t.write(RAX*8, f.sz, hAX)
	t.write(RDX*8, f.sz, hDX)
	t.setFA(f.sz, hAX, hAX)
	t.setFop(kRES | f.sz)
}

// div leaves what would fault to the slow function.
func (t *translator) div(u *uop, f *template) {
	s := t.operand(u.s, f.sz, hCX)
	t.read(RAX*8, f.sz, hAX)
	t.read(RDX*8, f.sz, hDX)
	t.hot.rr(f.sz, opCmp, s, hDX)
	t.missIf(ccBE)
	t.hot.rr(f.sz, opGroup3, 6, s)
	t.write(RAX*8, f.sz, hAX)
	t.write(RDX*8, f.sz, hDX)
}

// condition sets the host's flags so that a condition of the guest's holds when the answer does. rax, rcx and rdx are lost.
func (t *translator) condition(cc uint8) (host uint8) {
	kind, sz := uint8(t.fop)&^3, uint8(t.fop)&3
	switch of := cc >> 1; {
	case t.before == flagsAll, t.before == flagsNoCarry && of != 1 && of != 3:
		for i := t.sitesBefore; i < len(t.sites); i++ {
			t.sites[i].next = 0 // the slow function makes no host flags
		}
	case of == 2, t.fop >= 0 && of == 4 && t.fop != kODD, t.fop >= 0 && kind == kLOGIC && of != 0 && of != 5:
		t.hot.rm(3, opGroup1b, 7, hBX, atFA)
		t.hot.put(0)
	case t.fop >= 0 && kind == kSUB && of != 0 && of != 5:
		t.hot.rm(3, opMov, hDX, hBX, atFA)
		t.hot.rm(3, opMov, hCX, hBX, atFB)
		t.hot.rr(3, opAdd, hDX, hCX)
		t.hot.rr(sz, sized(sz, opCmp), hDX, hCX)
	case t.fop >= 0 && kind == kADD && of == 1:
		t.hot.rm(3, opMov, hDX, hBX, atFA)
		t.hot.rm(sz, sized(sz, opCmp), hDX, hBX, atFB)
	default:
		t.asHost()
	}
	return cc
}

func (t *translator) set(u *uop, f *template) {
	cc := t.condition(f.k)
	if h := fixed[u.d>>3]; h != 0 && u.d&7 == 0 {
		t.hot.rr(0, opSet|uint16(cc), 0, h)
		return
	}
	t.hot.rr(0, opSet|uint16(cc), 0, hDX)
	t.write(u.d, 0, hDX)
}

func (t *translator) cmov(u *uop, f *template) {
	cc := t.condition(f.k)
	if h := fixed[u.d>>3]; h != 0 && f.sz >= 2 {
		t.hot.rr(f.sz, opCmov|uint16(cc), h, t.operand(u.s, f.sz, hCX))
		return
	}
	t.read(u.d, f.sz, hDX)
	t.hot.rr(f.sz, opCmov|uint16(cc), hDX, t.operand(u.s, f.sz, hCX))
	t.write(u.d, f.sz, hDX)
}

func (t *translator) jumpIf(u *uop, f *template) {
	t.branch(t.condition(f.k))
}

func (t *translator) xchg(u *uop, f *template) {
	if f.form == "r" {
		t.read(u.d, f.sz, hDX)
		t.read(u.s, f.sz, hCX)
		t.write(u.d, f.sz, hCX)
		t.write(u.s, f.sz, hDX)
		return
	}
	t.probe(u, f, f.sz, true)
	t.hot.load(f.sz, hDX, hAX, 0)
	t.hot.store(f.sz, t.operand(u.s, f.sz, hCX), hAX, 0)
	t.write(u.s, f.sz, hDX)
}

func (t *translator) xadd(u *uop, f *template) {
	if f.form == "r" {
		t.slow()
		return
	}
	t.probe(u, f, f.sz, true)
	t.hot.load(f.sz, hDX, hAX, 0)
	t.read(u.s, f.sz, hCX)
	t.hot.rm(3, opStore, hCX, hBX, atFB)
	t.hot.rr(max(f.sz, 2), opAdd, hCX, hDX)
	t.hot.store(f.sz, hCX, hAX, 0)
	t.setFA(f.sz, hCX, hCX)
	t.setFop(kADD | f.sz)
	t.write(u.s, f.sz, hDX)
}

func (t *translator) cmpxchg(u *uop, f *template) {
	if f.form == "r" {
		t.slow()
		return
	}
	t.probe(u, f, f.sz, true)
	t.hot.load(f.sz, hDX, hAX, 0)
	t.hot.rm(3, opStore, hDX, hBX, atFB)
	t.read(RAX*8, f.sz, hCX)
	t.hot.rr(f.sz, sized(f.sz, opSub), hCX, hDX)
	t.setFA(f.sz, hCX, hCX)
	t.setFop(kSUB | f.sz)
	s := t.operand(u.s, f.sz, hCX)
	differ := t.hot.short(ccNE)
	t.hot.store(f.sz, s, hAX, 0)
	done := t.hot.shortJmp()
	t.hot.land(differ)
	t.write(RAX*8, f.sz, hDX)
	t.hot.land(done)
}

// cli at CPL 0 goes on behind itself: with interrupts off there is nothing to look at.
func (t *translator) cli(u *uop, _ *template) {
	if !t.last {
		t.slow()
		return
	}
	t.kernelOnly()
	t.hot.rm(3, opGroup1, 4, hBX, atSys)
	t.hot.u32(^uint32(FlagIF))
	t.next(u, nil)
}

// sti does when no interrupt is pending and the budget allows the next instruction, behind which its shadow ends.
func (t *translator) sti(u *uop, _ *template) {
	if !t.last {
		t.slow()
		return
	}
	t.kernelOnly()
	t.noInterrupt()
	t.hot.rr(3, opTest, hBP, hBP)
	t.missIf(ccLE)
	t.hot.rm(2, opGroup1, 1, hBX, atSys)
	t.hot.u32(FlagIF)
	t.next(u, nil)
}

func (t *translator) kernelOnly() {
	t.hot.rm(0, 0x80, 7, hBX, atCPL)
	t.hot.put(0)
	t.missIf(ccNE)
}

// locked asks whether it is the access's turn.
func (t *translator) locked(u *uop, f *template) {
	t.addressOf(u.m, u.x, u.sc, u.disp)
	t.hot.imm(hDX, t.left(u))
	t.callSite(t.shared.locked)
}

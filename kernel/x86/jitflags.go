//go:build linux && amd64 && !race

package x86

// Uops that read all the lazy flags, or set them all.

const maskZSP = FlagZF | FlagSF | FlagPF

// allFlags computes the arithmetic flags to rax; after inc or dec the uop misses. rcx and rdx are lost.
func (t *translator) allFlags() { t.callSite(t.shared.allFlags) }

// allFlagsPiece is CPU.arith, but for kINC and kDEC.
func (t *translator) allFlagsPiece() {
	t.hot.load(0, hCX, hBX, atFop)
	t.hot.rm(3, opMov, hDX, hBX, atFA)
	t.hot.group1(2, 7, hCX, kEXP)
	lazy := t.hot.short(ccB)
	t.hot.rm(3, opMov, hAX, hBX, atFB)
	t.hot.put(0xc3)
	t.hot.land(lazy)
	t.hot.group1(2, 7, hCX, kINC)
	easy := t.hot.short(ccB)
	t.giveUp(whySite)
	t.hot.land(easy)
	t.hot.rr(3, opTest, hDX, hDX)
	t.hostFlags(hAX, maskZSP)
	t.hot.group1(2, 7, hCX, kLOGIC)
	sum := t.hot.short(ccB)
	t.hot.group1(2, 7, hCX, kRES)
	done := t.hot.short(ccB)
	t.hot.rm(3, opOr, hAX, hBX, atFB)
	t.hot.land(done)
	t.hot.put(0xc3)
	t.hot.land(sum)
	t.hot.put(0x56, 0x57) // push rsi; push rdi: the operands
	t.hot.rm(3, opMov, hDI, hBX, atFB)
	t.hot.rr(3, opMov, hSI, hDX)
	t.whenSum(func() { t.hot.rr(3, opSub, hSI, hDI) }, func() { t.hot.rr(3, opAdd, hSI, hDI) })
	t.hot.rr(3, opXor, hDX, hSI)
	t.hot.rr(3, opXor, hDX, hDI)
	t.hot.group1(2, 4, hDX, FlagAF)
	t.hot.rr(2, opOr, hAX, hDX)
	t.hot.group1(2, 4, hCX, 3) // the operands at the top, so that carry and overflow are the host's
	t.hot.imm(hDX, 8)
	t.hot.rr(2, opGroup2CL, 4, hDX)
	t.hot.imm(hCX, 64)
	t.hot.rr(2, opSub, hCX, hDX)
	t.hot.rr(3, opGroup2CL, 4, hSI)
	t.hot.rr(3, opGroup2CL, 4, hDI)
	t.whenSum(func() { t.hot.rr(3, opAdd, hSI, hDI) }, func() { t.hot.rr(3, opCmp, hSI, hDI) })
	t.hostFlags(hDX, FlagCF|FlagOF)
	t.hot.rr(2, opOr, hAX, hDX)
	t.hot.put(0x5f, 0x5e, 0xc3)
}

// whenSum does one thing after an addition and the other after a subtraction.
func (t *translator) whenSum(add, sub func()) {
	t.hot.rm(0, 0xf6, 0, hBX, atFop)
	t.hot.put(kADD)
	isSub := t.hot.short(ccE)
	add()
	done := t.hot.shortJmp()
	t.hot.land(isSub)
	sub()
	t.hot.land(done)
}

// hostFlags moves some of the host's flags to rax or rdx.
func (t *translator) hostFlags(to uint8, mask int32) {
	t.hot.put(0x9c, 0x58|to)
	t.hot.group1(2, 4, to, mask)
}

// setAllPiece is CPU.setArith of rax. rcx and rdx are lost.
func (t *translator) setAllPiece() {
	t.hot.rm(3, opStore, hAX, hBX, atFB)
	t.hot.rm(0, 0xc6, 0, hBX, atFop)
	t.hot.put(kEXP)
	t.hot.imm(hDX, 1)
	t.hot.rr(2, opMov, hCX, hAX)
	t.hot.group1(2, 4, hCX, FlagZF|FlagSF)
	none := t.hot.short(ccE)
	t.hot.rr(2, opXor, hDX, hDX)
	t.hot.group1(2, 7, hCX, FlagZF)
	zero := t.hot.short(ccE)
	t.hot.group1(2, 7, hCX, FlagZF|FlagSF)
	odd := t.hot.short(ccE)
	t.hot.group1(3, 5, hDX, 1)
	done := t.hot.shortJmp()
	t.hot.land(odd)
	t.hot.rm(0, 0xc6, 0, hBX, atFop)
	t.hot.put(kODD)
	t.hot.land(none)
	t.hot.land(zero)
	t.hot.land(done)
	t.hot.rm(3, opStore, hDX, hBX, atFA)
	t.hot.put(0xc3)
}

// setAll sets the flags from rax. rcx and rdx are lost.
func (t *translator) setAll() {
	t.call(t.shared.setAll)
	t.fop = -1
}

// asHost gives the host the guest's flags.
func (t *translator) asHost() {
	t.allFlags()
	t.hot.put(0x50, 0x9d) // push rax; popf
}

func (t *translator) pushf(u *uop, _ *template) {
	if u.sc != 3 {
		t.slow()
		return
	}
	t.allFlags()
	t.hot.rm(3, opMov, hDX, hBX, atSys)
	t.hot.rr(3, opOr, hDX, hAX)
	t.hot.group1(3, 1, hDX, 2)
	t.hot.group1(3, 4, hDX, ^FlagRF)
	t.pushPlace(1)
	t.hot.store(3, hDX, hAX, 0)
	t.moveSP(-1)
}

// bitOp is bt, bts, btr and btc of a register.
func (t *translator) bitOp(u *uop, _ *template) {
	if u.sc < 2 {
		t.slow()
		return
	}
	t.allFlags()
	r := t.operand(u.d, u.sc, hDX)
	if u.m == 1 {
		t.hot.rr(u.sc, 0x1a3+8*uint16(u.x), t.operand(u.s, u.sc, hCX), r)
	} else {
		t.hot.rr(u.sc, 0x1ba, 4+u.x, r)
		t.hot.put(byte(u.imm) & (8<<u.sc - 1))
	}
	if u.x != 0 {
		t.keep(u.d, r)
	}
	t.hot.rr(0, opSet|ccB, 0, hCX)
	t.hot.rr8(2, opMovzx8, hCX, hCX)
	t.hot.group1(2, 4, hAX, ^FlagCF)
	t.hot.rr(2, opOr, hAX, hCX)
	t.setAll()
}

// tzcnt by bsf, which every host has.
func (t *translator) tzcnt(u *uop, _ *template) {
	if u.sc < 2 {
		t.slow()
		return
	}
	v := t.operand(u.s, u.sc, hCX)
	t.hot.rr(2, opMov, hAX, v)
	t.hot.group1(2, 4, hAX, 1)
	t.hot.rr(2, opGroup2, 4, hAX) // ZF: the result is zero
	t.hot.put(6)
	t.hot.imm(hDX, 8<<u.sc)
	t.hot.rr(u.sc, 0x1bc, hCX, v)
	t.hot.rr(u.sc, opCmov|ccE, hCX, hDX)
	t.hot.rr(0, opSet|ccE, 0, hDX)
	t.hot.rr8(2, opMovzx8, hDX, hDX)
	t.hot.rr(2, opOr, hAX, hDX) // CF: the operand is
	t.write(u.d, u.sc, hCX)
	t.setAll()
}

// withCarry is adc and sbb on registers.
func (t *translator) withCarry(u *uop, f *template) {
	if f.sz < 2 || f.form != "rr" && f.form != "ri" {
		t.slow()
		return
	}
	t.allFlags()
	b := uint8(hCX)
	if f.form == "ri" {
		t.hot.imm(hCX, u.imm&sizeMask(f.sz))
	} else {
		b = t.operand(u.s, f.sz, hCX)
	}
	r := t.operand(u.d, f.sz, hDX)
	t.hot.put(0x0f, 0xba, 0xe0, 0) // bt eax, 0
	t.hot.rr(f.sz, uint16(8*f.k+3), r, b)
	t.keep(u.d, r)
	t.hostFlags(hAX, FlagCF|FlagAF|FlagOF)
	t.hot.rm(3, opStore, hAX, hBX, atFB)
	t.setFA(f.sz, r, hDX)
	t.setFop(kRES | f.sz)
	t.fop = -1 // the slow function leaves other lazy flags
}

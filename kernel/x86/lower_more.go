package x86

import "golang.org/x/arch/x86/x86asm"

func (l *lowering) mov() {
	in := l.in
	switch a := in.Args[0].(type) {
	case x86asm.Mem:
		switch b := in.Args[1].(type) {
		case x86asm.Reg:
			if !isGeneral(b) {
				l.movFromSpecial(a, b)
				return
			}
			u, x := l.addr(a)
			var sz int
			u.s, sz = slot(b)
			l.emit(stTab[sz][x], u)
		case x86asm.Imm:
			u, x := l.addr(a)
			u.imm = uint64(b)
			l.emit(stiTab[sizeOf(in.MemBytes)][x], u)
		}
	case x86asm.Reg:
		if !isGeneral(a) {
			l.movToSpecial(a, in.Args[1])
			return
		}
		l.movToReg(a, in.Args[1])
	}
}

func (l *lowering) movToReg(a x86asm.Reg, src x86asm.Arg) {
	d, sz := slot(a)
	switch b := src.(type) {
	case x86asm.Reg:
		if !isGeneral(b) {
			l.movFromSpecial(a, b)
			return
		}
		s, _ := slot(b)
		l.emit(movrrTab[sz], uop{d: d, s: s})
	case x86asm.Imm:
		v := uint64(b)
		op := [4]uint16{o_mov_ri_8, o_mov_ri_16, o_mov_ri_64, o_mov_ri_64}[sz]
		if sz == 2 {
			v = uint64(uint32(v))
		}
		l.emit(op, uop{d: d, imm: v})
	case x86asm.Mem:
		u, x := l.addr(b)
		u.d = d
		if sz >= 2 {
			l.emit(ldzTab[sz][x], u)
		} else {
			l.emit(ldmTab[sz][x], u)
		}
	}
}

// movFromSpecial reads a segment, control or debug register.
func (l *lowering) movFromSpecial(dst x86asm.Arg, b x86asm.Reg) {
	switch {
	case b >= x86asm.ES && b <= x86asm.GS:
		if m, ok := dst.(x86asm.Mem); ok {
			l.emit(o_movseg_r, uop{d: slotT0, sc: 3, x: uint8(b - x86asm.ES)})
			u, x := l.addr(m)
			u.s = slotT0
			l.emit(stTab[1][x], u)
			return
		}
		d, sz := slot(dst.(x86asm.Reg))
		l.emit(o_movseg_r, uop{d: d, sc: uint8(sz), x: uint8(b - x86asm.ES)})
	case b >= x86asm.CR0 && b <= x86asm.CR15:
		d, _ := slot(dst.(x86asm.Reg))
		l.emit(o_movcr_r, uop{d: d, x: uint8(b - x86asm.CR0)})
	case b >= x86asm.DR0 && b <= x86asm.DR15:
		d, _ := slot(dst.(x86asm.Reg))
		l.emit(o_movdr_r, uop{d: d, x: uint8(b - x86asm.DR0)})
	default:
		l.ud()
	}
}

// movToSpecial writes one.
func (l *lowering) movToSpecial(a x86asm.Reg, src x86asm.Arg) {
	switch {
	case a >= x86asm.ES && a <= x86asm.GS:
		l.emit(o_movseg_w, uop{s: l.source(src, 1, slotT0), x: uint8(a - x86asm.ES)})
	case a >= x86asm.CR0 && a <= x86asm.CR15:
		l.emit(o_movcr_w, uop{s: l.source(src, 3, slotT0), x: uint8(a - x86asm.CR0)})
	case a >= x86asm.DR0 && a <= x86asm.DR15:
		l.emit(o_movdr_w, uop{s: l.source(src, 3, slotT0), x: uint8(a - x86asm.DR0)})
	default:
		l.ud()
	}
}

// plain emits an op without operands in the address fields.
func (l *lowering) plain(op uint16) {
	u := uop{}
	switch l.in.Op {
	case x86asm.LRET:
		if l.in.DataSize != 64 {
			l.ud()
			return
		}
		if n, ok := l.in.Args[0].(x86asm.Imm); ok {
			u.imm = uint64(uint16(n))
		}
	case x86asm.SYSRET:
		if l.in.DataSize != 64 {
			l.ud()
			return
		}
	}
	l.emit(op, u)
}

func (l *lowering) plainRW(op uint16) {
	r, ok := l.in.Args[0].(x86asm.Reg)
	if !ok {
		l.ud()
		return
	}
	d, sz := slot(r)
	u := uop{d: d, s: d, sc: uint8(sz)}
	if l.in.Op == x86asm.RDGSBASE || l.in.Op == x86asm.WRGSBASE {
		u.x = 1
	}
	l.emit(op, u)
}

// bit lowers bt, bts, btr, btc. With memory and a register index, the index also selects the word.
func (l *lowering) bit(kind uint16) {
	in, sz := l.in, l.size()
	imm, isImm := in.Args[1].(x86asm.Imm)
	m, inMem := in.Args[0].(x86asm.Mem)
	if inMem && !isImm {
		u, _ := l.addr(m)
		s, ssz := slot(in.Args[1].(x86asm.Reg))
		u.s, u.d, u.imm = s, uint8(kind), uint64(ssz)
		l.emit(o_btm, u)
		return
	}
	u := uop{sc: uint8(sz), x: uint8(kind), m: 1}
	if isImm {
		u.m, u.imm = 0, uint64(imm)
	} else {
		u.s, _ = slot(in.Args[1].(x86asm.Reg))
	}
	if inMem && kind == 0 {
		u.d = l.source(m, sz, slotT0)
		l.emit(o_bt, u)
		return
	}
	d, put := l.target(in.Args[0], sz)
	u.d = d
	l.emit(o_bt, u)
	if kind != 0 {
		put()
	}
}

func (l *lowering) exchange(k lowKind) {
	in, sz := l.in, l.size()
	a, b := in.Args[0], in.Args[1]
	if k == lowXchg && isMem(b) {
		a, b = b, a
	}
	s, _ := slot(b.(x86asm.Reg))
	if m, ok := a.(x86asm.Mem); ok {
		u, _ := l.addr(m)
		u.s = s
		l.emit(map[lowKind][4]uint16{lowXchg: xchgmTab, lowXadd: xaddmTab, lowCmpxchg: cmpxchgTab}[k][sz], u)
		return
	}
	d, _ := slot(a.(x86asm.Reg))
	switch k {
	case lowXchg:
		l.emit(xchgTab[sz], uop{d: d, s: s})
	case lowXadd:
		l.emit(xaddTab[sz], uop{d: d, s: s})
	default:
		l.emit(o_cmpxchg_r, uop{d: d, s: s, sc: uint8(sz)})
	}
}

// str lowers the string instructions: sc is the size, s the segment slot of the source, x the repeat prefix, m 1 for
// 32-bit addresses.
func (l *lowering) str(arg uint16) {
	u := uop{sc: uint8(arg & 3), s: slotZero}
	for _, a := range l.in.Args {
		if m, ok := a.(x86asm.Mem); ok && (m.Base == x86asm.RSI || m.Base == x86asm.ESI) {
			u.s = segBase(m.Segment)
		}
	}
	switch l.in.rep {
	case 0xf3:
		u.x = 1
	case 0xf2:
		u.x = 2
	}
	if l.in.AddrSize == 32 {
		u.m = 1
	}
	l.emit(arg>>2, u)
}

func (l *lowering) transfer(call bool) {
	in := l.in
	switch a := in.Args[0].(type) {
	case x86asm.Rel:
		l.relTarget()
		switch {
		case call && l.shadow != nil && !l.co.shadow && l.shadow(l.co.tva):
			l.emit(o_scall, uop{imm: l.next})
		case call:
			l.emit(o_call, uop{imm: l.next})
		default:
			l.emit(o_jmp, uop{})
		}
		return
	case x86asm.Reg:
		if in.DataSize == 16 {
			l.ud()
			return
		}
		s, _ := slot(a)
		l.branchTo(s, call)
	case x86asm.Mem:
		if in.MemBytes != 8 {
			l.ud()
			return
		}
		l.branchTo(l.source(a, 3, slotT0), call)
	default:
		l.ud()
	}
}

func (l *lowering) branchTo(s uint8, call bool) {
	if call {
		l.emit(o_call_r, uop{s: s, imm: l.next})
	} else {
		l.emit(o_jmp_r, uop{s: s})
	}
}

// movbe loads or stores with the bytes reversed; CPUID does not report it.
func (l *lowering) movbe() {
	sz := l.size()
	swap := func() {
		if sz == 2 {
			l.emit(o_bswap_32, uop{d: slotT0})
		} else {
			l.emit(o_bswap_64, uop{d: slotT0})
		}
	}
	if sz == 1 {
		l.ud()
		return
	}
	if m, ok := l.in.Args[0].(x86asm.Mem); ok {
		s, _ := slot(l.in.Args[1].(x86asm.Reg))
		l.emit(movrrTab[sz], uop{d: slotT0, s: s})
		swap()
		u, x := l.addr(m)
		u.s = slotT0
		l.emit(stTab[sz][x], u)
		return
	}
	l.source(l.in.Args[1], sz, slotT0)
	swap()
	d, _ := slot(l.in.Args[0].(x86asm.Reg))
	l.emit(movrrTab[sz], uop{d: d, s: slotT0})
}

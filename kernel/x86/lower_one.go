package x86

import "golang.org/x/arch/x86/x86asm"

// flagIx is the index of uop variants with (0) and without (1) flags.
func (l *lowering) flagIx() int {
	if l.need {
		return 0
	}
	return 1
}

// lowerers turn an instruction of each kind into uops; arg is that of its row in opInfo. A kind without one is #UD.
var lowerers = [...]func(l *lowering, arg uint16){
	lowNop:      func(l *lowering, _ uint16) { l.emit(o_nop, uop{}) },
	lowALU:      func(l *lowering, row uint16) { l.alu(int(row)) },
	lowIncDec:   func(l *lowering, k uint16) { l.incDec(int(k)) },
	lowNeg:      func(l *lowering, _ uint16) { l.negNot(true) },
	lowNot:      func(l *lowering, _ uint16) { l.negNot(false) },
	lowShift:    (*lowering).shift,
	lowDShift:   (*lowering).doubleShift,
	lowMul1:     (*lowering).mul1,
	lowImul:     func(l *lowering, _ uint16) { l.imul() },
	lowMov:      func(l *lowering, _ uint16) { l.mov() },
	lowMovzx:    func(l *lowering, _ uint16) { l.movzx() },
	lowMovsx:    func(l *lowering, _ uint16) { l.movsx() },
	lowLea:      func(l *lowering, _ uint16) { l.lea() },
	lowPush:     func(l *lowering, _ uint16) { l.push() },
	lowPop:      func(l *lowering, _ uint16) { l.pop() },
	lowCmov:     (*lowering).cmov,
	lowSet:      (*lowering).set,
	lowJcc:      (*lowering).jcc,
	lowPlain:    (*lowering).plain,
	lowPlainRW:  (*lowering).plainRW,
	lowBswap:    func(l *lowering, _ uint16) { l.bswap() },
	lowBit:      (*lowering).bit,
	lowScan:     (*lowering).scan,
	lowXchg:     func(l *lowering, _ uint16) { l.exchange(lowXchg) },
	lowXadd:     func(l *lowering, _ uint16) { l.exchange(lowXadd) },
	lowCmpxchg:  func(l *lowering, _ uint16) { l.exchange(lowCmpxchg) },
	lowCmpxchgN: (*lowering).memory,
	lowString:   (*lowering).str,
	lowFlag:     func(l *lowering, kind uint16) { l.emit(o_flagop, uop{sc: uint8(kind)}) },
	lowJmp:      func(l *lowering, _ uint16) { l.transfer(false) },
	lowCall:     func(l *lowering, _ uint16) { l.transfer(true) },
	lowRet:      func(l *lowering, _ uint16) { l.ret() },
	lowLoop:     (*lowering).loop,
	lowInt:      func(l *lowering, _ uint16) { l.softInt() },
	lowMemSys:   (*lowering).memory,
	lowSelSys:   func(l *lowering, op uint16) { l.emit(op, uop{s: l.source(l.in.Args[0], 1, slotT0)}) },
	lowEnter:    func(l *lowering, _ uint16) { l.enter() },
	lowMovbe:    func(l *lowering, _ uint16) { l.movbe() },
	lowFrame:    func(l *lowering, _ uint16) { l.leave() },
	lowPushf:    func(l *lowering, sz uint16) { l.emit(o_pushf, uop{sc: uint8(sz)}) },
	lowPopf:     func(l *lowering, sz uint16) { l.emit(o_popf, uop{sc: uint8(sz)}) },
}

// gapOps are the uops of what x86asm does not decode.
var gapOps = [...]uint16{gapNop: o_nop, gapUD: o_ud, gapVMCALL: o_vmcall, gapRDPID: o_ud, gapLong: o_gp, gapIO: o_io}

// one lowers the instruction l.in.
func (l *lowering) one() {
	if l.in.gap != gapNone {
		l.emit(gapOps[l.in.gap], uop{})
		return
	}
	row := &opInfo[l.in.Op]
	if f := lowerers[row.low]; f != nil {
		f(l, row.arg)
	} else {
		l.ud()
	}
}

func (l *lowering) set(cc uint16) {
	d, put := l.into(l.in.Args[0], 0)
	l.emit(setTab[cc], uop{d: d})
	put()
}

func (l *lowering) jcc(cc uint16) {
	l.relTarget()
	l.emit(jccTab[cc], uop{sc: uint8(cc)})
}

func (l *lowering) bswap() {
	d, sz := slot(l.in.Args[0].(x86asm.Reg))
	l.emit([4]uint16{2: o_bswap_32, 3: o_bswap_64}[sz], uop{d: d})
}

func (l *lowering) scan(op uint16) {
	d, sz := slot(l.in.Args[0].(x86asm.Reg))
	l.emit(op, uop{d: d, s: l.source(l.in.Args[1], sz, slotT0), sc: uint8(sz)})
}

// memory emits an op whose only operand is memory.
func (l *lowering) memory(op uint16) {
	u, _ := l.addr(l.in.Args[0].(x86asm.Mem))
	l.emit(op, u)
}

func (l *lowering) ret() {
	n, popping := l.in.Args[0].(x86asm.Imm)
	switch {
	case popping:
		l.emit(o_ret_i, uop{imm: uint64(uint16(n))})
	case l.shadow != nil && l.co.shadow:
		l.emit(o_sret, uop{})
	default:
		l.emit(o_ret, uop{})
	}
}

func (l *lowering) loop(op uint16) {
	l.relTarget()
	if l.in.AddrSize == 32 && op != o_jecxz {
		// x: 0 loop, 1 loope, 2 loopne
		l.emit(o_loopcx, uop{x: uint8(map[uint16]int{o_loop: 0, o_loope: 1, o_loopne: 2}[op])})
		return
	}
	l.emit(op, uop{})
}

func (l *lowering) softInt() {
	n := uint64(l.in.Args[0].(x86asm.Imm)) & 255
	if n == 3 && l.in.Len == 1 {
		l.emit(o_int3, uop{})
	} else {
		l.emit(o_int, uop{imm: n})
	}
}

func (l *lowering) enter() {
	l.emit(o_enter, uop{imm: uint64(uint16(l.in.Args[0].(x86asm.Imm))), sc: uint8(l.in.Args[1].(x86asm.Imm)) & 31})
}

func (l *lowering) leave() {
	if l.in.DataSize == 16 {
		l.ud()
	} else {
		l.emit(o_leave, uop{})
	}
}

func (l *lowering) relTarget() {
	l.co.tva = l.next + uint64(int64(l.in.Args[0].(x86asm.Rel)))
}

func (l *lowering) alu(row int) {
	in, sz := l.in, l.size()
	f := l.flagIx()
	op := func(form int) uint16 {
		if n := aluTab[row][form][sz][f]; n != 0 {
			return n
		}
		return aluTab[row][form][sz][0]
	}
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		u, x := l.addr(m)
		switch b := in.Args[1].(type) {
		case x86asm.Reg:
			u.s, _ = slot(b)
			l.emit(op(4+x), u)
		case x86asm.Imm:
			u.imm = uint64(b)
			l.emit(op(6+x), u)
		}
		return
	}
	d, _ := slot(in.Args[0].(x86asm.Reg))
	switch b := in.Args[1].(type) {
	case x86asm.Reg:
		s, _ := slot(b)
		if s == d && f == 1 && sz >= 2 && (in.Op == x86asm.XOR || in.Op == x86asm.SUB) {
			l.emit(o_mov_ri_64, uop{d: d})
			return
		}
		l.emit(op(0), uop{d: d, s: s})
	case x86asm.Imm:
		l.emit(op(1), uop{d: d, imm: uint64(b)})
	case x86asm.Mem:
		u, x := l.addr(b)
		if in.Op == x86asm.TEST {
			u.s = d
			l.emit(op(4+x), u)
			return
		}
		u.d = d
		l.emit(op(2+x), u)
	}
}

func (l *lowering) incDec(k int) {
	sz := l.size()
	if m, ok := l.in.Args[0].(x86asm.Mem); ok {
		u, x := l.addr(m)
		l.emit(incmTab[k][sz][x], u)
		return
	}
	d, _ := slot(l.in.Args[0].(x86asm.Reg))
	if !l.need {
		if n := aluTab[k*5][1][sz][1]; n != 0 { // add or sub of 1 without flags
			l.emit(n, uop{d: d, imm: 1})
			return
		}
	}
	l.emit(incTab[k][sz], uop{d: d})
}

func (l *lowering) negNot(neg bool) {
	sz := l.size()
	d, put := l.target(l.in.Args[0], sz)
	if neg {
		l.emit(negTab[sz][l.flagIx()], uop{d: d})
	} else {
		l.emit(notTab[sz], uop{d: d})
	}
	put()
}

func (l *lowering) shift(kind uint16) {
	sz := l.size()
	d, put := l.target(l.in.Args[0], sz)
	form, n := 1, uint64(0)
	if imm, ok := l.in.Args[1].(x86asm.Imm); ok {
		form, n = 0, uint64(imm)&31
		if sz == 3 {
			n = uint64(imm) & 63
		}
	}
	op := shiftTab[kind][form][sz][l.flagIx()]
	if op == 0 || form == 0 && n == 0 {
		// sc: size; x: kind; m: 1 when the count is CL
		l.emit(o_shift, uop{d: d, sc: uint8(sz), x: uint8(kind), m: uint8(form), imm: n})
	} else {
		l.emit(op, uop{d: d, imm: n})
	}
	put()
}

func (l *lowering) doubleShift(op uint16) {
	sz := l.size()
	d, put := l.target(l.in.Args[0], sz)
	s, _ := slot(l.in.Args[1].(x86asm.Reg))
	u := uop{d: d, s: s, sc: uint8(sz), m: 1}
	if imm, ok := l.in.Args[2].(x86asm.Imm); ok {
		u.m, u.imm = 0, uint64(imm)
	}
	l.emit(op, u)
	put()
}

func (l *lowering) mul1(op uint16) {
	sz := l.size()
	s := l.source(l.in.Args[0], sz, slotT0)
	switch {
	case op == o_mul1 && sz == 3:
		op = o_mul_64
	case op == o_mul1 && sz == 2:
		op = o_mul_32
	case op == o_div1 && sz == 3:
		op = o_div_64
	case op == o_div1 && sz == 2:
		op = o_div_32
	}
	l.emit(op, uop{s: s, sc: uint8(sz)})
}

func (l *lowering) imul() {
	in, sz := l.in, l.size()
	if in.Args[1] == nil {
		l.emit(o_imul1, uop{s: l.source(in.Args[0], sz, slotT0), sc: uint8(sz)})
		return
	}
	d, _ := slot(in.Args[0].(x86asm.Reg))
	s := l.source(in.Args[1], sz, slotT0)
	if imm, ok := in.Args[2].(x86asm.Imm); ok {
		l.emit(imulTab[1][sz][l.flagIx()], uop{d: d, s: s, imm: uint64(imm)})
		return
	}
	l.emit(imulTab[0][sz][l.flagIx()], uop{d: d, s: s})
}

func (l *lowering) movzx() {
	d, dsz := slot(l.in.Args[0].(x86asm.Reg))
	to := d
	if dsz == 1 {
		to = slotT0
	}
	if m, ok := l.in.Args[1].(x86asm.Mem); ok {
		u, x := l.addr(m)
		u.d = to
		l.emit(ldzTab[sizeOf(l.in.MemBytes)][x], u)
	} else {
		s, ssz := slot(l.in.Args[1].(x86asm.Reg))
		l.emit([2]uint16{o_movz_8, o_movz_16}[ssz], uop{d: to, s: s})
	}
	if dsz == 1 {
		l.emit(movrrTab[1], uop{d: d, s: slotT0})
	}
}

func (l *lowering) movsx() {
	d, dsz := slot(l.in.Args[0].(x86asm.Reg))
	if m, ok := l.in.Args[1].(x86asm.Mem); ok {
		u, x := l.addr(m)
		u.d = d
		ssz := sizeOf(l.in.MemBytes)
		if ssz == dsz { // movsxd with a 32-bit destination
			l.emit(ldzTab[ssz][x], u)
			return
		}
		l.emit(ldsTab[ssz][dsz][x], u)
		return
	}
	s, ssz := slot(l.in.Args[1].(x86asm.Reg))
	if ssz == dsz {
		l.emit(movrrTab[ssz], uop{d: d, s: s})
		return
	}
	l.emit(movsTab[ssz][dsz], uop{d: d, s: s})
}

func (l *lowering) lea() {
	d, sz := slot(l.in.Args[0].(x86asm.Reg))
	m := l.in.Args[1].(x86asm.Mem)
	m.Segment = 0
	u, x := l.addr(m)
	u.d = d
	l.emit(leaTab[sz][x], u)
}

func (l *lowering) cmov(cc uint16) {
	d, sz := slot(l.in.Args[0].(x86asm.Reg))
	l.emit(cmovTab[cc][sz], uop{d: d, s: l.source(l.in.Args[1], sz, slotT0)})
}

func (l *lowering) push() {
	in := l.in
	switch a := in.Args[0].(type) {
	case x86asm.Imm:
		if in.DataSize == 16 {
			l.emit(o_mov_ri_64, uop{d: slotT0, imm: uint64(a)})
			l.emit(o_pushw, uop{s: slotT0})
			return
		}
		l.emit(o_push_i, uop{imm: uint64(a)})
		return
	case x86asm.Reg:
		if a >= x86asm.ES && a <= x86asm.GS {
			l.emit(o_movseg_r, uop{d: slotT0, sc: 3, x: uint8(a - x86asm.ES)})
			l.emit(o_push_r, uop{s: slotT0})
			return
		}
	}
	if in.DataSize == 16 {
		l.emit(o_pushw, uop{s: l.source(in.Args[0], 1, slotT0)})
		return
	}
	l.emit(o_push_r, uop{s: l.source(in.Args[0], 3, slotT0)})
}

func (l *lowering) pop() {
	in := l.in
	switch a := in.Args[0].(type) {
	case x86asm.Reg:
		switch {
		case a >= x86asm.ES && a <= x86asm.GS:
			l.emit(o_movseg_w, uop{x: uint8(a - x86asm.ES), m: 1})
		case in.DataSize == 16:
			d, _ := slot(a)
			l.emit(o_popw, uop{d: d})
		default:
			d, _ := slot(a)
			l.emit(o_pop_r, uop{d: d})
		}
	case x86asm.Mem:
		n := uint64(8)
		if in.DataSize == 16 {
			n = 2
		}
		if a.Base == x86asm.RSP || a.Base == x86asm.ESP { // the address is that after RSP has moved
			a.Disp += int64(n)
		}
		u, _ := l.addr(a)
		u.imm = n
		l.emit(o_popm, u)
	}
}

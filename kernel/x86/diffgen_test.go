package x86_test

import (
	"encoding/binary"

	"kscope/kernel/x86"
)

// movImm emits a mov of a constant; flags stay.
func (g *generator) movImm(reg int, v uint64) {
	g.emit(binary.LittleEndian.AppendUint64([]byte{0x48 | byte(reg>>3), 0xb8 | byte(reg&7)}, v)...)
}

// picked encodes a form for an instruction whose flags the caller knows; it tries until no kept register is written.
func (g *generator) picked(f form, start uint64) bool {
	for range 20 {
		if b := g.encode(&f, start); b != nil {
			g.emit(b...)
			return true
		}
	}
	return false
}

// shift emits a shift or rotate by 1, by a constant or by cl, with the flags that depend on the count.
func (g *generator) shift(start uint64) {
	op := byte(g.rnd.IntN(8))
	size := []byte{'b', 'v'}[g.rnd.IntN(2)]
	f := form{op: []byte{0xc0}, modrm: 'd', ext: op, size: size, dst: "m"}
	if size == 'v' {
		f.op[0] = 0xc1
	}
	if (op == 2 || op == 3) && g.undef&cf != 0 {
		return
	}
	how := g.rnd.IntN(3)
	count := g.rnd.IntN(256)
	if g.rnd.IntN(2) == 0 {
		count = g.rnd.IntN(70)
	}
	switch how {
	case 0:
		f.op[0] += 0x10
		count = 1
	case 1:
		if !g.writable(x86.RCX) {
			return
		}
		g.emit(0xb1, byte(count))
		g.kept = append(g.kept, x86.RCX)
		defer func() { g.kept = g.kept[:len(g.kept)-1] }()
		f.op[0] += 0x12
	case 2:
		f.imm = 'b'
	}
	b := g.encode(&f, start)
	for b == nil {
		b = g.encode(&f, start)
	}
	if how == 2 {
		b[len(b)-1] = byte(count)
	}
	g.emit(b...)
	width := 8
	if size == 'v' {
		width = operandWidth(b)
	}
	g.shiftFlags(op, width, count)
}

// shiftFlags follows the manual: nothing changes for a masked count of 0, OF is defined for 1 only, and CF is not for a
// shift beyond the operand.
func (g *generator) shiftFlags(op byte, width, count int) {
	mask := 31
	if width == 64 {
		mask = 63
	}
	if count &= mask; count == 0 {
		return
	}
	writes, undef := uint64(cf|of), uint64(0)
	if op >= 4 {
		writes, undef = logic, af
		if op != 7 && count >= width {
			undef |= cf
		}
	}
	if count != 1 {
		undef |= of
	}
	g.flags(writes, undef)
}

// operandWidth reads the operand size off an instruction's prefixes.
func operandWidth(b []byte) int {
	p66 := false
	for _, c := range b {
		switch {
		case c == 0x66:
			p66 = true
		case c == 0x64, c == 0x65, c == 0x67, c == 0xf0, c == 0xf2, c == 0xf3:
		case c >= 0x48 && c < 0x50:
			return 64
		case c >= 0x40 && c < 0x48:
		default:
			if p66 {
				return 16
			}
			return 32
		}
	}
	return 32
}

// doubleShift emits shld or shrd; a count beyond a 16-bit operand would leave the result undefined.
func (g *generator) doubleShift(start uint64) {
	f := form{op: []byte{0x0f, 0xa4 | byte(g.rnd.IntN(2)<<3)}, modrm: 'r', size: 'l', imm: 'b', dst: "m"}
	count := g.rnd.IntN(64)
	if g.rnd.IntN(3) == 0 {
		f.size = 'v'
		count %= 16
	}
	if g.rnd.IntN(2) == 0 {
		if !g.writable(x86.RCX) {
			return
		}
		f.op[1]++
		f.imm = 0
		g.emit(0xb1, byte(count)) // mov cl, count
	}
	g.kept = append(g.kept, x86.RCX)
	defer func() { g.kept = g.kept[:len(g.kept)-1] }()
	b := g.encode(&f, start)
	for b == nil {
		b = g.encode(&f, start)
	}
	if f.imm != 0 {
		b[len(b)-1] = byte(count)
	}
	g.emit(b...)
	if operandWidth(b) != 64 {
		count &= 31
	}
	if count != 0 {
		undef := uint64(af)
		if count != 1 {
			undef |= of
		}
		g.flags(logic, undef)
	}
}

// divide emits a division, mostly with a dividend that fits.
func (g *generator) divide() {
	if !g.writable(x86.RAX) || !g.writable(x86.RDX) {
		return
	}
	signed := byte(g.rnd.IntN(2))
	size := []byte{'b', 'v', 'v'}[g.rnd.IntN(3)]
	f := form{op: []byte{0xf6}, modrm: 'd', ext: 6 + signed, size: size, rm: 'g'}
	if size == 'v' {
		f.op[0] = 0xf7
	}
	b := g.encode(&f, 0)
	if g.rnd.IntN(8) > 0 {
		wide := operandWidth(b)
		switch {
		case size == 'b' && signed == 1:
			g.emit(0x66, 0x98) // cbw
		case size == 'b':
			g.emit(0xb4, 0) // mov ah, 0
		case signed == 1 && wide == 64:
			g.emit(0x48, 0x99) // cqo
		case signed == 1 && wide == 16:
			g.emit(0x66, 0x99)
		case signed == 1:
			g.emit(0x99)
		default:
			g.emit(0xba, 0, 0, 0, 0) // mov edx, 0
		}
	}
	g.emit(b...)
	g.flags(0, arith)
}

// str emits a string move, store or load, with its registers.
func (g *generator) str(start uint64) {
	for _, r := range []int{x86.RAX, x86.RCX, x86.RSI, x86.RDI} {
		if !g.writable(r) {
			return
		}
	}
	g.movImm(x86.RSI, dataVA+0x800+uint64(g.rnd.IntN(0x1800)))
	g.movImm(x86.RDI, dataVA+0x800+uint64(g.rnd.IntN(0x1800)))
	g.movImm(x86.RCX, uint64(g.rnd.IntN(40)))
	if g.rnd.IntN(50) == 0 {
		g.movImm(x86.RDI, dataVA+dataSize-uint64(g.rnd.IntN(40)))
	}
	g.direction()
	op := []byte{0xa4, 0xaa, 0xac}[g.rnd.IntN(3)] | byte(g.rnd.IntN(2))
	g.emit(append(g.stringPrefix(op&1), op)...)
	g.emit(0xfc) // cld
}

func (g *generator) direction() { g.emit(0xfc | byte(g.rnd.IntN(4)/3)) }

func (g *generator) stringPrefix(wide byte) (b []byte) {
	if g.rnd.IntN(3) > 0 {
		b = append(b, 0xf3)
	}
	if wide == 1 {
		b = append(b, [][]byte{nil, {0x66}, {0x48}}[g.rnd.IntN(3)]...)
		if len(b) == 2 && b[1] == 0x66 {
			b[0], b[1] = b[1], b[0]
		}
	}
	return b
}

// scan emits a string compare over memory that is often equal.
func (g *generator) scan() {
	for _, r := range []int{x86.RAX, x86.RCX, x86.RSI, x86.RDI} {
		if !g.writable(r) {
			return
		}
	}
	at := dataVA + 0x800 + uint64(g.rnd.IntN(0x1800))
	g.movImm(x86.RDI, at)
	g.movImm(x86.RSI, at+uint64(g.rnd.IntN(3)/2*8))
	count := g.rnd.IntN(20)
	g.movImm(x86.RCX, uint64(count))
	g.direction()
	op := []byte{0xa6, 0xae}[g.rnd.IntN(2)] | byte(g.rnd.IntN(2))
	b := g.stringPrefix(op & 1)
	rep := false
	for i, c := range b {
		if c == 0xf3 {
			rep = true
			b[i] -= byte(g.rnd.IntN(2))
		}
	}
	g.emit(append(b, op)...)
	if !rep || count != 0 {
		g.flags(arith, 0)
	}
	g.emit(0xfc)
}

// bitTest emits a bit test of memory by a register, and bit scans, after a constant that keeps them in bounds.
func (g *generator) bitTest() {
	r := g.rnd.IntN(8)
	if !g.writable(r) {
		return
	}
	if g.rnd.IntN(2) == 0 { // bsf, bsr of a non-zero register
		g.movImm(r, g.interesting()|1<<g.rnd.IntN(16))
		g.emit(0x0f, 0xbc|byte(g.rnd.IntN(2)), 0xc0|byte(r<<3|r))
		g.flags(zf, arith&^zf)
		return
	}
	g.movImm(r, uint64(int64(g.rnd.IntN(0x2000)-0x1000)))
	op := byte(0xa3 + 8*g.rnd.IntN(4))
	b := []byte{0x0f, op, byte(r<<3) | 4, 0x25}
	b = binary.LittleEndian.AppendUint32(b, dataVA+0x1000+uint32(g.rnd.IntN(0x800)))
	if wide := g.rnd.IntN(3); wide > 0 {
		b = append([]byte{[]byte{0, 0x66, 0x48}[wide]}, b...)
	}
	g.emit(b...)
	g.flags(cf, arith&^(cf|zf))
}

// jump emits a conditional jump over one instruction, often behind a comparison.
func (g *generator) jump(start uint64) {
	if g.rnd.IntN(2) == 0 {
		fuse := []form{{op: []byte{0x39}, modrm: 'r', size: 'v'}, {op: []byte{0x38}, modrm: 'r', size: 'b'}, {op: []byte{0x85}, modrm: 'r', size: 'v'},
			{op: []byte{0x83}, modrm: 'd', ext: 7, size: 'v', imm: 'b'}, {op: []byte{0x29}, modrm: 'r', size: 'v', dst: "m"},
			{op: []byte{0x84}, modrm: 'r', size: 'b'}, {op: []byte{0xff}, modrm: 'd', ext: 1, size: 'v', dst: "m"}}
		f := fuse[g.rnd.IntN(len(fuse))]
		f.rm = 'g'
		if g.picked(f, start) {
			switch f.op[0] {
			case 0x85, 0x84:
				g.flags(logic, af)
			case 0xff:
				g.flags(noCF, 0)
			default:
				g.flags(arith, 0)
			}
		}
	}
	cond := g.rnd.IntN(16)
	if condReads[cond/2]&g.undef != 0 {
		return
	}
	near := g.rnd.IntN(4) == 0
	if near {
		g.emit(0x0f, 0x80|byte(cond), 0, 0, 0, 0)
	} else {
		g.emit(0x70|byte(cond), 0)
	}
	from, before := len(g.code), g.undef
	g.simple(start)
	n := len(g.code) - from
	if near {
		g.code[from-4] = byte(n)
	} else {
		g.code[from-1] = byte(n)
	}
	g.undef |= before
}

// loop emits a counted loop over one or two instructions.
func (g *generator) loop(start uint64) {
	if !g.writable(x86.RCX) {
		return
	}
	g.movImm(x86.RCX, uint64(1+g.rnd.IntN(5)))
	top := len(g.code)
	g.kept = append(g.kept, x86.RCX)
	g.undef = arith // of the round before
	for range 1 + g.rnd.IntN(2) {
		g.simple(start)
	}
	g.kept = g.kept[:len(g.kept)-1]
	if g.rnd.IntN(2) == 0 {
		g.emit(0xe2, byte(top-len(g.code)-2))
		return
	}
	g.emit(0xff, 0xc9) // dec ecx
	g.flags(noCF, 0)
	g.emit(0x75, byte(top-len(g.code)-2))
}

// call emits a call of a function of one instruction that follows in line.
func (g *generator) call(start uint64) {
	g.emit(0xe8, 2, 0, 0, 0)
	g.emit(0xeb, 0) // jmp over the function
	from := len(g.code)
	for {
		f := g.forms[g.rnd.IntN(len(g.forms))]
		if f.size == 'q' || f.reads != 0 || len(f.regs) != 0 || f.rm == 'm' {
			continue
		}
		f.rm = 'g' // memory could be the return address
		b := g.encode(&f, start)
		if b == nil {
			continue
		}
		g.emit(b...)
		g.flags(f.writes, f.undef)
		break
	}
	g.emit(0xc3)
	g.code[from-1] = byte(len(g.code) - from)
}

// popf loads random arithmetic flags.
func (g *generator) popf() {
	v := g.rnd.Uint32() & arith
	g.emit(binary.LittleEndian.AppendUint32([]byte{0x68}, v)...)
	g.emit(0x9d)
	g.undef = 0
}

// frame emits enter and leave, or xlat.
func (g *generator) frame() {
	switch {
	case g.rnd.IntN(2) == 0 && g.writable(x86.RBP):
		g.emit(0xc8, byte(g.rnd.IntN(64)), 0, 0)
		g.emit(0xc9)
	case g.writable(x86.RBX) && g.writable(x86.RAX):
		g.movImm(x86.RBX, dataVA+0x1000+uint64(g.rnd.IntN(0x1000)))
		g.emit(0xd7)
	}
}

// selfModify emits a store into the constant of a mov that follows soon after.
func (g *generator) selfModify(start uint64) {
	r := g.rnd.IntN(8)
	if !g.writable(r) {
		return
	}
	g.emit(0xc6, 0x05, 0, 0, 0, 0, byte(g.rnd.Uint32())) // mov byte ptr [rip+disp], imm8
	next := len(g.code)
	for range g.rnd.IntN(3) {
		g.simple(start)
	}
	g.emit(append([]byte{0xb8 | byte(r)}, g.immediate(4)...)...)
	binary.LittleEndian.PutUint32(g.code[next-5:], uint32(len(g.code)-4+g.rnd.IntN(4)-next))
}

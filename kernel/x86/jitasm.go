//go:build linux && amd64 && !race

package x86

import "encoding/binary"

// Host registers by number. Host code keeps
//
//	rbx  the CPU, cpuBias bytes on, so that the hot fields are within a byte's displacement
//	rbp  the budget
//	rsp  a stack of its own: hostState.returns
//	rax, rcx, rdx  scratch; the others are the guest's: see jitregs.go
const (
	hAX = iota
	hCX
	hDX
	hBX
	hSP
	hBP
	hSI
	hDI
	h8
	h9
	h10
	h11
	h12
	h13
	h14
	h15
)

// Condition codes of jcc, setcc and cmovcc.
const (
	ccB  = 2
	ccAE = 3
	ccE  = 4
	ccNE = 5
	ccBE = 6
	ccA  = 7
	ccS  = 8
	ccLE = 14
)

// hostText is host code being written. Sizes are log2 of bytes.
type hostText struct {
	b  []byte
	at int // its offset in memory
}

// here is the offset of what comes next, and rel the distance from behind it to an offset.
func (t *hostText) here() int      { return t.at + len(t.b) }
func (t *hostText) rel(offset int) { t.u32(uint32(offset - t.here() - 4)) }

func (t *hostText) put(bs ...byte) { t.b = append(t.b, bs...) }
func (t *hostText) u32(v uint32)   { t.b = binary.LittleEndian.AppendUint32(t.b, v) }
func (t *hostText) u64(v uint64)   { t.b = binary.LittleEndian.AppendUint64(t.b, v) }

// opcode writes prefixes and an opcode of one or, behind 0x0f, two bytes; an even one of size 0 is the byte form.
func (t *hostText) opcode(sz uint8, op uint16, reg, index, base uint8, bytes bool) {
	if sz == 1 {
		t.put(0x66)
	}
	rex := reg>>3<<2 | index>>3<<1 | base>>3
	if sz == 3 {
		rex |= 8
	}
	if rex != 0 || bytes {
		t.put(0x40 | rex)
	}
	if op > 0xff {
		t.put(0x0f)
	}
	t.put(byte(op))
}

// rr writes an instruction on two registers, the one in the reg field first.
func (t *hostText) rr(sz uint8, op uint16, reg, rm uint8) {
	t.opcode(sz, op, reg, 0, rm, sz == 0 && (reg >= hSP || rm >= hSP))
	t.put(0xc0 | reg&7<<3 | rm&7)
}

// rm writes an instruction on a register and memory at base+disp.
func (t *hostText) rm(sz uint8, op uint16, reg, base uint8, disp int32) {
	t.opcode(sz, op, reg, 0, base, sz == 0 && reg >= hSP)
	mod := byte(0x80)
	switch {
	case disp == 0 && base&7 != hBP:
		mod = 0
	case disp == int32(int8(disp)):
		mod = 0x40
	}
	t.put(mod | reg&7<<3 | base&7)
	if base&7 == hSP {
		t.put(0x24)
	}
	switch mod {
	case 0x40:
		t.put(byte(disp))
	case 0x80:
		t.u32(uint32(disp))
	}
}

// rmx is rm with memory at base+index<<scale+disp.
func (t *hostText) rmx(sz uint8, op uint16, reg, base, index, scale uint8, disp int32) {
	t.opcode(sz, op, reg, index, base, sz == 0 && reg >= hSP)
	mod := byte(0x80)
	switch {
	case disp == 0 && base&7 != hBP:
		mod = 0
	case disp == int32(int8(disp)):
		mod = 0x40
	}
	t.put(mod|reg&7<<3|hSP, scale<<6|index&7<<3|base&7)
	switch mod {
	case 0x40:
		t.put(byte(disp))
	case 0x80:
		t.u32(uint32(disp))
	}
}

// Opcodes of rr and rm; the size picks the byte form (op-1) where there is one.
const (
	opAdd, opOr, opAnd, opSub, opXor, opCmp = 0x03, 0x0b, 0x23, 0x2b, 0x33, 0x3b // register op= register or memory

	opMov, opStore, opLea = 0x8b, 0x89, 0x8d
	opMovsxd, opTest      = 0x63, 0x85
	opMovzx8, opMovzx16   = 0x1b6, 0x1b7 // behind 0x0f, as all above 0xff
	opMovsx8, opMovsx16   = 0x1be, 0x1bf
	opImul, opImulImm     = 0x1af, 0x69
	opGroup1, opGroup1b   = 0x81, 0x83 // add or adc sbb and sub xor cmp, with an immediate
	opGroup2, opGroup2CL  = 0xc1, 0xd3 // rol ror rcl rcr shl shr sal sar, by an immediate or cl
	opGroup3, opGroup5    = 0xf7, 0xff // test not neg mul div; inc dec call jmp
	opSet, opCmov         = 0x190, 0x140
)

// sized gives the byte form of an opcode when sz is 0.
func sized(sz uint8, op uint16) uint16 {
	if sz == 0 {
		return op - 1
	}
	return op
}

// load moves sz bytes at base+disp to a register, zero-extended.
func (t *hostText) load(sz, reg, base uint8, disp int32) {
	switch sz {
	case 0:
		t.rm(2, opMovzx8, reg, base, disp)
	case 1:
		t.rm(2, opMovzx16, reg, base, disp)
	default:
		t.rm(sz, opMov, reg, base, disp)
	}
}

func (t *hostText) store(sz, reg, base uint8, disp int32) {
	t.rm(sz, sized(sz, opStore), reg, base, disp)
}

// extend sign-extends the low bytes of a register to size to, which is 2 or 3.
func (t *hostText) extend(sz, to, reg, from uint8) {
	switch sz {
	case 0:
		t.rr8(to, opMovsx8, reg, from)
	case 1:
		t.rr(to, opMovsx16, reg, from)
	case 2:
		if to == 3 {
			t.rr(3, opMovsxd, reg, from)
			return
		}
		fallthrough
	default:
		t.rr(to, opMov, reg, from)
	}
}

// rr8 is rr with a byte register as the source.
func (t *hostText) rr8(sz uint8, op uint16, reg, rm uint8) {
	t.opcode(sz, op, reg, 0, rm, rm >= hSP)
	t.put(0xc0 | reg&7<<3 | rm&7)
}

// imm moves a constant to a register; host flags stay.
func (t *hostText) imm(reg uint8, v uint64) {
	switch {
	case v>>32 == 0:
		t.opcode(2, uint16(0xb8|reg&7), 0, 0, reg, false)
		t.u32(uint32(v))
	case v == uint64(int64(int32(v))):
		t.rr(3, 0xc7, 0, reg)
		t.u32(uint32(v))
	default:
		t.opcode(3, uint16(0xb8|reg&7), 0, 0, reg, false)
		t.u64(v)
	}
}

// group1 is op of Intel's group 1 on a register and a signed constant.
func (t *hostText) group1(sz, op, reg uint8, v int32) {
	if v == int32(int8(v)) {
		t.rr(sz, opGroup1b, op, reg)
		t.put(byte(v))
		return
	}
	t.rr(sz, opGroup1, op, reg)
	t.u32(uint32(v))
}

// short writes a conditional jump within the next 127 bytes; land sets its target to here.
func (t *hostText) short(cc uint8) int {
	t.put(0x70|cc, 0)
	return len(t.b)
}

func (t *hostText) shortJmp() int {
	t.put(0xeb, 0)
	return len(t.b)
}

func (t *hostText) land(at int) {
	d := len(t.b) - at
	if d > 127 {
		panic("BUG: a short jump is too long")
	}
	t.b[at-1] = byte(d)
}

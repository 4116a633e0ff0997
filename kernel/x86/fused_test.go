package x86_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kscope/kernel/x86"
)

// fusedMark is in the names of uops that stand for several instructions.
const fusedMark = "_then_"

// TestFused makes code for each fused uop from its name, requires that the decoder finds the uop there, and holds the
// code against the host.
func TestFused(t *testing.T) {
	var names []string
	for _, op := range x86.OpNames() {
		if strings.Contains(op, fusedMark) {
			names = append(names, op)
		}
	}
	if len(names) == 0 {
		t.Skip("no fused uops")
	}
	r := newRig(newPhys(), 3)
	r.seen = map[string]bool{}
	var h runner
	t.Run("host", func(t *testing.T) { h = newHost(t); fusedRuns(t, names, r, h) })
	if h == nil {
		fusedRuns(t, names, r, nil)
	}
	var unused []string
	for _, name := range names {
		if !r.seen[name] {
			unused = append(unused, name)
		}
	}
	if len(unused) > 0 {
		t.Errorf("%d of %d fused uops were not made: %v", len(unused), len(names), unused)
	}
}

func fusedRuns(t *testing.T, names []string, r *rig, h runner) {
	rnd := rand.New(rand.NewPCG(41, 0))
	g := &generator{rnd: rnd}
	for _, name := range names {
		for n := range 6 {
			var code []byte
			for _, part := range strings.Split(name, fusedMark) {
				b := encodeUop(rnd, part)
				if b == nil {
					t.Errorf("%s: no code for %s", name, part)
					break
				}
				code = append(code, b...)
			}
			if strings.LastIndex(name+"_", "_N_") > strings.LastIndex(name+"_", "_F_") {
				code = append(code, 0x45, 0x39, 0xff) // cmp r15d, r15d: nobody reads the flags before
			}
			b := &block{in: fusedState(g, code), undef: map[int]uint64{}}
			b.scan()
			r.chop = []int64{0, 0, 1, 2, 3, 0}[n]
			if h == nil {
				r.run(b.in)
				continue
			}
			want, got := h.run(b.in), r.run(b.in)
			if diff := b.compare(got, want); diff != "" && !inData(want) && !inData(got) {
				t.Errorf("%s: %s", name, b.explain(h, r))
				break
			}
		}
	}
}

// fusedState points rdi and rsp at data that is int3 throughout but for return addresses on the stack; rcx is an index.
func fusedState(g *generator, code []byte) *state {
	s := newState()
	s.code = code
	for i := range s.regs {
		s.regs[i] = g.interesting()
		if g.rnd.IntN(4) == 0 {
			s.regs[i] = codeVA + 0x300
		}
	}
	s.flags |= g.rnd.Uint64() & arith
	s.regs[x86.RSP], s.regs[x86.RDI], s.regs[x86.RCX] = dataVA+0x3000, dataVA+0x1000-g.rnd.Uint64N(0x40), g.rnd.Uint64N(32)
	if g.rnd.IntN(2) == 0 {
		s.regs[x86.RDX] = 0
	}
	for i := range s.data {
		s.data[i] = 0xcc
	}
	for i := 0x2f80; i < 0x3080; i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], codeVA+0x400)
	}
	return s
}

var fusedConds = strings.Fields("o no b ae e ne be a s ns p np l ge le g")

// fixed gives the code of uops without operands to choose.
var fixed = map[string][]byte{"nop": {0x90}, "cdqe": {0x48, 0x98}, "cwde": {0x98}, "cqo": {0x48, 0x99}, "cdq": {0x99}, "ret": {0xc3}, "leave": {0xc9},
	"jmp": {0xeb, 0x40}, "call": {0xe8, 0x40, 0, 0, 0}, "push_i": {0x6a, 0x05}, "div_64": {0x48, 0xf7, 0xf3}, "mul_64": {0x48, 0xf7, 0xe3},
	"div_32": {0xf7, 0xf3}, "mul_32": {0xf7, 0xe3}}

// encodeUop gives one random instruction that becomes the uop; operands are never rdi, rcx or rsp, which address memory.
func encodeUop(rnd *rand.Rand, name string) []byte {
	if b, ok := fixed[name]; ok {
		return b
	}
	f := strings.Split(name, "_")
	free := []int{0, 2, 3, 5, 6, 8, 9, 10, 11, 12, 13}
	e := uopCode{rnd: rnd, reg: free[rnd.IntN(len(free))], rm: free[rnd.IntN(len(free))]}
	cc := byte(max(0, slices.Index(fusedConds, f[len(f)-1])))
	switch f[0] {
	case "jcc":
		return []byte{0x70 | cc, 0x20}
	case "jcmp", "jtest":
		return append(encodeUop(rnd, strings.Join([]string{f[0][1:], f[1], f[2], "F"}, "_")), 0x70|cc, 0x20)
	case "set":
		return e.modrm(8, []byte{0x0f, 0x90 | byte(slices.Index(fusedConds, f[1]))}, 0, "rr")
	case "cmov":
		return e.modrm(size(f[2]), []byte{0x0f, 0x40 | byte(slices.Index(fusedConds, f[1]))}, e.reg, "rr")
	case "mov":
		switch {
		case f[1] == "rr":
			return e.modrm(size(f[2]), []byte{wide(0x88, size(f[2]))}, e.reg, "rr")
		case size(f[2]) == 64:
			return e.modrm(64, []byte{0xc7}, 0, "ri32")
		}
		return e.modrm(size(f[2]), []byte{wide(0xc6, size(f[2]))}, 0, "ri")
	case "movz", "movs":
		op := map[string]byte{"movz8": 0xb6, "movz16": 0xb7, "movs8": 0xbe, "movs16": 0xbf}[f[0]+f[1]]
		if op == 0 {
			return e.modrm(64, []byte{0x63}, e.reg, "rr")
		}
		to := 32
		if f[len(f)-1] == "64" {
			to = 64
		}
		return e.modrm(to, []byte{0x0f, op}, e.reg, "rr")
	case "ldz":
		switch s := size(f[1]); s {
		case 8, 16:
			return e.modrm(32, []byte{0x0f, 0xb6 | byte(s>>4)}, e.reg, "m"+f[2])
		default:
			return e.modrm(s, []byte{0x8b}, e.reg, "m"+f[2])
		}
	case "st":
		return e.modrm(size(f[1]), []byte{wide(0x88, size(f[1]))}, e.reg, "m"+f[2])
	case "sti":
		return e.modrm(size(f[1]), []byte{wide(0xc6, size(f[1]))}, 0, "mi"+f[2])
	case "lea":
		return e.modrm(size(f[1]), []byte{0x8d}, e.reg, "m"+f[2])
	case "inc", "dec":
		form := "rr"
		if f[1] == "m" {
			form = "m" + f[3]
		}
		return e.modrm(size(f[2]), []byte{wide(0xfe, size(f[2]))}, map[string]int{"inc": 0, "dec": 1}[f[0]], form)
	case "push", "pop":
		b := []byte{map[string]byte{"push": 0x50, "pop": 0x58}[f[0]] | byte(e.reg&7)}
		if e.reg >= 8 {
			b = append([]byte{0x41}, b...)
		}
		return b
	case "call", "jmp":
		return e.modrm(32, []byte{0xff}, map[string]int{"call": 2, "jmp": 4}[f[0]], "rr")
	case "cmpxchg":
		return append([]byte{0xf0}, e.modrm(size(f[2]), []byte{0x0f, wide(0xb0, size(f[2]))}, e.reg, "mB")...)
	case "shl", "shr", "sar", "rol", "ror":
		n := map[string]int{"rol": 0, "ror": 1, "shl": 4, "shr": 5, "sar": 7}[f[0]]
		if f[1] == "rc" {
			return e.modrm(size(f[2]), []byte{0xd3}, n, "rr")
		}
		return append(e.modrm(size(f[2]), []byte{0xc1}, n, "rr"), byte(1+rnd.IntN(31)))
	case "imul":
		return e.modrm(size(f[2]), []byte{0x0f, 0xaf}, e.reg, "rr")
	case "neg", "not":
		return e.modrm(size(f[1]), []byte{wide(0xf6, size(f[1]))}, map[string]int{"not": 2, "neg": 3}[f[0]], "rr")
	}
	return e.alu(f)
}

// alu encodes the classic operations and test.
func (e *uopCode) alu(f []string) []byte {
	n := slices.Index(strings.Fields("add or adc sbb and sub xor cmp test"), f[0])
	if n < 0 {
		return nil
	}
	s := size(f[2])
	op := byte(n * 8)
	if n == 8 {
		op = 0x84
	}
	switch form := f[1]; form[:2] {
	case "rr":
		return e.modrm(s, []byte{wide(op, s)}, e.reg, "rr")
	case "rm":
		return e.modrm(s, []byte{wide(op+2, s)}, e.reg, "m"+form[2:])
	case "mr":
		return e.modrm(s, []byte{wide(op, s)}, e.reg, "m"+form[2:])
	default: // ri, mi
		imm, ext := byte(0x80), n
		if n == 8 {
			imm, ext = 0xf6, 0
		}
		return e.modrm(s, []byte{wide(imm, s)}, ext, form)
	}
}

func size(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

func wide(op byte, size int) byte {
	if size > 8 {
		op |= 1
	}
	return op
}

// uopCode holds the registers of an instruction being encoded.
type uopCode struct {
	rnd     *rand.Rand
	reg, rm int
}

// modrm encodes an instruction: form is rr, mB, mX, or ri, ri32, miB, miX with an immediate.
func (e *uopCode) modrm(size int, op []byte, reg int, form string) []byte {
	var b []byte
	rex := byte(0)
	if size == 16 {
		b = append(b, 0x66)
	}
	if size == 64 {
		rex |= 0x48
	}
	if size == 8 || len(op) == 2 && op[1]&0xf7 == 0xb6 {
		rex |= 0x40 // sil and not dh
	}
	rex |= rexBit(reg, 0x44)
	isMem := form[0] == 'm'
	if !isMem {
		rex |= rexBit(e.rm, 0x41)
	}
	if rex != 0 {
		b = append(b, rex)
	}
	b = append(b, op...)
	r := byte(reg&7) << 3
	disp := byte(e.rnd.IntN(64))
	switch {
	case !isMem:
		b = append(b, 0xc0|r|byte(e.rm&7))
	case form[len(form)-1] == 'X':
		b = append(b, 0x44|r, byte(e.rnd.IntN(4)<<6)|1<<3|7, disp)
	default:
		b = append(b, 0x47|r, disp)
	}
	if strings.Contains(form, "i") {
		n := min(size, 32) / 8
		v := uint64(e.rnd.IntN(300) - 150)
		b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:n]...)
	}
	return b
}

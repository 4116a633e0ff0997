package x86_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel/x86"
)

var diffBlocks = flag.Int("diff", 20000, "random blocks of TestHostDiff")
var diffSeed = flag.Uint64("diffseed", 1, "seed of TestHostDiff")

// TestHostDiff runs random blocks of integer instructions on the emulated CPU and on the one that runs the test, and
// compares all registers, flags that are defined, memory, and faults. A failing block is cut to its first bad instruction.
func TestHostDiff(t *testing.T) {
	h := newHost(t)
	r := newRig(newPhys(), 3)
	g := &generator{rnd: rand.New(rand.NewPCG(*diffSeed, 0)), forms: forms()}
	stops, failures := map[string]int{}, 0
	blocks := *diffBlocks
	if raceEnabled {
		blocks /= 10
	}
	for n := range blocks {
		b := g.block()
		want := h.run(b.in)
		stops[want.stop]++
		// In one go, in slices of 1 to 3 instructions, or step by step, unless the block would see TF.
		r.chop, r.step = int64(n%5), n%5 == 4 && !b.pushf
		if diff := b.compare(r.run(b.in), want); diff != "" {
			t.Errorf("block %d, slices of %d, stepped %v: %s", n, r.chop, r.step, b.explain(h, r))
			if failures++; failures >= 10 {
				t.Fatal("enough")
			}
		}
	}
	if stops[""] < blocks/2 || stops["segv"] == 0 || stops["#DE"] == 0 {
		t.Errorf("blocks ended so: %v", stops)
	}
	t.Logf("%d blocks, ended so: %v", blocks, stops)
}

// block is a state with code, and what the code leaves undefined.
type block struct {
	in     *state
	starts []int          // offsets of the instructions
	pushf  bool           // it stores the flags
	undef  map[int]uint64 // flags that are undefined before the instruction at an offset, and at the end
}

// compare says how got differs from what the host did.
func (b *block) compare(got, want *state) string {
	var w []string
	if hostWords(got.stop) != hostWords(want.stop) {
		w = append(w, fmt.Sprintf("stop %q want %q", got.stop, want.stop))
	}
	if got.rip != want.rip {
		w = append(w, fmt.Sprintf("rip %#x want %#x", got.rip, want.rip))
	}
	for i := range 16 {
		if got.regs[i] != want.regs[i] {
			w = append(w, fmt.Sprintf("%s %#x want %#x", regNames[i], got.regs[i], want.regs[i]))
		}
	}
	undef := uint64(arith)
	if u, ok := b.undef[int(want.rip-b.in.rip)]; ok && want.stop != "" && want.stop != "#DE" {
		undef = u
	} else if want.stop == "" {
		undef = b.undef[len(b.in.code)]
	}
	if f := (got.flags ^ want.flags) & (arith | x86.FlagDF) &^ undef; f != 0 {
		w = append(w, fmt.Sprintf("flags %v want %v", flagChange(^got.flags, got.flags, undef)[0], flagChange(^want.flags, want.flags, undef)[0]))
	}
	if c := memChange("", want.data, got.data); c != nil {
		w = append(w, "memory "+strings.Join(c, " "))
	}
	return strings.Join(w, ", ")
}

// explain finds the shortest prefix of the block that fails, and tells it.
func (b *block) explain(h runner, r *rig) string {
	all := b.in.code
	defer func() { b.in.code = all }()
	for i := range b.starts {
		end := len(all)
		if i+1 < len(b.starts) {
			end = b.starts[i+1]
		}
		cut := *b
		in := *b.in
		cut.in, in.code = &in, all[:end]
		if diff := cut.compare(r.run(&in), h.run(&in)); diff != "" {
			code := all[b.starts[i]:end]
			text := "?"
			if inst, err := x86asm.Decode(code, 64); err == nil {
				text = x86asm.GNUSyntax(inst, 0, nil)
			}
			prev := ""
			if i > 0 {
				in.code = all[:b.starts[i]]
				s := h.run(&in)
				prev = fmt.Sprintf("\n  before: regs %x flags %x", s.regs, s.flags)
			}
			return fmt.Sprintf("%s (% x): %s%s\n  block: % x", text, code, diff, prev, all)
		}
	}
	return fmt.Sprintf("only as a whole: % x: %s", all, b.compare(r.run(b.in), h.run(b.in)))
}

// generator makes blocks. Two registers, base and index, and rsp address the data area and are never overwritten.
type generator struct {
	rnd         *rand.Rand
	forms       []form
	code        []byte
	starts      []int
	undefAt     map[int]uint64
	undef       uint64 // flags undefined at this point
	base, index int
	baseVal     uint64
	indexVal    int64
	fs          uint64
	pushf       bool
	kept        []int // further registers that must not be written now
}

func (g *generator) block() *block {
	s := newState()
	rnd := g.rnd
	g.pushf = false
	g.code, g.starts, g.undefAt, g.undef, g.kept = nil, nil, map[int]uint64{}, 0, nil
	g.base = rnd.IntN(16)
	for g.index = rnd.IntN(16); g.index == x86.RSP || g.index == g.base; {
		g.index = rnd.IntN(16)
	}
	g.baseVal = dataVA + 0x1000 + uint64(rnd.IntN(0x1000))
	if rnd.IntN(3) == 0 {
		g.baseVal = dataVA + 0x2000 - uint64(rnd.IntN(8)) // across a page
	}
	g.indexVal = int64(rnd.IntN(64)) - 16
	if rnd.IntN(2) == 0 {
		g.indexVal &= 63
	}
	g.fs = uint64(rnd.IntN(0x100))
	for i := range s.regs {
		s.regs[i] = g.interesting()
	}
	s.regs[x86.RSP] = dataVA + 0x2800 + uint64(rnd.IntN(0x800))
	s.regs[g.base], s.regs[g.index] = g.baseVal, uint64(g.indexVal)
	s.fs, s.gs = g.fs, g.fs
	for _, f := range []uint64{cf, pf, af, zf, sf, of} {
		if rnd.IntN(2) == 0 {
			s.flags |= f
		}
	}
	for i := 0; i < dataSize; i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], g.interesting())
	}
	if rnd.IntN(4) == 0 {
		s.rip = codeVA + 0x1000 - uint64(rnd.IntN(64)) // across a page
	}
	for range 1 + rnd.IntN(12) {
		g.step(s.rip)
	}
	s.code = g.code
	g.undefAt[len(g.code)] |= g.undef
	return &block{in: s, pushf: g.pushf, starts: g.starts, undef: g.undefAt}
}

func (g *generator) interesting() uint64 {
	v := g.rnd.Uint64()
	switch g.rnd.IntN(8) {
	case 0:
		return v & 0xff
	case 1:
		return uint64(int64(int8(v)))
	case 2:
		return 1 << (v & 63)
	case 3:
		return 1<<(v&63) - 1
	case 4:
		return uint64(int64(int32(v)))
	}
	return v
}

// emit appends one instruction.
func (g *generator) emit(b ...byte) {
	g.starts = append(g.starts, len(g.code))
	g.undefAt[len(g.code)] |= g.undef
	g.code = append(g.code, b...)
}

func (g *generator) flags(writes, undef uint64) { g.undef = g.undef&^writes | undef }

func (g *generator) writable(r int) bool {
	return r != g.base && r != g.index && r != x86.RSP && !slices.Contains(g.kept, r)
}

// step emits one random instruction, with what it needs before it.
func (g *generator) step(start uint64) {
	switch g.rnd.IntN(26) {
	case 0, 1:
		g.shift(start)
	case 2:
		g.doubleShift(start)
	case 3:
		g.divide()
	case 4:
		g.str(start)
	case 5:
		g.scan()
	case 6:
		g.bitTest()
	case 7, 8:
		g.jump(start)
	case 9:
		g.loop(start)
	case 10:
		g.call(start)
	case 11:
		g.popf()
	case 12:
		g.frame()
	case 13:
		g.selfModify(start)
	default:
		g.simple(start)
	}
}

// simple emits an instruction of the table whose conditions hold.
func (g *generator) simple(start uint64) {
	for {
		f := &g.forms[g.rnd.IntN(len(g.forms))]
		if f.reads&g.undef != 0 || slices.ContainsFunc(f.regs, func(r int) bool { return !g.writable(r) }) {
			continue
		}
		if b := g.encode(f, start); b != nil {
			g.pushf = g.pushf || f.name == "pushfq"
			g.emit(b...)
			g.flags(f.writes, f.undef)
			return
		}
	}
}

// encode gives one random encoding of f at the end of the code, or nil when it would write a register that is kept.
func (g *generator) encode(f *form, start uint64) []byte {
	e := encoding{g: g, lock: f.lock && g.rnd.IntN(4) == 0, pfx: f.pfx}
	wide := 0 // operand size in bytes
	switch f.size {
	case 'b':
		wide = 1
	case 'v':
		wide = 2 << g.rnd.IntN(3)
	case 'l':
		wide = 4 << g.rnd.IntN(2)
	case 'q':
		wide = []int{2, 8}[g.rnd.IntN(8)/7^1]
	}
	e.p66 = wide == 2
	if wide == 8 && f.size != 'q' {
		e.rex |= 0x48
	}
	if g.rnd.IntN(6) == 0 {
		e.rex |= 0x40 // an empty REX changes what byte registers 4..7 are
	}
	e.op = slices.Clone(f.op)
	reg, rm, isMem := g.rnd.IntN(16), g.rnd.IntN(16), false
	switch f.modrm {
	case '+':
		e.op[len(e.op)-1] |= byte(reg & 7)
		e.rex |= rexBit(reg, 0x41)
	case 'd', 'r':
		isMem = f.rm == 'm' || f.rm == 0 && g.rnd.IntN(2) == 0
		if f.modrm == 'd' {
			reg = int(f.ext)
		} else {
			e.rex |= rexBit(reg, 0x44)
		}
	}
	rmSize := f.rmSize
	if rmSize == 0 {
		rmSize = f.size
	}
	immLen := immLength(f.imm, wide)
	if isMem {
		e.memory(reg, start, immLen)
	} else {
		e.lock = false
		if f.modrm == 'd' || f.modrm == 'r' {
			e.rex |= rexBit(rm, 0x41)
			e.modrm = []byte{0xc0 | byte(reg&7)<<3 | byte(rm&7)}
		}
	}
	for _, d := range f.dst {
		n, byteReg := reg, f.size == 'b'
		if d == 'm' {
			if isMem {
				continue
			}
			n, byteReg = rm, rmSize == 'b'
		}
		if byteReg && e.rex == 0 && n >= 4 && n < 8 {
			n -= 4
		}
		if !g.writable(n) {
			return nil
		}
	}
	return append(e.bytes(), g.immediate(immLen)...)
}

func rexBit(reg int, bit byte) byte {
	if reg >= 8 {
		return bit
	}
	return 0
}

func immLength(kind byte, wide int) int {
	switch {
	case kind == 0:
		return 0
	case kind == 'b':
		return 1
	case kind == 'v' && wide == 8:
		return 8
	}
	return min(wide, 4)
}

func (g *generator) immediate(n int) []byte {
	return binary.LittleEndian.AppendUint64(nil, g.interesting())[:n]
}

// encoding collects the parts of an instruction.
type encoding struct {
	g         *generator
	lock, p66 bool
	p67       bool
	pfx, seg  byte
	rex       byte
	op, modrm []byte
	ripAt     int // where in modrm a rip-relative displacement stands; its target then is ripTo
	ripTo     uint64
	start     uint64
	immLen    int
}

func (e *encoding) bytes() []byte {
	var b []byte
	for _, p := range []struct {
		on bool
		b  byte
	}{{e.seg != 0, e.seg}, {e.p66, 0x66}, {e.p67, 0x67}, {e.lock, 0xf0}, {e.pfx != 0, e.pfx}, {e.rex != 0, e.rex}} {
		if p.on {
			b = append(b, p.b)
		}
	}
	b = append(b, e.op...)
	if e.ripAt != 0 {
		next := e.start + uint64(len(e.g.code)+len(b)+len(e.modrm)+e.immLen)
		binary.LittleEndian.PutUint32(e.modrm[e.ripAt:], uint32(e.ripTo-next))
	}
	return append(b, e.modrm...)
}

// memory makes a memory operand of any shape; one in 80 lies outside memory.
func (e *encoding) memory(reg int, start uint64, immLen int) {
	g := e.g
	e.start, e.immLen = start, immLen
	target := dataVA + 0x800 + uint64(g.rnd.IntN(0x2000))
	if g.rnd.IntN(4) == 0 {
		target = dataVA + 0x1000*uint64(1+g.rnd.IntN(2)) - uint64(g.rnd.IntN(10))
	}
	if g.rnd.IntN(80) == 0 {
		target = dataVA + dataSize - uint64(g.rnd.IntN(6))
	}
	if g.rnd.IntN(8) == 0 {
		e.seg = []byte{0x64, 0x65}[g.rnd.IntN(2)]
		target -= g.fs
	}
	e.p67 = g.rnd.IntN(16) == 0
	r := byte(reg&7) << 3
	disp32 := func(mod byte, v uint64) { e.modrm = binary.LittleEndian.AppendUint32(append(e.modrm, mod), uint32(v)) }
	switch g.rnd.IntN(6) {
	case 0: // rip
		e.modrm, e.ripAt, e.ripTo = []byte{r | 5, 0, 0, 0, 0}, 1, target
	case 1: // absolute
		e.modrm = []byte{r | 4}
		disp32(0x25, target)
	case 2: // index*scale + disp32
		scale := g.rnd.IntN(4)
		e.rex |= rexBit(g.index, 0x42)
		e.modrm = []byte{r | 4}
		disp32(byte(scale<<6|g.index&7<<3|5), target-uint64(g.indexVal)<<scale)
	case 3, 4: // base + index*scale + disp
		scale := g.rnd.IntN(4)
		e.rex |= rexBit(g.index, 0x42) | rexBit(g.base, 0x41)
		e.modrm = []byte{r | 4, byte(scale<<6 | g.index&7<<3 | g.base&7)}
		e.displace(target - g.baseVal - uint64(g.indexVal)<<scale)
	default: // base + disp
		e.rex |= rexBit(g.base, 0x41)
		e.modrm = []byte{r | byte(g.base&7)}
		if g.base&7 == 4 {
			e.modrm = append(e.modrm, 0x24)
		}
		e.displace(target - g.baseVal)
	}
}

// displace adds a displacement behind ModRM and SIB: none or a byte (then not exactly the wanted one), or 4 bytes.
func (e *encoding) displace(d uint64) {
	switch n := e.g.rnd.IntN(4); {
	case n == 0 && e.g.base&7 != 5:
	case n == 1:
		e.modrm[0] |= 0x40
		e.modrm = append(e.modrm, byte(e.g.rnd.Uint32()))
	default:
		e.modrm[0] |= 0x80
		e.modrm = binary.LittleEndian.AppendUint32(e.modrm, uint32(d))
	}
}

// TestCountDiff runs random blocks in one go, in slices and step by step, without the host: end state and the count of
// instructions agree.
func TestCountDiff(t *testing.T) {
	r := newRig(newPhys(), 3)
	g := &generator{rnd: rand.New(rand.NewPCG(99, 0)), forms: forms()}
	for n := range 2000 {
		b := g.block()
		var want *state
		var count uint64
		for _, chop := range []int64{0, 1, 2, 5, -1} {
			r.chop, r.step = chop, chop < 0
			if r.step && b.pushf {
				continue
			}
			before := r.c.Insns
			got := r.run(b.in)
			took := r.c.Insns - before
			if chop == 0 {
				want, count = got, took
				continue
			}
			if diff := b.compare(got, want); diff != "" || took != count || got.stop != want.stop {
				t.Fatalf("block %d, slices of %d: %d instructions, want %d; %s; code % x", n, chop, took, count, diff, b.in.code)
			}
		}
	}
}

package x86_test

import (
	"math/rand/v2"
	"slices"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// program is a world's memory and schedule.
type program struct {
	*generator
	seed  uint64
	p     *mem.Phys
	cpus  int
	steps []wStep
	msrs  [][2]uint64
	regs  [16]uint64

	ordered, keepStack, stopOnStore, unflushed, traps bool

	leaves  map[uint64]uint64 // page tables by va>>21
	windows []uint64          // those that the code sees
	space   [2]uint64         // for cr3
	frames  []uint64          // all that is compared
	remaps  []remap
	tramp   x86.Trampoline
	way     []byte // the text of the piece up to a gate
}

type remap struct{ va, pte uint64 }

func newWorldRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

func newProgram(seed uint64) *program {
	rnd := newWorldRand(seed)
	g := &program{generator: &generator{rnd: rnd, forms: forms()}, seed: seed, cpus: 1 + int(seed&1)}
	g.ordered, g.keepStack, g.stopOnStore = rnd.IntN(2) == 0, rnd.IntN(4) == 0, rnd.IntN(2) == 0
	g.traps, g.unflushed = rnd.IntN(3) == 0, rnd.IntN(3) == 0
	g.buildWorld()
	g.base = rnd.IntN(16)
	for g.base == x86.RSP {
		g.base = rnd.IntN(16)
	}
	for g.index = rnd.IntN(16); g.index == x86.RSP || g.index == g.base; {
		g.index = rnd.IntN(16)
	}
	g.baseVal, g.indexVal, g.fs = dataVA+0x1000+uint64(rnd.IntN(0x1000)), int64(rnd.IntN(64)), uint64(rnd.IntN(0x100))
	g.msrs = [][2]uint64{{0xc0000081, 0x0020_0010_0000_0000}, {0xc0000082, kernVA + 0x180}, {0xc0000084, 0x4700 &^ (rnd.Uint64() & 0x300)},
		{0xc0000100, g.fs}, {0xc0000101, g.fs}, {0xc0000102, g.fs + 0x100}}
	g.possibleRemaps()
	g.handlers()
	for i := range uint64(numKern) {
		g.slot(kernSlots+i*slotSize, true)
	}
	for i := range uint64(numUser) {
		g.slot(codeVA+i*slotSize, false)
	}
	g.copies()
	g.fillData()
	for r := range g.regs {
		g.regs[r] = g.interesting()
	}
	for range 50 {
		s := wStep{cpu: rnd.IntN(g.cpus), n: 1 + rnd.Int64N(120), arg: rnd.Uint64()}
		if rnd.IntN(2) == 0 {
			s.what = rnd.IntN(numWhat)
		}
		if rnd.IntN(3) == 0 {
			s.n = 1 + rnd.Int64N(6)
		}
		g.steps = append(g.steps, s)
	}
	return g
}

// at writes code to physical memory.
func (g *program) at(va uint64, b []byte) {
	frames, base := kernFrames, uint64(kernVA)
	if va < dataVA {
		frames, base = codeFrames, codeVA
	}
	for i, c := range b {
		off := va - base + uint64(i)
		g.p.PutU8(frames[off>>12]<<12+off&0xfff, c)
	}
}

// handlers writes what is at the start of the kernel's code, and the shadow text.
func (g *program) handlers() {
	jmp := func(from, to uint64) []byte { return put32([]byte{0xe9}, to-from-5) }
	inc := func(n uint64) []byte { return put32([]byte{0x48, 0xff, 0x04, 0x25}, kdataVA+n) }
	iret := []byte{0x48, 0xcf}
	g.at(kernVA, jmp(kernVA, kernVA+0x200))
	g.at(kernVA+0x40, jmp(kernVA+0x40, kernVA+0x200))
	g.at(kernVA+0x80, slices.Concat(inc(0x70), put32([]byte{0xf6, 0x04, 0x25}, kdataVA+0x70), []byte{7, 0x75, 9, 0x48, 0x81, 0x64, 0x24, 0x10, 0xff, 0xfe, 0xff, 0xff}, iret))
	g.at(kernVA+0xc0, slices.Concat(inc(0x78), iret))
	g.at(kernVA+0x100, slices.Concat(inc(0x80), iret))
	g.at(kernVA+0x140, slices.Concat([]byte{0x50}, inc(0x90), []byte{0x58}, iret))
	g.at(kernVA+0x180, slices.Concat([]byte{0x0f, 0x01, 0xf8}, inc(0x88), put32([]byte{0xf6, 0x04, 0x25}, kdataVA+0x88), []byte{1, 0x75, 6, 0x0f, 0x01, 0xf8, 0x48, 0x0f, 0x07},
		jmp(kernVA+0x180+3+8+8+8, kernVA+0x200)))

	g.code, g.starts, g.undefAt = nil, nil, map[int]uint64{}
	g.emit(put32([]byte{0x48, 0xc7, 0xc4}, stackA)...)
	g.emit(put32([]byte{0x48, 0x8b, 0x04, 0x25}, wordCount)...)
	g.emit(0x48, 0xff, 0xc0)
	g.emit(put32([]byte{0x48, 0x89, 0x04, 0x25}, wordCount)...)
	g.emit(0x83, 0xe0, 63)
	g.emit(put32([]byte{0x48, 0x8b, 0x04, 0xc5}, slotTable)...)
	byRet := g.rnd.IntN(2) == 0
	if byRet {
		g.emit(0x50)
	} else {
		g.emit(put32([]byte{0x48, 0x89, 0x04, 0x25}, wordScratch)...)
	}
	g.movImm(g.base, g.baseVal)
	g.movImm(g.index, uint64(g.indexVal))
	if byRet {
		g.emit(0xc3)
	} else {
		g.emit(put32([]byte{0xff, 0x24, 0x25}, wordScratch)...)
	}
	g.at(kernVA+0x200, g.code)

	callGate := func(at, n uint64) []byte { return put32([]byte{0xe8}, gateVA+n*16-at-5) }
	g.at(shadowVA, slices.Repeat([]byte{0x90}, 0x1000))
	for i := range uint64(4) {
		at := shadowVA + i*0x40
		save := []byte{0x48, 0x8d, 0x64, 0x24, 0xe0, 0x48, 0x89, 0x04, 0x24, 0x48, 0x89, 0x4c, 0x24, 8, 0x48, 0x89, 0x7c, 0x24, 16} // lea; mov rax, rcx, rdi
		load := []byte{0x48, 0x8b, 0x04, 0x24, 0x48, 0x8b, 0x4c, 0x24, 8, 0x48, 0x8b, 0x7c, 0x24, 16, 0x48, 0x8d, 0x64, 0x24, 0x20, 0xc3}
		if i == 2 {
			save, load = []byte{0x57}, []byte{0x5f, 0xc3}
		}
		n := []uint64{0, 2, 4, 7}[i]
		if g.rnd.IntN(2) == 0 {
			n = g.rnd.Uint64N(12)
		}
		if at == straightVA {
			g.way = slices.Concat(save, callGate(at+uint64(len(save)), n))
		}
		g.at(at, slices.Concat(save, callGate(at+uint64(len(save)), n), load))
	}
	g.trampoline()
}

// trampoline writes the text that a Trampoline stands for.
func (g *program) trampoline() {
	t := x86.Trampoline{Gate: gateVA + 16*g.rnd.Uint64N(12), Frame: 0xb0, Back: g.rnd.Uint64N(9), Op: g.rnd.Uint64N(1 << 31), Lea: 8}
	sp := func(op []byte, reg int, off uint64) []byte {
		return put32(append(append([]byte{0x48 | byte(reg>>3)<<2}, op...), 0x84|byte(reg&7)<<3, 0x24), off)
	}
	regs := []int{x86.RBP, x86.R9, x86.R8, x86.RAX, x86.RCX, x86.RDX, x86.RSI, x86.RDI}
	b := sp([]byte{0x8d}, x86.RSP, -t.Frame)
	for _, r := range regs {
		off, _ := x86.FrameReg(uint8(r))
		b = append(b, sp([]byte{0x89}, r, off)...)
	}
	b = slices.Concat(b, sp([]byte{0x8b}, x86.RDI, t.Frame), sp([]byte{0x89}, x86.RDI, x86.FrameIP), sp([]byte{0xc7}, 0, x86.FrameCS), make([]byte, 4),
		sp([]byte{0x8d}, x86.RCX, t.Frame+8), sp([]byte{0x89}, x86.RCX, x86.FrameSP), sp([]byte{0x8b}, x86.RSI, t.Frame+8),
		put32([]byte{0x48, 0x8d, 0xbf}, -t.Back), put32([]byte{0xba}, t.Op), []byte{0x48, 0x89, 0xe1})
	b = append(b, put32([]byte{0xe8}, t.Gate-trampVA-uint64(len(b))-5)...)
	t.From = trampVA + uint64(len(b))
	for _, r := range regs {
		off, _ := x86.FrameReg(uint8(r))
		b = append(b, sp([]byte{0x8b}, r, off)...)
	}
	g.at(trampVA, slices.Concat(b, sp([]byte{0x8d}, x86.RSP, t.Frame), []byte{0xc3}))
	g.tramp = t
}

// shadow is the address of a piece of shadow text to call.
func (g *program) shadow() uint64 {
	if g.rnd.IntN(3) == 0 {
		return trampVA
	}
	return shadowVA + g.rnd.Uint64N(4)*0x40
}

func (g *program) possibleRemaps() {
	set := func(va, frame, bits uint64) { g.remaps = append(g.remaps, remap{va, frame<<12 | bits}) }
	const rw = mem.P | mem.RW
	for i, alt := range []uint64{1: altData, 3: altData + 1} {
		if alt == 0 {
			continue
		}
		va := dataVA + uint64(i)<<12
		for range 3 {
			set(va, dataFrames[i], rw|mem.US)
		}
		set(va, alt, rw|mem.US)
		set(va, alt, rw|mem.US|mem.A|mem.D)
		set(va, dataFrames[i], mem.P|mem.US)
		set(va, alt, mem.P|mem.US)
		set(va, alt, rw)
		set(va, 0, 0)
	}
	for i, alt := range []uint64{2: altCode, 3: altCode + 1} {
		if alt == 0 {
			continue
		}
		va := kernVA + uint64(i)<<12
		for range 3 {
			set(va, kernFrames[i], rw|mem.G)
			set(va, alt, rw|mem.G)
		}
		set(va, kernFrames[i], mem.P|mem.G)
		set(va, alt, rw)
		set(va, kernFrames[i], rw|mem.NX)
		set(va, kernFrames[i], 0)
	}
	for range 3 {
		set(kdataVA+0x7000, kdataFrames[7], rw|mem.G)
	}
	set(kdataVA+0x7000, kdataFrames[3], rw|mem.G) // an alias of a stack
	set(kdataVA+0x7000, kernFrames[1], rw|mem.G)  // and of code
	set(kdataVA+0x7000, kdataFrames[7], mem.P)
	set(codeVA+0x1000, codeFrames[1], rw|mem.US)
	set(codeVA+0x1000, otherCode, rw|mem.US)
	set(codeVA+0x1000, otherCode, rw)
}

// slot writes random code that goes elsewhere at its end.
func (g *program) slot(va uint64, kernel bool) {
	g.code, g.starts, g.undefAt, g.undef, g.kept = nil, nil, map[int]uint64{}, 0, nil
	if va%(2*slotSize) == 0 || kernel {
		g.emit(0x0f, 0x1f, 0x44, 0, 0)
	}
	limit := g.rnd.IntN(0xc0)
	for n := g.rnd.IntN(14); n > 0 && len(g.code) < limit; n-- {
		switch k := g.rnd.IntN(10); {
		case k < 5:
			g.step(va)
		case kernel:
			g.kernelOp(va)
		default:
			g.userOp(va)
		}
		g.undef = 0
	}
	g.terminate(va, kernel)
	if len(g.code) > slotSize {
		panic("BUG: a slot is too small")
	}
	for len(g.code) < slotSize-9 && g.rnd.IntN(6) > 0 {
		g.code = append(g.code, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0)
	}
	for len(g.code) < slotSize {
		g.code = append(g.code, 0x90)
	}
	if !kernel && va+slotSize > codeVA+codeSize {
		g.code = g.code[:codeVA+codeSize-va]
	}
	g.at(va, g.code)
}

// target is the beginning of a slot, mostly a near one.
func (g *program) target(va uint64, kernel bool) uint64 {
	base, n := uint64(kernSlots), uint64(numKern)
	if !kernel {
		base, n = codeVA, numUser
	}
	i := g.rnd.Uint64N(n)
	if g.rnd.IntN(3) > 0 {
		i = min(n-1, (va-base)/slotSize+g.rnd.Uint64N(4)-min(2, (va-base)/slotSize))
	}
	return base + i*slotSize
}

func (g *program) rel(va uint64, op []byte, to uint64) {
	g.emit(put32(op, to-va-uint64(len(g.code)+len(op)+4))...)
}

// terminate ends a slot.
func (g *program) terminate(va uint64, kernel bool) {
	for range g.rnd.IntN(4) {
		switch g.rnd.IntN(6) {
		case 0, 1:
			g.rel(va, []byte{0x0f, 0x80 | byte(g.rnd.IntN(16))}, g.target(va, kernel))
		case 2, 3:
			g.rel(va, []byte{0xe8}, g.target(va, kernel))
		case 4:
			r := g.free()
			g.movImm(r, g.target(va, kernel))
			g.emit(slices.Concat(rexB(r), []byte{0xff, 0xd0 | byte(r&7)})...)
		case 5:
			g.simple(va)
		}
	}
	switch k := g.rnd.IntN(12); {
	case k < 5:
		g.emit(0xc3)
	case k == 5:
		g.emit(0xc2, byte(8*g.rnd.IntN(4)), 0)
	case k == 6:
		r := g.free()
		g.movImm(r, g.target(va, kernel))
		g.emit(slices.Concat(rexB(r), []byte{0xff, 0xe0 | byte(r&7)})...)
	case k == 7 && kernel:
		g.emit(put32([]byte{0xff, 0x24, 0x25}, slotTable+8*g.rnd.Uint64N(64))...)
	case k == 8:
		if len(g.code) < 120 {
			g.emit([]byte{0xe2, 0xe3, 0xe1, 0xe0}[g.rnd.IntN(4)], byte(-len(g.code)-2))
		}
	case k == 9: // into what is behind
	default:
		g.rel(va, []byte{0xe9}, g.target(va, kernel))
	}
}

func rexB(r int) []byte {
	if r >= 8 {
		return []byte{0x41}
	}
	return nil
}

// free is a register that may be overwritten.
func (g *program) free() int {
	for {
		if r := g.rnd.IntN(16); g.writable(r) {
			return r
		}
	}
}

// copies fills the frames that take the place of others: the same code with small differences, so that one sees which it was.
func (g *program) copies() {
	other := func(to, from uint64) {
		b := *g.p.Page(from)
		for range 20 {
			b[g.rnd.IntN(len(b))] ^= byte(g.rnd.IntN(256))
		}
		g.p.WriteAt(to<<12, b[:])
	}
	other(altCode, kernFrames[1]) // of another page: shifted
	other(altCode+1, kernFrames[3])
	other(altCode, kernFrames[2])
	other(otherCode, codeFrames[1])
}

// fillData has words of data, and stacks of addresses of code.
func (g *program) fillData() {
	var words []uint64
	for i := range uint64(numKern) {
		words = append(words, kernSlots+i*slotSize)
	}
	frame := func(f uint64, value func() uint64) {
		for off := uint64(0); off < 0x1000; off += 8 {
			g.p.PutU64(f<<12+off, value())
		}
	}
	for _, f := range slices.Concat(dataFrames, []uint64{altData, altData + 1, otherData, 0x50}) {
		frame(f, g.interesting)
	}
	for _, f := range kdataFrames[1:] {
		frame(f, func() uint64 { return words[g.rnd.IntN(len(words))] })
	}
	e := kdataFrames[0] << 12
	for i := range uint64(64) {
		g.p.PutU64(e+0x100+i*8, words[g.rnd.IntN(len(words))])
	}
	for i := range uint64(4) {
		g.p.PutU64(e+0x20+i*8, stackB-8*g.rnd.Uint64N(64))
	}
}

package x86_test

import (
	"slices"

	"kscope/kernel/x86"
)

func (g *program) one(bs ...[]byte) { g.emit(bs[g.rnd.IntN(len(bs))]...) }

// abs writes an instruction whose operand is the memory at an absolute address, with a register.
func (g *program) abs(op []byte, reg int, va uint64) {
	rex := byte(0x48)
	if reg >= 8 {
		rex |= 4
	}
	b := []byte{rex}
	if op[0] == 0xf0 || op[0] == 0xf3 || op[0] == 0x65 || op[0] == 0x66 {
		b, op = []byte{op[0], rex}, op[1:]
	}
	g.emit(put32(append(append(b, op...), byte(reg&7)<<3|4, 0x25), va)...)
}

// crReg is mov to (0x22) or from (0x20) control register n.
func (g *program) crReg(op byte, n, r int) {
	g.emit(slices.Concat(rexB(r), []byte{0x0f, op, 0xc0 | byte(n)<<3 | byte(r&7)})...)
}

// kernelOp emits what only a kernel does.
func (g *program) kernelOp(va uint64) {
	ops := []func(uint64){g.interruptOps, g.flagOps, g.msrOps, g.controlOps, g.segmentOps, g.trapOps, g.farOps, g.perCPU, g.locks, g.stackOps, g.stackOps,
		g.remapOps, g.patchOps, g.shadowOps, g.longStrings, g.groupOps, g.groupOps}
	ops[g.rnd.IntN(len(ops))](va)
}

// userOp emits what a user program does to its kernel.
func (g *program) userOp(va uint64) {
	switch g.rnd.IntN(8) {
	case 0, 1:
		if g.writable(x86.RCX) && g.writable(x86.R11) {
			g.emit(0x0f, 0x05)
		}
	case 2:
		g.flagOps(va)
	case 3:
		g.perCPU(va)
	case 4:
		g.trapOps(va)
	case 5:
		g.groupOps(va)
	case 6:
		g.longStrings(va)
	case 7:
		g.one([]byte{0x0f, 0x01, 0xc1}, []byte{0xf4}, []byte{0xfa}, []byte{0xfb}, []byte{0x0f, 0x20, 0xd8}, []byte{0x0f, 0x01, 0xf8}, []byte{0xf3, 0x90}, []byte{0x0f, 0xa2})
	}
}

func (g *program) interruptOps(va uint64) {
	switch g.rnd.IntN(6) {
	case 0, 1:
		g.emit(0xfa)
	case 2, 3:
		g.emit(0xfb)
	case 4:
		g.emit(0xfb)
		g.one([]byte{0xf4}, []byte{0xfa}, []byte{0x90}, []byte{0x9c}, []byte{0xfb}, []byte{0xc3}, []byte{0xcc}, []byte{0xf3, 0x90})
	case 5:
		g.one([]byte{0xf4}, []byte{0xf3, 0x90}, []byte{0x0f, 0x06}, []byte{0x0f, 0x09})
	}
}

// flagOps change flags on the stack.
func (g *program) flagOps(va uint64) {
	mask := g.rnd.Uint64() & (arith | x86.FlagIF | x86.FlagDF | x86.FlagAC | x86.FlagID)
	if g.rnd.IntN(8) == 0 {
		mask ^= []uint64{x86.FlagNT, x86.FlagIOPL, x86.FlagRF}[g.rnd.IntN(3)]
	}
	if g.traps && g.rnd.IntN(3) == 0 {
		mask |= x86.FlagTF
	}
	g.emit(0x9c)
	g.emit(put32([]byte{0x81, 0x34, 0x24}, mask)...)
	if g.rnd.IntN(5) == 0 {
		g.emit(0x66, 0x9d)
		g.emit(0x66, 0x9c)
	}
	g.emit(0x9d)
}

func (g *program) msrOps(va uint64) {
	if !g.writable(x86.RAX) || !g.writable(x86.RCX) || !g.writable(x86.RDX) {
		return
	}
	msrs := []uint64{0xc0000100, 0xc0000101, 0xc0000102, 0xc0000103, 0x830, 0x831, 0x831, 0x999, 0xc0000082, 0xc0000084, 0x10}
	n := msrs[g.rnd.IntN(len(msrs))]
	switch g.rnd.IntN(6) {
	case 0:
		g.one([]byte{0x0f, 0x31}, []byte{0x0f, 0x01, 0xf9}, []byte{0x0f, 0xa2})
	case 1:
		g.emit(put32([]byte{0xb9}, n)...)
		g.emit(0x0f, 0x32)
	case 2:
		g.one([]byte{0x0f, 0x01, 0xf8}, []byte{0xf3, 0x0f, 0xae, 0xd0}, []byte{0xf3, 0x48, 0x0f, 0xae, 0xca}, []byte{0xf3, 0x0f, 0xae, 0xc1})
	case 3:
		g.emit(0x0f, 0x01, 0xf8)
	default:
		v := g.rnd.Uint64N(0x200)
		switch n {
		case 0xc0000082:
			v = []uint64{kernVA + 0x180, 1 << 60}[g.rnd.IntN(8)/7]
		case 0xc0000084:
			v = g.rnd.Uint64() & 0x47fd5
		}
		g.emit(put32([]byte{0xb9}, n)...)
		g.emit(put32([]byte{0xb8}, v)...)
		g.emit(put32([]byte{0xba}, v>>32)...)
		g.emit(0x0f, 0x30)
	}
}

func (g *program) controlOps(va uint64) {
	r := g.free()
	switch g.rnd.IntN(8) {
	case 0: // the other space, or the same
		g.movImm(r, g.space[g.rnd.IntN(2)])
		g.crReg(0x22, 3, r)
	case 1:
		g.crReg(0x20, 3, r)
		g.crReg(0x22, 3, r)
	case 2:
		g.crReg(0x20, []int{0, 2, 3, 4, 0, 1}[g.rnd.IntN(6)], r)
	case 3:
		g.crReg(0x22, 2, r)
	case 4: // WP
		g.crReg(0x20, 0, r)
		g.emit(0x48|byte(r>>3), 0x0f, 0xba, 0xf8|byte(r&7), 16)
		g.crReg(0x22, 0, r)
	case 5: // PGE, or FSGSBASE
		g.crReg(0x20, 4, r)
		g.emit(0x48|byte(r>>3), 0x0f, 0xba, 0xf8|byte(r&7), []byte{7, 16}[g.rnd.IntN(2)])
		g.crReg(0x22, 4, r)
	case 6:
		g.invlpg([]uint64{dataVA + 0x1000*g.rnd.Uint64N(4), kernVA + 0x1000*g.rnd.Uint64N(5), kdataVA + 0x1000*g.rnd.Uint64N(8)}[g.rnd.IntN(3)])
	case 7: // debug registers
		g.emit(slices.Concat(rexB(r), []byte{0x0f, 0x21 + 2*byte(g.rnd.IntN(2)), 0xc0 | []byte{0, 3, 6}[g.rnd.IntN(3)]<<3 | byte(r&7)})...)
	}
}

func (g *program) invlpg(va uint64) { g.emit(put32([]byte{0x0f, 0x01, 0x3c, 0x25}, va)...) }

func (g *program) segmentOps(va uint64) {
	r := g.free()
	switch g.rnd.IntN(6) {
	case 0:
		g.emit(slices.Concat(rexB(r), []byte{0x8c, 0xc0 | byte(g.rnd.IntN(6))<<3 | byte(r&7)})...)
	case 1:
		g.emit(put32([]byte{0x0f, 0x01, 0x04 | byte(g.rnd.IntN(2))<<3, 0x25}, dataVA+0x1000+g.rnd.Uint64N(0x1000))...)
	case 2:
		g.emit(slices.Concat(rexB(r), []byte{0x0f, 0, 0xc8 | byte(r&7)})...)
	default:
		sel := []uint64{0, 0x18, 0x2b, 0x18, 0x2b, 0x28, 0x40, 0x50, 0x33}[g.rnd.IntN(9)]
		seg := []byte{0, 2, 2, 3, 4, 5, 1}[g.rnd.IntN(7)]
		g.movImm(r, sel)
		g.emit(slices.Concat(rexB(r), []byte{0x8e, 0xc0 | seg<<3 | byte(r&7)})...)
		if g.rnd.IntN(2) == 0 {
			g.emit(0xfb)
		}
	}
}

func (g *program) trapOps(va uint64) {
	g.one([]byte{0xcc}, []byte{0xcd, 0x30}, []byte{0xcd, 0x31}, []byte{0xcd, 3}, []byte{0xf1}, []byte{0x0f, 0x0b}, []byte{0xcc}, []byte{0x90})
}

// farOps change the privilege level, or go on at the same by an iret.
func (g *program) farOps(va uint64) {
	pushImm := func(v uint64) { g.emit(put32([]byte{0x68}, v)...) }
	flags := 2 | g.rnd.Uint64()&(arith|x86.FlagIF|x86.FlagDF|x86.FlagAC)
	if g.traps && g.rnd.IntN(4) == 0 {
		flags |= x86.FlagTF
	}
	switch g.rnd.IntN(6) {
	case 0, 1: // to user code
		pushImm(0x2b)
		pushImm(dataVA + 0x2800 + 8*g.rnd.Uint64N(64))
		pushImm(flags)
		pushImm(0x33)
		pushImm(codeVA + g.rnd.Uint64N(numUser)*slotSize)
		g.emit(0x48, 0xcf)
	case 2:
		if g.writable(x86.RCX) && g.writable(x86.R11) {
			g.movImm(x86.RCX, codeVA+g.rnd.Uint64N(numUser)*slotSize)
			g.movImm(x86.R11, flags)
			g.emit(put32([]byte{0x48, 0xc7, 0xc4}, dataVA+0x2800)...)
			g.emit(0x48, 0x0f, 0x07)
		}
	case 3, 4: // the same level, perhaps with another stack
		pushImm(0x18)
		pushImm([]uint64{stackA, stackB}[g.rnd.IntN(2)] - 8*g.rnd.Uint64N(32))
		pushImm(flags)
		pushImm(0x10)
		pushImm(g.target(va, true))
		g.emit(0x48, 0xcf)
	case 5:
		pushImm(0x10)
		pushImm(g.target(va, true))
		g.one([]byte{0x48, 0xcb}, []byte{0x48, 0xca, 8, 0})
	}
}

// perCPU emits accesses by gs or fs.
func (g *program) perCPU(va uint64) {
	at := dataVA + 0x800 + g.rnd.Uint64N(0x2000) - g.fs
	for range 1 + g.rnd.IntN(3) {
		r := g.free()
		seg := []byte{0x65, 0x65, 0x64}[g.rnd.IntN(3)]
		rex := byte(0x40 | r>>3<<2)
		if g.rnd.IntN(2) == 0 {
			rex |= 8
		}
		m := byte(r&7)<<3 | 4
		switch g.rnd.IntN(7) {
		case 0:
			g.emit(put32([]byte{seg, rex, 0x8b, m, 0x25}, at)...)
		case 1:
			g.emit(put32([]byte{seg, rex, 0x89, m, 0x25}, at)...)
		case 2:
			g.emit(put32([]byte{seg, rex &^ 4, 0xff, 4 | 8*byte(g.rnd.IntN(2)), 0x25}, at)...)
		case 3:
			g.emit(put32([]byte{seg, rex, 0x01 | 8*byte(g.rnd.IntN(8)), m, 0x25}, at)...)
		case 4:
			g.emit(put32([]byte{seg, rex, 0x0f, 0xc1, m, 0x25}, at)...)
		case 5:
			if g.writable(x86.RAX) {
				g.emit(put32([]byte{seg, rex, 0x0f, 0xb1, m, 0x25}, at)...)
			}
		case 6: // with a base register
			g.emit(put32([]byte{seg, rex | byte(g.base>>3), 0x03, 0x80 | byte(r&7)<<3 | byte(g.base&7&^4), byte(g.rnd.IntN(64))}[:4], at-g.baseVal)...)
		}
		at += g.rnd.Uint64N(16)
	}
}

func (g *program) locks(va uint64) {
	r, at := g.free(), wordLocks+8*g.rnd.Uint64N(3)+g.rnd.Uint64N(2)*4
	switch g.rnd.IntN(6) {
	case 0:
		g.abs([]byte{0xf0, 0x0f, 0xc1}, r, at)
	case 1:
		if g.writable(x86.RAX) {
			g.abs([]byte{0xf0, 0x0f, 0xb1}, r, at)
		}
	case 2:
		g.abs([]byte{0x87}, r, at)
	case 3:
		g.abs([]byte{0xf3, 0x89}, r, at) // xrelease
	case 4:
		g.emit(slices.Concat([]byte{0xf0, 0x48, 0x0f, 0xba, 0x2c, 0x25}, put32(nil, at), []byte{byte(g.rnd.IntN(64))})...)
	case 5:
		g.abs([]byte{0xf0, 0x01 | 8*byte([]int{0, 1, 4, 5, 6}[g.rnd.IntN(5)])}, r, at)
	}
}

// stackOps switch stacks and overwrite return addresses.
func (g *program) stackOps(va uint64) {
	r := g.free()
	switch g.rnd.IntN(11) {
	case 10: // around a page's end
		g.emit(put32([]byte{0x48, 0xc7, 0xc4}, kdataVA+0x1000*(2+g.rnd.Uint64N(6))+8*g.rnd.Uint64N(34)-64)...)
	case 0:
		g.abs([]byte{0x89}, x86.RSP, wordSP+8*g.rnd.Uint64N(4))
	case 1:
		g.abs([]byte{0x8b}, x86.RSP, wordSP+8*g.rnd.Uint64N(4))
	case 2:
		g.emit(put32([]byte{0x48, 0xc7, 0xc4}, []uint64{stackA, stackB, kdataVA + 0x8000}[g.rnd.IntN(3)]-8*g.rnd.Uint64N(70))...)
	case 3:
		g.emit(put32([]byte{0x48, 0xc7, 0x04, 0x24}, g.target(va, true))...)
	case 4:
		g.abs([]byte{0x87}, x86.RSP, wordSP+8*g.rnd.Uint64N(4)) // a switch of tasks
	case 5:
		g.emit(put32([]byte{0x68}, g.target(va, true))...)
		g.emit(0xc3)
	case 6:
		g.emit(0x48|byte(r>>3)<<2, 0x87, 0x04|byte(r&7)<<3, 0x24) // xchg [rsp], r
	case 7:
		g.emit(0x48, 0x83, 0xc4, []byte{8, 16, 0xf8, 0xf0}[g.rnd.IntN(4)])
	case 8: // the saved registers, as gcc has them
		row := [][]byte{{0x41, 0x57}, {0x41, 0x56}, {0x41, 0x55}, {0x41, 0x54}, {0x55}, {0x53}}
		first := g.rnd.IntN(5)
		for _, b := range row[first:] {
			g.emit(b...)
			if g.rnd.IntN(3) == 0 {
				m := g.free()
				g.emit(0x48|byte(m>>3), 0x89, 0xc0|byte(m&7)) // mov m, rax
			}
		}
	case 9:
		row := [][]byte{{0x5b}, {0x5d}, {0x41, 0x5c}, {0x41, 0x5d}, {0x41, 0x5e}, {0x41, 0x5f}}
		for _, b := range row[:1+g.rnd.IntN(6)] {
			g.emit(b...)
		}
		if g.rnd.IntN(2) == 0 {
			g.emit(0xc3)
		}
	}
}

// remapOps change an entry of the page tables, between accesses to the page.
func (g *program) remapOps(va uint64) {
	t := g.remaps[g.rnd.IntN(len(g.remaps))]
	r, s := g.free(), g.free()
	touch := func() {
		if t.va >= kernVA && t.va < kdataVA && g.rnd.IntN(3) > 0 { // run it
			to := kernSlots + ((t.va+0xfff-kernSlots)/slotSize+1+g.rnd.Uint64N(4))*slotSize
			if g.rnd.IntN(2) == 0 {
				g.rel(va, []byte{0xe8}, to)
				return
			}
			g.movImm(s, to)
			g.emit(slices.Concat(rexB(s), []byte{0xff, 0xd0 | byte(s&7)})...)
			return
		}
		at := t.va + g.rnd.Uint64N(0xff8)
		if g.rnd.IntN(4) == 0 {
			at = t.va + 0x1000 - g.rnd.Uint64N(8)
		}
		g.abs([][]byte{{0x8b}, {0x89}, {0x01}}[g.rnd.IntN(3)], s, at)
	}
	touch()
	g.movImm(r, t.pte)
	g.abs([]byte{0x89}, r, g.window(t.va))
	switch k := g.rnd.IntN(16); {
	case k < 11:
		g.invlpg(t.va)
	case k < 13:
		g.crReg(0x20, 3, r)
		g.crReg(0x22, 3, r)
		g.invlpg(t.va)
	case k < 15: // all, by way of PGE
		for range 2 {
			g.crReg(0x20, 4, r)
			g.emit(0x48|byte(r>>3), 0x0f, 0xba, 0xf8|byte(r&7), 7)
			g.crReg(0x22, 4, r)
		}
	default:
		if !g.unflushed {
			g.invlpg(t.va)
		}
	}
	touch()
}

// patchOps write to code: to the site at a slot's beginning, or anywhere.
func (g *program) patchOps(va uint64) {
	r := g.free()
	to := g.target(va, true)
	if g.rnd.IntN(4) == 0 {
		to = va
	}
	switch g.rnd.IntN(6) {
	case 0:
		g.emit(slices.Concat(put32([]byte{0xc6, 0x04, 0x25}, to), []byte{[]byte{0xcc, 0x0f, 0xe8}[g.rnd.IntN(3)]})...)
	case 1: // the tail of a call
		callee := g.shadow()
		if g.rnd.IntN(2) == 0 {
			callee = g.target(va, true)
		}
		g.emit(slices.Concat(put32([]byte{0xc7, 0x04, 0x25}, to+1), put32(nil, callee-to-5))...)
	case 2, 3: // a whole site
		text := [][]byte{{0x0f, 0x1f, 0x44, 0, 0}, put32([]byte{0xe8}, g.shadow()-to-5), put32([]byte{0xe9}, g.target(va, true)-to-5),
			{0xb8, 1, 2, 3, 4}, {0xcc, 0x1f, 0x44, 0, 0}}[g.rnd.IntN(5)]
		v := uint64(0)
		for i, b := range text {
			v |= uint64(b) << (8 * i)
		}
		g.movImm(r, v|0x909090<<40)
		g.abs([]byte{0x89}, r, to)
	case 4:
		g.emit(slices.Concat(put32([]byte{0xc6, 0x04, 0x25}, kernSlots+g.rnd.Uint64N(numKern*slotSize)), []byte{byte(g.rnd.Uint32())})...)
	case 5: // what comes next, by an alias that may be one of code
		g.emit(slices.Concat(put32([]byte{0xc6, 0x04, 0x25}, kdataVA+0x7000+g.rnd.Uint64N(0x1000)), []byte{0x90})...)
	}
	if g.rnd.IntN(4) == 0 && g.writable(x86.RAX) && g.writable(x86.RBX) && g.writable(x86.RCX) && g.writable(x86.RDX) {
		g.emit(0x0f, 0xa2)
	}
}

func (g *program) shadowOps(va uint64) {
	if g.rnd.IntN(6) == 0 {
		g.emit(put32([]byte{0x48, 0xc7, 0xc4}, kdataVA+0x1000*(2+g.rnd.Uint64N(6))+8*g.rnd.Uint64N(34)-64)...)
	}
	switch g.rnd.IntN(3) {
	case 0, 1:
		g.rel(va, []byte{0xe8}, g.shadow())
	case 2:
		g.rel(va, []byte{0xe8}, gateVA+g.rnd.Uint64N(12)*16)
	}
}

// longStrings are of hundreds of elements, across pages, perhaps backwards.
func (g *program) longStrings(va uint64) {
	for _, r := range []int{x86.RAX, x86.RCX, x86.RSI, x86.RDI} {
		if !g.writable(r) {
			return
		}
	}
	n := g.rnd.Uint64N(600)
	if g.rnd.IntN(2) == 0 {
		n = g.rnd.Uint64N(20)
	}
	g.movImm(x86.RCX, n)
	g.movImm(x86.RSI, dataVA+g.rnd.Uint64N(0x3000))
	g.movImm(x86.RDI, dataVA+g.rnd.Uint64N(0x3000))
	if g.rnd.IntN(4) == 0 {
		g.emit(0x48, 0x8d, 0x7e, byte(g.rnd.IntN(64))-32) // lea rdi, [rsi+d]: they overlap
	}
	if g.rnd.IntN(5) == 0 {
		g.emit(0xfd)
	}
	g.one([]byte{0xf3, 0xa4}, []byte{0xf3, 0x48, 0xa5}, []byte{0xf3, 0xa5}, []byte{0xf3, 0xaa}, []byte{0xf3, 0x48, 0xab}, []byte{0xf3, 0x66, 0xa5}, []byte{0xf3, 0xae},
		[]byte{0xf2, 0xae}, []byte{0xf3, 0xa6}, []byte{0xf3, 0x67, 0xab}, []byte{0xf3, 0x65, 0x48, 0xa5})
	if g.rnd.IntN(8) > 0 {
		g.emit(0xfc)
	}
}

// groupOps are rows of accesses to near places from one base register, as gcc makes them.
func (g *program) groupOps(va uint64) {
	b, at, d := g.base, g.baseVal, int(g.rnd.Uint64N(0x1000))-0x800
	if r := g.free(); r != x86.RAX && g.rnd.IntN(2) == 0 { // a copy, which may change on the way, or the address of a page that comes and goes
		b = r
		switch g.rnd.IntN(4) {
		case 0:
			at = kdataVA + 0x7000 + g.rnd.Uint64N(0x800)
		case 1:
			at = dataVA + 0x3000 + g.rnd.Uint64N(0x800)
		case 2:
			at = dataVA + 0x1000 + g.rnd.Uint64N(0x800)
		}
		if d &= 0x3ff; at == g.baseVal {
			g.emit(0x48|byte(g.base>>3)<<2|byte(b>>3), 0x89, 0xc0|byte(g.base&7)<<3|byte(b&7))
		} else {
			g.movImm(b, at)
		}
	}
	if g.rnd.IntN(3) == 0 { // at the end of a page
		d = 0x1000 - int(at&0xfff) - g.rnd.IntN(40)
	}
	for range 2 + g.rnd.IntN(5) {
		r := g.free()
		rex := 0x40 | byte(r>>3)<<2 | byte(b>>3)
		if g.rnd.IntN(2) == 0 {
			rex |= 8
		}
		m := 0x80 | byte(r&7)<<3 | byte(b&7)
		var sib []byte
		if b&7 == 4 {
			sib = []byte{0x24}
		}
		access := func(op ...byte) []byte {
			return put32(slices.Concat([]byte{rex}, op, []byte{m}, sib), uint64(d+g.rnd.IntN(48)))
		}
		k := g.rnd.IntN(10)
		if b == g.base {
			k %= 8
		} else if r == b && k != 8 {
			continue
		}
		switch k {
		case 8:
			g.emit(0x48|byte(b>>3), 0x83, 0xc0|byte(b&7), byte(g.rnd.IntN(16))-8)
		case 9:
			g.emit(0x48|byte(g.base>>3)<<2|byte(b>>3), 0x89, 0xc0|byte(g.base&7)<<3|byte(b&7))
		case 0, 1:
			g.emit(access(0x8b)...)
		case 2, 3:
			g.emit(access(0x89)...)
		case 4:
			g.emit(access(0x01 | 8*byte(g.rnd.IntN(8)))...)
		case 5:
			g.emit(access(0x03 | 8*byte(g.rnd.IntN(8)))...)
		case 6:
			g.emit(access(0x0f, []byte{0xb6, 0xbe, 0xb7}[g.rnd.IntN(3)])...)
		case 7:
			m &^= 0x38
			g.emit(append(access(0x80), byte(g.rnd.Uint32()))...)
		}
	}
}

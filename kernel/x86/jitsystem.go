//go:build linux && amd64 && !race

package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Uops of the kernel's entries, and the string instructions that clear and copy.

const (
	atKGS = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.kgsBase)) - cpuBias
	atCR0 = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.cr0)) - cpuBias
	atCR2 = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.cr2)) - cpuBias
	atCR3 = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.cr3)) - cpuBias
	atCR4 = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.cr4)) - cpuBias
)

// swapgs goes on behind itself when no interrupt is pending, as cli does.
func (t *translator) swapgs(u *uop, _ *template) {
	if !t.last {
		t.slow()
		return
	}
	t.kernelOnly()
	t.noInterrupt()
	t.hot.rm(3, opMov, hAX, hBX, home(slotGS))
	t.hot.rm(3, opMov, hDX, hBX, atKGS)
	t.hot.rm(3, opStore, hDX, hBX, home(slotGS))
	t.hot.rm(3, opStore, hAX, hBX, atKGS)
	t.next(u, nil)
}

func (t *translator) noInterrupt() {
	t.hot.rm(0, 0x80, 7, hBX, atIRQ)
	t.hot.put(0)
	t.missIf(ccNE)
}

func (t *translator) movFromCR(u *uop, _ *template) {
	at, ok := map[uint8]int32{0: atCR0, 2: atCR2, 3: atCR3, 4: atCR4}[u.x]
	if !ok {
		t.slow()
		return
	}
	t.kernelOnly()
	t.hot.rm(3, opMov, hDX, hBX, at)
	t.write(u.d, 3, hDX)
}

// flagOp is cld and std; the others change what the lazy flags say.
func (t *translator) flagOp(u *uop, _ *template) {
	op, v := uint8(4), ^uint32(FlagDF)
	switch u.sc {
	case 3:
	case 4:
		op, v = 1, FlagDF
	default:
		t.slow()
		return
	}
	t.hot.rm(2, opGroup1, op, hBX, atSys)
	t.hot.u32(v)
}

// rdtsc reads t, which is Ordered's too.
func (t *translator) rdtsc(u *uop, _ *template) {
	t.hot.imm(hDX, t.left(u))
	t.callSite(t.shared.tsc)
	t.write(RAX*8, 2, hAX)
	t.write(RDX*8, 2, hDX)
}

// left is how many instructions of the block are to go when the uop's has not been counted.
func (t *translator) left(u *uop) uint64 {
	if !t.counted {
		return 0
	}
	return uint64(t.count - u.idx)
}

func (t *translator) tscPiece() {
	t.hot.rm(3, opGroup1b, 7, hBX, atOrder)
	t.hot.put(0)
	known := t.hot.short(ccNE)
	t.giveUp(whySite)
	t.hot.land(known)
	t.hot.rm(3, opMov, hAX, hBX, atLimit)
	t.hot.rr(3, opSub, hAX, hBP)
	t.hot.rr(3, opSub, hAX, hDX)
	t.hot.rm(3, opMov, hDX, hBX, atAhead)
	t.hot.rm(3, opAdd, hAX, hDX, 0)
	t.hot.rr(3, opMov, hDX, hAX)
	t.hot.rr(3, opGroup2, 5, hDX)
	t.hot.put(32, 0xc3)
}

// fill is rep stos, and copy rep movs: within a page.
func (t *translator) fill(u *uop, _ *template) {
	if u.x == 0 || u.m == 1 {
		t.slow()
		return
	}
	t.callSite(t.shared.fill[u.sc])
}

func (t *translator) copy(u *uop, _ *template) {
	if u.x == 0 || u.m == 1 || u.s != slotZero {
		t.slow()
		return
	}
	t.callSite(t.shared.copy[u.sc])
}

// rowPiece begins a piece for rcx elements: the piece returns when there are none, and misses when they are too many for a page. Then rdx
// is 4096 less their bytes.
func (t *translator) rowPiece(sz uint8) {
	n, at := fixed[RCX], fixed[RDI]
	t.hot.rm(2, 0xf7, 0, hBX, atSys) // test
	t.hot.u32(FlagDF)
	up := t.hot.short(ccE)
	t.giveUp(whySite)
	t.hot.land(up)
	t.hot.rr(3, opTest, n, n)
	some := t.hot.short(ccNE)
	t.hot.put(0xc3)
	t.hot.land(some)
	t.hot.group1(3, 7, n, mem.PageSize>>sz)
	few := t.hot.short(ccBE)
	t.giveUp(whySite)
	t.hot.land(few)
	t.hot.rr(3, opMov, hDX, n)
	if sz > 0 {
		t.hot.rr(3, opGroup2, 4, hDX)
		t.hot.put(sz)
	}
	t.hot.rr(3, opGroup3, 3, hDX)
	t.hot.group1(3, 0, hDX, mem.PageSize)
	t.hot.rr(3, opMov, hAX, at)
}

// withinRow compares an offset in a page with rdx.
func (t *translator) withinRow() { t.hot.rr(3, opCmp, hAX, hDX) }

func (t *translator) fillPiece(sz uint8) {
	n, at, v := fixed[RCX], fixed[RDI], fixed[RAX]
	t.rowPiece(sz)
	t.probePiece(1, t.withinRow)
	t.hot.rr(3, opMov, hDX, at)
	t.hot.rr(3, opMov, hDI, hAX)
	t.hot.rr(3, opMov, hAX, v)
	t.hot.rr(3, opMov, hCX, n)
	t.repeat(0xab, sz)
	t.advance(at, hDX, sz)
	t.hot.rr(2, opXor, n, n)
	t.hot.put(0xc3)
}

// copyPiece leaves rows that overlap in memory to the slow function.
func (t *translator) copyPiece(sz uint8) {
	n, to, from := fixed[RCX], fixed[RDI], fixed[RSI]
	t.rowPiece(sz)
	t.probePiece(1, t.withinRow)
	t.hot.put(0x50) // push rax
	t.hot.rr(3, opMov, hAX, from)
	t.probePieceOr(0, t.withinRow, func() { t.hot.group1(3, 0, hSP, 8) })
	t.hot.put(0x59) // pop rcx: to
	t.hot.group1(3, 5, hDX, mem.PageSize)
	t.hot.rr(3, opGroup3, 3, hDX) // bytes
	t.hot.put(0x51)
	t.hot.rr(3, opSub, hCX, hAX)
	t.hot.rr(3, opAdd, hCX, hDX) // within bytes of each other: less than twice that
	t.hot.rr(3, opAdd, hDX, hDX)
	t.hot.rr(3, opCmp, hCX, hDX)
	t.hot.put(0x59)
	apart := t.hot.short(ccAE)
	t.giveUp(whySite)
	t.hot.land(apart)
	t.hot.put(0x56, 0x57) // push rsi; push rdi
	t.hot.rr(3, opMov, hSI, hAX)
	t.hot.rr(3, opMov, hDI, hCX)
	t.hot.rr(3, opMov, hCX, n)
	t.repeat(0xa5, sz)
	t.hot.put(0x5f, 0x5e)
	t.advance(to, to, sz)
	t.advance(from, from, sz)
	t.hot.rr(2, opXor, n, n)
	t.hot.put(0xc3)
}

// repeat writes a string instruction with rep.
func (t *translator) repeat(op byte, sz uint8) {
	t.hot.put(0xf3)
	switch sz {
	case 0:
		op--
	case 1:
		t.hot.b = append(t.hot.b[:len(t.hot.b)-1], 0x66, 0xf3)
	case 3:
		t.hot.put(0x48)
	}
	t.hot.put(op)
}

// advance sets an index register to where it was, from, and as many elements on.
func (t *translator) advance(r, from, sz uint8) {
	t.hot.rmx(3, opLea, r, from, fixed[RCX], sz, 0)
}

//go:build linux && amd64 && !race

package x86

import (
	"unsafe"

	"kscope/kernel/mem"
)

// Places in a TLB.
const (
	atTLBR   = int32(unsafe.Offsetof(mem.TLB{}.R))
	atTLBW   = int32(unsafe.Offsetof(mem.TLB{}.W))
	atFrame  = int32(unsafe.Offsetof(mem.Entry{}.P))
	tlbBytes = tlbMask * uint32(unsafe.Sizeof(mem.Entry{})) // mask of a byte offset in a table
	tlbShift = 12 - 4                                       // from an address to it
)

// address computes the effective address of a uop into rax; rcx is lost.
func (t *translator) address(u *uop, f *template) {
	index := uint8(slotZero)
	if f.indexed {
		index = u.x
	}
	t.addressOf(u.m, index, u.sc, u.disp)
}

func (t *translator) addressOf(base, index, scale uint8, disp uint64) {
	d := int32(disp)
	if disp != uint64(int64(d)) {
		t.hot.imm(hAX, disp)
		if base != slotZero {
			t.hot.rr(3, opAdd, hAX, t.get(base, hCX))
		}
		if index != slotZero {
			t.hot.rmx(3, opLea, hAX, hAX, t.get(index, hCX), scale, 0)
		}
		return
	}
	switch {
	case base == slotZero && index == slotZero:
		t.hot.imm(hAX, disp)
	case index == slotZero:
		b := t.get(base, hAX)
		if d != 0 {
			t.hot.rm(3, opLea, hAX, b, d)
		} else if b != hAX {
			t.hot.rr(3, opMov, hAX, b)
		}
	case base == slotZero:
		t.read(index, 3, hAX)
		if scale != 0 {
			t.hot.rr(3, opGroup2, 4, hAX)
			t.hot.put(scale)
		}
		if d != 0 {
			t.hot.rm(3, opLea, hAX, hAX, d)
		}
	default:
		t.hot.rmx(3, opLea, hAX, t.get(base, hAX), t.get(index, hCX), scale, d)
	}
}

// probe turns the effective address of a uop into a host address, t.at bytes on from rax; a miss executes the uop's slow function. rcx
// is lost.
func (t *translator) probe(u *uop, f *template, sz uint8, write bool) {
	if t.grouped {
		t.at = int32(u.disp - t.low)
		return
	}
	t.address(u, f)
	t.probeN(1<<sz, write)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// probeN probes for so many bytes at rax. rcx is lost. It is 36 bytes; a call of a shared piece was 5, and a fork, exec and exit took
// 60 us with it, not 41: what counts is not the bytes but the jumps there and back.
func (t *translator) probeN(bytes int32, write bool) {
	at := t.tlbEntry(bit(write))
	t.within(bytes)
	t.hot.put(0x0f, 0x80|ccA)
	t.miss()
	t.hot.rm(3, opAdd, hAX, hCX, at+atFrame)
}

// tlbEntry makes rcx the entry for rax in the table of reads (0) or writes (1), at the displacement that it returns, and rax an offset
// in the entry's page.
func (t *translator) tlbEntry(w int) int32 {
	at := atTLBR
	if w == 1 {
		at = atTLBW
	}
	t.hot.rr(2, opMov, hCX, hAX)
	t.hot.rr(2, opGroup2, 5, hCX)
	t.hot.put(tlbShift)
	t.hot.rr(2, opGroup1, 4, hCX)
	t.hot.u32(tlbBytes)
	t.hot.rm(3, opAdd, hCX, hBX, atTL)
	t.hot.rm(3, opSub, hAX, hCX, at)
	return at
}

// within compares an offset in a page in rax with the last where so many bytes begin.
func (t *translator) within(bytes int32) {
	t.hot.opcode(3, 0x3d, 0, 0, 0, false) // cmp rax, imm32
	t.hot.u32(uint32(mem.PageSize - bytes))
}

func (t *translator) load(u *uop, f *template) {
	t.probe(u, f, f.sz, false)
	t.loadTo(u.d, f.sz, t.at)
}

// loadTo loads a guest register from rax+disp, zero-extended.
func (t *translator) loadTo(d, sz uint8, disp int32) {
	r := t.def(d, hCX)
	t.hot.load(sz, r, hAX, disp)
	t.keep(d, r)
}

func (t *translator) loadLow(u *uop, f *template) {
	t.probe(u, f, f.sz, false)
	t.hot.load(f.sz, hCX, hAX, t.at)
	t.write(u.d, f.sz, hCX)
}

func (t *translator) loadSigned(u *uop, f *template) {
	t.probe(u, f, f.sz, false)
	op := [3]uint16{opMovsx8, opMovsx16, opMovsxd}[f.sz]
	if f.to < 2 {
		t.hot.rm(2, op, hCX, hAX, t.at)
		t.write(u.d, f.to, hCX)
		return
	}
	r := t.def(u.d, hCX)
	t.hot.rm(f.to, op, r, hAX, t.at)
	t.keep(u.d, r)
}

// loadToWrite checks that what it loads can be written too.
func (t *translator) loadToWrite(u *uop, f *template) {
	t.probe(u, f, f.sz, true)
	t.loadTo(u.d, f.sz, t.at)
}

func (t *translator) store(u *uop, f *template) {
	t.probe(u, f, f.sz, true)
	t.hot.store(f.sz, t.operand(u.s, f.sz, hCX), hAX, t.at)
}

func (t *translator) storeImm(u *uop, f *template) {
	t.probe(u, f, f.sz, true)
	switch v := u.imm; {
	case f.sz == 0:
		t.hot.rm(0, 0xc6, 0, hAX, t.at)
		t.hot.put(byte(v))
	case f.sz == 2, f.sz == 3 && v == uint64(int64(int32(v))):
		t.hot.rm(f.sz, 0xc7, 0, hAX, t.at)
		t.hot.u32(uint32(v))
	default:
		t.hot.imm(hCX, v)
		t.hot.store(f.sz, hCX, hAX, t.at)
	}
}

// pushPlace makes rax the host address of the lowest of n words that are about to be pushed, and moveSP moves the stack pointer.
func (t *translator) pushPlace(n int32) {
	t.hot.rm(3, opLea, hAX, fixed[RSP], -8*n)
	t.probeN(8*n, true)
}

func (t *translator) moveSP(words int32) { t.hot.rm(3, opLea, fixed[RSP], fixed[RSP], 8*words) }

func (t *translator) push(u *uop, _ *template) {
	t.pushPlace(1)
	t.hot.store(3, t.get(u.s, hCX), hAX, 0)
	t.moveSP(-1)
}

func (t *translator) pushImm(u *uop, _ *template) {
	t.pushPlace(1)
	if u.imm == uint64(int64(int32(u.imm))) {
		t.hot.rm(3, 0xc7, 0, hAX, 0)
		t.hot.u32(uint32(u.imm))
	} else {
		t.hot.imm(hCX, u.imm)
		t.hot.store(3, hCX, hAX, 0)
	}
	t.moveSP(-1)
}

func (t *translator) pop(u *uop, _ *template) {
	t.hot.rr(3, opMov, hAX, fixed[RSP])
	t.probeN(8, false)
	t.loadTo(u.d, 3, 0)
	if u.d != RSP*8 {
		t.moveSP(1)
	}
}

func (t *translator) leave(*uop, *template) {
	sp, bp := fixed[RSP], fixed[RBP]
	t.hot.rr(3, opMov, hAX, bp)
	t.probeN(8, false)
	t.hot.rm(3, opLea, sp, bp, 8)
	t.hot.load(3, bp, hAX, 0)
}

func (t *translator) entry(*uop, *template) {
	t.hot.imm(hAX, uint64(uintptr(unsafe.Pointer(t.b.entry)))) // which the block keeps alive
	t.hot.rm(3, opGroup5, 0, hAX, 0)
}

// run writes a row of pushes, pops, stores or loads with one probe; see gen's runs. It returns their number.
func (t *translator) run(us []uop) int {
	u := &us[0]
	n := int(u.sc)
	lo, sp := int64(u.imm), fixed[RSP]
	switch u.op {
	case o_push_run:
		t.hot.rm(3, opLea, hAX, sp, int32(-8*n))
		t.probeN(int32(8*n), true)
		for i := range n {
			t.hot.store(3, t.get(us[i].s, hCX), hAX, int32(8*(n-1-i)))
		}
		t.hot.rm(3, opLea, sp, sp, int32(-8*n))
	case o_pop_run, o_pop_run_ret:
		t.hot.rr(3, opMov, hAX, sp)
		t.probeN(int32(8*n), false)
		for i := range n {
			t.loadTo(us[i].d, 3, int32(8*i))
		}
		t.hot.rm(3, opLea, sp, sp, int32(8*n))
	default:
		t.addressOf(u.m, slotZero, 0, u.imm)
		t.probeN(8+8*int32(u.x), u.op == o_st_run)
		for i := range n {
			disp := int32(int64(us[i].disp) - lo)
			if u.op == o_ld_run {
				t.loadTo(us[i].d, 3, disp)
			} else {
				t.hot.store(3, t.get(us[i].s, hCX), hAX, disp)
			}
		}
	}
	return n
}

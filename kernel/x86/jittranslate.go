//go:build linux && amd64 && !race

package x86

import "encoding/binary"

// translator turns the fast uops of a block into host code: the way without misses in one piece, the ways out apart.
type translator struct {
	hot, cold hostText
	shared    shared
	fixups    []fixup
	sites     []site
	misses    []int   // jumps of the uop at hand, in hot, to its way out
	base      uintptr // of the memory
	succ      [2]int  // offsets there of the host code behind t and f, as far as they are known
	k         int     // its number
	bare      bool    // it has no template
	last      bool    // it is the block's last
	ended     bool
	count     uint8 // instructions of the block
	counted   bool  // they count
	fop       int   // what CPU.fop is here; -1: not known
}

// fixup is a jump whose distance is known when the code has its place: in hot code, to a place in cold code or to a shared piece.
type fixup struct {
	at, to int
	piece  bool
}

// site is behind a call of a shared piece that may return to Go code in its stead, for uop k.
type site struct {
	off uint16
	k   uint8
}

// missIf jumps to the uop's slow function on a host condition. Nothing of the uop has been done yet.
func (t *translator) missIf(cc uint8) { t.misses = append(t.misses, t.hot.jcc(cc)) }

// slow executes the uop by its slow function, always. Nothing has been written for it but a condition.
func (t *translator) slow() { t.bare = true }

// call calls a shared piece.
func (t *translator) call(piece int) {
	t.hot.put(0xe8)
	t.hot.u32(0)
	t.fixups = append(t.fixups, fixup{at: len(t.hot.b) - 4, to: piece, piece: true})
}

// callSite calls one that may miss.
func (t *translator) callSite(piece int) {
	t.call(piece)
	t.sites = append(t.sites, site{uint16(len(t.hot.b)), uint8(t.k)})
}

func (t *translator) block(co *code, all *[numOps]template) {
	t.hot.b, t.cold.b, t.fixups, t.sites = t.hot.b[:0], t.cold.b[:0], t.fixups[:0], t.sites[:0]
	t.fop, t.ended = -1, false
	t.count, t.counted = co.count, !co.shadow && co.count != 0
	t.enter()
	us := co.fast
	for t.k = 0; t.k < len(us); {
		u := &us[t.k]
		t.misses, t.bare, t.last = t.misses[:0], false, t.k == len(us)-1
		switch u.op {
		case o_push_run, o_pop_run, o_pop_run_ret, o_st_run, o_ld_run:
			t.k += t.run(us[t.k:])
			continue
		}
		op := u.op
		if op >= o_push_run {
			op = firstOps[op-o_push_run]
		}
		if p := &all[op]; p.emit != nil {
			p.emit(t, u, p)
		} else {
			t.bare = true
		}
		if t.bare {
			t.fop = -1
			t.hot.imm(hCX, uint64(t.k)|whyResume)
			t.hot.put(0x48, 0x8d, 0x15, 1, 0, 0, 0, 0xc3) // lea rdx, [rip+1]; ret: it goes on here
		}
		for _, at := range t.misses {
			t.fixups = append(t.fixups, fixup{at: at, to: len(t.cold.b)})
		}
		if len(t.misses) > 0 {
			t.cold.imm(hCX, uint64(t.k))
			t.cold.put(0xc3)
		}
		t.k++
	}
	if !t.ended {
		t.hot.put(0x0f, 0x0b)
	}
}

// enter is the head of a block: rbp becomes the block, and the budget is taken.
func (t *translator) enter() {
	t.hot.rr(3, opMov, hBP, hAX)
	if !t.counted {
		return
	}
	t.hot.rm(3, opGroup1b, 5, hBX, atBudget)
	t.hot.put(t.count)
	t.fixups = append(t.fixups, fixup{at: t.hot.jcc(ccS), to: t.shared.budget, piece: true})
}

// place fills the distances in: the code will lie at the offsets hot and cold of one memory.
func (t *translator) place(hot, cold int) {
	for _, f := range t.fixups {
		to := f.to
		if !f.piece {
			to += cold
		}
		binary.LittleEndian.PutUint32(t.hot.b[f.at:], uint32(to-(hot+f.at+4)))
	}
}

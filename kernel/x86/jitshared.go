//go:build linux && amd64 && !race

package x86

// Pieces of host code that blocks call, at the start of a memory for host code. rcx is lost. A piece that cannot do its work leaves to Go code, which finds the uop by the
// address that it was called from.

// shared are the offsets of the pieces.
type shared struct {
	exit             int       // to Go code, with the reason in ecx
	bare             int       // the uop is executed by its slow function, by the site eax
	gate             int       // the gate of code eax
	link             int       // jump eax leads nowhere yet
	budget           int       // it is too small for code eax
	find             int       // the block at rdx is entered
	mismatch         int       // behind another call than the one that returns
	underflow        int       // no call is known
	carry            int       // flags are saved that the carry is to be read from later, unless inc or dec has already
	locked           int       // the access at rax, with as many instructions of the block to go as edx says
	tsc              int       // t to eax and edx, with as many instructions of the block to go as edx says
	fill, copy       [4]int    // a row of elements by size
	allFlags, setAll int       // see jitflags.go
	flags            [2][4]int // kSUB and kADD of a result in rdx, which is sign-extended, and a second operand in rcx
}

// makeShared writes the pieces into t.hot.
func (t *translator) makeShared() (s shared) {
	here := func() int {
		for len(t.hot.b)%16 != 0 {
			t.hot.put(0xcc)
		}
		return len(t.hot.b)
	}
	s.exit = here()
	t.hot.put(0xff, 0x25, 0, 0, 0, 0) // jmp [rip]
	t.hot.u64(uint64(hostExitPC))
	t.shared.exit = s.exit
	for i, p := range []*int{whyLink: &s.link, whyBudget: &s.budget, whyBare: &s.bare, whyGate: &s.gate} {
		if p != nil {
			*p = here()
			t.giveUp(i)
		}
	}
	t.makeFlow(&s, here)
	s.carry = here()
	t.carryPiece()
	s.locked = here()
	t.lockedPiece()
	s.tsc = here()
	t.tscPiece()
	for sz := range uint8(4) {
		s.fill[sz] = here()
		t.fillPiece(sz)
		s.copy[sz] = here()
		t.copyPiece(sz)
	}
	s.allFlags = here()
	t.allFlagsPiece()
	s.setAll = here()
	t.setAllPiece()
	for k, kind := range [2]uint8{kSUB, kADD} {
		for sz := range uint8(4) {
			s.flags[k][sz] = here()
			t.hot.rm(3, opStore, hCX, hBX, atFB)
			if sz < 3 {
				t.hot.extend(sz, 3, hDX, hDX)
			}
			t.hot.rm(3, opStore, hDX, hBX, atFA)
			t.hot.rm(0, 0xc6, 0, hBX, atFop)
			t.hot.put(kind|sz, 0xc3)
		}
	}
	here()
	return s
}

// makeFlow writes the pieces that go to blocks found by their address.
func (t *translator) makeFlow(s *shared, here func() int) {
	s.mismatch = here()               // the call before that one may be it: the interpreter has taken a ret
	t.hot.put(0x48, 0x8b, 0x04, 0x24) // mov rax, [rsp]
	t.hot.rm(2, opCmp, hDX, hAX, 3)   // the constant that is compared there
	other := t.hot.short(ccNE)
	t.hot.put(0xc3)
	t.hot.land(other)
	s.underflow = len(t.hot.b)
	t.hot.put(0x48, 0x83, 0xec, 8) // sub rsp, 8: it stays
	s.find = len(t.hot.b)
	t.findPiece()
}

// giveUp leaves to Go code; whySite: from a piece that a block called, with the caller's address in rdx. That is by a ret, so that
// the host's guesses of returns stay in step.
func (t *translator) giveUp(why int) {
	if why != whySite {
		t.hot.imm(hCX, uint64(why))
		t.jumpTo(t.shared.exit)
		return
	}
	t.hot.put(0x48, 0x8b, 0x14, 0x24) // mov rdx, [rsp]
	t.hot.put(0x48, 0x8d, 0x0d)       // lea rcx, [rip+…]
	t.hot.rel(t.shared.exit)
	t.hot.put(0x48, 0x89, 0x0c, 0x24) // mov [rsp], rcx
	t.hot.imm(hCX, whySite)
	t.hot.put(0xc3)
}

// probePiece is a probe in a piece: compare has rax be no more than the last offset in the page.
func (t *translator) probePiece(w int, compare func()) { t.probePieceOr(w, compare, func() {}) }

// probePieceOr does something before it gives up.
func (t *translator) probePieceOr(w int, compare, undo func()) {
	at := t.tlbEntry(w)
	compare()
	hit := t.hot.short(ccBE)
	undo()
	t.giveUp(whySite)
	t.hot.land(hit)
	t.hot.rm(3, opAdd, hAX, hCX, at+atFrame)
}

// findPiece looks the target in rdx up in the jump cache, at its place and at the neighbour where find puts what it evicts: the
// block is entered, or its address stays in rdx for Go code. rax and rcx are lost. The block's own start is compared too: a tag alone could be that of an address that is not
// canonical.
func (t *translator) findPiece() {
	t.hot.rr(2, opMov, hCX, hDX)
	t.hot.rr(2, opGroup2, 5, hCX)
	t.hot.put(12)
	t.hot.rr(2, opXor, hCX, hDX)
	t.hot.rr(2, opGroup1, 4, hCX)
	t.hot.u32(jcMask)
	t.hot.rr(2, opGroup2, 4, hCX)
	t.hot.put(4)
	t.hot.rm(3, opMov, hAX, hBX, atJkey)
	t.hot.rr(3, opXor, hAX, hDX)
	t.hot.rmx(3, opCmp, hAX, hBX, hCX, 0, atJC)
	first := t.hot.short(ccE)
	t.hot.group1(2, 6, hCX, 16)
	t.hot.rmx(3, opCmp, hAX, hBX, hCX, 0, atJC)
	second := t.hot.short(ccE)
	t.giveUp(whyFind)
	t.hot.land(first)
	t.hot.land(second)
	t.hot.rmx(3, opMov, hAX, hBX, hCX, 0, atJC+8)
	t.hot.rm(3, opCmp, hDX, hAX, atStart)
	same := t.hot.short(ccE)
	t.giveUp(whyFind)
	t.hot.land(same)
	t.hot.rm(2, opGroup5, 4, hAX, atHost)
}

func (t *translator) carryPiece() {
	t.hot.load(0, hCX, hBX, atFop)
	t.hot.group1(2, 5, hCX, kINC)
	t.hot.group1(2, 7, hCX, kEXP-kINC)
	saved := t.hot.short(ccB)
	t.hot.rm(3, opMov, hCX, hBX, atFA)
	t.hot.rm(3, opStore, hCX, hBX, atSA)
	t.hot.rm(3, opMov, hCX, hBX, atFB)
	t.hot.rm(3, opStore, hCX, hBX, atSB)
	t.hot.load(0, hCX, hBX, atFop)
	t.hot.store(0, hCX, hBX, atSop)
	t.hot.land(saved)
	t.hot.put(0xc3)
}

// lockedPiece is what Order.locked does.
func (t *translator) lockedPiece() {
	t.hot.rm(0, 0x80, 7, hBX, atCPL)
	t.hot.put(3)
	kernel := t.hot.short(ccNE)
	t.hot.put(0xc3)
	t.hot.land(kernel)
	t.hot.rm(3, opMov, hCX, hBX, atOrder)
	t.hot.rr(3, opTest, hCX, hCX)
	known := t.hot.short(ccNE)
	t.giveUp(whySite)
	t.hot.land(known)
	t.hot.put(0x56, 0x57) // push rsi; push rdi
	t.hot.group1(3, 4, hAX, -8)
	t.hot.rm(3, opMov, hSI, hBX, atLimit)
	t.hot.rr(3, opSub, hSI, hBP)
	t.hot.rr(3, opSub, hSI, hDX)
	t.hot.rm(3, opMov, hDX, hBX, atAhead)
	t.hot.rm(3, opAdd, hSI, hDX, 0) // t
	t.hot.rm(3, opMov, hDI, hBX, atID)
	t.hot.imm(hDX, orderHash)
	t.hot.rr(3, opImul, hDX, hAX)
	t.hot.rr(3, opGroup2, 5, hDX)
	t.hot.put(64 - orderBits)
	t.hot.rmx(3, opLea, hDX, hDX, hDX, 1, 0) // times 3 words
	t.hot.rmx(3, opLea, hCX, hCX, hDX, 3, 0)
	t.hot.rm(3, opCmp, hAX, hCX, 0)
	other := t.hot.short(ccNE)
	t.hot.rm(3, opCmp, hDI, hCX, 16)
	own := t.hot.short(ccE)
	t.hot.rm(3, opCmp, hSI, hCX, 8)
	later := t.hot.short(ccA)
	t.hot.put(0x5f, 0x5e)
	t.giveUp(whySite)
	t.hot.land(other)
	t.hot.land(own)
	t.hot.land(later)
	t.hot.store(3, hAX, hCX, 0)
	t.hot.store(3, hSI, hCX, 8)
	t.hot.store(3, hDI, hCX, 16)
	t.hot.put(0x5f, 0x5e, 0xc3)
}

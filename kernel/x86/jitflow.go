//go:build linux && amd64 && !race

package x86

// Ways out of a block, as code: jumps to t and f (jitlink.go), and the shared pieces that find a block by its address.
//
// A call that counts, in the kernel's half, is a host call: what it pushes leads behind the call, and a ret of the guest is the
// host's, which the host guesses. Behind a call the guest's return address, in rdx, is compared with the one that was pushed: who
// came from elsewhere, after a switch of tasks say, goes on by his address. In the user's half an address may come to mean other
// code at any switch, so that there is no pairing, and a change of privilege level empties the host's stack.

const (
	toT = iota
	toF
)

// jumpOut writes the distance of a jump to a side.
func (t *translator) jumpOut(side int) {
	at := t.hot.here()
	t.hot.rel(t.cold.here())
	t.stub(side, at)
}

// stub writes the way to Go code of a side.
func (t *translator) stub(side, at int) {
	t.out[side] = jump{at: int32(at), stub: int32(t.cold.here())}
	t.cold.put(0xb8) // mov eax, imm32
	t.cold.u32(uint32(2*t.number + side))
	t.cold.put(0xe9)
	t.cold.rel(t.shared.link)
}

func (t *translator) leaveBy(side int) {
	t.ended = true
	if side == t.behind {
		t.stub(side, 0)
		return
	}
	t.hot.put(0xe9)
	t.jumpOut(side)
}

func (t *translator) jumpTo(piece int) {
	t.hot.put(0xe9)
	t.hot.rel(piece)
}

func (t *translator) next(*uop, *template) { t.leaveBy(toF) }
func (t *translator) jmp(*uop, *template)  { t.leaveBy(toT) }

// branch goes to t on the host's condition, else to f.
func (t *translator) branch(cc uint8) {
	side := toT
	if t.behind == toT {
		cc, side = cc^1, toF
	}
	t.hot.put(0x0f, 0x80|cc)
	t.jumpOut(side)
	t.leaveBy(toT + toF - side)
}

// pairs reports whether a call with this return address is a host call.
func (t *translator) pairs(ra uint64) bool {
	return t.counted && !t.toGate && int64(ra) < 0 && ra == uint64(int64(int32(ra)))
}

func (t *translator) callRel(u *uop, _ *template) {
	t.pushImm(u, nil)
	if !t.pairs(u.imm) {
		t.leaveBy(toT)
		return
	}
	t.hot.put(0xe8)
	t.jumpOut(toT)
	t.behindCall(u.imm)
}

// behindCall is where a host call returns to.
func (t *translator) behindCall(ra uint64) {
	t.hot.put(0x48, 0x81, 0xfa) // cmp rdx, imm32
	t.hot.u32(uint32(ra))
	t.hot.put(0x0f, 0x85)
	t.hot.rel(t.shared.mismatch)
	t.leaveBy(toF)
}

func (t *translator) ret(*uop, *template) {
	if !t.last {
		t.slow()
		return
	}
	t.hot.rr(3, opMov, hAX, fixed[RSP])
	t.probeN(8, false)
	t.hot.load(3, hDX, hAX, 0)
	t.target(hAX)
	t.moveSP(1)
	t.returns()
}

// target misses when the address in rdx is not canonical; in the kernel's half, when it is not in the last 2 GB, where code is.
func (t *translator) target(scratch uint8) {
	if t.inKernel {
		t.hot.rr(3, opMovsxd, scratch, hDX)
	} else {
		t.hot.rr(3, opMov, scratch, hDX)
		t.hot.rr(3, opGroup2, 4, scratch)
		t.hot.put(16)
		t.hot.rr(3, opGroup2, 7, scratch)
		t.hot.put(16)
	}
	t.hot.rr(3, opCmp, scratch, hDX)
	t.missIf(ccNE)
}

// returns goes to rdx as the last of the block.
func (t *translator) returns() {
	t.ended = true
	if t.inKernel {
		t.hot.put(0xc3)
		return
	}
	t.jumpTo(t.shared.find)
}

func (t *translator) jmpReg(u *uop, _ *template) {
	if !t.last {
		t.slow()
		return
	}
	t.read(u.s, 3, hDX)
	t.target(hAX)
	t.jumpTo(t.shared.find)
	t.ended = true
}

// gate is a gate's whole block.
func (t *translator) gate(*uop, *template) {
	t.hot.put(0xb8) // mov eax, imm32
	t.hot.u32(uint32(t.number))
	t.jumpTo(t.shared.gate)
	t.ended = true
}

func (t *translator) callReg(u *uop, _ *template) {
	if !t.last {
		t.slow()
		return
	}
	t.read(u.s, 3, hDX)
	t.target(hAX)
	t.pushImm(u, nil)
	if !t.pairs(u.imm) {
		t.jumpTo(t.shared.find)
		t.ended = true
		return
	}
	t.call(t.shared.find)
	t.behindCall(u.imm)
}

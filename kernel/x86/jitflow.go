//go:build linux && amd64 && !race

package x86

// Ways out of a block. To the next block: rax holds it, and its host address is jumped to. A block without host code, a link
// that is missing and a dead block have hostEnter there, so that nothing is ever patched.

func (t *translator) leaveBy(at int32) {
	t.hot.rm(3, opMov, hAX, hBP, at)
	t.leaveTo(t.succ[bit(at == atF)])
}

// leaveTo goes to the block at rax, which is likely to have the host code at an offset; 0: that is not known.
func (t *translator) leaveTo(likely int) {
	t.ended = true
	if likely == 0 {
		t.hot.rm(2, opGroup5, 4, hAX, atHost)
		return
	}
	t.hot.rm(2, opGroup1, 7, hAX, atHost)
	t.hot.u32(uint32(t.base) + uint32(likely))
	other := t.hot.short(ccNE)
	t.jumpTo(likely)
	t.hot.land(other)
	t.hot.rm(2, opGroup5, 4, hAX, atHost)
}

// jumpTo jumps to an offset of the memory.
func (t *translator) jumpTo(offset int) {
	t.hot.put(0xe9)
	t.hot.u32(0)
	t.fixups = append(t.fixups, fixup{at: len(t.hot.b) - 4, to: offset, piece: true})
}

func (t *translator) next(*uop, *template) { t.leaveBy(atF) }
func (t *translator) jmp(*uop, *template)  { t.leaveBy(atT) }

// branch goes to t on the host's condition, else to f.
func (t *translator) branch(cc uint8) {
	taken := t.hot.short(cc)
	t.leaveBy(atF)
	t.hot.land(taken)
	t.leaveBy(atT)
}

func (t *translator) callRel(u *uop, _ *template) {
	t.pushImm(u, nil)
	t.leaveBy(atT)
}

func (t *translator) ret(*uop, *template) { t.finally(t.shared.ret) }

func (t *translator) jmpReg(u *uop, _ *template) {
	t.read(u.s, 3, hDX)
	t.finally(t.shared.find)
}

func (t *translator) callReg(u *uop, _ *template) {
	t.read(u.s, 3, hDX)
	t.hot.imm(hCX, u.imm)
	t.finally(t.shared.callReg)
}

// finally jumps to a piece that enters the block it finds; the uop at hand is the block's last.
func (t *translator) finally(piece int) {
	if !t.last {
		t.slow()
		return
	}
	t.jumpTo(piece)
	t.ended = true
}

package x86

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// lowering turns the instructions of one block into uops. It is kept for its buffers.
type lowering struct {
	co    *code
	insts []inst
	out   []uop
	opt   bool // fuse, and drop flags that nobody reads
	dead  []bool

	in   *inst
	idx  uint8
	off  uint16
	next uint64 // address behind the instruction
	need bool   // its flags

	shadow  func(va uint64) bool // set when the dead stack is kept across shadow text
	ordered bool                 // Env is Ordered
}

func (l *lowering) reset(co *code) {
	l.co, l.insts = co, l.insts[:0]
}

func (l *lowering) add(in inst) {
	l.insts = append(l.insts, in)
	l.co.size += uint16(in.Len)
}

// ends reports whether the instruction ends a block.
func (l *lowering) ends(in *inst) bool {
	if in.gap != gapNone {
		return in.gap != gapNop
	}
	row := &opInfo[in.Op]
	return row.ends || (row.low == lowMov || row.low == lowPop) && isSystem(in.Args[0])
}

// lower makes both forms of the block.
func (l *lowering) lower(entry bool) {
	co := l.co
	co.count = uint8(len(l.insts))
	co.fva = co.va + uint64(co.size)
	l.liveness()
	l.opt = false
	co.precise = l.pass(entry)
	l.opt = true
	co.fast = l.pass(entry)
	if same(co.fast, co.precise) {
		co.fast = co.precise
	}
}

func same(a, b []uop) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// liveness finds the instructions whose flags are overwritten before anything reads them. An instruction that may fault
// counts as a reader, since the fault's frame shows the flags, and so does the block's end.
func (l *lowering) liveness() {
	l.dead = l.dead[:0]
	for range l.insts {
		l.dead = append(l.dead, false)
	}
	live := true
	for i := len(l.insts) - 1; i >= 0; i-- {
		in := &l.insts[i]
		e := flagEffect(in)
		l.dead[i] = !live
		if e&flagsWrite != 0 {
			live = false
		}
		if e&flagsRead != 0 || mayFault(in) {
			live = true
		}
		live = live || in.hooked
	}
}

func (l *lowering) pass(entry bool) []uop {
	l.out = l.out[:0]
	l.off = 0
	if entry {
		l.out = append(l.out, uop{op: o_entry})
	}
	ended := false
	for i := 0; i < len(l.insts); i++ {
		l.in = &l.insts[i]
		l.idx = uint8(i)
		l.next = l.co.va + uint64(l.off) + uint64(l.in.Len)
		l.need = !l.opt || !l.dead[i]
		l.hook()
		l.order()
		if l.opt && i == len(l.insts)-2 && l.fuse(l.in, &l.insts[i+1]) {
			ended = true
			break
		}
		l.one()
		if n := len(l.out) - 1; l.opt && n >= 0 && l.out[n].op == o_nop {
			l.out = l.out[:n] // the fast path has nothing to do for it: every function begins with one
		}
		l.off += uint16(l.in.Len)
		ended = l.ends(l.in)
	}
	if !ended {
		l.idx, l.in = uint8(len(l.insts)), &inst{}
		l.emit(o_next, uop{})
	}
	if l.opt {
		combine(l.out)
	}
	return append([]uop(nil), l.out...)
}

// combine gives runs of uops the number of the longest superinstruction that begins there.
func combine(us []uop) {
	for i := 0; i < len(us); {
		if n := combineRun(us[i:]); n > 0 {
			i += n
			continue
		}
		state, best, size := 0, uint16(0), 1
		for j := i; j < len(us); j++ {
			k, ok := slices.BinarySearch(superKeys[:], uint32(state)<<16|uint32(us[j].op))
			if !ok {
				break
			}
			if state = int(superNext[k]); superOp[state] != 0 {
				best, size = superOp[state], j-i+1
			}
		}
		if best != 0 {
			us[i].op = best
		}
		i += size
	}
}

// minRun is the least row of uops that a run is made of: for two, a superinstruction does.
const minRun = 3

// combineRun makes a run of the uops at the start of us and returns how many it stands for; 0: there is none.
func combineRun(us []uop) int {
	first, n := us[0], 0
	lo, hi := int64(first.disp), int64(first.disp)
	for ; n < len(us) && us[n].op == first.op; n++ {
		u := &us[n]
		switch first.op {
		case o_push_r:
			if u.s == RSP*8 {
				return 0
			}
		case o_pop_r:
			if u.d == RSP*8 {
				return 0
			}
		case o_st_64_B, o_ldz_64_B:
			if u.m != first.m || first.op == o_ldz_64_B && n > 0 && us[n-1].d == first.m {
				goto end
			}
			a, b := min(lo, int64(u.disp)), max(hi, int64(u.disp))
			if b-a > 8*maxRunSpan {
				goto end
			}
			lo, hi = a, b
		default:
			return 0
		}
	}
end:
	if n < minRun {
		return 0
	}
	u := &us[0]
	u.sc = uint8(n)
	switch first.op {
	case o_push_r:
		u.op = o_push_run
	case o_pop_r:
		if u.op = o_pop_run; n < len(us) && us[n].op == o_ret {
			u.op = o_pop_run_ret
			n++
		}
	case o_st_64_B, o_ldz_64_B:
		u.op, u.imm, u.x = o_st_run, uint64(lo), uint8((hi-lo+7)/8)
		if first.op == o_ldz_64_B {
			u.op = o_ld_run
		}
	}
	return n
}

// maxRunSpan bounds the displacements of a run, in eights.
const maxRunSpan = 255

func (l *lowering) emit(op uint16, u uop) {
	u.op, u.idx, u.off, u.n = op, l.idx, l.off, uint8(l.in.Len)
	l.out = append(l.out, u)
}

func (l *lowering) ud() { l.emit(o_ud, uop{}) }

// slot returns the byte offset and size index of a general register.
func slot(r x86asm.Reg) (off uint8, sz int) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return uint8(r-x86asm.AL) * 8, 0
	case r >= x86asm.AH && r <= x86asm.BH:
		return uint8(r-x86asm.AH)*8 + 1, 0
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return uint8(r-x86asm.SPB)*8 + 32, 0
	case r >= x86asm.AX && r <= x86asm.R15W:
		return uint8(r-x86asm.AX) * 8, 1
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return uint8(r-x86asm.EAX) * 8, 2
	case r >= x86asm.RAX && r <= x86asm.R15:
		return uint8(r-x86asm.RAX) * 8, 3
	}
	return 0, -1
}

func isGeneral(r x86asm.Reg) bool { return r >= x86asm.AL && r <= x86asm.R15 }

func isMem(a x86asm.Arg) bool {
	_, ok := a.(x86asm.Mem)
	return ok
}

// sizeOf returns the size index of n bytes.
func sizeOf(n int) int {
	switch n {
	case 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	}
	return 3
}

// addr fills the address fields of a uop; form is 0 for base+disp, 1 with an index.
func (l *lowering) addr(a x86asm.Mem) (u uop, form int) {
	u.m, u.x = slotZero, slotZero
	u.disp = uint64(a.Disp)
	if a.Base == x86asm.RIP || a.Base == x86asm.EIP {
		u.disp += l.next
	} else if a.Base != 0 {
		u.m, _ = slot(a.Base)
	}
	if a.Index != 0 {
		u.x, _ = slot(a.Index)
		switch a.Scale {
		case 2:
			u.sc = 1
		case 4:
			u.sc = 2
		case 8:
			u.sc = 3
		}
		form = 1
	}
	if l.in.AddrSize == 32 {
		l.lea32(u)
		u, form = uop{m: slotT1, x: slotZero}, 0
	}
	seg := segBase(a.Segment)
	switch {
	case seg == slotZero:
	case u.m == slotZero:
		u.m = seg
	case form == 0:
		u.x, u.sc, form = seg, 0, 1
	default:
		t := u
		t.d = slotT1
		l.emit(leaTab[3][1], t)
		u, form = uop{m: slotT1, x: seg}, 1
	}
	return u, form
}

func (l *lowering) lea32(u uop) {
	u.d = slotT1
	l.emit(leaTab[2][1], u)
}

func segBase(r x86asm.Reg) uint8 {
	switch r {
	case x86asm.FS:
		return slotFS
	case x86asm.GS:
		return slotGS
	}
	return slotZero
}

// size returns the operand size index: of the first general register, or of the memory operand.
func (l *lowering) size() int {
	for _, a := range l.in.Args {
		switch a := a.(type) {
		case x86asm.Reg:
			if isGeneral(a) {
				_, sz := slot(a)
				return sz
			}
		case x86asm.Mem:
			return sizeOf(l.in.MemBytes)
		}
	}
	return 3
}

// source puts an operand into a slot and returns it; memory and immediates go to temporary t.
func (l *lowering) source(a x86asm.Arg, sz int, t uint8) uint8 {
	switch a := a.(type) {
	case x86asm.Reg:
		s, _ := slot(a)
		return s
	case x86asm.Imm:
		l.emit(o_mov_ri_64, uop{d: t, imm: uint64(a)})
	case x86asm.Mem:
		u, f := l.addr(a)
		u.d = t
		l.emit(ldzTab[sz][f], u)
	}
	return t
}

// target returns the slot of a read-modify-write operand, and what stores it back.
func (l *lowering) target(a x86asm.Arg, sz int) (uint8, func()) {
	m, ok := a.(x86asm.Mem)
	if !ok {
		s, _ := slot(a.(x86asm.Reg))
		return s, func() {}
	}
	u, f := l.addr(m)
	t := u
	t.d = slotT0
	l.emit(ldwTab[sz][f], t)
	return slotT0, func() {
		u.s = slotT0
		l.emit(stTab[sz][f], u)
	}
}

// into returns the slot to write a result to, and what stores it when the operand is memory.
func (l *lowering) into(a x86asm.Arg, sz int) (uint8, func()) {
	m, ok := a.(x86asm.Mem)
	if !ok {
		s, _ := slot(a.(x86asm.Reg))
		return s, func() {}
	}
	return slotT0, func() {
		u, f := l.addr(m)
		u.s = slotT0
		l.emit(stTab[sz][f], u)
	}
}

// fuse makes one uop of a compare and the conditional jump behind it.
func (l *lowering) fuse(in, jcc *inst) bool {
	kind := 0
	switch {
	case in.gap != gapNone || jcc.gap != gapNone || jcc.hooked:
		return false
	case in.Op == x86asm.TEST:
		kind = 1
	case in.Op != x86asm.CMP:
		return false
	}
	info := opInfo[jcc.Op]
	if info.low != lowJcc {
		return false
	}
	sz := l.size()
	var u uop
	form := 0
	switch a := in.Args[0].(type) {
	case x86asm.Reg:
		d, _ := slot(a)
		switch b := in.Args[1].(type) {
		case x86asm.Reg:
			u.s, _ = slot(b)
			form = 0
		case x86asm.Imm:
			u.imm = uint64(b)
			form = 1
		case x86asm.Mem:
			if !plain(b) || in.AddrSize == 32 {
				return false
			}
			u, _ = l.addr(b)
			form = 2
		}
		u.d = d
	case x86asm.Mem:
		if !plain(a) || in.AddrSize == 32 {
			return false
		}
		u, _ = l.addr(a)
		switch b := in.Args[1].(type) {
		case x86asm.Reg:
			u.s, _ = slot(b)
			form = 3
		case x86asm.Imm:
			u.imm = uint64(b)
			form = 4
		}
	}
	op := fusedTab[kind][form][sz][info.arg]
	if op == 0 {
		return false
	}
	l.emit(op, u)
	l.co.tva = l.next + uint64(jcc.Len) + uint64(int64(jcc.Args[0].(x86asm.Rel)))
	return true
}

// plain addresses are base+disp without a segment.
func plain(m x86asm.Mem) bool {
	return m.Index == 0 && (m.Segment != x86asm.FS && m.Segment != x86asm.GS || m.Base == 0)
}

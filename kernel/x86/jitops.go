//go:build linux && amd64 && !race

package x86

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// cpuBias is what rbx is ahead of the CPU.
const cpuBias = 128

// Displacements from rbx, and of blocks and TLB entries.
const (
	atFA, atFB   = int32(unsafe.Offsetof(CPU{}.fa)) - cpuBias, int32(unsafe.Offsetof(CPU{}.fb)) - cpuBias
	atSA, atSB   = int32(unsafe.Offsetof(CPU{}.sa)) - cpuBias, int32(unsafe.Offsetof(CPU{}.sb)) - cpuBias
	atFop, atSop = int32(unsafe.Offsetof(CPU{}.fop)) - cpuBias, int32(unsafe.Offsetof(CPU{}.sop)) - cpuBias
	atTL         = int32(unsafe.Offsetof(CPU{}.tl)) - cpuBias
	atLimit      = int32(unsafe.Offsetof(CPU{}.limit)) - cpuBias
	atOrder      = int32(unsafe.Offsetof(CPU{}.order)) - cpuBias
	atAhead      = int32(unsafe.Offsetof(CPU{}.ahead)) - cpuBias
	atID         = int32(unsafe.Offsetof(CPU{}.ID)) - cpuBias
	atTmp        = int32(unsafe.Offsetof(CPU{}.tmp)) - cpuBias
	atJkey       = int32(unsafe.Offsetof(CPU{}.jkey)) - cpuBias
	atJC         = int32(unsafe.Offsetof(CPU{}.jc)) - cpuBias
	atSys        = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.sys)) - cpuBias
	atCPL        = int32(unsafe.Offsetof(CPU{}.archState)+unsafe.Offsetof(archState{}.cpl)) - cpuBias
	atIRQ        = int32(unsafe.Offsetof(CPU{}.irq)) - cpuBias
	atHost       = int32(unsafe.Offsetof(block{}.host))
	atStart      = int32(unsafe.Offsetof(block{}.start))
)

// A template writes the host code of one kind of uop.
type template struct {
	emit    func(t *translator, u *uop, f *template)
	k       uint8 // which of a family: operation or condition
	sz, to  uint8 // log2 of the operand size, and of the result's
	indexed bool
	flags   bool
	quiet   bool   // it neither leaves nor touches memory
	access  uint8  // to memory at base+displacement: 1 a read, 2 a write
	form    string // of operands: rr, ri, rm, mr, mi
}

// parsedTemplates are shared by all machines, so that a copy's first host code does not wait a millisecond for its own.
var parsedTemplates = sync.OnceValue(templates)

// templates gives each uop its template; those without one are executed by their slow function.
func templates() *[numOps]template {
	var all [numOps]template
	for op := range firstSuper {
		f := strings.Split(opNames[op], "_")
		if p := parseTemplate(f); p.emit != nil {
			all[op] = p
		}
	}
	return &all
}

var conditionNames = strings.Fields("o no b ae e ne be a s ns p np l ge le g")

// parseTemplate reads the parts of a uop's name.
func parseTemplate(f []string) template {
	p := template{k: family(f[0]), sz: 3, to: 3}
	sizes := 0
	for i, w := range f[1:] {
		n, err := strconv.Atoi(w)
		switch {
		case err == nil && sizes == 0:
			p.sz, sizes = uint8(sizeOf(n/8)), 1
			p.to = p.sz
		case err == nil:
			p.to = uint8(sizeOf(n / 8))
		case w == "X":
			p.indexed = true
		case w == "F":
			p.flags = true
		case i == 0 && len(w) == 3 && (w[2] == 'B' || w[2] == 'X'):
			p.form, p.indexed = w[:2], w[2] == 'X'
		case i == 0:
			p.form = w
		}
	}
	if cc := slices.Index(conditionNames, f[len(f)-1]); cc >= 0 && len(f) > 1 {
		p.k = uint8(cc)
	} else if cc := slices.Index(conditionNames, f[min(1, len(f)-1)]); cc >= 0 && f[0] == "cmov" {
		p.k = uint8(cc)
	}
	if p.emit = byName[strings.Join(f, "_")]; p.emit == nil && len(f) > 1 {
		p.emit = byFamily[f[0]]
	}
	switch f[0] {
	case "mov", "movz", "lea":
		p.quiet = true
	case "add", "sub", "and", "or", "xor":
		p.quiet = p.form == "rr" || p.form == "ri"
	}
	if !p.indexed && p.emit != nil && len(f) > 1 { // "sti" alone is the instruction
		p.access = accessOf(f[0], p.form)
	}
	switch f[0] {
	case "inc", "dec":
		p.k = family(f[0])
	case "xchg", "xadd", "cmpxchg":
		p.indexed = true
	}
	return p
}

// accessOf returns how an operation touches memory.
func accessOf(name, form string) uint8 {
	switch name {
	case "ldz", "ldm", "lds":
		return 1
	case "st", "sti", "ldw":
		return 2
	case "cmp", "test", "jcmp", "jtest":
		if form == "rm" || form == "mr" || form == "mi" {
			return 1
		}
	case "add", "or", "and", "sub", "xor", "inc", "dec":
		switch form {
		case "rm":
			return 1
		case "mr", "mi", "m":
			return 2
		}
	}
	return 0
}

// family numbers the operations that share a template, as the instructions' reg fields do.
func family(name string) uint8 {
	switch name {
	case "or", "ror", "dec":
		return 1
	case "and", "shl":
		return 4
	case "sub", "shr":
		return 5
	case "xor":
		return 6
	case "cmp", "sar":
		return 7
	case "adc":
		return 2
	case "sbb":
		return 3
	}
	return 0
}

var byFamily = map[string]func(t *translator, u *uop, f *template){
	"add": (*translator).alu, "or": (*translator).alu, "and": (*translator).alu, "sub": (*translator).alu, "xor": (*translator).alu,
	"adc": (*translator).withCarry, "sbb": (*translator).withCarry,
	"cmp": (*translator).compare, "test": (*translator).test, "jcmp": (*translator).jumpCompare, "jtest": (*translator).jumpTest,
	"movz": (*translator).movz, "movs": (*translator).movs, "lea": (*translator).lea,
	"ldz": (*translator).load, "ldm": (*translator).loadLow, "lds": (*translator).loadSigned, "ldw": (*translator).loadToWrite,
	"st": (*translator).store, "sti": (*translator).storeImm,
	"inc": (*translator).incDec, "dec": (*translator).incDec, "neg": (*translator).neg, "not": (*translator).not,
	"shl": (*translator).shift, "shr": (*translator).shift, "sar": (*translator).shift, "rol": (*translator).shift, "ror": (*translator).shift,
	"imul": (*translator).imul, "set": (*translator).set, "cmov": (*translator).cmov, "jcc": (*translator).jumpIf,
	"xchg": (*translator).xchg, "cmpxchg": (*translator).cmpxchg, "xadd": (*translator).xadd, "bswap": (*translator).bswap,
}

var byName = map[string]func(t *translator, u *uop, f *template){
	"mov_rr_8": (*translator).movRR, "mov_rr_16": (*translator).movRR, "mov_rr_32": (*translator).movRR, "mov_rr_64": (*translator).movRR,
	"mov_ri_8": (*translator).movRI, "mov_ri_16": (*translator).movRI, "mov_ri_64": (*translator).movRI,
	"push_r": (*translator).push, "push_i": (*translator).pushImm, "pop_r": (*translator).pop, "leave": (*translator).leave,
	"mul_32": (*translator).mul, "mul_64": (*translator).mul, "div_32": (*translator).div, "div_64": (*translator).div,
	"nop": func(*translator, *uop, *template) {}, "entry": (*translator).entry,
	"cwde": (*translator).widen, "cdqe": (*translator).widen, "cdq": (*translator).signFill, "cqo": (*translator).signFill,
	"next": (*translator).next, "jmp": (*translator).jmp, "call": (*translator).callRel,
	"ret": (*translator).ret, "gate": (*translator).gate, "jmp_r": (*translator).jmpReg, "call_r": (*translator).callReg,
	"pushf": (*translator).pushf, "bt": (*translator).bitOp, "tzcnt": (*translator).tzcnt,
	"locked": (*translator).locked, "cli": (*translator).cli, "sti": (*translator).sti,
	"swapgs": (*translator).swapgs, "movcr_r": (*translator).movFromCR, "flagop": (*translator).flagOp, "rdtsc": (*translator).rdtsc,
	"stos": (*translator).fill, "movs": (*translator).copy,
}

func (t *translator) movRR(u *uop, f *template) {
	if f.sz < 2 {
		t.write(u.d, f.sz, t.operand(u.s, f.sz, hCX))
		return
	}
	r := t.def(u.d, hCX)
	if h := fixed[u.s>>3]; h != 0 {
		if f.sz == 3 && r == hCX {
			r = h
		} else {
			t.hot.rr(f.sz, opMov, r, h)
		}
	} else {
		t.hot.rm(f.sz, opMov, r, hBX, home(u.s))
	}
	t.keep(u.d, r)
}

func (t *translator) movRI(u *uop, f *template) {
	if f.sz < 2 {
		t.hot.imm(hCX, u.imm&sizeMask(f.sz))
		t.write(u.d, f.sz, hCX)
		return
	}
	h := fixed[u.d>>3]
	switch {
	case h == 0 && u.imm == uint64(int64(int32(u.imm))):
		t.hot.rm(3, 0xc7, 0, hBX, home(u.d))
		t.hot.u32(uint32(u.imm))
	case u.imm == 0:
		t.hot.rr(2, opXor, h, h)
	default:
		r := t.def(u.d, hCX)
		t.hot.imm(r, u.imm)
		t.keep(u.d, r)
	}
}

func (t *translator) movz(u *uop, f *template) {
	r := t.def(u.d, hCX)
	t.read(u.s, f.sz, r)
	t.keep(u.d, r)
}

func (t *translator) movs(u *uop, f *template) {
	if f.to < 2 {
		t.read(u.s, f.sz, hCX)
		t.hot.extend(f.sz, 2, hCX, hCX)
		t.write(u.d, f.to, hCX)
		return
	}
	r := t.def(u.d, hCX)
	t.hot.extend(f.sz, f.to, r, t.operand(u.s, f.sz, hCX))
	t.keep(u.d, r)
}

func (t *translator) widen(u *uop, _ *template) {
	sz := uint8(1) // cwde: ax to eax
	if plainOp(u) == o_cdqe {
		sz = 2
	}
	t.hot.extend(sz, sz+1, fixed[RAX], fixed[RAX])
}

func (t *translator) signFill(u *uop, _ *template) {
	sz := uint8(2)
	if plainOp(u) == o_cqo {
		sz = 3
	}
	t.hot.rr(sz, opMov, fixed[RDX], fixed[RAX])
	t.hot.rr(sz, opGroup2, 7, fixed[RDX])
	t.hot.put(8<<sz - 1)
}

func (t *translator) bswap(u *uop, f *template) {
	h := t.get(u.d, hCX)
	t.hot.opcode(f.sz, 0x1c8|uint16(h&7), 0, 0, h, false)
	t.keep(u.d, h)
}

func (t *translator) lea(u *uop, f *template) {
	b, x := fixed[u.m>>3], fixed[u.x>>3]
	if !f.indexed || u.x == slotZero {
		x = 0
	}
	if h := fixed[u.d>>3]; t.plainLea(u, f) {
		if x != 0 {
			t.hot.rmx(f.sz, opLea, h, b, x, u.sc, int32(u.disp))
		} else {
			t.hot.rm(f.sz, opLea, h, b, int32(u.disp))
		}
		return
	}
	t.address(u, f)
	t.write(u.d, f.sz, hAX)
}

// plainLea reports whether a lea is one of the host's.
func (t *translator) plainLea(u *uop, f *template) bool {
	return f.sz >= 2 && fixed[u.d>>3] != 0 && fixed[u.m>>3] != 0 && (!f.indexed || u.x != slotZero && fixed[u.x>>3] != 0) &&
		u.disp == uint64(int64(int32(u.disp)))
}

// setFop records the kind of the last result.
func (t *translator) setFop(fop uint8) {
	if t.fop == int(fop) {
		return
	}
	t.hot.rm(0, 0xc6, 0, hBX, atFop)
	t.hot.put(fop)
	t.fop = int(fop)
}

// setFA stores the result in r, sign-extended by way of scratch. Host flags stay.
func (t *translator) setFA(sz, r, scratch uint8) {
	if sz < 3 {
		t.hot.extend(sz, 3, scratch, r)
		r = scratch
	}
	t.hot.rm(3, opStore, r, hBX, atFA)
}

// setBoth records a sum or difference in rdx, with the second operand in rcx. Host flags stay. As a call of a piece it is 10 bytes
// shorter and cost 6 of 66 us of a fork, exec and exit: jumps there and back are dear.
func (t *translator) setBoth(kind, sz uint8) {
	if sz >= 2 {
		t.hot.rm(3, opStore, hCX, hBX, atFB)
		t.setFA(sz, hDX, hDX)
		t.setFop(kind | sz)
		return
	}
	t.call(t.shared.flags[kind>>2][sz])
	t.fop = int(kind | sz)
}

// operands puts the second operand of an operation into a register; zero: zero-extended. In the m forms the first goes to rdx,
// and rax keeps its host address.
func (t *translator) operands(u *uop, f *template, write, zero bool) (b uint8) {
	switch f.form {
	case "rm":
		t.probe(u, f, f.sz, false)
		t.hot.load(f.sz, hCX, hAX, t.at)
		return hCX
	case "mr", "mi":
		t.probe(u, f, f.sz, write)
		t.hot.load(f.sz, hDX, hAX, t.at)
	}
	switch {
	case f.form == "ri" || f.form == "mi":
		t.hot.imm(hCX, u.imm&sizeMask(f.sz))
		return hCX
	case !zero || f.sz == 3:
		return t.operand(u.s, f.sz, hCX)
	}
	t.read(u.s, f.sz, hCX)
	return hCX
}

var aluKind = [8]uint8{0: kADD, 1: kLOGIC, 4: kLOGIC, 5: kSUB, 6: kLOGIC}

// alu is add, or, and, sub and xor; opcode 8*k+3 in the form register, register or memory.
func (t *translator) alu(u *uop, f *template) {
	if f.form == "ri" && f.sz >= 2 && u.imm == uint64(int64(int32(u.imm))) {
		t.aluImm(u, f)
		return
	}
	kind := aluKind[f.k]
	sum := f.flags && kind != kLOGIC
	b := t.operands(u, f, true, sum)
	r := uint8(hDX)
	if f.form[0] != 'm' {
		if f.sz >= 2 {
			r = t.operand(u.d, f.sz, hDX)
		} else {
			t.read(u.d, f.sz, hDX)
		}
	}
	if sum && f.sz == 3 {
		t.hot.rm(3, opStore, b, hBX, atFB)
	}
	t.hot.rr(f.sz, sized(f.sz, uint16(8*f.k+3)), r, b)
	switch {
	case f.form[0] == 'm':
		t.hot.store(f.sz, r, hAX, t.at)
	case f.sz >= 2:
		t.keep(u.d, r)
	default:
		t.write(u.d, f.sz, hDX)
	}
	if f.flags {
		t.flags = flagsAll
	}
	switch {
	case !f.flags:
	case sum && f.sz < 3:
		if r != hDX {
			t.hot.rr(2, opMov, hDX, r)
		}
		t.setBoth(kind, f.sz)
	default:
		t.setFA(f.sz, r, hDX)
		t.setFop(kind | f.sz)
	}
}

// aluImm is alu of a register and a constant.
func (t *translator) aluImm(u *uop, f *template) {
	kind := aluKind[f.k]
	if h := fixed[u.d>>3]; h == 0 && !f.flags && f.sz == 3 {
		t.group1Home(f.k, u.d, int32(u.imm))
		return
	}
	h := t.operand(u.d, f.sz, hDX)
	t.hot.group1(f.sz, f.k, h, int32(u.imm))
	t.keep(u.d, h)
	if f.flags {
		t.flags = flagsAll
	}
	switch {
	case !f.flags:
	case kind == kLOGIC:
		t.setFA(f.sz, h, hDX)
		t.setFop(kind | f.sz)
	default:
		if h != hDX {
			t.hot.rr(f.sz, opMov, hDX, h)
		}
		t.hot.imm(hCX, u.imm&sizeMask(f.sz))
		t.setBoth(kind, f.sz)
	}
}

// group1Home is group1 on the slot of a register that is not fixed.
func (t *translator) group1Home(op, off uint8, v int32) {
	if v == int32(int8(v)) {
		t.hot.rm(3, opGroup1b, op, hBX, home(off))
		t.hot.put(byte(v))
		return
	}
	t.hot.rm(3, opGroup1, op, hBX, home(off))
	t.hot.u32(uint32(v))
}

// compare leaves the host's flags as those of the guest.
func (t *translator) compare(u *uop, f *template) {
	if f.form == "ri" && f.sz >= 2 && u.imm == uint64(int64(int32(u.imm))) {
		t.read(u.d, f.sz, hDX)
		t.hot.group1(f.sz, 5, hDX, int32(u.imm))
		t.hot.imm(hCX, u.imm&sizeMask(f.sz))
	} else {
		b := t.operands(u, f, false, true)
		if f.form[0] != 'm' {
			t.read(u.d, f.sz, hDX)
		}
		t.hot.rr(f.sz, sized(f.sz, opSub), hDX, b)
		if b != hCX {
			t.hot.rr(3, opMov, hCX, b)
		}
	}
	t.setBoth(kSUB, f.sz)
}

// test does too, but for AF.
func (t *translator) test(u *uop, f *template) {
	if f.form == "rr" && u.s == u.d && f.sz >= 2 {
		h := t.operand(u.d, f.sz, hDX)
		t.setFA(f.sz, h, hDX)
		t.setFop(kLOGIC | f.sz)
		t.hot.rr(f.sz, opTest, h, h)
		return
	}
	b := t.operands(u, f, false, false)
	if f.form[0] != 'm' {
		t.read(u.d, f.sz, hDX)
	}
	t.hot.rr(f.sz, sized(f.sz, opAnd), hDX, b)
	t.setFA(f.sz, hDX, hDX)
	t.setFop(kLOGIC | f.sz)
}

func (t *translator) jumpCompare(u *uop, f *template) {
	t.compare(u, f)
	t.branch(f.k)
}

func (t *translator) jumpTest(u *uop, f *template) {
	t.test(u, f)
	t.branch(f.k)
}

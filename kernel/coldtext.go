package kernel

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// Cold text: the code behind a jump label, which prepares the arguments of a tracepoint and calls its gate. It runs only while
// the label is a jump, so it is shadow text: its instructions are not counted and nothing interrupts it. Behind the call the
// compiler may have put code that counts (a copy of what follows the label, say), so the gate does not return there: LeaveCold
// goes on at the instruction behind the label, with the registers that the CPU had at it. A tracepoint then costs the guest
// nothing but what its tracer charges: the label counts once, as nop and as jump.
//
//	site:   jmp start          counted, as the nop was
//	site+5: …           <──────────────┐
//	start:  mov …, %rdi        shadow  │
//	        call gate          shadow ─┘  LeaveCold
//	end:    …                  (not executed)
//
// Most pieces have no branches. They are done in one step with their gate, but for OverheadNone, while their bytes are as they were.

// Cold is one such piece: the instructions from a jump label's target to the gate, on all ways there.
type Cold struct {
	Site   uint64      // of the jump, five bytes
	Start  uint64      // its target
	Ranges [][2]uint64 // the instructions
	Ends   []uint64    // behind the calls of the gate; none: the gate is jumped to, as the last act of the function

	gate uint64
	way  *x86.Straight // nil: there is more than one
	text []byte        // of which that was made
}

// cold are the pieces of a machine. Forks share it: it is replaced, never changed.
type cold struct {
	pieces []Cold
	at     map[uint64]*Cold // by start
	ranges [][2]uint64      // merged, in order
	base   uint64           // of lines, the first range's begin rounded down
	lines  []uint64         // a bit for each 16 bytes of text that a range touches: has asks it on the way of every gate and block
}

func newCold(pieces []Cold) *cold {
	c := &cold{pieces: pieces, at: map[uint64]*Cold{}}
	var all [][2]uint64
	for i := range pieces {
		c.at[pieces[i].Start] = &pieces[i]
		all = append(all, pieces[i].Ranges...)
	}
	slices.SortFunc(all, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	for _, r := range all {
		if n := len(c.ranges); n > 0 && r[0] <= c.ranges[n-1][1] {
			c.ranges[n-1][1] = max(c.ranges[n-1][1], r[1])
		} else {
			c.ranges = append(c.ranges, r)
		}
	}
	if len(c.ranges) > 0 {
		c.base = c.ranges[0][0] &^ (coldLine - 1)
		last := (c.ranges[len(c.ranges)-1][1] - c.base) / coldLine
		c.lines = make([]uint64, last/64+1)
		for _, r := range c.ranges {
			for at := (r[0] - c.base) / coldLine; at <= (r[1]-1-c.base)/coldLine; at++ {
				c.lines[at/64] |= 1 << (at % 64)
			}
		}
	}
	return c
}

const coldLine = 16

// has says whether va is in cold text.
func (c *cold) has(va uint64) bool {
	if c == nil {
		return false
	}
	line := (va - c.base) / coldLine
	if line/64 >= uint64(len(c.lines)) || c.lines[line/64]>>(line%64)&1 == 0 {
		return false
	}
	i, ok := slices.BinarySearchFunc(c.ranges, va, func(r [2]uint64, va uint64) int { return cmp.Compare(r[0], va) })
	return ok || i > 0 && va < c.ranges[i-1][1]
}

// start is the piece that begins at va; nil: none.
func (c *cold) start(va uint64) *Cold {
	if c == nil {
		return nil
	}
	return c.at[va]
}

// coldState is what a CPU had when it came to cold text.
type coldState struct {
	piece *Cold // nil: none
	regs  x86.Kept
	mem   [coldBelow + coldAbove]byte // around the stack pointer, with OverheadNone
	kept  bool
	sure  bool // it was done in one step

	all  *cold // the last place that Hook was asked about: whether it is a piece of all
	at   uint64
	here *Cold
}

// The code stores at most a return address and a few arguments below the stack pointer, and may use slots of its frame.
const (
	coldBelow = 64
	coldAbove = 192
)

// AddCold makes pieces cold text. Their code must not have run yet.
func (m *Machine) AddCold(pieces []Cold) {
	if len(pieces) == 0 {
		return
	}
	var all []Cold
	if m.cold != nil {
		all = m.cold.pieces
	}
	m.cold = newCold(append(slices.Clip(all), pieces...))
	for _, p := range pieces {
		for _, r := range p.Ranges {
			m.rehook(r[0])
		}
	}
	m.forgetRecent()
}

// ExecuteCold has all cold text executed, not done in one step. For tests.
func (m *Machine) ExecuteCold() {
	pieces := slices.Clone(m.cold.pieces)
	for i := range pieces {
		pieces[i].way = nil
	}
	m.cold = nil
	m.AddCold(pieces)
}

// DropCold forgets the pieces in a module's text that goes.
func (m *Machine) DropCold(a ModuleArea) {
	if m.cold != nil {
		m.cold = newCold(slices.DeleteFunc(slices.Clone(m.cold.pieces), func(p Cold) bool { return a.Has(p.Start) }))
	}
}

// enterCold notes what the CPU has at the label.
func (v *VCPU) enterCold(p *Cold) {
	s := &v.coldState
	s.piece, s.sure = p, false
	v.CPU.Keep(&s.regs)
	s.kept = v.m.cfg.Overhead == OverheadNone && v.CPU.Read(s.regs.SP()-coldBelow, s.mem[:]) == nil
}

// GateText implements x86.Gater.
func (v *VCPU) GateText(va uint64) int {
	if v.m.cfg.Overhead != OverheadModel || !v.m.cold.has(va) {
		return 0
	}
	p := v.m.cold.start(va)
	if p == nil || p.way == nil {
		return 0
	}
	now := make([]byte, len(p.text))
	if v.m.Read(va, now) != nil || !bytes.Equal(now, p.text) {
		return 0 // a probe is there
	}
	return len(now)
}

// runCold does p and its gate, which is fns.
func (v *VCPU) runCold(p *Cold, fns []Gate) {
	s := &v.coldState
	s.piece, s.sure, s.kept = p, false, false // as enterCold, but that there is OverheadModel here
	v.CPU.Keep(&s.regs)
	ok, fault := v.CPU.RunStraight(p.way)
	switch {
	case fault:
		v.m.exception(v)
	case ok && fns != nil:
		s.sure, v.own = true, false
		var rax uint64
		for _, fn := range fns {
			rax = fn(v)
		}
		v.endGate(rax)
	case ok:
		v.m.gate(v, p.gate, nil)
	}
}

// LeaveCold ends the gate of a tracepoint that was called from cold text: the CPU goes on behind the label. False: the gate was
// called from elsewhere and returns as any other.
func (v *VCPU) LeaveCold() bool {
	s := &v.coldState
	p := s.piece
	if p == nil {
		return false
	}
	s.piece = nil
	if !s.sure && !v.atEnd(p) {
		return false // an exception has led away from the piece that was entered
	}
	if s.kept {
		var now [len(s.mem)]byte
		if at := s.regs.SP() - coldBelow; v.CPU.Read(at, now[:]) == nil && now != s.mem {
			for i := 0; i < len(now); i += 8 { // only what has changed: the page may be shared with a fork
				if x := binary.LittleEndian.Uint64(s.mem[i:]); x != binary.LittleEndian.Uint64(now[i:]) {
					_ = v.CPU.PutU64(at+uint64(i), x)
				}
			}
		}
	}
	v.CPU.PutBack(&s.regs)
	v.CPU.SetRIP(p.Site + 5)
	v.KeepRIP()
	return true
}

// atEnd says whether the gate has been called from p.
func (v *VCPU) atEnd(p *Cold) bool {
	ret, err := v.word(v.CPU.Reg(x86.RSP))
	return len(p.Ends) == 0 || err == nil && slices.Contains(p.Ends, ret)
}

// ColdPiece looks for cold text behind a jump label: from its target on, every way must lead to a call of gate, or to a jump
// there, without another call. False: the compiler has made something else of it.
func (m *Machine) ColdPiece(site, target, gate uint64) (Cold, bool) {
	const maxInsns = 64
	p := Cold{Site: site, Start: target, gate: gate}
	seen, todo := map[uint64]bool{}, []uint64{target}
	calls, jumps := 0, 0
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; seen[pc] {
			continue
		}
		if seen[pc] = true; len(seen) > maxInsns {
			return p, false
		}
		op, next, to, ok := m.branchAt(pc)
		if !ok {
			return p, false
		}
		p.Ranges = append(p.Ranges, [2]uint64{pc, next})
		switch {
		case op == "call" && to == gate:
			calls++
			p.Ends = append(p.Ends, next)
		case op == "jmp" && to == gate:
			jumps++
		case op == "call" || to == 0 && op != "":
			return p, false
		case op == "jmp":
			todo = append(todo, to)
		case op != "":
			todo = append(todo, to, next)
		default:
			todo = append(todo, next)
		}
	}
	if jumps > 0 {
		p.Ends = nil
	}
	m.straighten(&p)
	return p, calls+jumps > 0
}

// straighten finds whether p is one piece without branches.
func (m *Machine) straighten(p *Cold) {
	n := uint64(0)
	for _, r := range p.Ranges {
		if r[0] != p.Start+n {
			return
		}
		n = r[1] - p.Start
	}
	text := make([]byte, n)
	if p.Start%mem.PageSize+n <= mem.PageSize && m.Read(p.Start, text) == nil {
		p.way, p.text = x86.NewStraight(p.Start, text), text
	}
}

// branchAt decodes the instruction at pc: op is "" unless it is a branch, to where a direct one leads, 0 for others.
func (m *Machine) branchAt(pc uint64) (op string, next, to uint64, ok bool) {
	var code [15]byte
	if m.Read(pc, code[:]) != nil {
		return "", 0, 0, false
	}
	text, n, err := x86.Disasm(code[:], pc, nil)
	if err != nil {
		return "", 0, 0, false
	}
	next = pc + uint64(n)
	op, _, _ = strings.Cut(text, " ")
	switch {
	case op != "call" && op[0] != 'j' && !strings.HasPrefix(op, "ret") && !strings.HasPrefix(op, "ud") && op != "int3" && op != "hlt":
		return "", next, 0, true
	case code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0x0f && code[1]&0xf0 == 0x80:
		to = next + uint64(int64(int32(binary.LittleEndian.Uint32(code[n-4:]))))
	case code[0] == 0xeb || code[0]&0xf0 == 0x70:
		to = next + uint64(int64(int8(code[n-1])))
	}
	return op, next, to, true
}

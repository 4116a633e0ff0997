package kernel

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// Frame is one function activation.
type Frame struct {
	PC    uint64      // the next instruction of this activation: its return address, unless Exact
	SP    uint64      // the stack pointer while the callee runs behind the call
	Exact bool        // PC was interrupted or is where the walk starts: no call is in front of it
	At    uint64      // where PC was read on the stack; 0 for the first frame
	Regs  [nDW]uint64 // by DWARF number, as far as Known says
	Known [nDW]bool
	Entry *EntryFrame // set on a frame that an interrupt, exception or system call interrupted
	User  bool        // the interrupted code was user code: the walk is complete
}

// EntryFrame tells where the CPU and the entry code saved the interrupted registers.
type EntryFrame struct {
	Regs uint64 // address of the pt_regs; with Partial only its last five words are there
	IRET uint64 // address of the words RIP CS RFLAGS RSP SS
	Full bool   // all of pt_regs is valid, not only the words that the CPU pushed
}

// ptRegsIP is offsetof(struct pt_regs, ip): fifteen registers and orig_ax, fixed by entry code and ABI alike.
const ptRegsIP = 16 * 8

// errNoCFI ends a walk at code that nothing describes.
var errNoCFI = errors.New("no unwind rows")

// Unwinder walks stacks exactly, by the compiler's .debug_frame and the entry code's .cfi directives.
// It belongs to one machine; the parsed table is shared.
type Unwinder struct {
	table *frameTable
	rows  map[uint64]*row
	leaf  [2]uint64 // the gate page: a gate has pushed nothing yet

	// Alias maps an address in copied text (a trampoline, a slot) to the template it was copied from.
	Alias func(pc uint64) (uint64, bool)
	// RetAddr returns the true return address behind a hijacked one that was read at slot (function_graph, kretprobes).
	RetAddr func(ra, slot uint64) uint64
	// Module gives the rows of the module that pc is in, nil when it is in none.
	Module func(pc uint64) *frameTable
}

// tableOf is the table that describes pc.
func (u *Unwinder) tableOf(pc uint64) *frameTable {
	if u.Module != nil && u.table.find(pc) == nil {
		if t := u.Module(pc); t != nil {
			return t
		}
	}
	return u.table
}

// NewUnwinder parses the unwind rows of an image.
func NewUnwinder(f *elf.File) (*Unwinder, error) {
	t, err := newFrameTable(f)
	if err != nil {
		return nil, err
	}
	u := &Unwinder{table: t, rows: map[uint64]*row{}}
	if s := f.Section(".gates"); s != nil {
		u.leaf = [2]uint64{s.Addr, s.Addr + s.Size}
	}
	return u, nil
}

// Fork is an unwinder for a fork of the machine; its owner sets the hooks anew.
func (u *Unwinder) Fork() *Unwinder {
	return &Unwinder{table: u.table, rows: map[uint64]*row{}, leaf: u.leaf}
}

func (u *Unwinder) row(pc uint64) *row {
	if r := u.rows[pc]; r != nil {
		return r
	}
	look := pc
	if u.Alias != nil {
		if orig, ok := u.Alias(pc); ok {
			look = orig
		}
	}
	var r row
	table := u.tableOf(look)
	if u.leaf[0] <= look && look < u.leaf[1] || pc == 0 { // 0: a call through a null pointer, null_orc_entry of unwind_orc.c
		r = row{cfaReg: dwRSP, cfaOff: 8, ok: true}
		r.regs[dwRIP] = rule{kind: ruleOffset, n: -8}
	} else {
		r = table.row(look)
	}
	if look == pc && table == u.table { // copied text and modules come and go: not kept
		u.rows[pc] = &r
	}
	return &r
}

// Start is the frame of code that is at pc with the given stack pointer and, if known, the callee-saved registers.
func Start(regs [nDW]uint64) Frame {
	f := Frame{PC: regs[dwRIP], SP: regs[dwRSP], Exact: true, Regs: regs}
	for i := range f.Known {
		f.Known[i] = true
	}
	return f
}

// Next is the caller of f. ok is false, without an error, at the outermost frame.
func (u *Unwinder) Next(mem Memory, f *Frame) (next Frame, ok bool, err error) {
	if f.User || f.PC == 0 && !f.Exact {
		return Frame{}, false, nil
	}
	pc := f.PC
	if !f.Exact && !u.outermost(pc) {
		pc-- // the call, which may be its function's last instruction
	}
	r := u.row(pc)
	if !r.ok {
		return Frame{}, false, fmt.Errorf("at %#x: %w", f.PC, errNoCFI)
	}
	cfa, err := u.cfa(mem, r, f)
	if err != nil {
		return Frame{}, false, err
	}
	if r.regs[dwRIP].kind == ruleUndefined || r.regs[dwRIP].kind == ruleSame {
		return Frame{}, false, nil
	}
	next.SP = cfa
	next.Regs[dwRSP], next.Known[dwRSP] = cfa, true
	var at [nDW]uint64
	for i := range r.regs {
		if i == dwRSP && r.regs[i].kind == ruleSame {
			continue
		}
		if at[i], err = u.recover(mem, r, f, &next, i, cfa); err != nil {
			return Frame{}, false, err
		}
	}
	next.SP = next.Regs[dwRSP]
	next.PC, next.At = next.Regs[dwRIP], at[dwRIP]
	if r.signal {
		err = u.entry(mem, &next, at)
		return next, err == nil, err
	}
	if u.RetAddr != nil {
		next.PC = u.RetAddr(next.PC, next.At)
		next.Regs[dwRIP] = next.PC
	}
	return next, next.PC != 0, nil
}

// outermost says that pc is the first instruction of code that nothing calls: the stack of a task that has never run
// "returns" there.
func (u *Unwinder) outermost(pc uint64) bool {
	f := u.tableOf(pc).find(pc)
	return f != nil && f.lo == pc && u.row(pc).regs[dwRIP].kind == ruleUndefined
}

// entry completes a frame that was interrupted.
func (u *Unwinder) entry(mem Memory, next *Frame, at [nDW]uint64) error {
	next.Exact = true   // no call is in front of it
	if at[dwRIP] == 0 { // a few instructions around SYSCALL and SYSRET: nothing is on the stack yet, rcx holds the RIP
		next.User = next.PC < 1<<63
		return nil
	}
	e := &EntryFrame{IRET: at[dwRIP], Regs: at[dwRIP] - ptRegsIP}
	e.Full = at[dwR15] != 0 && at[dwR15] == e.Regs
	next.Entry = e
	cs, err := readWord(mem, e.IRET+8)
	if err != nil {
		return err
	}
	next.User = cs&3 == 3
	next.Exact = cs != 0 // start_thread() clears a pt_regs before it fills it in: the walk ends there
	return nil
}

// recover finds register i of the caller and returns where it was saved, 0 when not in memory.
func (u *Unwinder) recover(mem Memory, r *row, f, next *Frame, i int, cfa uint64) (uint64, error) {
	at := uint64(0)
	q := &r.regs[i]
	var err error
	switch q.kind {
	case ruleSame:
		// The psABI: rbx, rbp and r12 to r15 survive a call, the others do not.
		if i == dwRBX || i == dwRBP || i >= 12 && i <= dwR15 || r.signal {
			next.Regs[i], next.Known[i] = f.Regs[i], f.Known[i]
		}
		return 0, nil
	case ruleUndefined:
		return 0, nil
	case ruleValOffset:
		next.Regs[i], next.Known[i] = cfa+uint64(q.n), true
		return 0, nil
	case ruleRegister:
		if q.n < 0 || q.n >= nDW {
			return 0, fmt.Errorf("at %#x: register %d in unwind row", f.PC, q.n)
		}
		next.Regs[i], next.Known[i] = f.Regs[q.n], f.Known[q.n]
		return 0, nil
	case ruleValExpr:
		next.Regs[i], err = evalCFI(mem, q.expr, f, cfa, true)
		next.Known[i] = err == nil
		return 0, err
	case ruleOffset:
		at = cfa + uint64(q.n)
	case ruleExpr:
		if at, err = evalCFI(mem, q.expr, f, cfa, true); err != nil {
			return 0, err
		}
	}
	next.Regs[i], err = readWord(mem, at)
	next.Known[i] = err == nil
	return at, err
}

func (u *Unwinder) cfa(mem Memory, r *row, f *Frame) (uint64, error) {
	if r.cfaExpr != nil {
		return evalCFI(mem, r.cfaExpr, f, 0, false)
	}
	if r.cfaReg >= nDW || !f.Known[r.cfaReg] {
		return 0, fmt.Errorf("at %#x: the frame address hangs on register %d, which is lost", f.PC, r.cfaReg)
	}
	base := f.Regs[r.cfaReg] + uint64(r.effect.depth)
	if r.effect.switched {
		var err error
		if base, err = readWord(mem, base); err != nil {
			return 0, err
		}
	}
	return base + uint64(r.cfaOff), nil
}

// maxFrames bounds a walk over a corrupt stack.
const maxFrames = 512

// Walk calls fn for each frame from start on, until fn returns false or the stack ends. An error says why the walk
// ended early; the frames seen until then are true.
func (u *Unwinder) Walk(mem Memory, start Frame, fn func(*Frame) bool) error {
	f := start
	for range maxFrames {
		if !fn(&f) {
			return nil
		}
		next, ok, err := u.Next(mem, &f)
		if err != nil || !ok {
			return err
		}
		if next.SP <= f.SP && next.Entry == nil && f.Entry == nil && next.PC == f.PC {
			return fmt.Errorf("at %#x: the stack does not unwind", f.PC)
		}
		f = next
	}
	return fmt.Errorf("more than %d frames", maxFrames)
}

// readWord goes by U64 where the memory has that (CPUs and machines do), which allocates nothing.
func readWord(mem Memory, va uint64) (uint64, error) {
	if m, ok := mem.(interface{ U64(uint64) (uint64, error) }); ok {
		v, err := m.U64(va)
		if err != nil {
			return 0, fmt.Errorf("reading the stack at %#x: %w", va, err)
		}
		return v, nil
	}
	var b [8]byte
	if err := mem.Read(va, b[:]); err != nil {
		return 0, fmt.Errorf("reading the stack at %#x: %w", va, err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

// evalCFI runs a DWARF expression; the operations are those that compilers and entry code use in unwind rows.
func evalCFI(mem Memory, expr []byte, f *Frame, cfa uint64, pushCFA bool) (uint64, error) {
	var st []uint64
	if pushCFA {
		st = append(st, cfa)
	}
	b := cfiBuf{data: expr}
	pop := func() uint64 {
		if len(st) == 0 {
			b.bad = true
			return 0
		}
		v := st[len(st)-1]
		st = st[:len(st)-1]
		return v
	}
	for b.off < len(expr) && !b.bad {
		op := b.u8()
		switch {
		case op >= 0x30 && op <= 0x4f: // lit
			st = append(st, uint64(op-0x30))
		case op >= 0x70 && op < 0x70+nDW: // breg
			st = append(st, f.Regs[op-0x70]+uint64(b.sleb()))
		case op == 0x06: // deref
			v, err := readWord(mem, pop())
			if err != nil {
				return 0, err
			}
			st = append(st, v)
		case op == 0x08:
			st = append(st, uint64(b.u8()))
		case op == 0x09:
			st = append(st, uint64(int8(b.u8())))
		case op == 0x0a:
			st = append(st, uint64(b.u16()))
		case op == 0x0b:
			st = append(st, uint64(int16(b.u16())))
		case op == 0x0c:
			st = append(st, uint64(b.u32()))
		case op == 0x0d:
			st = append(st, uint64(int32(b.u32())))
		case op == 0x0e, op == 0x0f:
			st = append(st, b.u64())
		case op == 0x10:
			st = append(st, b.uleb())
		case op == 0x11:
			st = append(st, uint64(b.sleb()))
		case op == 0x12: // dup
			v := pop()
			st = append(st, v, v)
		case op == 0x23: // plus_uconst
			st = append(st, pop()+b.uleb())
		default:
			y, x := pop(), pop()
			v, ok := cfiBinary(op, x, y)
			if !ok {
				return 0, fmt.Errorf("at %#x: DWARF operation %#x in unwind row", f.PC, op)
			}
			st = append(st, v)
		}
	}
	if v := pop(); !b.bad {
		return v, nil
	}
	return 0, fmt.Errorf("at %#x: malformed unwind expression", f.PC)
}

func cfiBinary(op byte, x, y uint64) (uint64, bool) {
	flag := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case 0x1a:
		return x & y, true
	case 0x1c:
		return x - y, true
	case 0x1e:
		return x * y, true
	case 0x21:
		return x | y, true
	case 0x22:
		return x + y, true
	case 0x24:
		return x << y, true
	case 0x25:
		return x >> y, true
	case 0x29:
		return flag(x == y), true
	case 0x2a:
		return flag(int64(x) >= int64(y)), true
	case 0x2b:
		return flag(int64(x) > int64(y)), true
	case 0x2c:
		return flag(int64(x) <= int64(y)), true
	case 0x2d:
		return flag(int64(x) < int64(y)), true
	}
	return 0, false
}

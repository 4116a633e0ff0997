package kernel

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"
)

// DWARF register numbers of x86-64 (System V ABI, figure 3.36).
const (
	dwRBX = 3
	dwRBP = 6
	dwRSP = 7
	dwR15 = 15
	dwRIP = 16
	nDW   = 17
)

// frameTable holds the rows of .debug_frame, sorted by address. It is shared by all machines of an image.
type frameTable struct {
	fdes []fde
	text []textPart // the image's code as it was linked, for stackEffect
}

type fde struct {
	lo, hi uint64
	cie    *cie
	prog   []byte
}

type cie struct {
	codeAlign uint64
	dataAlign int64
	ra        uint64
	init      []byte
	signal    bool // augmentation 'S': the caller was interrupted, its RIP is no return address
}

// ruleKind says where a register of the caller is.
type ruleKind uint8

const (
	ruleSame      ruleKind = iota // unchanged
	ruleUndefined                 // lost; for RIP: the outermost frame
	ruleOffset                    // saved at CFA + n
	ruleValOffset                 // is CFA + n
	ruleRegister                  // is in register n
	ruleExpr                      // saved at the address that an expression gives
	ruleValExpr                   // is an expression's value
)

type rule struct {
	kind ruleKind
	n    int64
	expr []byte
}

// row is the unwind rule set in force at one instruction.
type row struct {
	cfaReg  uint64
	cfaOff  int64
	cfaExpr []byte
	regs    [nDW]rule
	signal  bool
	ok      bool
	start   uint64 // the first address of this row
	effect  stackEffect
}

// newFrameTable parses .debug_frame (DWARF 5, section 6.4). A file without one gives an empty table.
func newFrameTable(f *elf.File) (*frameTable, error) {
	t := &frameTable{text: textParts(f)}
	sec := f.Section(".debug_frame")
	if sec == nil {
		return t, nil
	}
	data, err := sec.Data()
	if err != nil {
		return nil, fmt.Errorf("reading .debug_frame: %w", err)
	}
	t.parse(data)
	return t, nil
}

// parse reads the entries of a .debug_frame section.
func (t *frameTable) parse(data []byte) {
	cies := map[uint64]*cie{}
	for off := 0; off+4 <= len(data); {
		b := cfiBuf{data: data, off: off}
		n, id, wide := b.head()
		start, end := b.off, b.bodyStart+n
		if b.bad || n == 0 || end > len(data) || end < start { // shorter than its own head: no entry
			break
		}
		body := cfiBuf{data: data[:end], off: start}
		isCIE := id == 0xffffffff && !wide || id == ^uint64(0) && wide
		if isCIE {
			cies[uint64(off)] = parseCIE(&body)
		} else if c := cies[id]; c != nil {
			lo := body.u64()
			hi := lo + body.u64()
			if lo != 0 && !body.bad {
				t.fdes = append(t.fdes, fde{lo, hi, c, body.data[body.off:]})
			}
		}
		off = end
	}
	sort.Slice(t.fdes, func(i, j int) bool { return t.fdes[i].lo < t.fdes[j].lo })
}

func parseCIE(b *cfiBuf) *cie {
	c := &cie{}
	version := b.u8()
	aug := b.cstr()
	if version >= 4 {
		b.u8() // address size
		b.u8() // segment selector size
	}
	c.codeAlign = b.uleb()
	c.dataAlign = b.sleb()
	if version == 1 {
		c.ra = uint64(b.u8())
	} else {
		c.ra = b.uleb()
	}
	for _, a := range aug {
		c.signal = c.signal || a == 'S'
	}
	c.init = b.data[b.off:]
	return c
}

// find returns the description that covers pc.
func (t *frameTable) find(pc uint64) *fde {
	i := sort.Search(len(t.fdes), func(i int) bool { return t.fdes[i].lo > pc })
	if i == 0 || pc >= t.fdes[i-1].hi {
		return nil
	}
	return &t.fdes[i-1]
}

// row runs the instructions of pc's description up to pc. ok is false where nothing describes pc.
func (t *frameTable) row(pc uint64) row {
	f := t.find(pc)
	if f == nil {
		return row{}
	}
	v := cfiMachine{cie: f.cie, loc: f.lo, target: ^uint64(0)}
	v.row.ok, v.row.signal, v.row.start = true, f.cie.signal, f.lo
	for i := range v.row.regs {
		v.row.regs[i].kind = ruleSame
	}
	v.run(f.cie.init)
	v.initial = v.row
	v.target = pc
	v.run(f.prog)
	if v.bad {
		v.row.ok = false
	}
	// Entry code (signal frames) is assembler with rows of its own, and branches around what changes the stack.
	if v.row.cfaReg == dwRSP && v.row.cfaExpr == nil && !v.row.signal {
		v.row.effect = t.stackEffect(v.row.start, pc)
	}
	return v.row
}

// cfiMachine executes call frame instructions.
type cfiMachine struct {
	cie         *cie
	row         row
	initial     row
	saved       []row
	loc, target uint64
	bad         bool
}

func (v *cfiMachine) run(prog []byte) {
	b := cfiBuf{data: prog}
	for b.off < len(prog) && !b.bad && !v.bad {
		op := b.u8()
		switch op >> 6 {
		case 1: // advance_loc
			if !v.advance(uint64(op & 63)) {
				return
			}
		case 2: // offset
			v.set(uint64(op&63), rule{kind: ruleOffset, n: int64(b.uleb()) * v.cie.dataAlign})
		case 3: // restore
			v.restore(uint64(op & 63))
		default:
			if !v.extended(op, &b) {
				return
			}
		}
	}
	v.bad = v.bad || b.bad
}

func (v *cfiMachine) advance(n uint64) bool {
	v.loc += n * v.cie.codeAlign
	if v.loc > v.target {
		return false
	}
	v.row.start = v.loc
	return true
}

func (v *cfiMachine) set(reg uint64, r rule) {
	if reg < nDW {
		v.row.regs[reg] = r
	}
}

func (v *cfiMachine) restore(reg uint64) {
	if reg < nDW {
		v.row.regs[reg] = v.initial.regs[reg]
	}
}

// extended executes the instructions whose number is in the low six bits; false ends the run.
func (v *cfiMachine) extended(op byte, b *cfiBuf) bool {
	switch op {
	case 0x00: // nop
	case 0x01: // set_loc
		v.loc = b.u64()
		return v.advance(0)
	case 0x02:
		return v.advance(uint64(b.u8()))
	case 0x03:
		return v.advance(uint64(b.u16()))
	case 0x04:
		return v.advance(uint64(b.u32()))
	case 0x05: // offset_extended
		v.set(b.uleb(), rule{kind: ruleOffset, n: int64(b.uleb()) * v.cie.dataAlign})
	case 0x06: // restore_extended
		v.restore(b.uleb())
	case 0x07:
		v.set(b.uleb(), rule{kind: ruleUndefined})
	case 0x08:
		v.set(b.uleb(), rule{kind: ruleSame})
	case 0x09:
		v.set(b.uleb(), rule{kind: ruleRegister, n: int64(b.uleb())})
	case 0x0a: // remember_state
		v.saved = append(v.saved, v.row)
	case 0x0b: // restore_state
		if len(v.saved) == 0 {
			v.bad = true
			return false
		}
		start := v.row.start
		v.row, v.saved = v.saved[len(v.saved)-1], v.saved[:len(v.saved)-1]
		v.row.start = start
	case 0x0c: // def_cfa
		v.row.cfaReg, v.row.cfaOff, v.row.cfaExpr = b.uleb(), int64(b.uleb()), nil
	case 0x0d: // def_cfa_register
		v.row.cfaReg = b.uleb()
	case 0x0e: // def_cfa_offset
		v.row.cfaOff = int64(b.uleb())
	case 0x0f: // def_cfa_expression
		v.row.cfaExpr = b.block()
	case 0x10: // expression
		reg := b.uleb()
		v.set(reg, rule{kind: ruleExpr, expr: b.block()})
	case 0x11: // offset_extended_sf
		v.set(b.uleb(), rule{kind: ruleOffset, n: b.sleb() * v.cie.dataAlign})
	case 0x12: // def_cfa_sf
		v.row.cfaReg, v.row.cfaOff, v.row.cfaExpr = b.uleb(), b.sleb()*v.cie.dataAlign, nil
	case 0x13: // def_cfa_offset_sf
		v.row.cfaOff = b.sleb() * v.cie.dataAlign
	case 0x14: // val_offset
		v.set(b.uleb(), rule{kind: ruleValOffset, n: int64(b.uleb()) * v.cie.dataAlign})
	case 0x15: // val_offset_sf
		v.set(b.uleb(), rule{kind: ruleValOffset, n: b.sleb() * v.cie.dataAlign})
	case 0x16: // val_expression
		reg := b.uleb()
		v.set(reg, rule{kind: ruleValExpr, expr: b.block()})
	case 0x2e: // GNU_args_size
		b.uleb()
	default:
		v.bad = true
		return false
	}
	return true
}

// cfiBuf reads DWARF's encodings; running off the end sets bad and gives zeros.
type cfiBuf struct {
	data      []byte
	off       int
	bodyStart int
	bad       bool
}

// head reads an entry's length and its CIE pointer or id; length counts from bodyStart.
func (b *cfiBuf) head() (length int, id uint64, wide bool) {
	n := uint64(b.u32())
	if n == 0xffffffff {
		wide = true
		n = b.u64()
	}
	b.bodyStart = b.off
	if n > uint64(len(b.data)) {
		b.bad = true
		return 0, 0, wide
	}
	if n == 0 {
		return 0, 0, wide
	}
	if wide {
		return int(n), b.u64(), wide
	}
	return int(n), uint64(b.u32()), wide
}

func (b *cfiBuf) take(n int) []byte {
	if n < 0 || b.off+n > len(b.data) {
		b.bad = true
		return make([]byte, 8)
	}
	p := b.data[b.off : b.off+n]
	b.off += n
	return p
}

func (b *cfiBuf) u8() byte    { return b.take(1)[0] }
func (b *cfiBuf) u16() uint16 { return binary.LittleEndian.Uint16(b.take(2)) }
func (b *cfiBuf) u32() uint32 { return binary.LittleEndian.Uint32(b.take(4)) }
func (b *cfiBuf) u64() uint64 { return binary.LittleEndian.Uint64(b.take(8)) }

func (b *cfiBuf) uleb() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		c := b.u8()
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		if c&0x80 == 0 || b.bad {
			return v
		}
	}
}

func (b *cfiBuf) sleb() int64 {
	var v int64
	for shift := 0; ; {
		c := b.u8()
		if shift < 64 {
			v |= int64(c&0x7f) << shift
		}
		shift += 7
		if c&0x80 == 0 || b.bad {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

func (b *cfiBuf) cstr() string {
	start := b.off
	for b.u8() != 0 && !b.bad {
	}
	if b.bad {
		return ""
	}
	return string(b.data[start : b.off-1])
}

func (b *cfiBuf) block() []byte {
	n := b.uleb()
	if n > uint64(len(b.data)) {
		b.bad = true
		return nil
	}
	return b.take(int(n))
}

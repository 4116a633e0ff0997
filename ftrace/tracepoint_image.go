package ftrace

import (
	"encoding/binary"
	"fmt"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// The events that the image or a module describes itself, in its section _ftrace_events; see guest/include/trace_events.h.
// A row is a struct trace_event_call, and each of its fields has a short program over the tracepoint's arguments.

// Sizes and offsets of the two structs.
const (
	callSize  = 64
	fieldSize = 72
	maxProg   = 6
	maxText   = 1024 // of a string that an event takes along
	maxRaw    = 2048 // of a record that a module makes
)

// Kinds of fields.
const (
	fieldValue = iota
	fieldArray
	fieldString
	fieldText
	fieldRaw // of a record that a module has made itself: the tracepoint's arguments are its address and size
)

// Operations of a field's program.
const (
	opArg = 1 + iota
	opLoad
	opAdd
	opCurrent
	opShr
	opAnd
	opImm
	opCaller
	opSym
	opPFN
	opRWBS
	opBlkErr
	opSigInfo
	opHash
	opIsArg
	opShl
)

// fieldProg is a field's way from the arguments to the record.
type fieldProg struct {
	kind      uint8
	form      fieldForm
	arg       uint8
	off, size int
	load      uint64 // offset of formLoad's word
	code      []uint64
}

// fieldForm is what most programs are, done without running them.
type fieldForm uint8

const (
	formCode fieldForm = iota
	formArg            // 8 or 4 bytes of an argument
	formArg4
	formLoad // as many at a fixed distance from where one points
	formLoad4
	formCaller // a return address, as many callers up as an argument says
)

// compile finds the form of a value's program.
func (g *fieldProg) compile() {
	if g.kind == fieldArray || g.kind >= fieldString || g.size != 8 && g.size != 4 || len(g.code) == 0 {
		return
	}
	narrow := fieldForm(b2i(g.size == 4))
	op := func(i int) uint64 { return g.code[i] & 0xff }
	imm := func(i int) uint64 { return g.code[i] >> 32 }
	switch {
	case len(g.code) == 1 && op(0) == opArg:
		g.form, g.arg = formArg+narrow, uint8(imm(0))
	case len(g.code) == 2 && op(0) == opArg && op(1) == opLoad && g.code[1]>>8&0xff == uint64(g.size):
		g.form, g.arg, g.load = formLoad+narrow, uint8(imm(0)), imm(1)
	case len(g.code) == 2 && op(0) == opArg && op(1) == opCaller && g.size == 8:
		g.form, g.arg = formCaller, uint8(imm(0))
	}
}

// imageRows reads the rows between two addresses, each with the address of its tracepoint's key.
func (p *points) imageRows(start, stop uint64) (rows []pointRow, keys []uint64, err error) {
	for at := start; at+callSize <= stop; at += callSize {
		r, key, err := p.imageRow(at)
		if err != nil {
			return nil, nil, fmt.Errorf("ftrace: event row at %#x: %w", at, err)
		}
		rows, keys = append(rows, r), append(keys, key)
	}
	return rows, keys, nil
}

func (p *points) imageRow(at uint64) (r pointRow, key uint64, err error) {
	b := make([]byte, callSize)
	if err := p.t.m.Read(at, b); err != nil {
		return r, 0, err
	}
	u64 := func(off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	class := ""
	u32 := func(off int) int { return int(binary.LittleEndian.Uint32(b[off:])) }
	f := &event.Format{ID: uint16(u32(44))}
	for _, s := range []struct {
		to  *string
		off int
	}{{&f.System, 0}, {&f.Name, 8}, {&f.Print, 16}, {&class, 56}} {
		if *s.to, err = p.t.m.Str(u64(s.off), 16384); err != nil {
			return r, 0, err
		}
	}
	progs, err := p.imageFields(f, u64(32), u32(40))
	if err != nil {
		return r, 0, err
	}
	if f.Text, err = event.CompilePrint(f); err != nil {
		return r, 0, fmt.Errorf("%s:%s: %w", f.System, f.Name, err)
	}
	name, err := p.t.m.Str(hot{p.t.m}.u64(u64(24)), 64)
	r = pointRow{point: name, TraceEvent: TraceEvent{Format: f, class: class}, n: u32(52), progs: progs}
	r.fill = func(p *points, c *kernel.VCPU, d []byte) { p.fillFields(c, d, progs) }
	if data := u32(48); rawRow(progs) {
		r.size, r.fill, r.made, r.progs = sizeRaw(data), fillRaw, true, nil
		return r, u64(24), err
	}
	data := u32(48)
	for _, x := range progs {
		if x.kind >= fieldString {
			r.progs = nil
			r.size = func(p *points, c *kernel.VCPU) int { return p.sizeFields(c, progs, data) }
			r.fill = func(p *points, c *kernel.VCPU, d []byte) { p.fillStrings(c, d, progs, data) }
		}
	}
	return r, u64(24), err
}

// rawRow says whether a module makes an event's records itself.
func rawRow(progs []fieldProg) bool {
	return len(progs) > 0 && progs[0].kind == fieldRaw
}

// sizeRaw is the size of a record that its module has made, of which fixed bytes are there always.
func sizeRaw(fixed int) func(p *points, c *kernel.VCPU) int {
	return func(p *points, c *kernel.VCPU) int { return int(min(max(c.Arg(1), uint64(fixed)), maxRaw)) }
}

// fillRaw copies it, behind the header that is common to all.
func fillRaw(p *points, c *kernel.VCPU, d []byte) {
	const header = 8
	if err := p.t.m.Read(c.Arg(0)+header, d[header:]); err != nil {
		clear(d[header:])
	}
}

// imageFields reads n structs trace_event_field.
func (p *points) imageFields(f *event.Format, at uint64, n int) (progs []fieldProg, err error) {
	b := make([]byte, fieldSize)
	for range n {
		if err := p.t.m.Read(at, b); err != nil {
			return nil, err
		}
		at += fieldSize
		x := event.Field{Offset: int(binary.LittleEndian.Uint16(b[16:])), Size: int(binary.LittleEndian.Uint16(b[18:])), Signed: b[20] != 0}
		if x.Type, err = p.t.m.Str(binary.LittleEndian.Uint64(b), 64); err != nil {
			return nil, err
		}
		if x.Name, err = p.t.m.Str(binary.LittleEndian.Uint64(b[8:]), 64); err != nil {
			return nil, err
		}
		g := fieldProg{kind: b[21], off: x.Offset, size: x.Size}
		for i := range min(int(b[22]), maxProg) {
			g.code = append(g.code, binary.LittleEndian.Uint64(b[24+8*i:]))
		}
		g.compile()
		f.Fields, progs = append(f.Fields, x), append(progs, g)
	}
	return progs, nil
}

// run gives a program's value.
func (p *points) run(c *kernel.VCPU, code []uint64) (v uint64) {
	h := hot{p.t.m}
	for i := 0; i < len(code); i++ {
		imm := code[i] >> 32
		switch code[i] & 0xff {
		case opArg:
			v = c.Arg(int(imm))
		case opLoad:
			v = h.load(v, imm, code[i]>>8&0xff)
		case opAdd:
			v += imm
		case opCurrent:
			v = c.CurrentAddr()
		case opShr:
			v >>= imm & 63
		case opAnd:
			v &= imm
		case opImm:
			v = uint64(int64(int32(imm)))
		case opCaller:
			v = p.callSite(c, int(v))
		case opSym:
			i++
			v = code[i]
		case opPFN:
			i++
			if v != 0 {
				v = (v - h.u64(code[i])) / imm
			} else {
				v = ^uint64(0)
			}
		case opRWBS:
			v = rwbs(uint32(v))
		case opBlkErr:
			v = blkError(v)
		case opSigInfo:
			v = sigInfo(h, v, imm)
		case opHash:
			v = uint64(event.HashPointer(v))
		case opIsArg:
			v = uint64(b2i(v == c.Arg(int(imm))))
		case opShl:
			v <<= imm & 63
		}
	}
	return v
}

// load reads size bytes at base+off; nothing is at a null pointer.
func (h hot) load(base, off, size uint64) uint64 {
	if base == 0 {
		return 0
	}
	v := h.u64((base + off) &^ 7)
	shift := (base + off) & 7 * 8
	if size == 8 && shift == 0 {
		return v
	}
	if v >>= shift; shift+size*8 > 64 {
		v |= h.u64((base+off)&^7+8) << (64 - shift)
	}
	if size < 8 {
		v &= 1<<(size*8) - 1
	}
	return v
}

// callSite is the return address of the function that is up frames above the tracepoint's.
func (p *points) callSite(c *kernel.VCPU, up int) (pc uint64) {
	if up == 1 {
		if pc, ok := c.Caller(); ok {
			return pc
		}
	}
	inside := true
	_ = c.Walk(func(f *kernel.Frame) bool {
		if inside && (f.PC < kernelText || c.Shadow(f.PC)) {
			return true
		}
		inside = false
		pc = f.PC
		up--
		return up >= 0
	})
	return pc
}

// rwbs packs the letters of a block operation; see blk_fill_rwbs in kernel/trace/blktrace.c.
func rwbs(opf uint32) (v uint64) {
	n := 0
	put := func(c byte) {
		v |= uint64(c) << (8 * n)
		n++
	}
	if opf&(1<<18) != 0 { // REQ_PREFLUSH
		put('F')
	}
	switch opf & 0xff {
	case 0:
		put('R')
	case 1:
		put('W')
	case 2:
		put('F')
	case 3:
		put('D')
	case 5:
		put('D')
		put('E')
	default:
		put('N')
	}
	for _, f := range []struct {
		bit uint
		c   byte
	}{{17, 'F'}, {19, 'A'}, {11, 'S'}, {12, 'M'}} { // FUA, RAHEAD, SYNC, META
		if opf>>f.bit&1 != 0 {
			put(f.c)
		}
	}
	return v
}

// blkError is blk_status_to_errno.
func blkError(status uint64) uint64 {
	errs := [...]int64{0, -95, -110, -28, -67, -121, -52, -84, -61, -12, -5, -11, -16, -11, -85}
	if status&0xff < uint64(len(errs)) {
		return uint64(errs[status&0xff])
	}
	return uint64(0xfffffffffffffffb)
}

// sigInfo reads a member of a kernel_siginfo, or what SEND_SIG_NOINFO and SEND_SIG_PRIV stand for.
func sigInfo(h hot, info, off uint64) uint64 {
	const siCode, siKernel = 8, 0x80
	switch {
	case info == 1 && off == siCode:
		return siKernel
	case info <= 1:
		return 0
	}
	return h.load(info, off, 4)
}

// fillFields runs the programs of an event without strings.
func (p *points) fillFields(c *kernel.VCPU, d []byte, progs []fieldProg) {
	for i := range progs {
		switch f := &progs[i]; f.form {
		case formArg:
			put64(d, f.off, c.Arg(int(f.arg)))
		case formArg4:
			put32(d, f.off, uint32(c.Arg(int(f.arg))))
		case formLoad:
			put64(d, f.off, hot{p.t.m}.load(c.Arg(int(f.arg)), f.load, 8))
		case formLoad4:
			put32(d, f.off, uint32(hot{p.t.m}.load(c.Arg(int(f.arg)), f.load, 4)))
		case formCaller:
			put64(d, f.off, p.callSite(c, int(c.Arg(int(f.arg)))))
		default:
			p.fillField(c, d, f)
		}
	}
}

func (p *points) fillField(c *kernel.VCPU, d []byte, f *fieldProg) {
	v := p.run(c, f.code)
	if f.kind == fieldArray {
		to := d[f.off : f.off+f.size]
		if f.code[len(f.code)-1]&0xff == opRWBS {
			binary.LittleEndian.PutUint64(to, v)
			return
		}
		s, _ := p.t.m.Str(v, f.size)
		clear(to[copy(to[:f.size-1], s):])
		return
	}
	switch f.size {
	case 8:
		put64(d, f.off, v)
	case 4:
		put32(d, f.off, uint32(v))
	default:
		for i := range f.size {
			d[f.off+i] = byte(v >> (8 * i))
		}
	}
}

// str is the text of a string field.
func (p *points) str(c *kernel.VCPU, f *fieldProg) string {
	v := p.run(c, f.code)
	if f.kind == fieldText {
		b := make([]byte, min(c.Arg(1), maxText))
		_ = p.t.m.Read(v, b)
		return strings.TrimSuffix(string(b), "\n")
	}
	if v == 0 {
		if f.code[0]&0xff == opImm {
			return "" // always empty
		}
		return "(null)"
	}
	s, _ := p.t.m.Str(v, maxText)
	return s
}

// sizeFields is a record's length with its strings, whose place begins at data.
func (p *points) sizeFields(c *kernel.VCPU, progs []fieldProg, data int) int {
	for i := range progs {
		if progs[i].kind >= fieldString {
			data += len(p.str(c, &progs[i])) + 1
		}
	}
	return data
}

func (p *points) fillStrings(c *kernel.VCPU, d []byte, progs []fieldProg, data int) {
	for i := range progs {
		f := &progs[i]
		if f.kind < fieldString {
			p.fillField(c, d, f)
			continue
		}
		s := p.str(c, f)
		put32(d, f.off, uint32(len(s)+1)<<16|uint32(data))
		d[data+copy(d[data:], s)] = 0
		data += len(s) + 1
	}
}

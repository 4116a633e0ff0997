package kprobe

import (
	"encoding/binary"
	"fmt"
	"strings"

	"kscope/kernel"
)

// Type is a row of the fetch types: probe_fetch_types of kernel/trace/trace_kprobe.c.
type Type struct {
	Name   string
	Field  string // in format files
	Format string // in print fmt
	Size   int
	Signed bool
	str    bool
	sym    bool
}

const defaultType = "x64"

var types = [...]Type{
	{Name: "string", Field: "__data_loc char[]", Format: `\"%s\"`, Size: 4, Signed: true, str: true},
	{Name: "ustring", Field: "__data_loc char[]", Format: `\"%s\"`, Size: 4, Signed: true, str: true},
	{Name: "symstr", Field: "__data_loc char[]", Format: `\"%s\"`, Size: 4, Signed: true, str: true},
	{Name: "u8", Field: "u8", Format: "%u", Size: 1}, {Name: "u16", Field: "u16", Format: "%u", Size: 2},
	{Name: "u32", Field: "u32", Format: "%u", Size: 4}, {Name: "u64", Field: "u64", Format: "%Lu", Size: 8},
	{Name: "s8", Field: "s8", Format: "%d", Size: 1, Signed: true}, {Name: "s16", Field: "s16", Format: "%d", Size: 2, Signed: true},
	{Name: "s32", Field: "s32", Format: "%d", Size: 4, Signed: true}, {Name: "s64", Field: "s64", Format: "%Ld", Size: 8, Signed: true},
	{Name: "x8", Field: "u8", Format: "0x%x", Size: 1}, {Name: "x16", Field: "u16", Format: "0x%x", Size: 2},
	{Name: "x32", Field: "u32", Format: "0x%x", Size: 4}, {Name: "x64", Field: "u64", Format: "0x%Lx", Size: 8},
	{Name: "symbol", Field: "u64", Format: "%pS", Size: 8, sym: true},
}

// findType is find_fetch_type: bWIDTH@OFFSET/SIZE is a bitfield of uSIZE.
func findType(name string) *Type {
	if strings.HasPrefix(name, "b") {
		_, size, ok := strings.Cut(name, "/")
		n, isNum := parseUnsigned(size, 0)
		if !ok || !isNum || n != 8 && n != 16 && n != 32 && n != 64 {
			return nil
		}
		name = fmt.Sprintf("u%d", n)
	}
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// Program is a compiled fetch argument: a source, dereferences, a store. It runs without allocation. See enum fetch_op and
// process_fetch_insn in kernel/trace/trace_probe_tmpl.h.
type Program struct {
	Name, Text string
	Type       *Type
	Count      int // of an array; 0: none

	src    srcKind
	param  uint64
	data   string // of an immediate string, or the symbol
	derefs []deref
	store  storeKind
	at     deref // of the store
	left   uint  // a bitfield's shifts
	right  uint
	offset int // in the record
	direct direct

	num         func(d []byte) uint64 // of a field
	str         func(d []byte) []byte // of a field that is a string
	btf         *kernel.Type          // of an argument by name
	bits, shift uint                  // of its last field, when that is a bit field
}

type srcKind uint8

const (
	srcReg srcKind = iota
	srcStack
	srcStackPtr
	srcRetval
	srcArg
	srcImm
	srcComm
	srcData
	srcSym
	srcField // of the event that an eprobe is on
)

type storeKind uint8

const (
	storeRaw storeKind = iota
	storeMem
	storeString
)

// deref reads the word at an offset from the value so far.
type deref struct {
	off  int64
	user bool
}

// fold makes the last dereference the store's own.
func (p *Program) fold() {
	n := len(p.derefs) - 1
	p.at, p.derefs = p.derefs[n], p.derefs[:n]
}

// bitfield is __parse_bitfield_probe_arg.
func (p *Program) bitfield(typ string) bool {
	rest, ok := strings.CutPrefix(typ, "b")
	if !ok {
		return true
	}
	width, rest, ok1 := strings.Cut(rest, "@")
	off, _, ok2 := strings.Cut(rest, "/")
	w, ok3 := kstrto(width, 0)
	o, ok4 := kstrto(off, 0)
	bits := uint64(p.Type.Size * 8)
	if !ok1 || !ok2 || !ok3 || !ok4 || w == 0 || w+o > bits {
		return false
	}
	p.left, p.right = uint(bits-w-o), uint(bits-w)
	return true
}

// resolve looks up @SYM when the probe is registered (traceprobe_update_arg).
func (p *Program) resolve(syms *kernel.Symbols) error {
	if p.src != srcSym {
		return nil
	}
	name, off := p.data, int64(0)
	if i := strings.IndexAny(name, "+-"); i >= 0 {
		var ok bool
		if off, ok = parseSigned(name[i:]); !ok {
			return kernel.EINVAL
		}
		name = name[:i]
	}
	addr, ok := syms.Lookup(name)
	if !ok {
		return kernel.ENOENT
	}
	p.param = addr + uint64(off)
	return nil
}

// size is what the program takes in the fixed part of a record.
func (p *Program) size() int { return p.Type.Size * max(p.Count, 1) }

// fetcher runs programs against the registers of one hit.
type fetcher struct {
	k    *Kprobes
	c    *kernel.VCPU
	regs *Regs
	text []byte  // strings of this record
	locs []int32 // their lengths, in order; -1: a fault
	end  int     // of all of them in the record
	tail int     // NULs that symstrs have asked for and not stored

	rec []byte // of the event that an eprobe is on

	word [8]byte // here, not on the stack: they would escape
	line [64]byte
}

// value is a program's value before its store; false: a fault.
func (f *fetcher) value(p *Program) (uint64, bool) {
	var x uint64
	switch p.src {
	case srcReg:
		x = f.regs.at(p.param)
	case srcStack:
		x, _ = f.regs.Stack(p.param)
	case srcStackPtr:
		x = f.regs.at(regSP)
	case srcRetval:
		x = f.regs.at(0x50)
	case srcArg:
		x = f.regs.Arg(int(p.param))
	case srcComm:
		x = f.c.CurrentAddr() + f.k.lay.comm
	case srcField:
		if p.num != nil { // a string's address in the ring is nothing that could be told
			x = p.num(f.rec)
		}
	default:
		x = p.param
	}
	for _, d := range p.derefs {
		at, ok := x+uint64(d.off), false
		if x, ok = load(f.k.m, at, 8); ok && !d.user {
			continue
		}
		if !f.read(at, f.word[:], d.user) {
			return at, false
		}
		x = binary.LittleEndian.Uint64(f.word[:])
	}
	return x, true
}

// strings fetches a program's strings into f.text.
func (f *fetcher) strings(p *Program) {
	if p.src == srcData {
		f.text = append(append(f.text, p.data...), 0)
		f.locs = append(f.locs, int32(len(p.data)+1))
		return
	}
	if p.str != nil && len(p.derefs) == 0 {
		s := p.str(f.rec)
		f.text = append(append(f.text, s...), 0)
		f.locs = append(f.locs, int32(len(s)+1))
		return
	}
	x, ok := f.value(p)
	for i := range max(p.Count, 1) {
		at := x + uint64(p.at.off)
		if p.Count > 0 { // an array of pointers: the last dereference read the first of them
			var b [8]byte
			ok = len(p.derefs) > 0 && f.pointerArray(p, i, b[:])
			at = binary.LittleEndian.Uint64(b[:])
		}
		n := -1
		if ok {
			n = f.string(at, p)
		}
		f.locs = append(f.locs, int32(n))
	}
}

// pointerArray reads element i of an array of pointers.
func (f *fetcher) pointerArray(p *Program, i int, b []byte) bool {
	q := *p
	last := p.derefs[len(p.derefs)-1]
	q.derefs = p.derefs[:len(p.derefs)-1]
	x, ok := f.value(&q)
	return ok && f.read(x+uint64(last.off)+8*uint64(i), b, last.user)
}

// maxString bounds a string in a record: a ring's page has 4080 bytes.
const maxString = 3072

// string appends one string with its NUL and returns its length; -1: a fault.
func (f *fetcher) string(at uint64, p *Program) int {
	start := len(f.text)
	if p.Type.Name == "symstr" { // 6.1 forgets the NUL: the next string begins where it would be (oracle)
		f.text = append(f.text, f.k.m.Symbols().Format(at)...)
		f.tail++
		return len(f.text) - start
	}
	user := p.Type.Name == "ustring" || p.at.user
	for len(f.text)-start < maxString-1 {
		n := 64 - int(at%64)
		if !f.read(at, f.line[:n], user) {
			f.text = f.text[:start]
			return -1
		}
		for _, c := range f.line[:n] {
			f.text = append(f.text, c)
			if c == 0 {
				return len(f.text) - start
			}
		}
		at += uint64(n)
	}
	f.text = append(f.text[:start+maxString-1], 0)
	return maxString
}

// put stores a program's value into a record, whose strings begin at dyn; it returns where the next ones do.
func (f *fetcher) put(p *Program, d []byte, dyn int, locs []int32) (int, []int32) {
	if p.direct.size != 0 {
		f.putDirect(p, d)
		return dyn, locs
	}
	dst := d[p.offset:]
	if p.store == storeString {
		for i := range max(p.Count, 1) {
			n := max(int(locs[0]), 0)
			size := n
			if p.Type.Name == "symstr" { // and says that the string has all that is left (fetch_store_symstring)
				size = f.end - dyn
			}
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(size)<<16|uint32(dyn))
			dyn, locs = dyn+n, locs[1:]
		}
		return dyn, locs
	}
	x, ok := f.value(p)
	if !ok {
		return dyn, locs // stale bytes, as on Linux
	}
	for i := range max(p.Count, 1) {
		b := dst[i*p.Type.Size:][:p.Type.Size]
		if p.store == storeMem {
			if !f.read(x+uint64(p.at.off)+uint64(i*p.Type.Size), b, p.at.user) {
				return dyn, locs
			}
		} else {
			putNum(b, x)
		}
		if p.left != 0 || p.right != 0 {
			putNum(b, field(getNum(b), p))
		}
	}
	return dyn, locs
}

func putNum(b []byte, x uint64) {
	switch len(b) {
	case 8:
		binary.LittleEndian.PutUint64(b, x)
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(x))
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(x))
	default:
		b[0] = byte(x)
	}
}

func getNum(b []byte) (x uint64) {
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}

// taskSize is TASK_SIZE: addresses below are the user's, whatever the operation says (copy_from_kernel_nofault's callers
// on architectures with non-overlapping address spaces).
const taskSize = 0x7ffffffff000

// read copies memory without effect on the guest; false: a fault.
func (f *fetcher) read(va uint64, b []byte, user bool) bool {
	if va < taskSize {
		return f.k.readUser(f.c, va, b)
	}
	return !user && f.k.m.Read(va, b) == nil
}

// directMap is page_offset_base: the guest maps all of RAM there. The size is Linux's (Documentation/x86/x86_64/mm.rst).
const (
	directMap     = 0xffff888000000000
	directMapSize = 1 << 46
)

// readUser reads the memory of the task on c by its page tables, and sets no accessed bits, as the CPU's own walk would.
func (k *Kprobes) readUser(c *kernel.VCPU, va uint64, b []byte) bool {
	for len(b) > 0 {
		n := min(len(b), int(4096-va%4096))
		pa, ok := k.walkUser(c.CPU.CR3(), va)
		if !ok || k.m.Read(directMap+pa, b[:n]) != nil {
			return false
		}
		va, b = va+uint64(n), b[n:]
	}
	return true
}

func (k *Kprobes) walkUser(cr3, va uint64) (pa uint64, ok bool) {
	const (
		present, user, large = 1, 4, 1 << 7
		frame                = 0x000ffffffffff000
	)
	table := cr3 & frame
	for shift := 39; shift >= 12; shift -= 9 {
		e, ok := word(k.m, directMap+table+va>>shift&511*8)
		if !ok || e&present == 0 || e&user == 0 {
			return 0, false
		}
		if shift == 12 || shift < 39 && e&large != 0 {
			size := uint64(1) << shift
			return e&frame&^(size-1) | va&(size-1), true
		}
		table = e & frame
	}
	return 0, false
}

// layout is what a hit reads of a task_struct.
type layout struct {
	comm, stack     uint64
	nmissed         uint64 // of struct kprobe
	retMissed       uint64 // of struct kretprobe, an int
	riRp, riAddr    uint64 // of struct kretprobe_instance
	riTask, riFrame uint64
}

func newLayout(m *kernel.Machine) (l layout, err error) {
	task := m.Types().Struct("task_struct")
	if task == nil {
		return l, fmt.Errorf("kprobe: the image has no struct task_struct: %w", kernel.ENOEXEC)
	}
	l.comm, l.stack = uint64(task.Field("comm").Offset), uint64(task.Field("stack").Offset)
	for _, f := range []struct {
		typ, name string
		to        *uint64
	}{
		{"kprobe", "nmissed", &l.nmissed}, {"kretprobe", "nmissed", &l.retMissed}, {"kretprobe_instance", "rp", &l.riRp},
		{"kretprobe_instance", "ret_addr", &l.riAddr}, {"kretprobe_instance", "task", &l.riTask}, {"kretprobe_instance", "fp", &l.riFrame},
	} {
		if t := m.Types().Struct(f.typ); t != nil { // an image without them has no probes of its own
			*f.to = uint64(t.Field(f.name).Offset)
		}
	}
	return l, nil
}

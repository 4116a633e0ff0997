// Package event holds one descriptor per event: from it come the format file, the binary record in the ring, the text
// line and, for scripts, the named fields. It knows no kernel: symbols come through the [Printer].
//
// A record is what the ring calls payload: the 8 common bytes and then the event's own fields.
//
//	0 u16 type   2 u8 flags   3 u8 preempt count (low 4) and migrate-disable (high 4)   4 s32 pid   8 …
//
// The flow:
//
//  1. Descriptors come from three places: core.go has the events of Linux's own tracers, packages above add those of probes
//     and tracepoints to a [Set], and [ParseFormat] reads format files, of this kernel or another.
//  2. [CompilePrint] makes an event's text from its print fmt, once: the format's conversions in printfmt.go, the C expressions
//     behind it in printexpr.go and printprim.go, __print_flags and its kin in printhelp.go.
//  3. A writer reserves a record, puts the [Header] and the fields; a [Filter] (filter.go) may ask for it to be taken back.
//  4. [Set.Line] prints a record; printk.go makes the text of trace_printk's packed arguments.
package event

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// The flags byte of a record; see enum trace_flag_type in include/linux/trace_events.h.
const (
	IRQsOff        = 0x01
	NeedResched    = 0x04
	HardIRQ        = 0x08
	SoftIRQ        = 0x10
	PreemptResched = 0x20
	NMI            = 0x40
	BHOff          = 0x80
)

// Header is the common part of a record.
type Header struct {
	Type    uint16
	Flags   uint8
	Preempt uint8
	PID     int32
}

// HeaderSize is the number of common bytes.
const HeaderSize = 8

// Put writes the header into the first bytes of d.
func (h Header) Put(d []byte) { binary.LittleEndian.PutUint64(d, h.Word()) }

// Word is the header as one little-endian word.
func (h Header) Word() uint64 {
	return uint64(h.Type) | uint64(h.Flags)<<16 | uint64(h.Preempt)<<24 | uint64(uint32(h.PID))<<32
}

// Parse reads the header of a record; ok is false when it is too short.
func Parse(d []byte) (h Header, ok bool) {
	if len(d) < HeaderSize {
		return h, false
	}
	x := binary.LittleEndian.Uint64(d)
	return Header{uint16(x), uint8(x >> 16), uint8(x >> 24), int32(x >> 32)}, true
}

// Latency gives the five characters of the flags column; see trace_print_lat_fmt in kernel/trace/trace_output.c.
func (h Header) Latency() (c [5]byte) {
	c = [5]byte{'.', '.', '.', '.', '.'}
	switch h.Flags & (IRQsOff | BHOff) {
	case IRQsOff | BHOff:
		c[0] = 'D'
	case IRQsOff:
		c[0] = 'd'
	case BHOff:
		c[0] = 'b'
	}
	switch h.Flags & (NeedResched | PreemptResched) {
	case NeedResched | PreemptResched:
		c[1] = 'N'
	case NeedResched:
		c[1] = 'n'
	case PreemptResched:
		c[1] = 'p'
	}
	switch h.Flags & (NMI | HardIRQ | SoftIRQ) {
	case NMI | HardIRQ, NMI | HardIRQ | SoftIRQ:
		c[2] = 'Z'
	case NMI, NMI | SoftIRQ:
		c[2] = 'z'
	case HardIRQ | SoftIRQ:
		c[2] = 'H'
	case HardIRQ:
		c[2] = 'h'
	case SoftIRQ:
		c[2] = 's'
	}
	const hex = "0123456789abcdef"
	if n := h.Preempt & 15; n != 0 {
		c[3] = hex[n]
	}
	if n := h.Preempt >> 4; n != 0 {
		c[4] = hex[n]
	}
	return c
}

// Field is one row of a format file.
type Field struct {
	Type   string // as C declares it; an array's brackets follow the name
	Name   string
	Offset int
	Size   int // 0: the rest of the record
	Signed bool
}

// Elem is the size of one element of an array, or the field's size.
func (f *Field) Elem() int {
	if i := strings.IndexByte(f.Type, '['); i >= 0 {
		if n, err := strconv.Atoi(strings.TrimSuffix(f.Type[i+1:], "]")); err == nil && n > 0 {
			return f.Size / n
		}
		if strings.HasPrefix(f.Type, "char") {
			return 1
		}
		if strings.HasPrefix(f.Type, "unsigned long") {
			return 8
		}
		if bits, err := strconv.Atoi(strings.TrimLeft(f.Type[:i], "us")); err == nil { // "u16[]" of a probe
			return bits / 8
		}
		return 4
	}
	return f.Size
}

// DataLoc says whether the field is a word that tells where in the record a string is: its length in the upper half, its
// offset in the lower.
func (f *Field) DataLoc() bool { return strings.HasPrefix(f.Type, "__data_loc ") }

// decl puts the array brackets behind the name: "char", "buf" from "char[]", "buf".
func (f *Field) decl() string {
	if f.DataLoc() {
		return f.Type + " " + f.Name // as f_show prints it
	}
	if i := strings.IndexByte(f.Type, '['); i >= 0 {
		return f.Type[:i] + " " + f.Name + f.Type[i:]
	}
	return f.Type + " " + f.Name
}

// Format describes one event.
type Format struct {
	System string
	Name   string
	ID     uint16
	Fields []Field           // behind the common ones
	Print  string            // print fmt, for the format file
	Names  map[string]uint64 // of the kernel's variables and constants that Print uses and [CompilePrint] does not know; nil: none
	Text   func(p *Printer, d []byte)
	Raw    func(p *Printer, d []byte) // for the options raw, hex and bin; nil: "type: N"
}

var common = []Field{
	{"unsigned short", "common_type", 0, 2, false},
	{"unsigned char", "common_flags", 2, 1, false},
	{"unsigned char", "common_preempt_count", 3, 1, false},
	{"int", "common_pid", 4, 4, true},
}

// Common are the fields that every event has.
func Common() []Field { return append([]Field(nil), common...) }

// File is the text of events/SYSTEM/NAME/format.
func (f *Format) File() string {
	var s strings.Builder
	fmt.Fprintf(&s, "name: %s\nID: %d\nformat:\n", f.Name, f.ID)
	row := func(x *Field) {
		signed := 0
		if x.Signed {
			signed = 1
		}
		fmt.Fprintf(&s, "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", x.decl(), x.Offset, x.Size, signed)
	}
	for i := range common {
		row(&common[i])
	}
	s.WriteByte('\n')
	for i := range f.Fields {
		row(&f.Fields[i])
	}
	fmt.Fprintf(&s, "\nprint fmt: %s\n", f.Print)
	return s.String()
}

// Value is one decoded field: Text for character arrays, Elems for other arrays, Num for the rest.
type Value struct {
	Field *Field
	Num   uint64 // sign-extended when the field is signed
	Text  string
	Elems []uint64
}

// Decode gives the value of field x in record d; ok is false when the record is too short.
func (x *Field) Decode(d []byte) (v Value, ok bool) {
	v.Field = x
	size := x.Size
	if size == 0 {
		size = len(d) - x.Offset
	}
	if x.Offset < 0 || size < 0 || x.Offset+size > len(d) {
		return v, false
	}
	b := d[x.Offset : x.Offset+size]
	elem := x.Elem()
	switch {
	case x.DataLoc():
		b = x.located(d)
		of := Field{Type: strings.TrimPrefix(x.Type, "__data_loc "), Signed: x.Signed}
		if strings.HasPrefix(of.Type, "char[") || !strings.Contains(of.Type, "[") {
			v.Text = cString(b)
			break
		}
		v.Elems = []uint64{}
		for n := of.Elem(); n > 0 && len(b) >= n; b = b[n:] {
			v.Elems = append(v.Elems, number(b[:n], x.Signed))
		}
	case strings.HasPrefix(x.Type, "char["):
		v.Text = cString(b)
	case strings.Contains(x.Type, "["):
		for ; elem > 0 && len(b) >= elem; b = b[elem:] {
			v.Elems = append(v.Elems, number(b[:elem], x.Signed))
		}
	default:
		v.Num = number(b, x.Signed)
	}
	return v, true
}

// Encode writes num into field x of record d.
func (x *Field) Encode(d []byte, num uint64) {
	for i := range min(x.Size, 8) {
		d[x.Offset+i] = byte(num >> (8 * i))
	}
}

// Field finds a field by name, the common ones too.
func (f *Format) Field(name string) (*Field, bool) {
	for _, list := range [][]Field{f.Fields, common} {
		for i := range list {
			if list[i].Name == name {
				return &list[i], true
			}
		}
	}
	return nil, false
}

func number(b []byte, signed bool) (n uint64) {
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	if shift := 64 - 8*len(b); signed && shift > 0 {
		n = uint64(int64(n<<shift) >> shift)
	}
	return n
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// Set is a registry of formats.
type Set struct {
	byID map[uint16]*Format
	list []*Format
}

// NewSet gives a registry with the core events.
func NewSet() *Set {
	s := &Set{byID: map[uint16]*Format{}}
	for i := range Core {
		s.Add(&Core[i])
	}
	return s
}

// Fork copies the registry.
func (s *Set) Fork() *Set {
	n := &Set{byID: make(map[uint16]*Format, len(s.byID)), list: append([]*Format(nil), s.list...)}
	for _, f := range s.list {
		n.byID[f.ID] = f
	}
	return n
}

// Add registers f; its id must be free.
func (s *Set) Add(f *Format) {
	if s.byID[f.ID] != nil {
		panic(fmt.Sprintf("BUG: event: id %d twice", f.ID))
	}
	s.byID[f.ID] = f
	s.list = append(s.list, f)
}

// Remove takes f out.
func (s *Set) Remove(f *Format) {
	delete(s.byID, f.ID)
	for i := range s.list {
		if s.list[i] == f {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			return
		}
	}
}

// ByID finds a format; nil when there is none.
func (s *Set) ByID(id uint16) *Format { return s.byID[id] }

// All lists the formats in order of registration.
func (s *Set) All() []*Format { return s.list }

// Printer collects text. Buf is appended to.
type Printer struct {
	Buf      []byte
	Sym      func(buf []byte, addr uint64) []byte // appends an address as the options sym-offset and sym-addr want it
	NoParent bool                                 // option noprint-parent
	SymAddr  bool                                 // option sym-addr, for those that name addresses themselves
	Mode     Mode

	Name   func(buf []byte, addr uint64, offset bool) []byte // appends an address as %ps, with offset as %pS; nil: as Sym
	Str    func(addr uint64) string                          // reads a string of the kernel, for %s of a pointer; nil: the address
	NoHash bool                                              // option nohash-ptr: %p shows addresses
	NoText bool                                              // what else nohash-ptr does in 6.1: the first %s of a format prints nothing
	User   func(buf []byte, tgid uint32, addr uint64) []byte // appends an address of user space; nil: option nosym-userobj
}

// Mode is the shape of a line.
type Mode uint8

const (
	ModeText Mode = iota
	ModeRaw
	ModeHex
	ModeBin
)

// Num appends a number of size bytes as raw text, hex or bytes, by Mode; see SEQ_PUT_HEX_FIELD.
func (p *Printer) Num(x uint64, size int) {
	switch p.Mode {
	case ModeHex:
		const hex = "0123456789abcdef"
		for i := 8*size - 4; i >= 0; i -= 4 {
			p.Buf = append(p.Buf, hex[x>>i&15])
		}
		p.Buf = append(p.Buf, ' ')
	case ModeBin:
		for i := range size {
			p.Buf = append(p.Buf, byte(x>>(8*i)))
		}
	default:
		p.Buf = strconv.AppendUint(p.Buf, x, 16)
	}
}

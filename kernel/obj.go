package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Memory is what typed reads go through: a machine, a CPU, a crash's saved pages.
type Memory interface {
	Read(va uint64, b []byte) error
}

// Obj is a typed place in guest memory, or (Addr 0, value set) a plain value. Nothing is read before it is asked for.
type Obj struct {
	Type  *Type
	Addr  uint64
	mem   Memory
	bits  int
	shift int
	value []byte
}

// NewObj is the object of type t at addr.
func NewObj(mem Memory, t *Type, addr uint64) Obj { return Obj{Type: t, Addr: addr, mem: mem} }

// NewValue is a plain value of type t: a register, an argument.
func NewValue(mem Memory, t *Type, v uint64) Obj {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	n := min(max(t.Size, 1), 8)
	return Obj{Type: t, mem: mem, value: b[:n]}
}

// Bytes reads the object's bytes.
func (o Obj) Bytes() ([]byte, error) {
	if o.value != nil {
		return o.value, nil
	}
	if o.Type.Size < 0 || o.Type.Size > 1<<20 {
		return nil, fmt.Errorf("reading %s at %#x: its size is unknown", o.Type, o.Addr)
	}
	b := make([]byte, o.Type.Size)
	if err := o.mem.Read(o.Addr, b); err != nil {
		return nil, fmt.Errorf("reading %s at %#x: %w", o.Type, o.Addr, err)
	}
	return b, nil
}

// Field is a member of a struct, union, or what a pointer to one points at.
func (o Obj) Field(name string) (Obj, error) {
	if o.Type.Kind == KindPtr {
		p, err := o.Deref()
		if err != nil {
			return Obj{}, err
		}
		o = p
	}
	if o.Type.Kind != KindStruct && o.Type.Kind != KindUnion {
		return Obj{}, fmt.Errorf("%s has no fields", o.Type)
	}
	f := o.Type.Field(name)
	if f.Type == nil {
		return Obj{}, &SymbolError{Text: name, Msg: fmt.Sprintf("%s has no field %q", o.Type, name),
			Hint: Suggest(name, o.Type.FieldNames()), Err: ENOENT}
	}
	r := Obj{Type: f.Type, Addr: o.Addr + uint64(f.Offset), mem: o.mem, bits: f.Bits, shift: f.Shift}
	if o.value != nil {
		if end := f.Offset + f.Type.Size; end <= int64(len(o.value)) {
			r.Addr, r.value = 0, o.value[f.Offset:end]
		}
	}
	return r, nil
}

// Path follows several members: Path("real_parent", "comm").
func (o Obj) Path(names ...string) (Obj, error) {
	for _, n := range names {
		var err error
		if o, err = o.Field(n); err != nil {
			return Obj{}, err
		}
	}
	return o, nil
}

// FieldNames lists the members in order, those of anonymous structs and unions included.
func (t *Type) FieldNames() []string {
	var out []string
	for _, f := range t.Fields {
		if f.Name == "" {
			out = append(out, f.Type.FieldNames()...)
			continue
		}
		out = append(out, f.Name)
	}
	return out
}

// Index is element i of an array, or of what a pointer points at.
func (o Obj) Index(i int64) (Obj, error) {
	base := o
	switch {
	case o.Type.Kind == KindArray:
		if i < 0 || o.Type.Len >= 0 && i >= o.Type.Len {
			return Obj{}, fmt.Errorf("index %d is outside %s", i, o.Type)
		}
		base.Type, base.bits = o.Type.Elem, 0
	case o.Type.Kind == KindPtr:
		p, err := o.Deref()
		if err != nil {
			return Obj{}, err
		}
		base = p
	default:
		return Obj{}, fmt.Errorf("%s has no elements", o.Type)
	}
	if base.Type.Size <= 0 {
		return Obj{}, fmt.Errorf("elements of %s have no size", o.Type)
	}
	if base.value != nil {
		base.value = base.value[i*base.Type.Size:][:base.Type.Size]
		return base, nil
	}
	base.Addr += uint64(i * base.Type.Size)
	return base, nil
}

// Deref is what a pointer points at.
func (o Obj) Deref() (Obj, error) {
	if o.Type.Kind != KindPtr {
		return Obj{}, fmt.Errorf("%s is no pointer", o.Type)
	}
	a, err := o.Uint()
	if err != nil {
		return Obj{}, err
	}
	return NewObj(o.mem, o.Type.Elem, a), nil
}

// Uint reads an integer, pointer, enum, char or bool, zero-extended.
func (o Obj) Uint() (uint64, error) {
	switch o.Type.Kind {
	case KindStruct, KindUnion, KindArray, KindFunc, KindVoid, KindFloat:
		return 0, fmt.Errorf("%s is no number", o.Type)
	}
	b, err := o.Bytes()
	if err != nil {
		return 0, err
	}
	var w [8]byte
	copy(w[:], b)
	v := binary.LittleEndian.Uint64(w[:])
	if o.bits > 0 {
		v = v >> o.shift & (1<<o.bits - 1)
	}
	return v, nil
}

// Int reads a number with the sign that its type has.
func (o Obj) Int() (int64, error) {
	v, err := o.Uint()
	if err != nil || !o.Type.Signed() {
		return int64(v), err
	}
	n := int(o.Type.Size) * 8
	if o.bits > 0 {
		n = o.bits
	}
	return int64(v) << (64 - n) >> (64 - n), nil
}

// Text reads a char array up to its NUL, or the string that a char pointer points at (at most 4096 bytes).
func (o Obj) Text() (string, error) {
	if o.Type.Kind == KindArray && o.Type.Elem.isChar() {
		b, err := o.Bytes()
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		return string(b), err
	}
	if o.Type.Kind != KindPtr || !o.Type.Elem.isChar() {
		return "", fmt.Errorf("%s is no string", o.Type)
	}
	a, err := o.Uint()
	if err != nil {
		return "", err
	}
	return readText(o.mem, a, 4096)
}

func (t *Type) isChar() bool {
	return t.Size == 1 && (t.Kind == KindChar || t.Kind == KindUint)
}

// readText reads a NUL-terminated string in pieces that never cross into a page that need not exist.
func readText(mem Memory, va uint64, max int) (string, error) {
	var out []byte
	for len(out) < max {
		piece := make([]byte, min(64-int(va%64), max-len(out)))
		if err := mem.Read(va, piece); err != nil {
			return string(out), err
		}
		if i := bytes.IndexByte(piece, 0); i >= 0 {
			return string(append(out, piece[:i]...)), nil
		}
		out = append(out, piece...)
		va += uint64(len(piece))
	}
	return string(out), nil
}

// EnumName is the name that an enum's type gives to v, "" when none.
func (t *Type) EnumName(v int64) string {
	for _, e := range t.Enum {
		if e.Value == v {
			return e.Name
		}
	}
	return ""
}

// String prints the object as drgn does: "(pid_t)100", "(char [16])\"cat\"".
func (o Obj) String() string {
	v, err := o.valueText(0)
	if err != nil {
		v = "<" + err.Error() + ">"
	}
	return "(" + o.Type.String() + ")" + v
}

func (o Obj) valueText(depth int) (string, error) {
	switch o.Type.Kind {
	case KindStruct, KindUnion:
		return o.membersText(depth)
	case KindArray:
		if o.Type.Elem.isChar() {
			s, err := o.Text()
			return fmt.Sprintf("%q", s), err
		}
		return o.elementsText(depth)
	case KindPtr:
		v, err := o.Uint()
		return o.pointerText(v), err
	case KindEnum:
		v, err := o.Int()
		if n := o.Type.EnumName(v); n != "" && err == nil {
			return n, nil
		}
		return fmt.Sprint(v), err
	case KindBool:
		v, err := o.Uint()
		return fmt.Sprint(v != 0), err
	case KindInt, KindChar:
		v, err := o.Int()
		return fmt.Sprint(v), err
	case KindUint:
		v, err := o.Uint()
		return fmt.Sprint(v), err
	}
	return "?", nil
}

// pointerText is a pointer with what drgn says of it: the symbol that it points into, the text that a char pointer points at.
func (o Obj) pointerText(v uint64) string {
	text := fmt.Sprintf("%#x", v)
	if m, ok := o.mem.(interface{ SymbolAt(va uint64) string }); ok {
		if name := m.SymbolAt(v); name != "" {
			text = name + " = " + text
		}
	}
	if o.Type.Elem != nil && o.Type.Elem.isChar() && v != 0 {
		const most = 64
		if s, err := readText(o.mem, v, most); err == nil {
			text += fmt.Sprintf(" = %q", s)
			if len(s) == most {
				text += "..."
			}
		}
	}
	return text
}

func (o Obj) membersText(depth int) (string, error) {
	var b bytes.Buffer
	b.WriteString("{\n")
	indent := bytes.Repeat([]byte{'\t'}, depth+1)
	for _, f := range o.Type.Fields {
		m := Obj{Type: f.Type, Addr: o.Addr + uint64(f.Offset), mem: o.mem, bits: f.Bits, shift: f.Shift}
		s, err := m.valueText(depth + 1)
		if err != nil {
			return "", err
		}
		name := "." + f.Name + " = "
		if f.Name == "" {
			name = ""
		}
		fmt.Fprintf(&b, "%s%s(%s)%s,\n", indent, name, f.Type, s)
	}
	fmt.Fprintf(&b, "%s}", indent[1:])
	return b.String(), nil
}

func (o Obj) elementsText(depth int) (string, error) {
	var b bytes.Buffer
	b.WriteString("{ ")
	for i := range min(o.Type.Len, 64) {
		e, err := o.Index(i)
		if err != nil {
			return "", err
		}
		s, err := e.valueText(depth + 1)
		if err != nil {
			return "", err
		}
		b.WriteString(s + ", ")
	}
	if o.Type.Len > 64 {
		b.WriteString("… ")
	}
	return b.String() + "}", nil
}

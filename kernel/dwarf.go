package kernel

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind is the class of a Type.
type Kind uint8

const (
	KindVoid Kind = iota
	KindInt
	KindUint
	KindChar // char and signed char
	KindBool
	KindFloat
	KindPtr
	KindArray
	KindStruct
	KindUnion
	KindEnum
	KindFunc
)

// Type is a C type of the image. Types are shared by all machines and never change once they are out.
type Type struct {
	Name    string // as C spells it: "int", "pid_t", "struct task_struct", "" when it has none
	Kind    Kind
	Size    int64 // bytes; -1 when unknown
	Elem    *Type // pointer: what it points at; array: its element; function: what it returns
	Len     int64 // array: elements, -1 for a flexible one
	Fields  []Field
	Enum    []EnumValue
	Params  []*Type // function
	Typedef *Type   // the type that this name stands for; the other members are copies of that one's
	Const   bool
}

// Field is a member of a struct or union.
type Field struct {
	Name   string // "" for an anonymous struct or union, whose members count as the outer one's
	Type   *Type
	Offset int64 // bytes
	Bits   int   // width of a bit field, else 0
	Shift  int   // of the bit field's lowest bit in the Type.Size bytes at Offset
}

// EnumValue is one name of an enum.
type EnumValue struct {
	Name  string
	Value int64
}

// Func is a function's prototype.
type Func struct {
	Name     string
	Addr     uint64 // of its out-of-line copy, 0 when there is none
	End      uint64
	Ret      *Type
	Params   []Param
	Variadic bool
	Static   bool
	File     string
	Line     int64
}

// Param is a named argument of a function.
type Param struct {
	Name string
	Type *Type
}

// Types answers questions about the image's types from its DWARF. The first question reads the names of all top-level
// entries; a type or prototype is parsed when it is asked for. One Types serves every machine of an image, so it locks.
type Types struct {
	mu      sync.Mutex
	file    *elf.File
	data    *dwarf.Data
	err     error
	names   map[typeKey]dwarf.Offset   // first complete definition of each
	funcs   map[string][]dwarf.Offset  // subprograms with code or with a prototype
	vars    map[string][]dwarf.Offset  // variables with a type
	memo    map[dwarf.Type]*Type       // by debug/dwarf's parsed type
	again   []copied                   // see convert
	lines   map[dwarf.Offset]*lineUnit // see line.go
	units   []*dwarf.Entry
	rows    *frameTable             // see frames
	inlines map[string][]InlineSite // see Inlined
}

// copied says that typ holds a copy of from, which may have been incomplete at that time.
type copied struct{ typ, from *Type }

type typeKey struct {
	tag  dwarf.Tag
	name string
}

// NewTypes prepares the lazy reader; nothing is read before the first question.
func NewTypes(f *elf.File) *Types { return &Types{file: f} }

// index reads the top-level entries of every unit. The lock is held.
func (t *Types) index() error {
	if t.names != nil || t.err != nil {
		return t.err
	}
	if t.data != nil { // a module's
	} else if t.data, t.err = t.file.DWARF(); t.err != nil {
		t.err = fmt.Errorf("reading DWARF: %w", t.err)
		return t.err
	}
	t.names, t.funcs, t.vars = map[typeKey]dwarf.Offset{}, map[string][]dwarf.Offset{}, map[string][]dwarf.Offset{}
	t.memo = map[dwarf.Type]*Type{}
	r := t.data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.err = fmt.Errorf("reading DWARF: %w", err)
			return t.err
		}
		if e == nil {
			return nil
		}
		if e.Tag == dwarf.TagCompileUnit {
			t.units = append(t.units, e)
			continue // its children follow
		}
		if e.Tag != 0 {
			t.note(e)
			r.SkipChildren()
		}
	}
}

func (t *Types) note(e *dwarf.Entry) {
	name, _ := e.Val(dwarf.AttrName).(string)
	switch e.Tag {
	case dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagTypedef, dwarf.TagBaseType:
		if e.Val(dwarf.AttrDeclaration) != nil || name == "" {
			return
		}
		if k := (typeKey{e.Tag, name}); t.names[k] == 0 {
			t.names[k] = e.Offset
		}
	case dwarf.TagSubprogram:
		if o, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok && name == "" {
			name = t.nameAt(o)
		}
		if name != "" {
			t.funcs[name] = append(t.funcs[name], e.Offset)
		}
	case dwarf.TagVariable:
		if o, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok && name == "" {
			name = t.nameAt(o)
		}
		if name != "" {
			t.vars[name] = append(t.vars[name], e.Offset)
		}
	}
}

func (t *Types) nameAt(off dwarf.Offset) string {
	e := t.entry(off)
	if e == nil {
		return ""
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
}

func (t *Types) entry(off dwarf.Offset) *dwarf.Entry {
	r := t.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil {
		return nil
	}
	return e
}

// Struct returns the struct or union of that name (without the keyword), nil when there is none.
func (t *Types) Struct(name string) *Type {
	if x := t.named(dwarf.TagStructType, name); x != nil {
		return x
	}
	return t.named(dwarf.TagUnionType, name)
}

// Enum returns the enum of that name, nil when there is none.
func (t *Types) Enum(name string) *Type { return t.named(dwarf.TagEnumerationType, name) }

func (t *Types) named(tag dwarf.Tag, name string) *Type {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index() != nil {
		return nil
	}
	off := t.names[typeKey{tag, name}]
	if off == 0 {
		return nil
	}
	return t.typeAt(off)
}

// ByName finds a type as C writes it: "struct file", "union x", "enum y", "pid_t", "unsigned int", and any of these
// with stars behind it. A plain "file" is taken for a struct when no typedef is called so.
func (t *Types) ByName(name string) (*Type, error) {
	base := strings.TrimRight(name, "* ")
	stars := strings.Count(name[len(base):], "*")
	base = strings.TrimSpace(strings.TrimPrefix(base, "const "))
	var found *Type
	switch word, rest, _ := strings.Cut(base, " "); word {
	case "struct":
		found = t.named(dwarf.TagStructType, rest)
	case "union":
		found = t.named(dwarf.TagUnionType, rest)
	case "enum":
		found = t.named(dwarf.TagEnumerationType, rest)
	default:
		for _, tag := range []dwarf.Tag{dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagEnumerationType} {
			if found == nil {
				found = t.named(tag, base)
			}
		}
		if base == "void" {
			found = &Type{Name: "void", Size: 1}
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	if found == nil {
		return nil, &SymbolError{Text: name, Msg: fmt.Sprintf("no type %q", base), Hint: t.suggest(base), Err: ENOENT}
	}
	for range stars {
		found = PointerTo(found)
	}
	return found, nil
}

func (t *Types) suggest(name string) []string {
	_, name, _ = strings.Cut(" "+name, " ")
	for _, k := range []string{"struct ", "union ", "enum "} {
		name = strings.TrimPrefix(name, k)
	}
	var names []string
	for k := range t.names {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return Suggest(name, slices.Compact(names))
}

// PointerTo is the type of pointers to x.
func PointerTo(x *Type) *Type { return &Type{Kind: KindPtr, Size: 8, Elem: x} }

// Var returns the type of a global or static variable.
func (t *Types) Var(name string) (*Type, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.index(); err != nil {
		return nil, err
	}
	for _, off := range t.vars[name] {
		e := t.entry(off)
		if o, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok && e.Val(dwarf.AttrType) == nil {
			e = t.entry(o)
		}
		if o, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
			x := t.typeAt(o)
			if x.Kind == KindArray && x.Len < 0 && len(t.vars[name]) > 1 {
				continue // extern declaration of an array whose definition knows its length
			}
			return x, nil
		}
	}
	names := make([]string, 0, len(t.vars))
	for n := range t.vars {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, &SymbolError{Text: name, Msg: fmt.Sprintf("no variable %q", name), Hint: Suggest(name, names), Err: ENOENT}
}

// Func returns the prototype of a function; with several static ones of a name, the one whose code holds addr (0: any).
func (t *Types) Func(name string, addr uint64) (*Func, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index() != nil {
		return nil, false
	}
	// gcc's clones (.isra.0, .constprop.0, .part.0, .cold) are described by the function they were made of.
	base, _, _ := strings.Cut(name, ".")
	var best *Func
	for _, off := range t.funcs[base] {
		f := t.funcAt(off)
		if f == nil {
			continue
		}
		if f.Addr != 0 && f.Addr <= addr && addr < f.End {
			return f, true
		}
		if best == nil || best.Addr == 0 && f.Addr != 0 {
			best = f
		}
	}
	return best, best != nil
}

func (t *Types) funcAt(off dwarf.Offset) *Func {
	e := t.entry(off)
	if e == nil {
		return nil
	}
	f := &Func{}
	if lo, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
		f.Addr = lo
		switch hi := e.Val(dwarf.AttrHighpc).(type) {
		case uint64:
			f.End = hi
		case int64:
			f.End = lo + uint64(hi)
		}
	}
	if o, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		e = t.entry(o) // names and types are with the abstract instance
	}
	f.Name, _ = e.Val(dwarf.AttrName).(string)
	f.Line, _ = e.Val(dwarf.AttrDeclLine).(int64)
	ext, _ := e.Val(dwarf.AttrExternal).(bool)
	f.Static = !ext
	f.Ret = t.typeOf(e)
	if !e.Children {
		return f
	}
	r := t.data.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil {
		return nil
	}
	for {
		c, err := r.Next()
		if err != nil || c == nil || c.Tag == 0 {
			return f
		}
		switch c.Tag {
		case dwarf.TagFormalParameter:
			name, _ := c.Val(dwarf.AttrName).(string)
			f.Params = append(f.Params, Param{name, t.typeOf(c)})
		case dwarf.TagUnspecifiedParameters:
			f.Variadic = true
		}
		r.SkipChildren()
	}
}

// typeOf is the type that an entry refers to, void when to none.
func (t *Types) typeOf(e *dwarf.Entry) *Type {
	if o, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
		return t.typeAt(o)
	}
	return voidType
}

// voidType is immutable.
var voidType = &Type{Name: "void", Size: 1}

func (t *Types) typeAt(off dwarf.Offset) *Type {
	d, err := t.data.Type(off)
	if err != nil {
		return &Type{Name: "?", Kind: KindVoid, Size: -1}
	}
	x := t.convert(d)
	for _, c := range t.again { // inner ones first
		name, def, cons := c.typ.Name, c.typ.Typedef, c.typ.Const
		*c.typ = *c.from
		c.typ.Name, c.typ.Typedef, c.typ.Const = name, def, cons
	}
	t.again = nil
	return x
}

// convert turns debug/dwarf's type into ours. Cycles go through structs, so a type is in memo before its parts are read;
// typedefs and const copy the type they stand for, once more at the end when all is complete.
func (t *Types) convert(d dwarf.Type) *Type {
	if d == nil {
		return voidType
	}
	if x := t.memo[d]; x != nil {
		return x
	}
	x := &Type{Size: d.Size()}
	t.memo[d] = x
	switch d := d.(type) {
	case *dwarf.VoidType:
		*x = *voidType
	case *dwarf.QualType:
		inner := t.convert(d.Type)
		*x = *inner
		x.Const = x.Const || d.Qual == "const"
		t.again = append(t.again, copied{x, inner})
	case *dwarf.TypedefType:
		inner := t.convert(d.Type)
		*x = *inner
		x.Name, x.Typedef, x.Const = d.Name, inner, false
		t.again = append(t.again, copied{x, inner})
	case *dwarf.PtrType:
		x.Kind, x.Size, x.Elem = KindPtr, 8, t.convert(d.Type)
	case *dwarf.ArrayType:
		x.Kind, x.Elem, x.Len = KindArray, t.convert(d.Type), d.Count
	case *dwarf.StructType:
		t.convertStruct(x, d)
	case *dwarf.EnumType:
		x.Kind, x.Size, x.Name = KindEnum, d.ByteSize, keyword("enum", d.EnumName)
		for _, v := range d.Val {
			x.Enum = append(x.Enum, EnumValue{v.Name, v.Val})
		}
	case *dwarf.FuncType:
		x.Kind, x.Size, x.Elem = KindFunc, 1, t.convert(d.ReturnType)
		for _, p := range d.ParamType {
			x.Params = append(x.Params, t.convert(p))
		}
	default:
		x.Name, x.Kind = d.Common().Name, baseKind(d)
	}
	return x
}

func (t *Types) convertStruct(x *Type, d *dwarf.StructType) {
	x.Kind = KindStruct
	if d.Kind == "union" {
		x.Kind = KindUnion
	}
	x.Name = keyword(d.Kind, d.StructName)
	if d.Incomplete {
		tag := dwarf.TagStructType
		if d.Kind == "union" {
			tag = dwarf.TagUnionType
		}
		x.Size = -1
		if off := t.names[typeKey{tag, d.StructName}]; off != 0 { // complete in another unit
			full, err := t.data.Type(off)
			if err != nil {
				return
			}
			d = full.(*dwarf.StructType)
			x.Size = d.ByteSize
		}
	}
	for _, f := range d.Field {
		g := Field{Name: f.Name, Type: t.convert(f.Type), Offset: f.ByteOffset, Bits: int(f.BitSize)}
		if f.BitSize != 0 {
			size := max(g.Type.Size, 1)
			bit := f.ByteOffset*8 + f.DataBitOffset // DWARF 4 and 5
			if f.BitOffset != 0 && f.DataBitOffset == 0 {
				bit = f.ByteOffset*8 + size*8 - f.BitOffset - f.BitSize // DWARF 2 counts from the other end
			}
			g.Offset = bit / (size * 8) * size
			g.Shift = int(bit - g.Offset*8)
		}
		x.Fields = append(x.Fields, g)
	}
}

func keyword(kind, name string) string {
	if name == "" {
		return ""
	}
	return kind + " " + name
}

func baseKind(d dwarf.Type) Kind {
	switch d.(type) {
	case *dwarf.BoolType:
		return KindBool
	case *dwarf.CharType:
		return KindChar
	case *dwarf.UintType, *dwarf.UcharType, *dwarf.AddrType:
		return KindUint
	case *dwarf.FloatType, *dwarf.ComplexType:
		return KindFloat
	case *dwarf.IntType:
		return KindInt
	}
	return KindVoid
}

// Field finds a member, also inside anonymous structs and unions; its Offset then counts from the outer type. The zero
// Field (Type nil) means that there is none, or that t is nil.
func (t *Type) Field(name string) Field {
	if t == nil {
		return Field{}
	}
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
		if f.Name == "" && f.Bits == 0 {
			if in := f.Type.Field(name); in.Type != nil {
				in.Offset += f.Offset
				return in
			}
		}
	}
	return Field{}
}

// Signed says whether integers of this type have a sign.
func (t *Type) Signed() bool {
	if t.Kind == KindEnum {
		for _, v := range t.Enum {
			if v.Value < 0 {
				return true
			}
		}
		return false
	}
	return t.Kind == KindInt || t.Kind == KindChar
}

package builtins

import (
	"errors"
	"fmt"
	"sort"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// object is a typed place in guest memory. Nothing is read before it is asked for, so it always shows the present.
type object struct {
	g   *Guest
	obj kernel.Obj
}

var (
	_ starlark.Value      = (*object)(nil)
	_ starlark.HasAttrs   = (*object)(nil)
	_ starlark.Indexable  = (*object)(nil)
	_ starlark.Comparable = (*object)(nil)
)

func (o *object) Type() string          { return "Obj" }
func (o *object) String() string        { return o.obj.String() }
func (o *object) Freeze()               {}
func (o *object) Hash() (uint32, error) { return uint32(o.obj.Addr ^ o.obj.Addr>>32), nil }

// Truth is false for a NULL pointer and for zero.
func (o *object) Truth() starlark.Bool {
	n, err := o.obj.Uint()
	return err != nil || n != 0
}

// Attr reads a field; when no field has that name, the object's own attributes.
func (o *object) Attr(name string) (starlark.Value, error) {
	f, ferr := o.obj.Field(name)
	if ferr == nil {
		return o.g.convert(f)
	}
	switch name {
	case "addr":
		return unum(o.obj.Addr), nil
	case "type":
		return str(o.obj.Type.String()), nil
	case "value":
		return o.method("value", func(c *call) (starlark.Value, error) {
			if err := c.unpack(); err != nil {
				return nil, err
			}
			return c.g.plain(o.obj)
		}), nil
	case "deref":
		return o.method("deref", func(c *call) (starlark.Value, error) {
			if err := c.unpack(); err != nil {
				return nil, err
			}
			p, err := o.obj.Deref()
			if err != nil {
				return nil, c.fail(err, "", nil)
			}
			return &object{c.g, p}, nil
		}), nil
	}
	c := &call{g: o.g, name: o.obj.Type.String()}
	err := c.fail(ferr, name, nil)
	var unknown *kernel.SymbolError
	if e, ok := err.(*lang.Error); ok && errors.As(ferr, &unknown) {
		e.Msg = fmt.Sprintf("%s has no field %s", o.obj.Type, name)
	}
	return nil, err
}

func (o *object) method(name string, fn func(c *call) (starlark.Value, error)) starlark.Value {
	v, _ := method{name: name, fn: fn}.bound("Obj", o, o.g)
	return v
}

func (o *object) AttrNames() []string {
	t := o.obj.Type
	if t.Kind == kernel.KindPtr {
		t = t.Elem
	}
	names := append(t.FieldNames(), "addr", "deref", "type", "value")
	sort.Strings(names)
	return names
}

// Len is the number of elements of an array.
func (o *object) Len() int {
	if o.obj.Type.Kind == kernel.KindArray && o.obj.Type.Len > 0 {
		return int(o.obj.Type.Len)
	}
	if o.obj.Type.Kind == kernel.KindPtr {
		return 1 << 30 // C lets a pointer be indexed; the reads fail where memory ends
	}
	return 0
}

func (o *object) Index(i int) starlark.Value {
	e, err := o.obj.Index(int64(i))
	if err != nil {
		return starlark.None
	}
	v, err := o.g.convert(e)
	if err != nil {
		return starlark.None
	}
	return v
}

// CompareSameType: pointers are equal when they point at the same place, other objects when they are the same place.
func (o *object) CompareSameType(op syntaxToken, y starlark.Value, depth int) (bool, error) {
	return equality(op, place(o.obj) == place(y.(*object).obj), "Obj")
}

func place(o kernel.Obj) uint64 {
	if o.Type.Kind == kernel.KindPtr {
		n, _ := o.Uint()
		return n
	}
	return o.Addr
}

// convert gives numbers, enums, bools and char arrays as plain values, the rest as objects.
func (g *Guest) convert(o kernel.Obj) (starlark.Value, error) {
	switch o.Type.Kind {
	case kernel.KindStruct, kernel.KindUnion, kernel.KindPtr, kernel.KindFunc, kernel.KindVoid, kernel.KindFloat:
		return &object{g, o}, nil
	case kernel.KindArray:
		if _, err := o.Text(); err != nil {
			return &object{g, o}, nil
		}
	}
	return g.plain(o)
}

// plain is the object's value: int, bool, string; a pointer is its address, a char pointer its string; structs are bytes.
func (g *Guest) plain(o kernel.Obj) (starlark.Value, error) {
	switch o.Type.Kind {
	case kernel.KindBool:
		n, err := o.Uint()
		return starlark.Bool(n != 0), err
	case kernel.KindArray, kernel.KindPtr:
		if s, err := o.Text(); err == nil {
			return str(s), nil
		}
		if o.Type.Kind == kernel.KindPtr {
			n, err := o.Uint()
			return unum(n), err
		}
	case kernel.KindStruct, kernel.KindUnion, kernel.KindFunc, kernel.KindVoid, kernel.KindFloat:
	default:
		if !o.Type.Signed() {
			n, err := o.Uint()
			return unum(n), err
		}
		n, err := o.Int()
		return num(n), err
	}
	b, err := o.Bytes()
	return starlark.Bytes(b), err
}

// objectRows document what the objects can do.
func objectRows() []lang.Row {
	rows := []lang.Row{
		{Name: "Machine.tracer", Sig: "-> tracer", Doc: "The machine's own tracer, with the functions of module tracer; Machine has those of module kernel itself."},
		{Name: "Machine.kprobe", Sig: "-> kprobe", Doc: "The machine's own probes, with the functions of module kprobe."},
		{Name: "Machine.event", Sig: "-> event", Doc: "The machine's own events, with the functions of module event."},
		{Name: "Machine.on", Sig: "(spec, fn, when = None, limit = None, on_error = \"stop\") -> On", Doc: "The function on for this machine. A fork has no handlers of its own: host hooks stay with the machine they were made on."},
		{Name: "Machine.fs", Sig: "-> fs", Doc: "The machine's own files, with the functions of module fs."},
		{Name: "Obj.value", Sig: "() -> int | string | bytes", Doc: "The value: numbers, strings of char arrays and pointers, addresses of other pointers, bytes of structs."},
		{Name: "Obj.deref", Sig: "() -> Obj", Doc: "What a pointer points at; fields and [i] follow pointers by themselves."},
		{Name: "Obj.addr", Sig: "-> int", Doc: "Where it is in guest memory."},
		{Name: "Obj.type", Sig: "-> string", Doc: "Its C type."},
	}
	for _, m := range taskMethods() {
		rows = append(rows, lang.Row{Name: "Task." + m.name, Sig: m.sig, Doc: m.doc})
	}
	for _, m := range singleEventMethods() {
		rows = append(rows, lang.Row{Name: "Event." + m.name, Sig: m.sig, Doc: m.doc})
	}
	for _, m := range histMethods(nil) {
		rows = append(rows, lang.Row{Name: "Hist." + m.name, Sig: m.sig, Doc: m.doc})
	}
	return append(rows, sysRows()...)
}

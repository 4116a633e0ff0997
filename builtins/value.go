package builtins

import (
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// record is a value with named fields: Sym, Stop, Patch, Record ... Its text, when given, is what print() shows.
type record struct {
	typ    string
	fields []field
	text   string
}

type field struct {
	name  string
	value starlark.Value
}

var (
	_ starlark.Value      = (*record)(nil)
	_ starlark.HasAttrs   = (*record)(nil)
	_ starlark.Mapping    = (*record)(nil)
	_ starlark.Comparable = (*record)(nil)
)

func (r *record) Type() string         { return r.typ }
func (r *record) Truth() starlark.Bool { return true }

func (r *record) Freeze() {
	for _, f := range r.fields {
		f.value.Freeze()
	}
}

func (r *record) Hash() (uint32, error) {
	var tuple starlark.Tuple
	for _, f := range r.fields {
		tuple = append(tuple, f.value)
	}
	return tuple.Hash()
}

func (r *record) String() string {
	if r.text != "" {
		return r.text
	}
	var parts []string
	for _, f := range r.fields {
		parts = append(parts, f.name+" = "+f.value.String())
	}
	return r.typ + "(" + strings.Join(parts, ", ") + ")"
}

func (r *record) Attr(name string) (starlark.Value, error) {
	for _, f := range r.fields {
		if f.name == name {
			return f.value, nil
		}
	}
	return nil, noAttr(r.typ, name, r.AttrNames())
}

// noAttr is the error for x.name that is not there.
func noAttr(typ, name string, names []string) error {
	e := lang.Unknown(name, typ+" has no .%s", names)
	if e.At, e.Off = "."+name, 1; typ == "Regs" && foreignReg(name) {
		e.Hint = armHint
	}
	if e.Hint == "" && len(names) > 0 {
		e.Hint = "it has " + strings.Join(names, ", ")
	}
	return e
}

func (r *record) AttrNames() []string {
	var names []string
	for _, f := range r.fields {
		names = append(names, f.name)
	}
	sort.Strings(names)
	return names
}

// Get makes r["field"] work, for names that come from data.
func (r *record) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, fmt.Errorf("%s[%s]: want a field's name", r.typ, key.Type())
	}
	for _, f := range r.fields {
		if f.name == name {
			return f.value, true, nil
		}
	}
	return nil, false, noAttr(r.typ, name, r.AttrNames())
}

// CompareSameType compares records field by field; only == and != make sense.
func (r *record) CompareSameType(op syntaxToken, y starlark.Value, depth int) (bool, error) {
	o := y.(*record)
	equal := r.typ == o.typ && len(r.fields) == len(o.fields)
	for i := 0; equal && i < len(r.fields); i++ {
		same, err := starlark.EqualDepth(r.fields[i].value, o.fields[i].value, depth-1)
		if err != nil {
			return false, err
		}
		equal = same && r.fields[i].name == o.fields[i].name
	}
	return equality(op, equal, r.typ)
}

// list makes a Starlark list of anything convertible.
func list[T any](items []T, conv func(T) starlark.Value) *starlark.List {
	vals := make([]starlark.Value, len(items))
	for i, x := range items {
		vals[i] = conv(x)
	}
	return starlark.NewList(vals)
}

func num[T ~int | ~int32 | ~int64](n T) starlark.Value { return starlark.MakeInt64(int64(n)) }

func unum[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](n T) starlark.Value {
	return starlark.MakeUint64(uint64(n))
}

func str(s string) starlark.Value { return starlark.String(s) }

// strOrNone is None for "".
func strOrNone(s string) starlark.Value {
	if s == "" {
		return starlark.None
	}
	return starlark.String(s)
}

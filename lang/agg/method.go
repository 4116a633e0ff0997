package agg

import (
	"fmt"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// method is a row of the table of Agg: a function or a constant.
type method struct {
	name, sig, doc, example string
	fn                      func(a *Agg, t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
	get                     func(a *Agg) starlark.Value
}

func methods() []method {
	return []method{
		{name: "inc", sig: "(*key)", fn: inc, doc: "Adds 1 to a key of a count.", example: "c = agg.count(\"n\")\nc.inc(\"a\", 1)\nprint(c[\"a\", 1])"},
		{name: "add", sig: "(value, *key)", fn: add,
			doc:     "Adds a value, an int, to a key; without a key the aggregation has one value.\nParts of keys are any hashable values and lists, which are kept as stacks.",
			example: "a = agg.sum(\"n\")\na.add(3, \"a\")\nprint(a[\"a\"])"},
		{name: "get", sig: "(*key, default = None) -> value", fn: get, doc: "The value of a key, or default; a[key] fails when there is none, except for count and sum, where it is 0.",
			example: "print(agg.min(\"least\").get(\"nothing\"))"},
		{name: "items", sig: "(sort = \"value\", desc = True) -> [(key, value)]", fn: items,
			doc: "All keys with their values, the greatest first; sort is \"value\", \"key\" or a function of key and value.", example: "c = agg.count(\"n\")\nc[\"a\"] = 3\nprint(c.items())"},
		{name: "keys", sig: "() -> [key]", fn: keys, doc: "The keys in order; a key of several parts is a tuple.", example: "c = agg.count(\"n\")\nc.inc(\"b\")\nprint(c.keys())"},
		{name: "top", sig: "(n = 10) -> [(key, value)]", fn: top, doc: "The n greatest, the greatest first.", example: "c = agg.count(\"n\")\nc[\"a\"] = 3\nprint(c.top(1))"},
		{name: "clear", sig: "(*key)", fn: clearKey, doc: "Forgets a key, or all.", example: "c = agg.count(\"n\")\nc.inc(\"a\")\nc.clear(\"a\")\nprint(len(c))"},
		{name: "zero", sig: "()", fn: zero, doc: "Empties all cells and keeps the keys.", example: "c = agg.count(\"n\")\nc.inc(\"a\")\nc.zero()\nprint(c[\"a\"])"},
		{name: "delta", sig: "() -> Agg", fn: delta, doc: "What came in since the last delta, as an aggregation of its own that is not printed at the end.",
			example: "c = agg.count(\"n\")\nc.inc(\"a\")\nc.delta()\nc.inc(\"a\")\nprint(c.delta()[\"a\"], c[\"a\"])"},
		{name: "merge", sig: "(other)", fn: merge, doc: "Adds the cells of an aggregation of the same kind.",
			example: "a, b = agg.count(\"a\"), agg.count(\"b\")\na.inc(1)\nb.inc(1)\na.merge(b)\nprint(a[1])"},
		{name: "scale", sig: "(div) -> Agg", fn: scale, doc: "A copy with its values, or the counts of its buckets, divided by div, as print(div = ...) shows them.",
			example: "a = agg.sum(\"ns\")\na.add(5000)\nprint(a.scale(us)[()])"},
		{name: "print", sig: "(top = None, sort = \"value\", desc = False, div = 1, key_fmt = None, value_fmt = None, style = \"bpftrace\")", fn: printAgg,
			doc: "Prints as bpftrace does: ascending by value; top shows the greatest only.\n" +
				"key_fmt and value_fmt are formats of printf for the key's parts and the value, or functions of them.\n" +
				"style is \"bpftrace\", \"linux\" (as a hist trigger's file), \"bcc\" (distributions of the bcc tools) or \"json\" (bpftrace -f json).",
			example: "c = agg.count(\"calls\", keys = [\"func\"])\nc[\"vfs_read\"] = 3\nc[\"vfs_open\"] = 1\nc.print(top = 1)\nc.print(style = \"linux\")\nc.print(key_fmt = \"%-10s\", value_fmt = \"%5d\")"},
		{name: "text", sig: "(...) -> string", fn: textOf, doc: "What print would print, with the same arguments.", example: "c = agg.count(\"n\")\nc.inc()\nprint(c.text())"},
		{name: "name", sig: "-> string", doc: "Its name, without @.", get: func(a *Agg) starlark.Value { return starlark.String(a.name) }, example: "print(agg.count(\"n\").name)"},
		{name: "kind", sig: "-> string", doc: "\"count\", \"hist\" ...", get: func(a *Agg) starlark.Value { return starlark.String(a.p.kind) }, example: "print(agg.count(\"n\").kind)"},
	}
}

func inc(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, starlark.UnpackArgs(b.Name(), nil, kwargs)
	}
	return starlark.None, a.Add(1, args)
}

func add(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 || len(args) == 0 {
		var value starlark.Value
		return nil, starlark.UnpackArgs(b.Name(), args, kwargs, "value", &value)
	}
	v, err := number(args[0])
	if err != nil {
		return nil, err
	}
	return starlark.None, a.Add(v, args[1:])
}

func get(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var def starlark.Value = starlark.None
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "default?", &def); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		args = parts(args[0])
	}
	i, err := a.find(args)
	if err != nil || i < 0 {
		return def, err
	}
	return a.cells.value(i), nil
}

// sorting takes the parameter sort: "value", "key" or a function.
func (o *options) sorting(fn string, v starlark.Value) error {
	if by, ok := v.(starlark.Callable); ok {
		o.by = by
		return lang.Takes(fn, "sort", by, "key", "value")
	}
	s, ok := starlark.AsString(v)
	if !ok || s != byValue && s != byKey {
		return &lang.Error{Msg: fmt.Sprintf("%s: sort = %s: want \"value\", \"key\" or a function of key and value", fn, v), At: "sort"}
	}
	o.sort = s
	return nil
}

func items(a *Agg, t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	o := options{desc: true, sort: byValue, thread: t}
	var by starlark.Value = starlark.String(byValue)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "sort?", &by, "desc?", &o.desc); err != nil {
		return nil, err
	}
	if err := o.sorting(b.Name(), by); err != nil {
		return nil, err
	}
	return a.itemList(o)
}

func (a *Agg) itemList(o options) (starlark.Value, error) {
	idx, err := a.pick(o)
	if err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(idx))
	for n, i := range idx {
		out[n] = starlark.Tuple{a.keys[i], a.cells.value(i)}
	}
	return starlark.NewList(out), nil
}

func keys(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	return a.keyList(), nil
}

func top(a *Agg, t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	o := options{top: 10, desc: true, sort: byValue, thread: t}
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "n?", &o.top); err != nil {
		return nil, err
	}
	if o.top < 1 {
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: n = %d: want at least 1", b.Name(), o.top), At: "n"}
	}
	return a.itemList(o)
}

func clearKey(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, starlark.UnpackArgs(b.Name(), nil, kwargs)
	}
	if len(args) == 0 {
		a.clear()
		return starlark.None, nil
	}
	if len(args) == 1 {
		args = parts(args[0])
	}
	return starlark.None, a.remove(args)
}

func zero(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	for i := range a.keys {
		a.cells.zero(i)
	}
	a.base = nil
	return starlark.None, nil
}

func delta(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	return orError(a.delta())
}

// orError keeps a nil *Agg from becoming a value.
func orError(a *Agg, err error) (starlark.Value, error) {
	if err != nil {
		return nil, err
	}
	return a, nil
}

func merge(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var other starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "other", &other); err != nil {
		return nil, err
	}
	o, ok := other.(*Agg)
	if !ok {
		return nil, lang.Errorf("%s: got %s, want an aggregation", b.Name(), other.Type())
	}
	return starlark.None, a.merge(o)
}

func scale(a *Agg, _ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var div int64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "div", &div); err != nil {
		return nil, err
	}
	if err := checkDiv(b.Name(), div); err != nil {
		return nil, err
	}
	n := a.copy()
	for i := range n.keys {
		n.cells.divide(i, div)
	}
	return n, nil
}

func checkDiv(fn string, div int64) error {
	if div < 1 {
		return &lang.Error{Msg: fmt.Sprintf("%s: div = %d: want at least 1", fn, div), At: "div"}
	}
	return nil
}

func printAgg(a *Agg, t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, err := a.unpackText(t, b, args, kwargs)
	if err != nil {
		return nil, err
	}
	return starlark.None, show(t, text)
}

func textOf(a *Agg, t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, err := a.unpackText(t, b, args, kwargs)
	return starlark.String(text), err
}

func (a *Agg) unpackText(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	o := options{sort: byValue, div: 1, style: styles[0], thread: t}
	if a.set != nil {
		o.style = a.set.style()
	}
	var n, keyFmt, valueFmt starlark.Value = starlark.None, starlark.None, starlark.None
	var by starlark.Value = starlark.String(byValue)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "top?", &n, "sort?", &by, "desc?", &o.desc, "div?", &o.div,
		"key_fmt?", &keyFmt, "value_fmt?", &valueFmt, "style?", &o.style); err != nil {
		return "", err
	}
	if n != starlark.None {
		i, err := starlark.AsInt32(n)
		if err != nil || i < 1 {
			return "", &lang.Error{Msg: fmt.Sprintf("%s: top = %s: want at least 1", b.Name(), n), At: "top"}
		}
		o.top = i
	}
	if err := o.sorting(b.Name(), by); err != nil {
		return "", err
	}
	if err := checkDiv(b.Name(), o.div); err != nil {
		return "", err
	}
	for _, f := range []struct {
		name string
		v    starlark.Value
		to   *starlark.Value
	}{{"key_fmt", keyFmt, &o.keyFmt}, {"value_fmt", valueFmt, &o.valueFmt}} {
		switch f.v.(type) {
		case starlark.NoneType:
		case starlark.String, starlark.Callable:
			if fn, ok := f.v.(starlark.Callable); ok && f.name == "value_fmt" {
				if err := lang.Takes(b.Name(), f.name, fn, "value"); err != nil {
					return "", err
				}
			}
			*f.to = f.v
		default:
			return "", &lang.Error{Msg: fmt.Sprintf("%s: %s is %s, want a format or a function", b.Name(), f.name, f.v.Type()), At: f.name}
		}
	}
	if err := checkStyle(b.Name(), o.style); err != nil {
		return "", err
	}
	return a.render(o)
}

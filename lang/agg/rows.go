package agg

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// kind is one row of the table of kinds: agg.NAME and its cells.
type kind struct {
	name, sig, doc, example string
	make                    func(p *params) store
	max                     bool
}

func kinds() []kind {
	return []kind{
		{name: "count", sig: "(name, keys = ()) -> Agg", make: newCells[sumCell],
			doc:     "Counts by key: c.inc(*key) or c[key] += 1.\nLike all of agg.*, it gives the aggregation of that name and makes it when there is none; keys name the parts of its keys.",
			example: "c = agg.count(\"calls\")\nc.inc(\"vfs_read\", 0)\nc[\"vfs_open\", 1] += 2\nc.print()"},
		{name: "sum", sig: "(name, keys = ()) -> Agg", make: newCells[sumCell],
			doc:     "Sums by key: a.add(value, *key) or a[key] += value; 64 bits, which wrap.",
			example: "a = agg.sum(\"bytes\")\na.add(4096, \"cat\")\na.print()"},
		{name: "avg", sig: "(name, keys = ()) -> Agg", make: newCells[avgCell],
			doc:     "Averages by key, rounded towards zero: a.add(value, *key).",
			example: "a = agg.avg(\"size\")\na.add(10)\na.add(21)\nprint(a[()])"},
		{name: "min", sig: "(name, keys = ()) -> Agg", make: newCells[edgeCell],
			doc: "Least values by key: a.add(value, *key).", example: "a = agg.min(\"least\")\na.add(3)\na.add(-2)\nprint(a[()])"},
		{name: "max", sig: "(name, keys = ()) -> Agg", make: newCells[edgeCell], max: true,
			doc: "Greatest values by key: a.add(value, *key).", example: "a = agg.max(\"most\")\na.add(3)\na.add(-2)\nprint(a[()])"},
		{name: "stats", sig: "(name, keys = ()) -> Agg", make: newCells[statCell],
			doc:     "Count, average and total by key; a[key] has .min, .max and .stddev (of a sample, rounded down) too.",
			example: "a = agg.stats(\"size\")\nfor n in [2, 4, 9]:\n    a.add(n, \"cat\")\n\nprint(a[\"cat\"])"},
		{name: "hist", sig: `(name, keys = (), bits = 0, unit = "") -> Agg`, make: newCells[histCell],
			doc:     "Histograms by key in powers of two: h.add(value, *key). bits = 0 to 5 cuts each power into 1 << bits buckets.\nunit names the values in style \"bcc\" only: h.print(style = \"bcc\"); it converts nothing, as div = us does.",
			example: "h = agg.hist(\"lat\", unit = \"nsecs\")\nfor n in [1, 5, 6, 70]:\n    h.add(n)\n\nh.print()"},
		{name: "lhist", sig: `(name, lo, hi, step, keys = (), unit = "") -> Agg`, make: newCells[histCell],
			doc:     "Histograms by key in equal steps from lo up to hi, and one bucket below and one above.",
			example: "h = agg.lhist(\"us\", 0, 100, 10)\nh.add(7)\nh.add(250)\nh.print()"},
		{name: "quantiles", sig: "(name, keys = (), q = (50, 90, 99)) -> Agg", make: newCells[quantCell],
			doc:     "Quantiles by key, exact: every value is kept, 8 bytes each. q are percentages; the nearest rank counts.",
			example: "t = agg.quantiles(\"tail\", q = (50, 99.9))\nfor n in range(1000):\n    t.add(n)\n\nt.print()"},
	}
}

func kindOf(name string) *kind {
	all := kinds()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	panic("BUG: agg: no kind " + name)
}

// Table is module agg and the value Agg. print goes to out, which is asked for at each use.
func (s *Set) Table() lang.Table {
	t := lang.Table{Title: "agg: aggregations by key"}
	for _, k := range kinds() {
		t.Rows = append(t.Rows, lang.Row{Name: "agg." + k.name, Sig: k.sig, Doc: k.doc, Example: k.example, Fn: s.maker(k)})
	}
	t.Rows = append(t.Rows,
		lang.Row{Name: "agg.print_all", Sig: "(style = \"bpftrace\")", Fn: s.printAll, Doc: "Prints all aggregations that are not empty, in the order of their creation.",
			Example: "agg.count(\"a\").inc()\nagg.print_all()"},
		lang.Row{Name: "agg.autoprint", Sig: "(on)", Fn: s.autoprint, Doc: "Whether a script's end prints what is not empty; at first it does.", Example: "agg.autoprint(False)"},
		lang.Row{Name: "agg.clear_all", Sig: "()", Fn: s.clearAll, Doc: "Forgets the keys of all aggregations.", Example: "agg.clear_all()"},
	)
	for _, m := range methods() {
		t.Rows = append(t.Rows, lang.Row{Name: "Agg." + m.name, Sig: m.sig, Doc: m.doc, Example: m.example})
	}
	return t
}

// maker is agg.KIND: get-or-create.
func (s *Set) maker(k kind) lang.Func {
	return func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		p := &params{kind: k.name, max: k.max}
		var name string
		var keys starlark.Iterable
		var q starlark.Iterable = starlark.Tuple{starlark.MakeInt(50), starlark.MakeInt(90), starlark.MakeInt(99)}
		pairs := []any{"name", &name}
		switch k.name {
		case "hist":
			pairs = append(pairs, "keys?", &keys, "bits?", &p.bits, "unit?", &p.unit)
		case "lhist":
			pairs = append(pairs, "lo", &p.lo, "hi", &p.hi, "step", &p.step, "keys?", &keys, "unit?", &p.unit)
		case "quantiles":
			pairs = append(pairs, "keys?", &keys, "q?", &q)
		default:
			pairs = append(pairs, "keys?", &keys)
		}
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, pairs...); err != nil {
			return nil, err
		}
		name = strings.TrimPrefix(name, "@")
		if have := s.byName(name); have != nil {
			if have.p.kind != k.name {
				return nil, &lang.Error{Msg: fmt.Sprintf("%s: @%s is an agg.%s already", b.Name(), name, have.p.kind), At: name}
			}
			return have, nil
		}
		if err := p.check(b.Name(), keys, q); err != nil {
			return nil, err
		}
		a := newAgg(name, p)
		a.set = s
		s.list = append(s.list, a)
		return a, nil
	}
}

// check fills in what is not unpacked by itself.
func (p *params) check(fn string, keys, q starlark.Iterable) error {
	if keys != nil {
		for _, v := range values(keys) {
			name, ok := starlark.AsString(v)
			if !ok {
				return lang.Errorf("%s: keys are names of the key's parts, got %s", fn, v.Type())
			}
			p.keys = append(p.keys, name)
		}
	}
	switch {
	case p.bits < 0 || p.bits > maxBits:
		return &lang.Error{Msg: fmt.Sprintf("%s: bits = %d: want 0 to %d", fn, p.bits, maxBits), At: "bits"}
	case p.kind != "lhist":
	case p.step <= 0 || p.hi <= p.lo:
		return lang.Errorf("%s: lo = %d, hi = %d, step = %d: want lo < hi and a positive step", fn, p.lo, p.hi, p.step)
	case (p.hi-p.lo)%p.step != 0:
		return &lang.Error{Msg: fmt.Sprintf("%s: step = %d does not divide %d", fn, p.step, p.hi-p.lo), At: "step"}
	case (p.hi-p.lo)/p.step > 1000:
		return &lang.Error{Msg: fmt.Sprintf("%s: %d buckets, want at most 1000", fn, (p.hi-p.lo)/p.step), At: "step"}
	}
	if p.kind != "quantiles" {
		return nil
	}
	for _, v := range values(q) {
		f, ok := starlark.AsFloat(v)
		if !ok || f < 0 || f > 100 {
			return &lang.Error{Msg: fmt.Sprintf("%s: q = %s: want percentages from 0 to 100", fn, v), At: "q"}
		}
		p.quants = append(p.quants, quantile{v, int64(math.Round(f * 1e6))})
	}
	return nil
}

func values(it starlark.Iterable) (out []starlark.Value) {
	i := it.Iterate()
	defer i.Done()
	var v starlark.Value
	for i.Next(&v) {
		out = append(out, v)
	}
	return out
}

func (s *Set) style() string {
	if s.Style == "" {
		return styles[0]
	}
	return s.Style
}

func (s *Set) byName(name string) *Agg {
	for _, a := range s.list {
		if a.name == name {
			return a
		}
	}
	return nil
}

// PrintAll prints what is not empty in the order of creation, an empty line before each, unless autoprint is off.
func (s *Set) PrintAll(w io.Writer) error {
	if s.quiet {
		return nil
	}
	text, err := s.all(s.style())
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func (s *Set) all(style string) (string, error) {
	var b strings.Builder
	for _, a := range s.list {
		if len(a.keys) == 0 {
			continue
		}
		if style != "json" && !strings.HasSuffix(b.String(), "\n\n") {
			b.WriteByte('\n')
		}
		text, err := a.render(options{style: style, div: 1, sort: byValue})
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (s *Set) printAll(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	style := s.style()
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "style?", &style); err != nil {
		return nil, err
	}
	if err := checkStyle(b.Name(), style); err != nil {
		return nil, err
	}
	text, err := s.all(style)
	if err != nil {
		return nil, err
	}
	return starlark.None, show(t, text)
}

func (s *Set) autoprint(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var on bool
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "on", &on); err != nil {
		return nil, err
	}
	s.quiet = !on
	return starlark.None, nil
}

func (s *Set) clearAll(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	s.ClearAll()
	return starlark.None, nil
}

// ClearAll empties all aggregations.
func (s *Set) ClearAll() {
	for _, a := range s.list {
		a.clear()
	}
}

// show prints a text without its last newline through the thread's print, which knows whether the thread is muted.
func show(t *starlark.Thread, text string) error {
	if text == "" {
		return nil
	}
	t.Print(t, strings.TrimSuffix(text, "\n"))
	return nil
}

func checkStyle(fn, style string) error {
	if slices.Contains(styles, style) {
		return nil
	}
	hint := lang.DidYouMean(style, styles)
	if hint == "" {
		hint = fmt.Sprintf("styles are %q", styles)
	}
	return &lang.Error{Msg: fmt.Sprintf("%s: unknown style %q", fn, style), At: style, Hint: hint}
}

func (a *Agg) Attr(name string) (starlark.Value, error) {
	if a.methods == nil {
		a.methods = map[string]starlark.Value{}
		for _, m := range methods() {
			if m.get != nil {
				a.methods[m.name] = m.get(a)
				continue
			}
			fn := m.fn
			a.methods[m.name] = lang.Bind("Agg."+m.name, a, func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				return fn(a, t, b, args, kwargs)
			})
		}
	}
	if name == a.used { // a handler's, again and again
		return a.usedLast, nil
	}
	if v, ok := a.methods[name]; ok && !(name == a.p.wrongAdd()) {
		a.used, a.usedLast = name, v
		return v, nil
	}
	e := lang.Unknown(name, "agg."+a.p.kind+" has no .%s", a.AttrNames())
	e.At, e.Off = "."+name, 1
	if name == a.p.wrongAdd() {
		e.Hint = a.p.meant()
	} else if e.Hint == "" {
		e.Hint = "it has " + strings.Join(a.AttrNames(), ", ")
	}
	return nil, e
}

// wrongAdd is the method that other kinds have to take values in, and this one has not.
func (p *params) wrongAdd() string {
	if p.kind == "count" {
		return "add"
	}
	return "inc"
}

// meant words what stands in place of wrongAdd.
func (p *params) meant() string {
	if p.kind == "count" {
		return "a count has inc(*key), or c[key] += n; agg.sum adds values up"
	}
	return "agg." + p.kind + " has add(value, *key); agg.count counts by inc(*key)"
}

func (a *Agg) AttrNames() []string {
	var names []string
	for _, m := range methods() {
		if m.name != a.p.wrongAdd() {
			names = append(names, m.name)
		}
	}
	sort.Strings(names)
	return names
}

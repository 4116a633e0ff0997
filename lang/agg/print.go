package agg

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// options are the arguments of print.
type options struct {
	top      int
	sort     string
	by       starlark.Callable // of sort: a function of key and value
	desc     bool
	div      int64
	keyFmt   starlark.Value
	valueFmt starlark.Value
	style    string

	thread *starlark.Thread
}

// styles are the ways to print.
var styles = []string{"bpftrace", "linux", "bcc", "json"}

// shown is how many keys a session shows of an aggregation whose value is typed.
const shown = 40

// Show is what a session shows for an aggregation: its contents, those of the greatest weights when they are many.
func (a *Agg) Show() string {
	text, err := a.render(options{div: 1, sort: byValue, top: min(shown, len(a.keys))})
	if err != nil || len(a.keys) == 0 {
		return a.String()
	}
	if more := len(a.keys) - shown; more > 0 {
		text += fmt.Sprintf("... and %d keys more\n", more)
	}
	return strings.TrimRight(text, "\n")
}

// render is the text of an aggregation.
func (a *Agg) render(o options) (string, error) {
	if o.div > 1 {
		a = a.copy()
		for i := range a.keys {
			a.cells.divide(i, o.div)
		}
	}
	idx, err := a.pick(o)
	if err != nil {
		return "", err
	}
	w := &writer{a: a, o: o}
	switch o.style {
	case "json":
		return w.json(idx), w.err
	case "linux":
		return w.linux(idx), w.err
	case "bcc":
		return w.bcc(idx), w.err
	}
	return w.bpftrace(idx), w.err
}

// pick lists the cells to print in their order: with top those of the greatest weights.
func (a *Agg) pick(o options) ([]int, error) {
	if o.by != nil {
		idx, err := a.orderBy(o)
		if err == nil && o.top > 0 && o.top < len(idx) {
			idx = idx[:o.top]
		}
		return idx, err
	}
	idx := a.order(o.sort, o.desc)
	if o.top <= 0 || o.top >= len(idx) {
		return idx, nil
	}
	keep := map[int]bool{}
	all := a.order(byValue, false)
	for _, i := range all[len(all)-o.top:] {
		keep[i] = true
	}
	out := idx[:0]
	for _, i := range idx {
		if keep[i] {
			out = append(out, i)
		}
	}
	return out, nil
}

// orderBy sorts by what a function gives for each key and value.
func (a *Agg) orderBy(o options) ([]int, error) {
	idx := a.order(byKey, false)
	ranks := make([]starlark.Value, len(a.keys))
	for _, i := range idx {
		v, err := starlark.Call(o.thread, o.by, starlark.Tuple{a.keys[i], a.cells.value(i)}, nil)
		if err != nil {
			return nil, err
		}
		ranks[i] = v
	}
	var failed error
	sortBy(idx, func(i, j int) int {
		x, y := ranks[i], ranks[j]
		if o.desc {
			x, y = y, x
		}
		less, err := starlark.Compare(lt, x, y)
		if err != nil && failed == nil {
			failed = err
		}
		if less {
			return -1
		}
		if more, _ := starlark.Compare(lt, y, x); more {
			return 1
		}
		return 0
	})
	return idx, failed
}

// writer prints cells.
type writer struct {
	a   *Agg
	o   options
	b   strings.Builder
	err error
}

// key is the text of a key by key_fmt, or as given by text.
func (w *writer) key(key starlark.Value, text func(starlark.Value) string) string {
	if w.o.keyFmt == nil {
		return text(key)
	}
	return w.format(w.o.keyFmt, parts(key))
}

// format applies a printf format or a function.
func (w *writer) format(by starlark.Value, args starlark.Tuple) string {
	if f, ok := starlark.AsString(by); ok {
		text, err := lang.Sprintf(f, args)
		w.fail(err)
		return text
	}
	v, err := starlark.Call(w.o.thread, by.(starlark.Callable), args, nil)
	if w.fail(err); err != nil {
		return ""
	}
	return plain(v)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// bpftrace writes the text of bpftrace 0.22 (src/output.cpp: TextOutput::map, map_hist, map_stats): one line for a value; a
// histogram is followed by an empty line, and so are averages and stats as a whole.
func (w *writer) bpftrace(idx []int) string {
	for _, i := range idx {
		w.b.WriteByte('@')
		w.b.WriteString(w.a.name)
		if len(parts(w.a.keys[i])) > 0 {
			fmt.Fprintf(&w.b, "[%s]", w.key(w.a.keys[i], keyText))
		}
		if h, ok := w.a.cells.at(i).(*histCell); ok && w.o.valueFmt == nil {
			w.b.WriteString(":\n")
			w.bars(h)
			w.b.WriteByte('\n')
			continue
		}
		fmt.Fprintf(&w.b, ": %s\n", w.value(i))
	}
	switch w.a.cells.(type) {
	case *cells[avgCell, *avgCell], *cells[statCell, *statCell]:
		if len(idx) > 0 {
			w.b.WriteByte('\n')
		}
	}
	return w.b.String()
}

// value is a cell in one line.
func (w *writer) value(i int) string {
	if w.o.valueFmt != nil {
		return w.format(w.o.valueFmt, starlark.Tuple{w.a.cells.value(i)})
	}
	switch c := w.a.cells.at(i).(type) {
	case *statCell:
		s := c.stat()
		return fmt.Sprintf("count %d, average %d, total %d", s.count, s.average, s.total)
	case *quantCell:
		text := fmt.Sprintf("count %d", len(c.values))
		for j, v := range c.quantiles(w.a.p) {
			text += fmt.Sprintf(", p%s %d", w.a.p.quants[j].given, v)
		}
		return text
	}
	return w.a.cells.value(i).String()
}

// barWidth is the widest bar of bpftrace.
const barWidth = 52

// bars writes the buckets of a histogram (TextOutput::hist_to_str).
func (w *writer) bars(h *histCell) {
	most := int64(0)
	for _, n := range h.counts {
		most = max(most, n)
	}
	for i, n := range h.counts {
		// In float32 step by step, as C++ computes it: v / (float)max * width.
		share := float32(float32(n) / float32(most))
		bar := int(float32(share * barWidth))
		fmt.Fprintf(&w.b, "%-16s%8d |%-*s|\n", w.a.p.label(h.first+i), n, barWidth, strings.Repeat("@", max(bar, 0)))
	}
}

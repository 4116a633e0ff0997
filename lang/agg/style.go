package agg

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// json writes bpftrace's JSON (JsonOutput of src/output.cpp), one line.
func (w *writer) json(idx []int) string {
	typ := "map"
	switch w.a.cells.(type) {
	case *cells[histCell, *histCell]:
		typ = "hist"
	case *cells[avgCell, *avgCell], *cells[statCell, *statCell], *cells[quantCell, *quantCell]:
		typ = "stats"
	}
	keyed := len(idx) == 0 || len(parts(w.a.keys[idx[0]])) > 0
	fmt.Fprintf(&w.b, `{"type": "%s", "data": {"@%s": `, typ, quoteJSON(w.a.name))
	if keyed {
		w.b.WriteByte('{')
	}
	for n, i := range idx {
		if n > 0 {
			w.b.WriteString(", ")
		}
		if keyed {
			fmt.Fprintf(&w.b, `"%s": `, quoteJSON(w.key(w.a.keys[i], jsonKey)))
		}
		w.jsonValue(i)
	}
	if keyed {
		w.b.WriteByte('}')
	}
	w.b.WriteString("}}\n")
	return w.b.String()
}

// jsonKey is a key as the name of a JSON field: its parts are joined by commas.
func jsonKey(key starlark.Value) string {
	var texts []string
	for _, v := range parts(key) {
		texts = append(texts, partText(v))
	}
	return strings.Join(texts, ",")
}

func (w *writer) jsonValue(i int) {
	if w.o.valueFmt != nil {
		fmt.Fprintf(&w.b, `"%s"`, quoteJSON(w.value(i)))
		return
	}
	switch c := w.a.cells.at(i).(type) {
	case *histCell:
		w.jsonHist(c)
	case *statCell:
		s := c.stat()
		fmt.Fprintf(&w.b, `{"count": %d, "average": %d, "total": %d}`, s.count, s.average, s.total)
	case *quantCell:
		fmt.Fprintf(&w.b, `{"count": %d`, len(c.values))
		for j, v := range c.quantiles(w.a.p) {
			fmt.Fprintf(&w.b, `, "p%s": %d`, w.a.p.quants[j].given, v)
		}
		w.b.WriteByte('}')
	default:
		w.b.WriteString(w.a.cells.value(i).String())
	}
}

// jsonHist writes buckets with inclusive bounds.
func (w *writer) jsonHist(h *histCell) {
	w.b.WriteByte('[')
	for i, n := range h.counts {
		if i > 0 {
			w.b.WriteString(", ")
		}
		b := w.a.p.bounds(h.first + i)
		w.b.WriteByte('{')
		if !b.below {
			fmt.Fprintf(&w.b, `"min": %d, `, b.from)
		}
		if !b.above {
			fmt.Fprintf(&w.b, `"max": %d, `, b.last())
		}
		fmt.Fprintf(&w.b, `"count": %d}`, n)
	}
	w.b.WriteByte(']')
}

// last is the greatest value of a bucket.
func (b bound) last() int64 {
	if b.to != 0 {
		return int64(b.to - 1)
	}
	return b.signed - 1
}

// quoteJSON escapes what JSON must have escaped, and no more.
func quoteJSON(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// linux writes the rows and totals of a hist trigger's file (hist_trigger_print_key and hist_trigger_entry_print in
// kernel/trace/trace_events_hist.c). The buckets of a histogram are rows, as with the modifier .buckets.
func (w *writer) linux(idx []int) string {
	hits, entries := int64(0), 0
	for _, i := range idx {
		fields := w.linuxKey(w.a.keys[i])
		switch c := w.a.cells.at(i).(type) {
		case *histCell:
			for j, n := range c.counts {
				if n == 0 {
					continue
				}
				bucket := w.a.name + ": " + w.linuxBucket(c.first+j)
				fmt.Fprintf(&w.b, "{ %s } hitcount: %10d\n", strings.Join(append(fields[:len(fields):len(fields)], bucket), ", "), n)
				hits += n
				entries++
			}
			continue
		case *sumCell:
			if w.a.p.kind == "count" {
				fmt.Fprintf(&w.b, "%s hitcount: %10d\n", brace(fields), int64(*c))
				hits += int64(*c)
				break
			}
			fmt.Fprintf(&w.b, "%s  %s: %10s\n", brace(fields), w.a.name, w.value(i))
		case *statCell:
			s := c.stat()
			fmt.Fprintf(&w.b, "%s hitcount: %10d  %s: %10d  average: %10d  min: %10d  max: %10d  stddev: %10d\n", brace(fields), s.count, w.a.name,
				s.total, s.average, s.min, s.max, s.stddev)
			hits += s.count
		default:
			fmt.Fprintf(&w.b, "%s  %s: %10s\n", brace(fields), w.a.name, w.value(i))
		}
		entries++
	}
	fmt.Fprintf(&w.b, "\nTotals:\n    Hits: %d\n    Entries: %d\n    Dropped: 0\n", hits, entries)
	return w.b.String()
}

func brace(fields []string) string {
	return strings.TrimRight("{ "+strings.Join(fields, ", "), " ") + " }"
}

// linuxKey is a key's fields: strings in 50 columns, numbers in 10.
func (w *writer) linuxKey(key starlark.Value) (fields []string) {
	if w.o.keyFmt != nil {
		return []string{w.key(key, keyText)}
	}
	for i, v := range parts(key) {
		name := "key"
		if i < len(w.a.p.keys) {
			name = w.a.p.keys[i]
		} else if len(parts(key)) > 1 {
			name += strconv.Itoa(i)
		}
		switch v := v.(type) {
		case starlark.Int:
			fields = append(fields, fmt.Sprintf("%s: %10s", name, v))
		case *Stack:
			text := "stacktrace:\n"
			for _, f := range v.frames {
				text += "         " + plain(f) + "\n"
			}
			fields = append(fields, text)
		default:
			fields = append(fields, fmt.Sprintf("%s: %-50s", name, plain(v)))
		}
	}
	return fields
}

// linuxBucket is a bucket as the key of a hist trigger with .buckets: "~ first-last". The rows of .log2 would not do: they
// round up, so that 5 to 8 is 2^3.
func (w *writer) linuxBucket(i int) string {
	b := w.a.p.bounds(i)
	switch {
	case b.below:
		return fmt.Sprintf("< %d", b.signed)
	case b.above:
		return fmt.Sprintf("~ %d-", b.from)
	}
	return fmt.Sprintf("~ %d-%d", b.from, b.last())
}

// bcc writes the distributions of the bcc tools (print_log2_hist and print_linear_hist in src/python/bcc/table.py): 40 stars,
// and 20 with wider columns when a bucket exceeds 2^32. What is no histogram is printed as bpftrace does.
func (w *writer) bcc(idx []int) string {
	for n, i := range idx {
		h, ok := w.a.cells.at(i).(*histCell)
		if !ok {
			return w.bpftrace(idx)
		}
		if key := w.a.keys[i]; len(parts(key)) > 0 {
			name := "key"
			if len(w.a.p.keys) > 0 {
				name = strings.Join(w.a.p.keys, ", ")
			}
			if n > 0 {
				w.b.WriteByte('\n')
			}
			fmt.Fprintf(&w.b, "%s = %s\n", name, w.key(key, keyText))
		}
		if w.a.p.step == 0 && w.a.p.bits == 0 {
			w.bccLog2(h)
		} else {
			w.bccLinear(h)
		}
	}
	return w.b.String()
}

// bccLog2: bcc's slot 1 is 0 and 1, slot n is 2^(n-1) to 2^n - 1, from slot 1 to the last that has any; negative values, which
// bcc does not know, come first.
func (w *writer) bccLog2(h *histCell) {
	slots := map[int]int64{}
	last, most, below := 0, int64(0), int64(0)
	for i, n := range h.counts {
		slot := max(h.first+i-1, 1)
		if h.first+i == 0 {
			below += n
			continue
		}
		slots[slot] += n
		if n > 0 {
			last = max(last, slot)
		}
		most = max(most, slots[slot])
	}
	width, stars := 10, 40
	if last > 32 {
		width, stars = 20, 20
	}
	unit := w.a.p.unit
	fmt.Fprintf(&w.b, "%*s%-*s : count     distribution\n", width-5, "", width+9, unit)
	if below > 0 {
		fmt.Fprintf(&w.b, "%*s -> %-*d : %-8d |%-*s|\n", width, "...", width, -1, below, stars, "")
	}
	for s := 1; s <= last; s++ {
		lo, hi := uint64(1)<<s>>1, uint64(1)<<s-1
		if lo == hi {
			lo--
		}
		fmt.Fprintf(&w.b, "%*d -> %-*d : %-8d |%-*s|\n", width, lo, width, hi, slots[s], stars, starBar(slots[s], most, stars))
	}
}

func (w *writer) bccLinear(h *histCell) {
	most := int64(0)
	for _, n := range h.counts {
		most = max(most, n)
	}
	fmt.Fprintf(&w.b, "     %-13s : count     distribution\n", w.a.p.unit)
	for i, n := range h.counts {
		b := w.a.p.bounds(h.first + i)
		from := strconv.FormatInt(b.from, 10)
		if b.below {
			from = "..."
		}
		fmt.Fprintf(&w.b, "        %-10s : %-8d |%-40s|\n", from, n, starBar(n, most, 40))
	}
}

func starBar(n, most int64, width int) string {
	if most == 0 {
		return ""
	}
	return strings.Repeat("*", int(int64(width)*n/most))
}

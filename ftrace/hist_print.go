package ftrace

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// histFileText is the file hist: each histogram of the event.
func histFileText(h *Handle, b []byte) ([]byte, error) {
	ev := handleEvent(h)
	if ev == nil {
		return nil, kernel.ENODEV
	}
	n := 0
	for _, x := range h.T.use(ev).triggers() {
		if x.hist == nil {
			continue
		}
		if n++; n > 1 {
			b = append(b, "\n\n"...)
		}
		b = x.table(b)
	}
	return b, nil
}

// coreHistText is the file hist of the tracers' own events.
func coreHistText(h *Handle, b []byte) ([]byte, error) {
	if h.Arg != "print" {
		return b, nil
	}
	return histFileText(h, b)
}

// histTotals are the sum and the largest of each value, for .percent and .graph.
type histTotals struct{ sum, max uint64 }

// table is hist_trigger_show.
func (x *trigger) table(b []byte) []byte {
	h := x.hist
	b = x.histSpec(append(b, "# event histogram\n#\n# trigger info: "...))
	b = append(b, "#\n\n"...)
	rows := h.m.Sorted(h.sort)
	totals := make([]histTotals, h.m.Sums)
	for _, e := range rows {
		for i, n := range e.Sums {
			totals[i].sum += n
			totals[i].max = max(totals[i].max, n)
		}
	}
	for _, e := range rows {
		b = h.row(b, x.use.t, e, totals)
	}
	if s := h.u.t.cond; s != nil && s.h == h && s.updated {
		b = fmt.Appendf(b, "\nSnapshot taken (see tracing/snapshot).  Details:\n\ttriggering value { %s(%s) }: %10d\ttriggered by event with key: ",
			s.a.handler, s.a.varText, s.val)
		b = append(h.rowKey(b, x.use.t, &s.elt), '\n')
	}
	return fmt.Appendf(b, "\nTotals:\n    Hits: %d\n    Entries: %d\n    Dropped: %d\n", h.m.Hits, len(rows), h.m.Drops)
}

func (h histHandler) String() string { return [...]string{"onmatch", "onmax", "onchange"}[h] }

// row is hist_trigger_entry_print.
func (h *hist) row(b []byte, t *Tracer, e *event.HistElt, totals []histTotals) []byte {
	b = fmt.Appendf(h.rowKey(b, t, e), " hitcount: %10d", e.Sums[0])
	for i, f := range h.vals() {
		if i == 0 || f.flags&(histVarField|histExpr) != 0 {
			continue
		}
		b = append(append(b, "  "...), f.label(0)...)
		switch n := e.Sums[i]; {
		case f.flags&histPercent != 0:
			if pc, ok := perTenThousand(n, totals[i].sum); ok {
				b = fmt.Appendf(b, " (%%): %3d.%02d", pc/100, pc%100)
			} else {
				b = append(b, " (%):[ERROR]"...)
			}
		case f.flags&histGraph != 0:
			b = append(append(b, ": "...), bar(n, totals[i].max)...)
		case f.flags&histHex != 0:
			b = fmt.Appendf(b, ": %10x", n)
		default:
			b = fmt.Appendf(b, ": %10d", n)
		}
	}
	for _, a := range h.actions {
		if a.handler == onMatch || a.kind == actSnapshot {
			continue
		}
		word := "max"
		if a.handler == onChange {
			word = "changed"
		}
		b = fmt.Appendf(b, "\n\t%s: %10d", word, e.Vars[a.track].Num)
		for _, v := range h.saveVars {
			if v.val.str != nil {
				b = fmt.Appendf(b, "  %s: %-32s", v.v.varName, e.Vars[v.v.varIdx].Str)
			} else {
				b = fmt.Appendf(b, "  %s: %10d", v.v.varName, e.Vars[v.v.varIdx].Num)
			}
		}
	}
	return append(b, '\n')
}

// perTenThousand is __get_percentage.
func perTenThousand(n, total uint64) (uint64, bool) {
	switch {
	case total == 0:
		return 0, false
	case n < ^uint64(0)/10000:
		return n * 10000 / total, true
	}
	if total /= 10000; total == 0 {
		return 0, false
	}
	return n / total, true
}

// bar is a bar of 20 columns: __fill_bar_str.
func bar(n, most uint64) string {
	const width = 20
	pc, ok := perTenThousand(n, most)
	if !ok {
		return fmt.Sprintf("%20s", "[ERROR]")
	}
	k := min(int(pc*width/10000), width)
	return strings.Repeat("#", k) + strings.Repeat(" ", width-k)
}

// rowKey is hist_trigger_print_key.
func (h *hist) rowKey(b []byte, t *Tracer, e *event.HistElt) []byte {
	b = append(b, "{ "...)
	lines := false
	for i, k := range h.keys() {
		if i > 0 {
			b = append(b, ", "...)
		}
		at := e.Key[k.offset : k.offset+k.size]
		if k.flags&histStacktrace != 0 {
			lines = true
			b = append(b, "stacktrace:\n"...)
			for ; len(at) > 0 && binary.LittleEndian.Uint64(at) != 0; at = at[8:] {
				b = append(append(append(b, "         "...), t.guest.symbol(binary.LittleEndian.Uint64(at), true)...), '\n')
			}
			continue
		}
		b = k.keyText(append(append(b, k.label(0)...), ": "...), t, e, at)
	}
	if !lines {
		b = append(b, ' ')
	}
	return append(b, '}')
}

// keyText is one part of a key, as its modifier shows it.
func (k *histField) keyText(b []byte, t *Tracer, e *event.HistElt, at []byte) []byte {
	n := binary.LittleEndian.Uint64(at)
	switch f := k.flags; {
	case f&histHex != 0:
		return strconv.AppendUint(b, n, 16)
	case f&histSym != 0:
		return fmt.Appendf(b, "[%x] %-45s", n, t.guest.noOffset(n))
	case f&histSymOffset != 0:
		return fmt.Appendf(b, "[%x] %-55s", n, t.guest.symbol(n, true))
	case f&histExecname != 0:
		return fmt.Appendf(b, "%-16s[%10d]", e.Comm[:nul(e.Comm[:])], n)
	case f&histSyscall != 0:
		name := syscallName(n)
		if name == "" {
			name = "unknown_syscall"
		}
		return fmt.Appendf(b, "%-30s[%3d]", name, n)
	case f&histLog2 != 0:
		return fmt.Appendf(b, "~ 2^%-2d", n)
	case f&histBucket != 0:
		return fmt.Appendf(b, "~ %d-%d", n, n+k.buckets-1)
	case f&histString != 0:
		return fmt.Appendf(b, "%-50s", at[:nul(at)])
	}
	return fmt.Appendf(b, "%10d", n)
}

// histSpec is a histogram's line of the file trigger: event_hist_trigger_print.
func (x *trigger) histSpec(b []byte) []byte {
	h := x.hist
	b = append(b, "hist:"...)
	if h.attrs.name != "" {
		b = append(append(b, h.attrs.name...), ':')
	}
	b = append(b, "keys="...)
	for i, k := range h.keys() {
		if i > 0 {
			b = append(b, ',')
		}
		if k.flags&histStacktrace != 0 {
			b = append(b, "stacktrace"...)
		} else {
			b = append(b, k.spec()...)
		}
	}
	b = append(b, ":vals=hitcount"...)
	var vars []string
	for _, f := range h.vals()[1:] {
		if f.flags&histVarField != 0 {
			vars = append(vars, f.spec())
		} else {
			b = append(append(b, ','), f.spec()...)
		}
	}
	if vars != nil {
		b = append(append(b, ':'), strings.Join(vars, ",")...)
	}
	b = append(b, ":sort="...)
	for i, k := range h.sort {
		if i > 0 {
			b = append(b, ',')
		}
		if k.Field == 0 {
			b = append(b, "hitcount"...)
		} else {
			at := k.Field
			if at >= h.nVals-h.nVars {
				at += h.nVars
			}
			b = append(b, h.fields[at].spec()...)
		}
		if k.Descending {
			b = append(b, ".descending"...)
		}
	}
	b = fmt.Appendf(b, ":size=%d", 1<<h.m.Bits)
	if h.stamps {
		b = append(append(b, ":clock="...), h.attrs.clock...)
	}
	for _, a := range h.actions {
		b = a.spec(h, b)
	}
	if x.text != "" {
		b = append(append(b, " if "...), x.text...)
	}
	if x.paused {
		return append(b, " [paused]\n"...)
	}
	return append(b, " [active]\n"...)
}

// spec is hist_field_print.
func (x *histField) spec() string {
	s := ""
	if x.flags&histVarField != 0 {
		s = x.varName + "="
	}
	switch {
	case x.flags&histCPU != 0:
		s += "common_cpu"
	case x.flags&histConst != 0:
		s += strconv.FormatUint(x.constant, 10)
	default:
		if x.flags&(histVarRef|histAlias) != 0 {
			s += "$"
		}
		s += x.label(0)
	}
	if m := x.flags.modifier(); m != "" && x.flags&(histVarRef|histExpr) == 0 {
		s += "." + m
	}
	if x.buckets != 0 {
		s += fmt.Sprintf("=%d", x.buckets)
	}
	return s
}

// spec is print_actions_spec.
func (a *histAction) spec(h *hist, b []byte) []byte {
	what := a.varText
	if a.handler == onMatch {
		what = a.system + "." + a.event
	}
	b = fmt.Appendf(b, ":%s(%s).%s(", a.handler, what, a.name)
	list := a.params
	switch {
	case a.kind == actSave:
		list = nil
		for _, v := range h.saveVars {
			list = append(list, v.v.varName)
		}
	case a.trace:
		list = append([]string{a.synth}, a.params...)
	}
	return append(append(b, strings.Join(list, ",")...), ')')
}

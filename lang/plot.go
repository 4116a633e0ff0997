package lang

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// Module plot: what scripts have gathered, drawn in text. All sums are of integers or of floats as they come, so the bytes are equal
// everywhere.

func (h *Host) plotRows() []Row {
	return []Row{
		{Name: "plot.bars", Sig: "(data, width = 40)", Fn: h.plotText(plotBars),
			Doc:     "Prints a bar for each value of a dict, of an aggregation's items, of pairs (name, value) or of a list.",
			Example: "plot.bars({\"read\": 12, \"write\": 3})"},
		{Name: "plot.spark", Sig: "(values)", Fn: h.plotText(plotSpark), Doc: "Prints numbers as one line of little columns, from the least to the greatest.",
			Example: "plot.spark([1, 2, 4, 8, 16, 8, 4])"},
		{Name: "plot.heat", Sig: "(rows)", Fn: h.plotText(plotHeat), Doc: "Prints lists of numbers as rows of shades; rows may be a dict, whose keys are then shown.",
			Example: "plot.heat({\"cpu0\": [0, 1, 5, 9], \"cpu1\": [3, 0, 0, 2]})"},
		{Name: "plot.timeline", Sig: `(records, by = "cpu", width = 80)`, Fn: h.plotText(plotTimeline),
			Doc: "Prints a lane for each value of by, and over time who was there: a letter for each comm, and below which is whose.\n" +
				"In lanes of CPUs the next_comm of sched_switch fills the lane up to the next one; idle is blank.",
			Example: "event.enable(\"sched:sched_switch\")\nsh(\"cat /etc/passwd | wc -l\")\nplot.timeline(tracer.records(), width = 60)"},
	}
}

// plotText makes a function that prints what draw draws.
func (h *Host) plotText(draw func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error)) Func {
	return func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		text, err := draw(b, args, kwargs)
		if err != nil {
			return nil, err
		}
		fmt.Fprint(h.out(t), text)
		return starlark.None, nil
	}
}

// point is a value with its name.
type point struct {
	name  string
	value float64
	text  string
}

// points takes a dict, something with items(), pairs or plain numbers.
func points(b *starlark.Builtin, data starlark.Value) ([]point, error) {
	if m, ok := data.(starlark.HasAttrs); ok {
		if fn, err := m.Attr("items"); err == nil && fn != nil {
			if c, ok := fn.(starlark.Callable); ok {
				items, err := starlark.Call(new(starlark.Thread), c, nil, nil)
				if err != nil {
					return nil, err
				}
				data = items
			}
		}
	}
	list, ok := data.(starlark.Iterable)
	if !ok {
		return nil, Errorf("%s: got %s, want a dict, an aggregation or a list", b.Name(), data.Type())
	}
	var out []point
	it := list.Iterate()
	defer it.Done()
	var v starlark.Value
	for it.Next(&v) {
		p := point{name: fmt.Sprint(len(out))}
		if pair, ok := v.(starlark.Indexable); ok && pair.Len() == 2 {
			p.name, v = strings.Trim(cellText(pair.Index(0)), "()"), pair.Index(1)
		}
		x, ok := starlark.AsFloat(v)
		if !ok {
			return nil, Errorf("%s: %s is no number", b.Name(), v)
		}
		p.value, p.text = x, v.String()
		out = append(out, p)
	}
	return out, nil
}

func plotBars(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	var data starlark.Value
	width := 40
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "data", &data, "width?", &width); err != nil {
		return "", err
	}
	if width < 1 || width > 400 {
		return "", Errorf("%s: width = %d: want 1 to 400", b.Name(), width)
	}
	list, err := points(b, data)
	if err != nil {
		return "", err
	}
	names, texts, most := 0, 0, 0.0
	for _, p := range list {
		names, texts, most = max(names, utf8.RuneCountInString(p.name)), max(texts, len(p.text)), max(most, p.value)
	}
	var out strings.Builder
	for _, p := range list {
		n := 0
		if most > 0 && p.value > 0 {
			n = max(1, int(p.value*float64(width)/most))
		}
		fmt.Fprintf(&out, "%-*s %*s |%-*s|\n", names, p.name, texts, p.text, width, strings.Repeat("@", n))
	}
	return out.String(), nil
}

// shade is the rune of a ramp for a value between least and most.
func shade(ramp string, x, least, most float64) rune {
	r := []rune(ramp)
	if most <= least {
		return r[0]
	}
	return r[min(len(r)-1, int((x-least)*float64(len(r))/(most-least)))]
}

func plotSpark(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	var data starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "values", &data); err != nil {
		return "", err
	}
	list, err := points(b, data)
	if err != nil || len(list) == 0 {
		return "", err
	}
	least, most := list[0], list[0]
	for _, p := range list {
		if p.value < least.value {
			least = p
		}
		if p.value > most.value {
			most = p
		}
	}
	var out strings.Builder
	for _, p := range list {
		out.WriteRune(shade("▁▂▃▄▅▆▇█", p.value, least.value, most.value))
	}
	fmt.Fprintf(&out, " %s to %s\n", least.text, most.text)
	return out.String(), nil
}

func plotHeat(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	var data starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "rows", &data); err != nil {
		return "", err
	}
	var names []string
	var rows [][]point
	add := func(name string, v starlark.Value) error {
		row, err := points(b, v)
		names, rows = append(names, name), append(rows, row)
		return err
	}
	switch d := data.(type) {
	case *starlark.Dict:
		for _, item := range d.Items() {
			if err := add(cellText(item[0]), item[1]); err != nil {
				return "", err
			}
		}
	case starlark.Indexable:
		for i := range d.Len() {
			if err := add(fmt.Sprint(i), d.Index(i)); err != nil {
				return "", err
			}
		}
	default:
		return "", Errorf("%s: got %s, want lists of numbers", b.Name(), data.Type())
	}
	most, wide := 0.0, 0
	for i, row := range rows {
		wide = max(wide, utf8.RuneCountInString(names[i]))
		for _, p := range row {
			most = max(most, p.value)
		}
	}
	var out strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&out, "%-*s |", wide, names[i])
		for _, p := range row {
			out.WriteRune(shade(" ░▒▓█", max(p.value, 0), 0, most))
		}
		out.WriteString("|\n")
	}
	return out.String(), nil
}

// lanePoint is a record as a timeline needs it.
type lanePoint struct {
	ts         uint64
	comm, next string
}

func plotTimeline(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	var records starlark.Iterable
	by, width := "cpu", 80
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "records", &records, "by?", &by, "width?", &width); err != nil {
		return "", err
	}
	if width < 1 || width > 400 {
		return "", Errorf("%s: width = %d: want 1 to 400", b.Name(), width)
	}
	lanes := map[string][]lanePoint{}
	var from, to uint64
	it := records.Iterate()
	defer it.Done()
	var v starlark.Value
	for it.Next(&v) {
		r, ok := v.(starlark.HasAttrs)
		if !ok {
			return "", Errorf("%s: %s is no record", b.Name(), v.Type())
		}
		attr := func(name string) string {
			x, err := r.Attr(name)
			if err != nil || x == nil {
				return ""
			}
			return cellText(x)
		}
		var p lanePoint
		if _, err := fmt.Sscan(attr("ts"), &p.ts); err != nil {
			return "", Errorf("%s: a %s without ts", b.Name(), v.Type())
		}
		if p.comm, p.next = attr("comm"), attr("next_comm"); len(lanes) == 0 {
			from = p.ts
		}
		from, to = min(from, p.ts), max(to, p.ts)
		lanes[attr(by)] = append(lanes[attr(by)], p)
	}
	return drawLanes(lanes, by, from, to, width), nil
}

// letters name comms, in the order in which they come; idle is blank.
type letters struct {
	of    map[string]byte
	names []string
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (l *letters) letter(comm string) byte {
	if strings.HasPrefix(comm, "swapper/") || comm == "<idle>" {
		return ' '
	}
	c, ok := l.of[comm]
	if !ok {
		c = '*' // there are no more letters
		if len(l.names) < len(alphabet) {
			c = alphabet[len(l.names)]
			l.names = append(l.names, comm)
		}
		l.of[comm] = c
	}
	return c
}

func drawLanes(lanes map[string][]lanePoint, by string, from, to uint64, width int) string {
	if len(lanes) == 0 {
		return ""
	}
	var names []string
	wide := len(by)
	for name := range lanes {
		names = append(names, name)
		wide = max(wide, utf8.RuneCountInString(name))
	}
	sort.Slice(names, func(i, j int) bool {
		if len(names[i]) != len(names[j]) {
			return len(names[i]) < len(names[j]) // numbers by their size
		}
		return names[i] < names[j]
	})
	span := max(to-from, 1)
	column := func(ts uint64) int { return min(int((ts-from)*uint64(width)/span), width-1) }
	l := letters{of: map[string]byte{}}
	var out strings.Builder
	fmt.Fprintf(&out, "%-*s  %d.%06d s, %d ns a column\n", wide, by, from/1e9, from%1e9/1e3, span/uint64(width))
	for _, name := range names {
		row, list := []byte(strings.Repeat(" ", width)), lanes[name]
		for i, p := range list {
			c := l.letter(p.comm)
			if p.next == "" || by != "cpu" {
				row[column(p.ts)] = c
				continue
			}
			end := width
			if i+1 < len(list) {
				end = column(list[i+1].ts)
			}
			c = l.letter(p.next)
			for x := column(p.ts); x < max(end, column(p.ts)+1) && (c != ' ' || x < end); x++ {
				row[x] = c
			}
		}
		fmt.Fprintf(&out, "%-*s |%s|\n", wide, name, row)
	}
	for i, name := range l.names {
		fmt.Fprintf(&out, "%c = %s\n", alphabet[i], name)
	}
	return out.String()
}

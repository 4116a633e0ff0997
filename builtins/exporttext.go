package builtins

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace/export"
)

// Exports in text: for flame graphs, and for viewers of traces in a browser.

// exportTextMethods are their rows in module export.
func exportTextMethods() []method {
	return []method{
		{name: "folded", sig: "(data = None, path = None) -> string", fn: exportFolded,
			doc: "Stacks as flamegraph.pl and speedscope read them, a line each: \"outer;inner N\".\ndata is an aggregation whose keys are stacks, or the records of function_graph (by default those of the tracer): then N is the\ntime in ns that each call spent outside the functions that it called. A call whose beginning or end was lost counts nothing."},
		{name: "flame", sig: "(data = None, path = None, title = \"kscope\") -> string", fn: exportFlame,
			doc: "A flame graph of the same data as folded's, as one SVG for a browser: a click zooms, the pointer shows numbers."},
		{name: "csv", sig: "(data, path = None, cols = None) -> string", fn: exportCSV,
			doc: "An aggregation, or rows as table() takes them, as CSV: of records and other objects a column for each attribute of the first, or cols.\njson.encode gives JSON of the same, and --format=json of what a script prints."},
		{name: "chrome", sig: "(records = None, path = None) -> string", fn: exportChrome,
			doc: "Records as JSON for ui.perfetto.dev and chrome://tracing: a track per task for calls of function_graph and events, a track per\nCPU for sched_switch. A call whose end was lost is drawn as a beginning, never with an invented end."},
	}
}

// exported is a Record as the exports take it.
func (g *Guest) exported(r *record) export.Event {
	e := export.Event{Field: func(name string) (int64, string) { return number(r, name), text(r, name) }}
	e.TS, e.CPU, e.PID, e.Comm, e.Name, e.Text = number(r, "ts"), number(r, "cpu"), number(r, "common_pid"), text(r, "common_comm"), text(r, "event"), text(r, "text")
	e.Func = text(r, "func")
	if v, _ := r.Attr("func"); v != nil {
		if n, ok := v.(starlark.Int); ok {
			addr, _ := n.Uint64()
			e.Func = g.placeName(addr)
		}
	}
	return e
}

// number and text are fields of a record.
func number(r *record, name string) int64 {
	v, _ := r.Attr(name)
	n := int64(0)
	if i, ok := v.(starlark.Int); ok {
		n, _ = i.Int64()
	}
	return n
}

func text(r *record, name string) string {
	v, _ := r.Attr(name)
	s, _ := starlark.AsString(v)
	return s
}

// recs are the records of an argument, by default those of the tracer.
func (c *call) recs(v starlark.Value) ([]export.Event, error) {
	if v == nil || v == starlark.None {
		var err error
		if v, err = tracerRecords(&call{g: c.g, thread: c.thread, name: c.name}); err != nil {
			return nil, err
		}
	}
	list, ok := v.(starlark.Iterable)
	if !ok {
		return nil, c.errorf("got %s, want records", v.Type())
	}
	var out []export.Event
	it := list.Iterate()
	defer it.Done()
	var x starlark.Value
	for it.Next(&x) {
		r, ok := x.(*record)
		if !ok || r.typ != "Record" {
			return nil, c.errorf("got %s among the records", x.Type())
		}
		out = append(out, c.g.exported(r))
	}
	return out, nil
}

// deliver gives a text, or writes it to a file of the host.
func (c *call) deliver(text string, path starlark.Value) (starlark.Value, error) {
	if path == nil || path == starlark.None {
		return str(text), nil
	}
	file, ok := starlark.AsString(path)
	if !ok {
		return nil, c.errorf("path is %s, want string", path.Type())
	}
	return starlark.None, c.fail(os.WriteFile(file, []byte(text), 0o644), file, nil)
}

// weights are the stacks of an aggregation with its values, or those of the calls of records with their ns.
func (c *call) weights(data starlark.Value) (weights map[string]int64, unit string, err error) {
	items, ok := itemsOf(c.thread, data)
	if !ok {
		records, err := c.recs(data)
		return export.Fold(records), "ns", about("data", err)
	}
	weights = map[string]int64{}
	for _, item := range items {
		var n int64
		if err := starlark.AsInt(item[1], &n); err != nil {
			return nil, "", c.errorf("a value is %s: want counts or sums", item[1].Type())
		}
		names := stackNames(item[0])
		slices.Reverse(names) // a stack begins with the innermost
		weights[strings.Join(names, ";")] += n
	}
	return weights, "", nil
}

func exportFolded(c *call) (starlark.Value, error) {
	var data, path starlark.Value
	if err := c.unpack("data?", &data, "path?", &path); err != nil {
		return nil, err
	}
	weights, _, err := c.weights(data)
	if err != nil {
		return nil, err
	}
	return c.deliver(export.Folded(weights), path)
}

func exportFlame(c *call) (starlark.Value, error) {
	var data, path starlark.Value
	title := "kscope"
	if err := c.unpack("data?", &data, "path?", &path, "title?", &title); err != nil {
		return nil, err
	}
	weights, unit, err := c.weights(data)
	if err != nil {
		return nil, err
	}
	return c.deliver(export.Flame(weights, title, unit), path)
}

// itemsOf are the items of an aggregation or a dict.
func itemsOf(t *starlark.Thread, v starlark.Value) ([]starlark.Tuple, bool) {
	x, ok := v.(starlark.HasAttrs)
	if !ok {
		return nil, false
	}
	fn, err := x.Attr("items")
	if err != nil || fn == nil {
		return nil, false
	}
	list, err := starlark.Call(t, fn, nil, nil)
	items, ok := list.(starlark.Iterable)
	if err != nil || !ok {
		return nil, false
	}
	var out []starlark.Tuple
	it := items.Iterate()
	defer it.Done()
	var item starlark.Value
	for it.Next(&item) {
		if pair, ok := item.(starlark.Tuple); ok && len(pair) == 2 {
			out = append(out, pair)
		}
	}
	return out, true
}

// stackNames are the strings of a key, those of nested stacks too.
func stackNames(key starlark.Value) (out []string) {
	if s, ok := starlark.AsString(key); ok {
		return []string{s}
	}
	if list, ok := key.(starlark.Indexable); ok {
		for i := range list.Len() {
			out = append(out, stackNames(list.Index(i))...)
		}
		return out
	}
	return []string{key.String()}
}

func exportChrome(c *call) (starlark.Value, error) {
	var data, path starlark.Value
	if err := c.unpack("records?", &data, "path?", &path); err != nil {
		return nil, err
	}
	records, err := c.recs(data)
	if err != nil {
		return nil, about("records", err)
	}
	out, err := export.Chrome(records)
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	return c.deliver(out, path)
}

func exportCSV(c *call) (starlark.Value, error) {
	var data, path, cols starlark.Value
	if err := c.unpack("data", &data, "path?", &path, "cols?", &cols); err != nil {
		return nil, err
	}
	rows, err := c.rows(data, cols)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		return nil, c.errorf("%v", err)
	}
	return c.deliver(b.String(), path)
}

// rows are the cells of a table: of an aggregation, or of a list of lists, dicts or objects.
func (c *call) rows(data, cols starlark.Value) (rows [][]string, err error) {
	var names []string
	if cols != nil && cols != starlark.None {
		list, ok := cols.(starlark.Iterable)
		if !ok {
			return nil, about("cols", c.errorf("got %s, want a list of names", cols.Type()))
		}
		for v := range starlark.Elements(list) {
			names = append(names, cell(v))
		}
		rows = append(rows, names)
	}
	if items, ok := itemsOf(c.thread, data); ok {
		for _, item := range items {
			rows = append(rows, append(cells(item[0]), cells(item[1])...))
		}
		return rows, nil
	}
	list, ok := data.(starlark.Iterable)
	if !ok {
		return nil, about("data", c.errorf("got %s, want an aggregation or a list of rows", data.Type()))
	}
	for v := range starlark.Elements(list) {
		if x, ok := v.(starlark.HasAttrs); ok && isObject(v) {
			if names == nil {
				names = columns(x)
				rows = append(rows, names)
			}
			rows = append(rows, rowOf(x, names))
			continue
		}
		rows = append(rows, cells(v))
	}
	return rows, nil
}

// isObject tells what has a cell for each of its attributes, or keys.
func isObject(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Set:
		return false
	}
	return true
}

// columns are the names of an object's cells: a record's in its own order.
func columns(x starlark.HasAttrs) (names []string) {
	switch x := x.(type) {
	case *starlark.Dict:
		for _, k := range x.Keys() {
			names = append(names, cell(k))
		}
		return names
	case *record:
		for _, f := range x.fields {
			names = append(names, f.name)
		}
		return names
	}
	return x.AttrNames()
}

func rowOf(x starlark.HasAttrs, names []string) (row []string) {
	for _, name := range names {
		var v starlark.Value
		if d, ok := x.(*starlark.Dict); ok {
			v, _, _ = d.Get(str(name))
		} else {
			v, _ = x.Attr(name)
		}
		row = append(row, cell(v))
	}
	return row
}

// cells are the parts of a key or row.
func cells(v starlark.Value) []string {
	if list, ok := v.(starlark.Indexable); ok && v.Type() != "string" && v.Type() != "bytes" {
		var out []string
		for i := range list.Len() {
			out = append(out, cell(list.Index(i)))
		}
		return out
	}
	return []string{cell(v)}
}

// cell is a value in a file of texts: nothing for what is not there.
func cell(v starlark.Value) string {
	if v == nil || v == starlark.None {
		return ""
	}
	if s, ok := starlark.AsString(v); ok {
		return s
	}
	return v.String()
}

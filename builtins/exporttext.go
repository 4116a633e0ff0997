package builtins

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// Exports in text: for flame graphs, and for viewers of traces in a browser.

// exportTextMethods are their rows in module export.
func exportTextMethods() []method {
	return []method{
		{name: "folded", sig: "(data = None, path = None) -> string", fn: exportFolded,
			doc: "Stacks as flamegraph.pl and speedscope read them, a line each: \"outer;inner N\".\ndata is an aggregation whose keys are stacks, or the records of function_graph (by default those of the tracer): then N is the\ntime in ns that each call spent outside the functions that it called. A call whose beginning or end was lost counts nothing."},
		{name: "chrome", sig: "(records = None, path = None) -> string", fn: exportChrome,
			doc: "Records as JSON for ui.perfetto.dev and chrome://tracing: a track per task for calls of function_graph and events, a track per\nCPU for sched_switch. A call whose end was lost is drawn as a beginning, never with an invented end."},
	}
}

// rec is what the exports need of a Record.
type rec struct {
	ts, cpu, pid int64
	comm, event  string
	r            *record
}

func (r rec) num(name string) int64 {
	v, _ := r.r.Attr(name)
	n := int64(0)
	if i, ok := v.(starlark.Int); ok {
		n, _ = i.Int64()
	}
	return n
}

func (r rec) str(name string) string {
	v, _ := r.r.Attr(name)
	s, _ := starlark.AsString(v)
	return s
}

// name is the name of a function that a record is about.
func (r rec) name(g *Guest) string {
	v, _ := r.r.Attr("func")
	if n, ok := v.(starlark.Int); ok {
		addr, _ := n.Uint64()
		return g.placeName(addr)
	}
	return r.str("func")
}

// recs are the records of an argument, by default those of the tracer.
func (c *call) recs(v starlark.Value) ([]rec, error) {
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
	var out []rec
	it := list.Iterate()
	defer it.Done()
	var x starlark.Value
	for it.Next(&x) {
		r, ok := x.(*record)
		if !ok || r.typ != "Record" {
			return nil, c.errorf("got %s among the records", x.Type())
		}
		e := rec{r: r}
		e.ts, e.cpu, e.pid, e.comm, e.event = e.num("ts"), e.num("cpu"), e.num("common_pid"), e.str("common_comm"), e.str("event")
		out = append(out, e)
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

func exportFolded(c *call) (starlark.Value, error) {
	var data, path starlark.Value
	if err := c.unpack("data?", &data, "path?", &path); err != nil {
		return nil, err
	}
	weights := map[string]int64{}
	if items, ok := itemsOf(c.thread, data); ok {
		for _, item := range items {
			n, err := starlark.AsInt32(item[1])
			if err != nil {
				return nil, c.errorf("a value is %s: want counts or sums", item[1].Type())
			}
			names := stackNames(item[0])
			slices.Reverse(names) // a stack begins with the innermost
			weights[strings.Join(names, ";")] += int64(n)
		}
	} else {
		records, err := c.recs(data)
		if err != nil {
			return nil, about("data", err)
		}
		foldCalls(c.g, records, weights)
	}
	var lines []string
	for stack, n := range weights {
		if n > 0 && stack != "" {
			lines = append(lines, fmt.Sprintf("%s %d\n", stack, n))
		}
	}
	slices.Sort(lines)
	return c.deliver(strings.Join(lines, ""), path)
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

// frame is a call under way.
type frame struct {
	name  string
	inner int64 // ns spent in calls of its own
}

// foldCalls adds the time that each call spent itself, by its stack.
func foldCalls(g *Guest, records []rec, weights map[string]int64) {
	stacks := map[int64][]frame{}
	for _, r := range records {
		stack := stacks[r.pid]
		switch r.event {
		case "funcgraph_entry":
			if depth := int(r.num("depth")); depth < len(stack) {
				stack = stack[:depth] // ends were lost
			}
			stacks[r.pid] = append(stack, frame{name: r.name(g)})
		case "funcgraph_exit":
			depth := int(r.num("depth"))
			if depth >= len(stack) || stack[depth].name != r.name(g) {
				continue // its beginning was lost
			}
			took := r.num("rettime") - r.num("calltime")
			names := []string{r.comm}
			for _, f := range stack[:depth+1] {
				names = append(names, f.name)
			}
			weights[strings.Join(names, ";")] += took - stack[depth].inner
			if stack = stack[:depth]; depth > 0 {
				stack[depth-1].inner += took
			}
			stacks[r.pid] = stack
		}
	}
}

// chromeEvent is an event of the Trace Event Format, which Perfetto and Chrome read.
type chromeEvent struct {
	Name string         `json:"name"`
	Ph   string         `json:"ph"`
	Ts   json.Number    `json:"ts,omitempty"` // us
	Dur  json.Number    `json:"dur,omitempty"`
	Pid  int64          `json:"pid"`
	Tid  int64          `json:"tid"`
	S    string         `json:"s,omitempty"`
	Args map[string]any `json:"args,omitempty"`
}

func micros(ns int64) json.Number { return json.Number(fmt.Sprintf("%d.%03d", ns/1000, ns%1000)) }

// The two processes of the export: tracks of tasks, and of CPUs.
const (
	chromeTasks = 1
	chromeCPUs  = 2
)

func exportChrome(c *call) (starlark.Value, error) {
	var data, path starlark.Value
	if err := c.unpack("records?", &data, "path?", &path); err != nil {
		return nil, err
	}
	records, err := c.recs(data)
	if err != nil {
		return nil, about("records", err)
	}
	meta := func(pid, tid int64, what, name string) chromeEvent {
		return chromeEvent{Name: what, Ph: "M", Pid: pid, Tid: tid, Args: map[string]any{"name": name}}
	}
	events := []chromeEvent{meta(chromeTasks, 0, "process_name", "tasks"), meta(chromeCPUs, 0, "process_name", "CPUs")}
	seen, open := map[[2]int64]bool{}, map[int64]rec{}
	track := func(pid, tid int64, name string) {
		if key := [2]int64{pid, tid}; !seen[key] {
			seen[key] = true
			events = append(events, meta(pid, tid, "thread_name", name))
		}
	}
	for _, r := range records {
		track(chromeTasks, r.pid, r.comm)
		switch r.event {
		case "funcgraph_entry":
			events = append(events, chromeEvent{Name: r.name(c.g), Ph: "B", Ts: micros(r.ts), Pid: chromeTasks, Tid: r.pid})
		case "funcgraph_exit":
			events = append(events, chromeEvent{Name: r.name(c.g), Ph: "E", Ts: micros(r.ts), Pid: chromeTasks, Tid: r.pid})
		case "sched_switch":
			track(chromeCPUs, r.cpu, fmt.Sprintf("cpu%d", r.cpu))
			if before, ok := open[r.cpu]; ok && before.num("next_pid") != 0 {
				events = append(events, chromeEvent{Name: before.str("next_comm"), Ph: "X", Ts: micros(before.ts), Dur: micros(r.ts - before.ts), Pid: chromeCPUs, Tid: r.cpu,
					Args: map[string]any{"pid": before.num("next_pid")}})
			}
			open[r.cpu] = r
		default:
			events = append(events, chromeEvent{Name: r.event, Ph: "i", S: "t", Ts: micros(r.ts), Pid: chromeTasks, Tid: r.pid,
				Args: map[string]any{"text": r.str("text"), "cpu": r.cpu}})
		}
	}
	var b strings.Builder
	b.WriteString("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n")
	for i, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, c.errorf("%v", err)
		}
		b.Write(line)
		if i < len(events)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]}\n")
	return c.deliver(b.String(), path)
}

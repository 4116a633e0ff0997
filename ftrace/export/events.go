package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kscope/ftrace/event"
)

// Event is what the exports in text need of a record, live or of a file.
type Event struct {
	TS         int64 // ns
	CPU, PID   int64
	Comm, Name string
	Func       string // that the record is about; "" of none
	Text       string // without time and task
	Field      func(name string) (n int64, text string)
}

// num is a field that is a number.
func (e *Event) num(name string) int64 { n, _ := e.Field(name); return n }

// str is a field that is a text.
func (e *Event) str(name string) string { _, s := e.Field(name); return s }

// Events are the records of a file for the exports in text.
func (d *Dat) Events() ([]Event, error) {
	recs, err := d.Records()
	if err != nil {
		return nil, err
	}
	syms, formats := d.symbols(), d.printkFormats()
	p := &event.Printer{Name: syms.name, NoHash: true}
	p.Sym = func(b []byte, a uint64) []byte { return syms.name(b, a, false) }
	p.Str = func(va uint64) string { return formats[va] }
	var out []Event
	for i := range recs {
		r := &recs[i]
		e := Event{TS: int64(r.TS), CPU: int64(r.CPU), PID: int64(r.Header.PID), Comm: r.Comm, Name: fmt.Sprintf("event %d", r.Header.Type), Field: r.field}
		if r.Format != nil {
			e.Name = r.Format.Name
		}
		text := strings.TrimRight(string(r.text(p)), "\n")
		e.Text = strings.TrimPrefix(text, e.Name+": ")
		for _, name := range []string{"func", "ip"} {
			if n, _ := r.field(name); n != 0 && (r.Format.System == "ftrace") {
				e.Func = string(syms.name(nil, uint64(n), false))
				break
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// field is a field of a record.
func (r *Record) field(name string) (int64, string) {
	if r.Format == nil {
		return 0, ""
	}
	for i := range r.Format.Fields {
		if f := &r.Format.Fields[i]; f.Name == name {
			v, _ := f.Decode(r.Data)
			return int64(v.Num), v.Text
		}
	}
	return 0, ""
}

// frame is a call under way.
type frame struct {
	name  string
	inner int64 // ns spent in calls of its own
}

// Fold gives the ns that each call of function_graph spent outside the functions that it called, by its stack "comm;outer;inner". A call
// whose beginning or end was lost counts nothing.
func Fold(events []Event) map[string]int64 {
	weights, stacks := map[string]int64{}, map[int64][]frame{}
	for i := range events {
		e := &events[i]
		stack := stacks[e.PID]
		switch e.Name {
		case "funcgraph_entry":
			if depth := int(e.num("depth")); depth < len(stack) {
				stack = stack[:depth] // ends were lost
			}
			stacks[e.PID] = append(stack, frame{name: e.Func})
		case "funcgraph_exit":
			depth := int(e.num("depth"))
			if depth >= len(stack) || stack[depth].name != e.Func {
				continue // its beginning was lost
			}
			took := e.num("rettime") - e.num("calltime")
			names := []string{e.Comm}
			for _, f := range stack[:depth+1] {
				names = append(names, f.name)
			}
			weights[strings.Join(names, ";")] += took - stack[depth].inner
			if stack = stack[:depth]; depth > 0 {
				stack[depth-1].inner += took
			}
			stacks[e.PID] = stack
		}
	}
	return weights
}

// Folded writes stacks as flamegraph.pl and speedscope read them, a line each.
func Folded(weights map[string]int64) string {
	var lines []string
	for stack, n := range weights {
		if n > 0 && stack != "" {
			lines = append(lines, fmt.Sprintf("%s %d\n", stack, n))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
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

// Chrome writes events as JSON for ui.perfetto.dev and chrome://tracing: a track per task for calls of function_graph and events, a track
// per CPU for sched_switch. A call whose end was lost is drawn as a beginning, never with an invented end.
func Chrome(events []Event) (string, error) {
	meta := func(pid, tid int64, what, name string) chromeEvent {
		return chromeEvent{Name: what, Ph: "M", Pid: pid, Tid: tid, Args: map[string]any{"name": name}}
	}
	out := []chromeEvent{meta(chromeTasks, 0, "process_name", "tasks"), meta(chromeCPUs, 0, "process_name", "CPUs")}
	seen, open := map[[2]int64]bool{}, map[int64]*Event{}
	track := func(pid, tid int64, name string) {
		if key := [2]int64{pid, tid}; !seen[key] {
			seen[key] = true
			out = append(out, meta(pid, tid, "thread_name", name))
		}
	}
	for i := range events {
		e := &events[i]
		track(chromeTasks, e.PID, e.Comm)
		switch e.Name {
		case "funcgraph_entry":
			out = append(out, chromeEvent{Name: e.Func, Ph: "B", Ts: micros(e.TS), Pid: chromeTasks, Tid: e.PID})
		case "funcgraph_exit":
			out = append(out, chromeEvent{Name: e.Func, Ph: "E", Ts: micros(e.TS), Pid: chromeTasks, Tid: e.PID})
		case "sched_switch":
			track(chromeCPUs, e.CPU, fmt.Sprintf("cpu%d", e.CPU))
			if before, ok := open[e.CPU]; ok && before.num("next_pid") != 0 {
				out = append(out, chromeEvent{Name: before.str("next_comm"), Ph: "X", Ts: micros(before.TS), Dur: micros(e.TS - before.TS), Pid: chromeCPUs, Tid: e.CPU,
					Args: map[string]any{"pid": before.num("next_pid")}})
			}
			open[e.CPU] = e
		default:
			out = append(out, chromeEvent{Name: e.Name, Ph: "i", S: "t", Ts: micros(e.TS), Pid: chromeTasks, Tid: e.PID,
				Args: map[string]any{"text": e.Text, "cpu": e.CPU}})
		}
	}
	var b strings.Builder
	b.WriteString("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n")
	for i, e := range out {
		line, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		b.Write(line)
		if i < len(out)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]}\n")
	return b.String(), nil
}

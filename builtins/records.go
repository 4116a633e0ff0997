package builtins

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/ftrace/event"
	"kscope/kernel"
	"kscope/lang"
)

// eventRecord is the value Record: what every event has, then the event's own fields by the names of its format file.
func (g *Guest) eventRecord(r *ftrace.Rec, seq int) *record {
	name := r.Name()
	rec := &record{typ: "Record", text: r.Line, fields: []field{
		{"ts", unum(r.TS)}, {"cpu", num(r.CPU)}, {"pid", num(r.Header.PID)}, {"comm", str(r.Comm)},
		{"flags", flagsRecord(r.Header)}, {"event", str(name)}, {"text", str(r.Text)}, {"seq", num(seq)},
		{"lost", unum(r.Lost)}, {"common_pid", num(r.Header.PID)},
		{"common_comm", str(r.Comm)},
	}}
	if r.Format != nil {
		rec.fields = append(rec.fields, field{"system", str(r.Format.System)})
	}
	if name == "function" {
		fn, parent, _ := strings.Cut(r.Text, " <-")
		rec.fields = append(rec.fields, field{"func", str(strings.TrimSpace(fn))}, field{"parent", str(parent)})
	}
	if r.Format != nil {
		fields := r.Format.Fields
		for i := range fields {
			if v, ok := fields[i].Decode(r.Data); ok {
				rec.own(fields[i].Name, fieldValue(v))
			}
		}
	}
	return rec
}

// own adds a field of the event. Where it has the name of what every record has, as pid and comm in sched_waking, it is the
// event's own that the name means; common_pid and common_comm are the task's that was running.
func (r *record) own(name string, v starlark.Value) {
	for i, f := range r.fields {
		switch {
		case f.name != name:
		case name == "pid" || name == "comm" || name == "cpu" || name == "flags":
			r.fields[i].value = v
			return
		default:
			return // what tells records apart stays
		}
	}
	r.fields = append(r.fields, field{name, v})
}

// fieldValue converts a field of an event.
func fieldValue(v event.Value) starlark.Value {
	switch {
	case v.Elems != nil:
		if v.Field.Signed {
			return list(v.Elems, func(x uint64) starlark.Value { return num(int64(x)) })
		}
		return list(v.Elems, unum[uint64])
	case strings.HasPrefix(v.Field.Type, "char["), v.Field.DataLoc():
		return str(v.Text)
	case v.Field.Signed:
		return num(int64(v.Num))
	}
	return unum(v.Num)
}

// flagsRecord are the latency flags of the trace, as numbers and truths.
func flagsRecord(h event.Header) starlark.Value {
	letters := h.Latency()
	has := func(bits uint8) starlark.Value { return starlark.Bool(h.Flags&bits != 0) }
	return &record{typ: "Flags", text: string(letters[:]), fields: []field{
		{"irqs_off", has(event.IRQsOff)}, {"resched", has(event.NeedResched)}, {"hardirq", has(event.HardIRQ)},
		{"softirq", has(event.SoftIRQ)}, {"preempt", num(int(h.Preempt & 15))}, {"migrate", num(int(h.Preempt >> 4))},
	}}
}

// cpuArg is the index of an optional cpu, -1 for all.
func (c *call) cpuArg(cpu starlark.Value) (int, error) {
	if cpu == nil || cpu == starlark.None {
		return -1, nil
	}
	id, err := starlark.AsInt32(cpu)
	if err != nil || id < 0 || id >= c.g.M.NumCPU() {
		return 0, &lang.Error{Msg: fmt.Sprintf("%s: cpu = %s: the machine has CPUs 0 to %d", c.name, cpu, c.g.M.NumCPU()-1), At: "cpu"}
	}
	return id, nil
}

func tracerRecords(c *call) (starlark.Value, error) {
	var cpu starlark.Value
	glob := option[string]{value: "*"}
	if err := c.unpack("cpu?", &cpu, "event?", &glob); err != nil {
		return nil, err
	}
	id, err := c.cpuArg(cpu)
	if err != nil {
		return nil, err
	}
	var out []starlark.Value
	events := c.g.T.Records(id)
	for i := range events {
		name := events[i].Name()
		if f := events[i].Format; f != nil && strings.Contains(glob.value, ":") {
			name = f.System + ":" + name
		}
		if kernel.Glob(glob.value, name) {
			out = append(out, c.g.eventRecord(&events[i], i))
		}
	}
	return starlark.NewList(out), nil
}

func tracerPipe(c *call) (starlark.Value, error) {
	var n, cpu starlark.Value
	if err := c.unpack("n?", &n, "cpu?", &cpu); err != nil {
		return nil, err
	}
	most, err := c.positive("n", n)
	if err != nil {
		return nil, err
	}
	id, err := c.cpuArg(cpu)
	if err != nil {
		return nil, err
	}
	take := -1
	if most > 0 {
		take = int(min(most, 1<<30))
	}
	var out []starlark.Value
	events := c.g.T.Pipe(id, take)
	for i := range events {
		out = append(out, c.g.eventRecord(&events[i], i))
	}
	return starlark.NewList(out), nil
}

// timestamp turns a stats line's "1.000123" into ns, and the integer of a counter clock into itself.
func timestamp(text string) starlark.Value {
	secs, frac, ok := strings.Cut(strings.TrimSpace(text), ".")
	n, _ := new(big.Int).SetString(strings.TrimSpace(secs), 10)
	if n == nil {
		return starlark.None
	}
	if !ok {
		return starlark.MakeBigInt(n)
	}
	ns, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	return starlark.MakeBigInt(n.Mul(n, big.NewInt(1e9)).Add(n, big.NewInt(ns)))
}

// statsNames are the attributes for the lines of per_cpu/cpuN/stats, in their order (see tracing_stats_read in
// kernel/trace/trace.c).
var statsNames = [...]struct{ line, name string }{
	{"entries", "entries"}, {"overrun", "overrun"}, {"commit overrun", "commit_overrun"}, {"bytes", "bytes"},
	{"oldest event ts", "oldest"}, {"now ts", "now"}, {"dropped events", "dropped"}, {"read events", "read"},
}

func tracerStats(c *call) (starlark.Value, error) {
	var cpu starlark.Value
	if err := c.unpack("cpu?", &cpu); err != nil {
		return nil, err
	}
	if cpu != nil && cpu != starlark.None {
		return c.cpuStats(cpu)
	}
	var all []starlark.Value
	for id := range c.g.M.NumCPU() {
		s, err := c.cpuStats(num(id))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return starlark.NewList(all), nil
}

func (c *call) cpuStats(cpu starlark.Value) (starlark.Value, error) {
	file, err := c.traceFile("stats", cpu)
	if err != nil {
		return nil, err
	}
	text, err := c.get(file)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	for _, line := range nonEmptyLines(text) {
		name, value, _ := strings.Cut(line, ":")
		lines[name] = strings.TrimSpace(value)
	}
	r := &record{typ: "Stats", fields: []field{{"cpu", cpu}}}
	for _, s := range statsNames {
		value, ok := lines[s.line]
		if !ok {
			continue
		}
		if strings.HasSuffix(s.line, " ts") {
			r.fields = append(r.fields, field{s.name, timestamp(value)})
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, lang.Errorf("%s: %s: cannot read %q", c.name, file, fmt.Sprint(s.line, ": ", value))
		}
		r.fields = append(r.fields, field{s.name, num(n)})
	}
	return r, nil
}

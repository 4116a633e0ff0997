package builtins

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// traceLine is an event of the file trace: "  cat-101   [001] ..... 1.000123: vfs_read <-ksys_read"; the flags are there
// when irq-info is on (see trace_print_context in kernel/trace/trace_output.c).
var traceLine = regexp.MustCompile(`^ *(.+)-(\d+) +\[(\d+)\] (?:([^ :]{5}) )? *(\d+(?:\.\d+)?): (.*)$`)

// functionText is a function event; eventText is any other, which begins with its name.
var (
	functionText = regexp.MustCompile(`^(.+?) <-(.+)$`)
	eventText    = regexp.MustCompile(`^(\w+): (.*)$`)
	lostText     = regexp.MustCompile(`^CPU:(\d+) \[LOST (\d+) EVENTS\]`)
)

// parseRecords makes Records from trace text. lost counts the events that were overwritten just before each one.
func parseRecords(text string) []*record {
	var out []*record
	lost := map[int]int{}
	for _, line := range strings.Split(text, "\n") {
		if m := lostText.FindStringSubmatch(line); m != nil {
			cpu, _ := strconv.Atoi(m[1])
			lost[cpu], _ = strconv.Atoi(m[2])
			continue
		}
		m := traceLine.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "#") {
			continue
		}
		cpu, _ := strconv.Atoi(m[3])
		r := recordOf(line, m, cpu)
		r.fields = append(r.fields, field{"seq", num(len(out))}, field{"lost", num(lost[cpu])})
		delete(lost, cpu)
		out = append(out, r)
	}
	return out
}

// recordOf makes one Record from a matched line.
func recordOf(line string, m []string, cpu int) *record {
	pid, _ := strconv.Atoi(m[2])
	event, text := "function", m[6]
	var fn, parent starlark.Value = starlark.None, starlark.None
	if f := functionText.FindStringSubmatch(m[6]); f != nil {
		fn, parent = str(f[1]), str(f[2])
	} else if e := eventText.FindStringSubmatch(m[6]); e != nil {
		event, text = e[1], e[2]
	}
	return &record{typ: "Record", text: line, fields: []field{
		{"ts", timestamp(m[5])}, {"cpu", num(cpu)}, {"pid", num(pid)}, {"comm", str(m[1])}, {"flags", flagsOf(m[4])},
		{"event", str(event)}, {"text", str(text)}, {"func", fn}, {"parent", parent},
	}}
}

// timestamp turns "1.000123" into ns and the integer of a counter clock into itself.
func timestamp(text string) starlark.Value {
	secs, frac, ok := strings.Cut(text, ".")
	n, _ := new(big.Int).SetString(secs, 10)
	if !ok {
		return starlark.MakeBigInt(n)
	}
	us, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	return starlark.MakeBigInt(n.Mul(n, big.NewInt(1e9)).Add(n, big.NewInt(us)))
}

// flagsOf reads the column of latency flags (see trace_print_lat_fmt): irqs-off, need-resched, hardirq/softirq,
// preempt-depth, migrate-disable.
func flagsOf(text string) starlark.Value {
	if len(text) != 5 {
		text = "....."
	}
	has := func(i int, letters string) starlark.Value {
		return starlark.Bool(strings.IndexByte(letters, text[i]) >= 0)
	}
	depth := func(c byte) starlark.Value {
		n, _ := strconv.ParseInt(strings.Trim(string(c), "."), 16, 32)
		return num(n)
	}
	return &record{typ: "Flags", text: text, fields: []field{
		{"irqs_off", has(0, "dbD")}, {"resched", has(1, "NnpB")}, {"hardirq", has(2, "hHzZ")}, {"softirq", has(2, "sH")},
		{"preempt", depth(text[3])}, {"migrate", depth(text[4])},
	}}
}

// matching keeps the records whose event matches a glob, as a Starlark list.
func matching(records []*record, glob string) *starlark.List {
	var out []starlark.Value
	for _, r := range records {
		ev, _ := r.Attr("event")
		if name, _ := starlark.AsString(ev); glob == "" || kernel.Glob(glob, name) {
			out = append(out, r)
		}
	}
	return starlark.NewList(out)
}

func tracerRecords(c *call) (starlark.Value, error) {
	var cpu, event starlark.Value
	if err := c.unpack("cpu?", &cpu, "event?", &event); err != nil {
		return nil, err
	}
	file, err := c.traceFile("trace", cpu)
	if err != nil {
		return nil, err
	}
	text, err := c.get(file)
	if err != nil {
		return nil, err
	}
	glob := ""
	if event != nil && event != starlark.None {
		glob, _ = starlark.AsString(event)
	}
	return matching(parseRecords(text), glob), nil
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
	file, err := c.traceFile("trace_pipe", cpu)
	if err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	text, err := c.g.readPipe(file, int(most))
	if err != nil {
		return nil, c.tracefsError(err, file)
	}
	return matching(parseRecords(text), ""), nil
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

package builtins

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
)

// tracerMore are the rows of module tracer that read or write one file each.
func tracerMore() []method {
	return []method{
		{name: "pids", sig: "(*pids, children = False) -> [int]", fn: tracerPids,
			doc: "Traces only functions of these processes, and of their children with children = True, and gives the list; without any it only\nasks. tracer.write(\"set_ftrace_pid\", \"\") traces all again. Events have set_event_pid instead, as on Linux."},
		{name: "cpumask", sig: "(mask = None) -> int", fn: tracerCPUMask, doc: "Traces only the CPUs of a bit mask, and gives the mask."},
		{name: "clock", sig: "(name = None, skew = None) -> string", fn: tracerClock, doc: "Chooses the clock of time stamps, which empties the rings, and gives its name: \"local\", \"global\", \"counter\" ...\nskew = {CPU: ns} makes the clock local run ahead on a CPU, or behind, as unsynchronised TSCs do; {} ends that."},
		{name: "max_latency", sig: "(us = None) -> int", fn: tracerMaxLatency, doc: "Sets the greatest latency that latency tracers have seen, in microseconds, and gives it.\nThere are no latency tracers here; the file is there as on 6.1."},
		{name: "error_log", sig: "() -> string", fn: tracerErrorLog, doc: "The errors of commands, as the file error_log shows them."},
		{name: "profile", sig: "(enable = None) -> [struct]", fn: tracerProfile,
			doc: "Switches the function profiler, and gives what it has counted: .func, .hits, .time, .avg in ns, .s2 (the variance, as the file has it), .cpu.\nRows are those of trace_stat/functionN, by CPU and by time."},
	}
}

// maybeWrite writes a file when there is a value.
func (c *call) maybeWrite(file string, n option[uint64], text func(n uint64) string) error {
	if !n.given {
		return nil
	}
	_, err := c.set(file, text(n.value))
	return err
}

func tracerPids(c *call) (starlark.Value, error) {
	children := false
	if err := starlark.UnpackArgs(c.name, nil, c.kwargs, "children?", &children); err != nil {
		return nil, err
	}
	if len(c.args) > 0 {
		var text []string
		for _, v := range c.args {
			n, err := starlark.AsInt32(v)
			if err != nil || n < 0 {
				return nil, about("pids", c.errorf("%s is no pid", v))
			}
			text = append(text, strconv.Itoa(n))
		}
		if children {
			if _, err := c.set("options/function-fork", "1"); err != nil {
				return nil, err
			}
		}
		if _, err := c.set("set_ftrace_pid", strings.Join(text, " ")); err != nil {
			return nil, err
		}
	}
	text, err := c.get("set_ftrace_pid")
	if err != nil {
		return nil, err
	}
	var pids []starlark.Value
	for _, word := range strings.Fields(text) {
		if n, err := strconv.Atoi(word); err == nil {
			pids = append(pids, num(n))
		}
	}
	return starlark.NewList(pids), nil
}

func tracerCPUMask(c *call) (starlark.Value, error) {
	var mask option[uint64]
	if err := c.unpack("mask?", &mask); err != nil {
		return nil, err
	}
	if err := c.maybeWrite("tracing_cpumask", mask, func(n uint64) string { return strconv.FormatUint(n, 16) }); err != nil {
		return nil, err
	}
	text, err := c.get("tracing_cpumask")
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 16, 64)
	if err != nil {
		return nil, c.errorf("cannot read %q", text)
	}
	return unum(n), nil
}

// setSkew is tracer.clock's skew; nil leaves it as it is.
func (c *call) setSkew(skew *starlark.Dict) error {
	if skew == nil {
		return nil
	}
	if err := c.ready(); err != nil {
		return err
	}
	var ns []int64
	if skew.Len() > 0 {
		ns = make([]int64, c.g.M.NumCPU())
	}
	for _, kv := range skew.Items() {
		cpu, err := starlark.AsInt32(kv[0])
		if err != nil || cpu < 0 || cpu >= len(ns) {
			return c.fail(kernel.EINVAL, "skew of CPU "+kv[0].String(), nil)
		}
		n, ok := kv[1].(starlark.Int)
		if ok {
			ns[cpu], ok = n.Int64()
		}
		if !ok {
			return c.fail(kernel.EINVAL, "skew of "+kv[1].String(), nil)
		}
	}
	return c.fail(c.g.T.SetSkew(ns), "skew", nil)
}

func tracerClock(c *call) (starlark.Value, error) {
	var name option[string]
	var skew *starlark.Dict
	if err := c.unpack("name?", &name, "skew?", &skew); err != nil {
		return nil, err
	}
	if err := c.setSkew(skew); err != nil {
		return nil, err
	}
	text, err := c.get("trace_clock")
	if err != nil {
		return nil, err
	}
	if s := name.value; name.given {
		var clocks []string
		for _, word := range strings.Fields(text) {
			clocks = append(clocks, strings.Trim(word, "[]"))
		}
		if err := c.choice("clock", s, clocks...); err != nil {
			return nil, err
		}
		if _, err := c.set("trace_clock", s); err != nil {
			return nil, err
		}
		return str(s), nil
	}
	_, rest, _ := strings.Cut(text, "[")
	current, _, _ := strings.Cut(rest, "]")
	return str(current), nil
}

func tracerMaxLatency(c *call) (starlark.Value, error) {
	var us option[uint64]
	if err := c.unpack("us?", &us); err != nil {
		return nil, err
	}
	if err := c.maybeWrite("tracing_max_latency", us, func(n uint64) string { return strconv.FormatUint(n, 10) }); err != nil {
		return nil, err
	}
	text, err := c.get("tracing_max_latency")
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return nil, c.errorf("cannot read %q", text)
	}
	return num(n), nil
}

func tracerErrorLog(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	text, err := c.get("error_log")
	return str(text), err
}

func tracerProfile(c *call) (starlark.Value, error) {
	var enable option[bool]
	if err := c.unpack("enable?", &enable); err != nil {
		return nil, err
	}
	if enable.given {
		text := "0"
		if enable.value {
			text = "1"
		}
		if _, err := c.set("function_profile_enabled", text); err != nil {
			return nil, err
		}
	}
	var out []starlark.Value
	for id := range c.g.M.NumCPU() {
		text, err := c.get(fmt.Sprintf("trace_stat/function%d", id))
		if err != nil {
			return nil, err
		}
		for _, line := range nonEmptyLines(text) {
			if r := profileRow(strings.Fields(line), id); r != nil {
				out = append(out, r)
			}
		}
	}
	return starlark.NewList(out), nil
}

// profileRow reads a line: function, hits and, of the graph profiler, time, average and variance, each with its unit.
func profileRow(words []string, cpu int) starlark.Value {
	if len(words) < 2 {
		return nil
	}
	hits, err := strconv.ParseUint(words[1], 10, 64)
	if err != nil {
		return nil // the heading
	}
	r := &record{typ: "Profile", fields: []field{{"func", str(words[0])}, {"hits", unum(hits)}, {"cpu", num(cpu)}}}
	for i, name := range []string{"time", "avg"} {
		if at := 2 + 2*i; at < len(words) {
			r.fields = append(r.fields, field{name, timestampUS(words[at])})
		}
	}
	if len(words) > 6 {
		r.fields = append(r.fields, field{"s2", str(words[6])})
	}
	return r
}

// timestampUS turns "137.345" us into ns.
func timestampUS(text string) starlark.Value {
	us, frac, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(us+(frac + "000")[:3], 10, 64)
	if err != nil {
		return starlark.None
	}
	return num(n)
}

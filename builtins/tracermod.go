package builtins

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/lang"
)

// tracerMethods are the rows of module tracer.
func tracerMethods() []method { return slices.Concat(tracerBase(), tracerMore(), ringMethods()) }

func tracerBase() []method {
	return []method{
		{name: "current", sig: "-> string", get: tracerCurrent, doc: "The current tracer."},
		{name: "set", sig: "(name)", fn: tracerSet, doc: "Makes name the current tracer: \"function\", \"nop\" ...; \"nop\" stops tracing functions."},
		{name: "available", sig: "() -> [string]", fn: wordsOf("available_tracers"), doc: "The tracers of this kernel."},
		{name: "on", sig: "()", fn: constant("tracing_on", "1"), doc: "Lets the ring buffer record (tracing_on)."},
		{name: "off", sig: "()", fn: constant("tracing_on", "0"), doc: "Stops recording; what is patched stays."},
		{name: "filter", sig: `(*globs, mode = "set", notrace = False)`, fn: tracerFilter,
			doc: "Traces only functions that match; no globs mean all. mode = \"add\" or \"remove\" changes the list.\nnotrace = True is the list of functions not to trace. Globs: x* *x *x* a*b ? []."},
		{name: "filters", sig: "(notrace = False) -> [string]", fn: tracerFilters, doc: "The lines of set_ftrace_filter, or of set_ftrace_notrace."},
		{name: "graph", sig: "(*funcs, notrace = [], depth = 0)", fn: tracerGraph,
			doc: "Makes function_graph the current tracer: calls with their durations, below the functions that match, or all.\nnotrace are globs of functions to leave out with what they call; depth limits the nesting, 0 does not."},
		{name: "command", sig: "(glob, command, count = None, remove = False)", fn: tracerCommand,
			doc: "Does command when a function that matches is called: \"traceoff\", \"traceon\", \"stacktrace\", \"snapshot\", \"dump\", \"cpudump\";\nonly count times if given. It is a line of set_ftrace_filter; remove = True takes it out, with count if it has one."},
		{name: "snapshot", sig: "(take = True) -> string", fn: tracerSnapshot,
			doc: "Swaps the ring buffer with the snapshot's if take is true, and returns the file snapshot."},
		{name: "clear", sig: "()", fn: constant("trace", ""), doc: "Empties the ring buffer."},
		{name: "text", sig: "(n = None, cpu = None, head = True) -> string", fn: tracerText,
			doc: "The file trace: its first n events, or the last -n; of one CPU; without its head if head = False.\nReading leaves the events where they are."},
		{name: "show", sig: "(n = None, cpu = None, head = True)", fn: tracerShow, doc: "Prints tracer.text(...)."},
		{name: "records", sig: "(cpu = None, event = None) -> [Record]", fn: tracerRecords,
			doc: "Lists the events as objects and leaves them where they are.\nThey have .ts (ns), .cpu, .pid, .comm, .flags, .event, .text, .lost, the event's own fields, and, for functions, .func\nand .parent. event is a glob of event names."},
		{name: "pipe", sig: "(n = None, cpu = None) -> [Record]", fn: tracerPipe, doc: "Takes events out of the ring buffer: all, or at most n. Lost events are in Record.lost."},
		{name: "stats", sig: "(cpu = None) -> Stats | [Stats]", fn: tracerStats,
			doc: "The counters of per_cpu/cpuN/stats: .entries, .overrun, .commit_overrun, .bytes, .dropped, .read, .oldest, .now."},
		{name: "read", sig: "(file) -> string", fn: tracerRead, doc: "Reads a file of tracefs by its name there: tracer.read(\"trace_clock\")."},
		{name: "write", sig: "(file, text, append = False)", fn: tracerWrite, doc: "Writes a file of tracefs as echo text > file does, or >> with append."},
		{name: "options", sig: "(**options) -> dict", fn: tracerOptions, doc: "Sets trace options, _ standing for -, and returns all of them: tracer.options(sym_offset = True)."},
		{name: "buffer", sig: "(kb = None, cpu = None, overwrite = None) -> struct(kb, expanded, overwrite)", fn: tracerBuffer,
			doc: "Resizes the ring buffer, per CPU, and returns its size in KiB; overwrite = False has a full one keep its oldest records."},
		{name: "mark", sig: "(text)", fn: tracerMark, doc: "Writes text into the trace (trace_marker)."},
		{name: "reset", sig: "()", fn: tracerReset, doc: "Brings tracefs back to its state at boot."},
		{name: "instance", sig: "(name) -> tracer", fn: tracerInstance,
			doc: "A tracer of its own, with rings, filters and options, made if need be: its functions are those of module tracer.\nIts files are in instances/NAME."},
		{name: "instances", sig: "() -> [string]", fn: tracerInstances, doc: "The names of the instances."},
		{name: "remove", sig: "(name)", fn: tracerRemove, doc: "Removes an instance."},
		{name: "enabled_functions", sig: "() -> [string]", fn: linesOf("enabled_functions"), doc: "The functions whose call sites are patched, with flags and who wants them."},
	}
}

// constant makes a function that writes a fixed text.
func constant(file, text string) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		return c.set(file, text)
	}
}

// set writes a file of tracefs for a function that has no name to point at.
func (c *call) set(file, text string) (starlark.Value, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	return starlark.None, c.fail(c.g.writeTrace(file, text, false), "", nil)
}

func wordsOf(file string) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) { return c.splitFile(file, strings.Fields) }
}

func linesOf(file string) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) { return c.splitFile(file, nonEmptyLines) }
}

func (c *call) splitFile(file string, split func(string) []string) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	text, err := c.get(file)
	if err != nil {
		return nil, err
	}
	return lang.Strings(split(text)), nil
}

func nonEmptyLines(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// get reads a file of tracefs; it does not drive the machine, so until and programs may do it too.
func (c *call) get(file string) (string, error) {
	text, err := c.g.readTrace(file)
	return text, c.tracefsError(err, file)
}

func tracerCurrent(g *Guest) (starlark.Value, error) {
	c := &call{g: g, name: "tracer.current"}
	text, err := c.get("current_tracer")
	return str(strings.TrimSpace(text)), err
}

func tracerSet(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	text := name
	if text == "" {
		text = "\n" // nothing at all would be no write
	}
	err := c.g.writeTrace("current_tracer", text, false)
	e := c.fail(err, name, func() []string { return c.g.words("available_tracers") })
	if le, ok := e.(*lang.Error); ok && le.Code == "EINVAL" {
		le.Msg = fmt.Sprintf("%s: %s: no such tracer", c.name, name)
		if le.Hint == "" {
			le.Hint = "tracers are " + strings.Join(c.g.words("available_tracers"), ", ")
		}
	}
	return starlark.None, e
}

// filterFile is the file of a filter list.
func filterFile(notrace bool) string {
	if notrace {
		return "set_ftrace_notrace"
	}
	return "set_ftrace_filter"
}

func tracerFilter(c *call) (starlark.Value, error) {
	globs := c.args
	c.args = nil
	mode, notrace := "set", false
	if err := c.unpack("mode?", &mode, "notrace?", &notrace); err != nil {
		return nil, err
	}
	if err := c.choice("mode", mode, "set", "add", "remove"); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	var words strings.Builder
	for _, v := range globs {
		glob, ok := starlark.AsString(v)
		if !ok {
			return nil, c.errorf("a glob is %s, want string", v.Type())
		}
		if err := c.checkGlob(glob); err != nil {
			return nil, err
		}
		if mode == "remove" {
			words.WriteByte('!')
		}
		words.WriteString(glob + "\n")
	}
	// One write for all: the sites are then patched together.
	err := c.g.writeTrace(filterFile(notrace), words.String(), mode != "set")
	return starlark.None, c.fail(err, strings.TrimSpace(words.String()), nil)
}

// tracerGraph implements tracer.graph.
func tracerGraph(c *call) (starlark.Value, error) {
	funcs := starlark.NewList(append([]starlark.Value(nil), c.args...))
	c.args = nil
	var notrace starlark.Value
	depth := 0
	if err := c.unpack("notrace?", &notrace, "depth?", &depth); err != nil {
		return nil, err
	}
	if depth < 0 {
		return nil, c.errorf("depth = %d: want 0 (no limit) or more", depth)
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		file  string
		globs starlark.Value
		param string
	}{{"set_graph_function", funcs, "funcs"}, {"set_graph_notrace", notrace, "notrace"}} {
		globs, err := c.strings(f.globs, nil)
		if err != nil {
			return nil, about(f.param, err)
		}
		for _, glob := range globs {
			if err := c.checkGlob(glob); err != nil {
				return nil, err
			}
		}
		if _, err := c.set(f.file, strings.Join(append(globs, ""), "\n")); err != nil {
			return nil, err
		}
	}
	if _, err := c.set("max_graph_depth", strconv.Itoa(depth)); err != nil {
		return nil, err
	}
	return c.set("current_tracer", "function_graph")
}

// tracerCommand implements tracer.command.
func tracerCommand(c *call) (starlark.Value, error) {
	glob, command, remove := "", "", false
	var count starlark.Value
	if err := c.unpack("glob", &glob, "command", &command, "count?", &count, "remove?", &remove); err != nil {
		return nil, err
	}
	n, err := c.positive("count", count)
	if err != nil {
		return nil, err
	}
	if err := c.checkGlob(glob); err != nil {
		return nil, err
	}
	text := glob + ":" + command
	switch {
	case remove && n > 0:
		text = "!" + text + ":0" // as Linux takes a counted command back
	case remove:
		text = "!" + text
	case n > 0:
		text += fmt.Sprintf(":%d", n)
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	err = c.fail(c.g.writeTrace("set_ftrace_filter", text+"\n", true), text, nil)
	verb, _, _ := strings.Cut(command, ":")
	if e, ok := err.(*lang.Error); ok && !slices.Contains(filterCommands(), verb) {
		e.Msg, e.At = fmt.Sprintf("%s: unknown command %q", c.name, verb), verb
		if e.Hint = lang.DidYouMean(verb, filterCommands()); e.Hint == "" {
			e.Hint = "commands are " + strings.Join(filterCommands(), ", ")
		}
	}
	return starlark.None, err
}

// filterCommands are those of set_ftrace_filter.
func filterCommands() []string {
	return []string{"traceon", "traceoff", "stacktrace", "snapshot", "dump", "cpudump", "enable_event", "disable_event", "mod"}
}

// tracerSnapshot implements tracer.snapshot.
func tracerSnapshot(c *call) (starlark.Value, error) {
	take := true
	if err := c.unpack("take?", &take); err != nil {
		return nil, err
	}
	if take {
		if _, err := c.set("snapshot", "1"); err != nil {
			return nil, err
		}
	}
	text, err := c.get("snapshot")
	return str(text), err
}

// checkGlob refuses a glob that matches no traceable function before anything is changed. The file would say EINVAL too, but
// not for which of several globs.
func (c *call) checkGlob(glob string) error {
	if glob == "" || strings.IndexByte("!0123456789", glob[0]) >= 0 || strings.Contains(glob, ":") {
		return nil // a removal, an index or a command: the file's business
	}
	for _, name := range c.g.functions() {
		if ftrace.Match(glob, name) {
			return nil
		}
	}
	return c.filterError(kernel.EINVAL, glob)
}

// filterError says why a glob matches nothing: no such symbol, or one that cannot be traced.
func (c *call) filterError(err error, glob string) error {
	e := c.fail(err, glob, c.g.functions)
	le, ok := e.(*lang.Error)
	if !ok || le.Code != "EINVAL" {
		return e
	}
	if syms := c.g.M.Symbols().ByName(glob); len(syms) > 0 {
		le.Msg, le.Hint = fmt.Sprintf("%s: %s: cannot be traced", c.name, glob), c.whyNot(syms[0].Kind)
	} else {
		le.Msg = fmt.Sprintf("%s: %s: no traceable function matches", c.name, glob)
		if why := c.g.missing(glob); why != "" {
			le.Hint = why
		}
	}
	return le
}

// whyNot says why a symbol that exists is no ftrace site.
func (c *call) whyNot(kind byte) string {
	if strings.IndexByte("tTwW", kind) < 0 {
		return "it is data, not a function"
	}
	return "it has no fentry site: notrace, inline or assembly"
}

func tracerFilters(c *call) (starlark.Value, error) {
	notrace := false
	if err := c.unpack("notrace?", &notrace); err != nil {
		return nil, err
	}
	text, err := c.get(filterFile(notrace))
	if err != nil {
		return nil, err
	}
	return lang.Strings(nonEmptyLines(text)), nil
}

// traceFile is the file trace or trace_pipe of the machine or of one CPU.
func (c *call) traceFile(name string, cpu starlark.Value) (string, error) {
	id, err := c.cpuArg(cpu)
	if err != nil || id < 0 {
		return name, err
	}
	return fmt.Sprintf("per_cpu/cpu%d/%s", id, name), nil
}

// traceText unpacks the arguments of text and show.
func (c *call) traceText() (string, error) {
	var n int
	var nv, cpu starlark.Value
	head := true
	if err := c.unpack("n?", &nv, "cpu?", &cpu, "head?", &head); err != nil {
		return "", err
	}
	if nv != nil && nv != starlark.None {
		var err error
		if n, err = starlark.AsInt32(nv); err != nil || n < 0 {
			return "", c.errorf("n = %s: want a number of events", nv)
		}
		if n == 0 {
			return "", nil
		}
	}
	file, err := c.traceFile("trace", cpu)
	if err != nil {
		return "", err
	}
	text, err := c.get(file)
	return pick(text, n, head), err
}

func tracerText(c *call) (starlark.Value, error) {
	text, err := c.traceText()
	return str(text), err
}

func tracerShow(c *call) (starlark.Value, error) {
	text, err := c.traceText()
	if err == nil {
		fmt.Fprint(c.g.env.cfg.Stdout, text)
	}
	return starlark.None, err
}

func tracerRead(c *call) (starlark.Value, error) {
	var file string
	if err := c.unpack("file", &file); err != nil {
		return nil, err
	}
	text, err := c.get(file)
	return str(text), err
}

func tracerWrite(c *call) (starlark.Value, error) {
	var file, text string
	app := false
	if err := c.unpack("file", &file, "text", &text, "append?", &app); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if text != "" && !strings.HasSuffix(text, "\n") && !strings.HasSuffix(file, "_raw") {
		text += "\n" // as echo does; without it the last word's error would be lost at close, as on Linux
	}
	return starlark.None, c.writeError(c.g.writeTrace(file, text, app), file, text)
}

func tracerOptions(c *call) (starlark.Value, error) {
	if len(c.args) > 0 {
		return nil, &lang.Error{Msg: c.name + ": options are keywords", Hint: "tracer.options(sym_offset = True)"}
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	for _, kv := range c.kwargs {
		name, _ := starlark.AsString(kv[0])
		on, ok := kv[1].(starlark.Bool)
		if !ok {
			return nil, c.errorf("%s = %s: want True or False", name, kv[1])
		}
		text := strings.ReplaceAll(name, "_", "-")
		if !on {
			text = "no" + text
		}
		if err := c.g.writeTrace("trace_options", text, false); err != nil {
			return nil, c.optionError(err, name)
		}
	}
	text, err := c.get("trace_options")
	if err != nil {
		return nil, err
	}
	all := starlark.NewDict(32)
	for _, line := range strings.Fields(text) {
		name, on := optionState(line)
		all.SetKey(str(strings.ReplaceAll(name, "-", "_")), starlark.Bool(on))
	}
	return all, nil
}

func (c *call) optionError(err error, name string) error {
	e := c.fail(err, name, func() []string {
		var names []string
		for _, n := range c.g.options() {
			names = append(names, strings.ReplaceAll(n, "-", "_"))
		}
		return names
	})
	if le, ok := e.(*lang.Error); ok && le.Code == "EINVAL" {
		le.Msg = fmt.Sprintf("%s: %s: no such option", c.name, name)
	}
	return e
}

// expandedSize is the text of buffer_size_kb before the buffer is first used.
var expandedSize = regexp.MustCompile(`^(\d+)(?: \(expanded: (\d+)\))?$`)

func tracerBuffer(c *call) (starlark.Value, error) {
	var kb, cpu starlark.Value
	var overwrite option[bool]
	if err := c.unpack("kb?", &kb, "cpu?", &cpu, "overwrite?", &overwrite); err != nil {
		return nil, err
	}
	if overwrite.given {
		word := map[bool]string{true: "overwrite", false: "nooverwrite"}[overwrite.value]
		if _, err := c.set("trace_options", word); err != nil {
			return nil, err
		}
	}
	file, err := c.traceFile("buffer_size_kb", cpu)
	if err != nil {
		return nil, err
	}
	size, err := c.positive("kb", kb)
	if err != nil {
		return nil, err
	}
	if size > 0 {
		if _, err := c.set(file, strconv.FormatUint(size, 10)); err != nil {
			return nil, err
		}
	}
	text, err := c.get(file)
	if err != nil {
		return nil, err
	}
	now, full := starlark.Value(starlark.None), starlark.Value(starlark.None)
	if m := expandedSize.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		n, _ := strconv.Atoi(m[1])
		now, full = num(n), num(n)
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
			full = num(n)
		}
	}
	over := strings.Contains("\n"+c.g.text("trace_options"), "\noverwrite\n")
	return &record{typ: "Buffer", fields: []field{{"kb", now}, {"expanded", full}, {"overwrite", starlark.Bool(over)}}}, nil
}

func tracerMark(c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	return c.set("trace_marker", text)
}

func tracerReset(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if err := c.g.guard(c.g.T.Reset); err != nil {
		return nil, c.fail(err, "", nil)
	}
	if err := c.g.undefine(); err != nil {
		return nil, c.fail(err, "", nil)
	}
	if c.g.dir != "" {
		return starlark.None, nil
	}
	return c.set("dynamic_events", "") // the probes, which are another package's
}

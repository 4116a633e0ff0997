package builtins

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/lang"
)

// tracingDir is where the guest mounts tracefs.
const tracingDir = "/sys/kernel/tracing/"

// The host reads tracefs directly, so that looking changes nothing: no instruction runs, no event is added. It writes in the
// guest kthread kscoped, so that a patch has a CPU and a task. fs.read and fs.write of the same files go through the guest's
// VFS, as a shell there would.

// readTrace reads a file of tracefs.
func (g *Guest) readTrace(file string) (string, error) {
	return g.T.ReadFile(file)
}

// writeTrace writes a file of tracefs as > would, or >> with app.
func (g *Guest) writeTrace(file, text string, app bool) error {
	return g.guard(func() error { return g.T.WriteFile(file, text, app) })
}

// traceNames lists a directory of tracefs, directories with a slash; nothing on errors.
func (g *Guest) traceNames(dir string) []string {
	entries, _ := g.T.FS().List(g.dir + dir)
	var names []string
	for _, e := range entries {
		if e.Dir {
			e.Name += "/"
		}
		names = append(names, e.Name)
	}
	return names
}

// words reads a file of tracefs as a list of words; nothing on errors.
func (g *Guest) words(file string) []string {
	return strings.Fields(g.text(file))
}

// tracefsError is the error for a file of tracefs, with the names beside it as hints.
func (c *call) tracefsError(err error, file string) error {
	e := c.fail(err, file, nil)
	var le *lang.Error
	if errors.As(e, &le) && errors.Is(err, kernel.ENOENT) {
		dir, base := path.Split(file)
		var near []string
		for _, n := range lang.Near(base, c.g.traceNames(dir)) {
			near = append(near, dir+n)
		}
		le.Hint = didYouMean(near)
	}
	return e
}

// fileWords tell what may be written to a file, for the hint when it was something else.
var fileWords = map[string]func(g *Guest) []string{
	"current_tracer": func(g *Guest) []string { return g.words("available_tracers") },
	"trace_options":  (*Guest).options,
	"trace_clock": func(g *Guest) []string {
		return strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(g.text("trace_clock")))
	},
	"set_ftrace_filter":  (*Guest).functions,
	"set_ftrace_notrace": (*Guest).functions,
	"set_graph_function": (*Guest).functions,
	"set_graph_notrace":  (*Guest).functions,
	"tracing_on":         func(*Guest) []string { return []string{"0", "1"} },
}

// text reads a file of tracefs; nothing on errors.
func (g *Guest) text(file string) string {
	text, _ := g.readTrace(file)
	return text
}

// writeError is the error for writing text to a file of tracefs.
func (c *call) writeError(err error, file, text string) error {
	e := c.withErrorLog(c.tracefsError(err, file), text)
	var le *lang.Error
	words := fileWords[file]
	if words == nil || !errors.As(e, &le) || le.Code != "EINVAL" {
		return e
	}
	text = strings.TrimSpace(text)
	le.Msg, le.At = fmt.Sprintf("%s: %s: %q: %v", c.name, file, text, err), text
	if le.Hint = lang.DidYouMean(text, words(c.g)); le.Hint == "" && len(words(c.g)) < 16 {
		le.Hint = file + " takes " + strings.Join(words(c.g), ", ")
	}
	return le
}

// functions are the names in available_filter_functions, which instances do not have.
func (g *Guest) functions() []string {
	top, ok := ftrace.Of(g.M)
	if !ok {
		return nil
	}
	text, _ := top.ReadFile("available_filter_functions")
	return strings.Fields(text)
}

// options are the names of trace_options, each without its "no".
func (g *Guest) options() []string {
	var names []string
	for _, w := range g.words("trace_options") {
		name, _ := optionState(w)
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// optionState splits a line of trace_options. No option's own name begins with "no".
func optionState(line string) (name string, on bool) {
	if rest, ok := strings.CutPrefix(line, "no"); ok {
		return rest, false
	}
	return line, true
}

// tail is the last n events of the trace, for the report of a run that hit its limit.
func (g *Guest) tail(n int) string {
	return pick(g.text("trace"), -n, false)
}

// pick takes the first n events of a trace text, or the last -n; 0 takes all. head keeps the comment lines in front.
func pick(text string, n int, head bool) string {
	var heads, events []string
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case line == "":
		case strings.HasPrefix(line, "#") && len(events) == 0:
			heads = append(heads, line)
		default:
			events = append(events, line)
		}
	}
	if n > 0 {
		events = events[:min(n, len(events))]
	} else if n < 0 {
		events = events[max(0, len(events)+n):]
	}
	if !head {
		heads = nil
	}
	return strings.Join(append(heads, events...), "")
}

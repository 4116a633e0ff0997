package builtins

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// eventMethods are the rows of module event: trace events by the files of events/ and set_event.
func eventMethods() []method {
	return []method{
		{name: "list", sig: `(glob = "*") -> [string]`, fn: eventList, doc: "Lists events as \"system:name\"; the glob is of that form too."},
		{name: "enable", sig: "(*globs)", fn: eventSwitch(""), doc: "Enables the events that match: \"sched:sched_switch\", \"sched:*\"."},
		{name: "disable", sig: "(*globs)", fn: eventSwitch("!"), doc: "Disables the events that match; no globs mean all."},
		{name: "format", sig: "(name) -> string", fn: eventFormat, doc: "The fields of an event's record, as its file format tells."},
		{name: "get", sig: "(name) -> Event", fn: eventGet, doc: "One event, to enable, filter and look at."},
	}
}

// eventNames lists available_events.
func (g *Guest) eventNames() []string { return g.words("available_events") }

func eventList(c *call) (starlark.Value, error) {
	glob := "*"
	if err := c.unpack("glob?", &glob); err != nil {
		return nil, err
	}
	var names []string
	for _, n := range c.g.eventNames() {
		if kernel.Glob(glob, n) {
			names = append(names, n)
		}
	}
	return lang.Strings(names), nil
}

// eventGlob lists the events that a glob of the form "system:name" matches; none for what is no glob.
func (g *Guest) eventGlob(glob string) (names []string) {
	if !strings.ContainsAny(glob, "*?[") {
		return nil
	}
	for _, n := range g.eventNames() {
		if kernel.Glob(glob, n) {
			names = append(names, n)
		}
	}
	return names
}

// eventSwitch makes event.enable and event.disable: lines of set_event.
func eventSwitch(not string) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		if len(c.kwargs) > 0 {
			return nil, starlark.UnpackArgs(c.name, nil, c.kwargs)
		}
		globs := c.args
		if len(globs) == 0 && not != "" {
			return c.set("set_event", "")
		}
		if err := c.ready(); err != nil {
			return nil, err
		}
		for _, v := range globs {
			glob, ok := starlark.AsString(v)
			if !ok {
				return nil, c.errorf("a glob is %s, want string", v.Type())
			}
			lines := []string{glob}
			if names := c.g.eventGlob(glob); len(names) > 0 { // 6.1's set_event takes no globs but *
				lines = names
			}
			for _, line := range lines {
				if err := c.g.writeTrace("set_event", not+line+"\n", true); err != nil {
					return nil, c.eventError(err, glob)
				}
			}
		}
		return starlark.None, nil
	}
}

// eventError says that no event matches, and which one may have been meant.
func (c *call) eventError(err error, name string) error {
	e := c.fail(err, name, nil)
	var le *lang.Error
	if errors.As(e, &le) && (le.Code == "EINVAL" || le.Code == "ENOENT") {
		le.Msg = fmt.Sprintf("%s: %s: no such event", c.name, name)
		le.Hint = c.g.nearEvent(name)
	}
	return e
}

// nearEvent words which event may have been meant, with or without its system.
func (g *Guest) nearEvent(name string) string {
	names := g.eventNames()
	if hint := lang.DidYouMean(name, names); hint != "" {
		return hint
	}
	if system, _, ok := strings.Cut(name, ":"); ok {
		const most = 8
		of := strings.Split(strings.ReplaceAll(strings.Join(g.eventGlob(system+":*"), " "), system+":", ""), " ")
		if of[0] == "" {
			return ""
		}
		if len(of) > most {
			of = append(of[:most], fmt.Sprintf("... (event.list(%q))", system+":*"))
		}
		return system + " has " + strings.Join(of, ", ")
	}
	whole, short := map[string]string{}, []string{}
	for _, n := range names {
		_, s, _ := strings.Cut(n, ":")
		if s == name {
			return "did you mean " + n + "?"
		}
		whole[s], short = n, append(short, s)
	}
	var near []string
	for _, s := range lang.Near(name, short) {
		near = append(near, whole[s])
	}
	return didYouMean(near)
}

// eventDir is where the files of an event are.
func (c *call) eventDir(name string) (string, error) {
	system, event, ok := strings.Cut(name, ":")
	dir := "events/" + system + "/" + event
	if !ok || !strings.Contains(" "+strings.Join(c.g.traceNames(dir), " ")+" ", " format ") {
		return "", c.eventError(kernel.ENOENT, name)
	}
	return dir, nil
}

func eventFormat(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	dir, err := c.eventDir(name)
	if err != nil {
		return nil, err
	}
	text, err := c.get(dir + "/format")
	return str(text), err
}

func eventGet(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	dir, err := c.eventDir(name)
	if err != nil {
		return nil, err
	}
	return &traceEvent{g: c.g, name: name, dir: dir}, nil
}

// traceEvent is the value Event: one directory below events/.
type traceEvent struct {
	g         *Guest
	name, dir string
	joints    []joint // of event.join
}

var (
	_ starlark.Value    = (*traceEvent)(nil)
	_ starlark.HasAttrs = (*traceEvent)(nil)
)

func (e *traceEvent) Type() string          { return "Event" }
func (e *traceEvent) Freeze()               {}
func (e *traceEvent) Truth() starlark.Bool  { return true }
func (e *traceEvent) Hash() (uint32, error) { return starlark.String(e.name).Hash() }
func (e *traceEvent) String() string        { return fmt.Sprintf("<event %s>", e.name) }
func (e *traceEvent) AttrNames() []string   { return methodNames(singleEventMethods()) }

func (e *traceEvent) Attr(name string) (starlark.Value, error) {
	row, ok := find(singleEventMethods(), name)
	if !ok {
		return nil, noAttr("Event", name, e.AttrNames())
	}
	if row.fn == nil { // an attribute is what its file says
		c := &call{g: e.g, name: "Event." + name}
		text, err := c.get(e.dir + "/" + name)
		return str(strings.TrimRight(text, "\n")), err
	}
	fn := row.fn
	row.fn = func(c *call) (starlark.Value, error) {
		c.event = e
		return fn(c)
	}
	return row.bound("Event", e, e.g)
}

// singleEventMethods are what an Event can do; those without a function are files that are read.
func singleEventMethods() []method {
	return append([]method{
		{name: "enable", sig: "()", doc: "Enables the event.", fn: eventFile("enable", "1")},
		{name: "disable", sig: "()", doc: "Disables it.", fn: eventFile("enable", "0")},
		{name: "on", sig: `(fn, when = None, limit = None, on_error = "stop") -> On`, fn: eventOn,
			doc: "Calls fn(ctx) whenever the event happens, enabled or not: on(\"tracepoint:SYSTEM:NAME\", fn, …)."},
		{name: "emit", sig: "(**fields)", doc: "Makes an event of event.define happen, here and now; a field that is not given is 0 or \"\".", fn: eventEmit},
		{name: "remove", sig: "()", doc: "Takes an event of event.define, event.synth or event.join out again.", fn: eventRemove},
		{name: "filter", sig: "(text = \"\") -> string", fn: eventFilter,
			doc: "Records only events for which text is true: 'prev_pid == 0 && next_comm ~ \"k*\"'; \"\" asks what the filter is, \"0\" removes it."},
		{name: "format", sig: "-> string", doc: "Its file format."},
		{name: "id", sig: "-> string", doc: "Its number in records."},
	}, triggerMethods()...)
}

func eventFile(file, text string) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		return c.set(c.event.dir+"/"+file, text)
	}
}

// eventFilter writes the filter; a wrong one is told with the caret that its file then shows.
func eventFilter(c *call) (starlark.Value, error) {
	text := ""
	if err := c.unpack("text?", &text); err != nil {
		return nil, err
	}
	file := c.event.dir + "/filter"
	if text != "" {
		if err := c.ready(); err != nil {
			return nil, err
		}
		if err := c.g.writeTrace(file, text+"\n", false); err != nil {
			e := c.fail(err, text, nil)
			var le *lang.Error
			if said := c.g.text(file); errors.As(e, &le) && strings.Contains(said, "^") {
				le.Msg += "\n" + strings.TrimRight(said, "\n")
				le.Hint = c.fieldHint(said, text)
			}
			return nil, e
		}
	}
	said, err := c.get(file)
	return str(strings.TrimRight(said, "\n")), err
}

// fieldHint is the hint for what the kernel says of a filter or a hist trigger: the event's fields, where it found none of a name.
func (c *call) fieldHint(said, text string) string {
	switch {
	case strings.Contains(said, "Invalid operator") && assignment.MatchString(text):
		return "equal is =="
	case !strings.Contains(said, "Field not found") && !strings.Contains(said, "Couldn't find field"):
		return ""
	}
	fields := c.g.fieldNames(c.event)
	for _, word := range fieldWord.FindAllString(text, -1) {
		if slices.Contains(fields, word) {
			continue
		}
		if near := lang.DidYouMean(word, fields); near != "" {
			return near
		}
	}
	return c.event.name + " has " + strings.Join(fields, ", ")
}

var (
	assignment = regexp.MustCompile(`[^=!<>]=[^=]`)
	fieldWord  = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// fieldNames are the names of an event's fields, its own first.
func (g *Guest) fieldNames(ev *traceEvent) (names []string) {
	var common []string
	for _, m := range formatField.FindAllStringSubmatch(g.text(ev.dir+"/format"), -1) {
		if strings.HasPrefix(m[1], "common_") {
			common = append(common, m[1])
		} else {
			names = append(names, m[1])
		}
	}
	return append(names, common...)
}

var formatField = regexp.MustCompile(`(?m)^\tfield:[^;]*?(\w+)(?:\[[^]]*\])?;`)

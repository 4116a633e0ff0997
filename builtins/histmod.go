package builtins

import (
	"fmt"
	"regexp"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// Triggers, histograms and synthetic events, as the files of tracefs have them: what is made here is seen there, and the other way
// round.

// triggerMethods are those of Event.
func triggerMethods() []method {
	return []method{
		{name: "trigger", sig: "(text)", fn: eventTrigger,
			doc: "Adds a trigger, as the event's file trigger takes it.\n\"stacktrace:5 if next_pid > 100\", \"traceoff\", \"enable_event:sched:sched_wakeup\",\n\"hist:keys=pid\". A wrong one is told with the caret of error_log."},
		{name: "triggers", sig: "() -> [string]", fn: eventTriggers, doc: "The event's triggers."},
		{name: "untrigger", sig: "(text)", fn: eventUntrigger, doc: "Takes a trigger off again; text as it was given."},
		{name: "hist", sig: "(keys, vals = [\"hitcount\"], sort = [], size = 2048, name = None, when = None) -> Hist", fn: eventHist,
			doc: "Makes a histogram of the event in the kernel, by a hist trigger.\nkeys and vals are fields, with modifiers if need be (\"common_pid.execname\", \"call_site.sym\", \"bytes_req.log2\"); sort is of them (\"hitcount.descending\"); when is a filter."},
	}
}

// triggerWrite writes to the event's file trigger.
func (c *call) triggerWrite(text string) error {
	if err := c.ready(); err != nil {
		return err
	}
	err := c.g.writeTrace(c.event.dir+"/trigger", text+"\n", true)
	if err == nil {
		return nil
	}
	return c.withErrorLog(c.fail(err, text, nil), text)
}

// withErrorLog adds to the error of writing text what tracefs says of it in the file error_log, with its caret.
func (c *call) withErrorLog(err error, text string) error {
	log := c.g.text("error_log")
	e, ok := err.(*lang.Error)
	if i := strings.LastIndex("\n"+log, "\n["); ok && i >= 0 && strings.Contains(log[i:], "\n  Command: "+strings.TrimSpace(text)+"\n") {
		_, said, _ := strings.Cut(log[i:], "] ")
		e.Msg += "\n" + strings.TrimRight(said, "\n")
		if c.event != nil {
			e.Hint = c.fieldHint(said, text)
		}
	}
	return err
}

func eventTrigger(c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	return starlark.None, c.triggerWrite(text)
}

func eventUntrigger(c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	return starlark.None, c.triggerWrite("!" + strings.TrimPrefix(text, "!"))
}

func eventTriggers(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	text, err := c.get(c.event.dir + "/trigger")
	var lines []string
	for _, line := range nonEmptyLines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lang.Strings(lines), err
}

// commaList is a string, or a list of them, as a hist trigger spells lists.
func (c *call) commaList(what string, v starlark.Value) (string, error) {
	if s, ok := starlark.AsString(v); ok {
		return s, nil
	}
	list, ok := v.(starlark.Iterable)
	if !ok {
		return "", c.errorf("%s is %s, want a list of fields", what, v.Type())
	}
	var parts []string
	it := list.Iterate()
	defer it.Done()
	var x starlark.Value
	for it.Next(&x) {
		s, ok := starlark.AsString(x)
		if !ok {
			return "", c.errorf("%s: %s is no field", what, x)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ","), nil
}

func eventHist(c *call) (starlark.Value, error) {
	var keys starlark.Value
	var vals, sort starlark.Value = starlark.None, starlark.None
	var name, when option[string]
	size := 2048
	if err := c.unpack("keys", &keys, "vals?", &vals, "sort?", &sort, "size?", &size, "name?", &name, "when?", &when); err != nil {
		return nil, err
	}
	h := &histogram{ev: c.event}
	for _, part := range []struct {
		what string
		v    starlark.Value
	}{{"keys", keys}, {"vals", vals}, {"sort", sort}} {
		if part.v == starlark.None {
			continue
		}
		text, err := c.commaList(part.what, part.v)
		if err != nil {
			return nil, err
		}
		if text != "" {
			h.spec += ":" + part.what + "=" + text
		}
	}
	h.spec = "hist" + h.spec
	if size != 2048 {
		h.spec += fmt.Sprintf(":size=%d", size)
	}
	if name.given {
		h.spec += ":name=" + name.value
	}
	if when.value != "" {
		h.when = " if " + when.value
	}
	old := len(histBlocks(c.g.text(c.event.dir + "/hist")))
	if err := c.triggerWrite(h.spec + h.when); err != nil {
		return nil, err
	}
	if blocks := histBlocks(c.g.text(c.event.dir + "/hist")); len(blocks) > 0 {
		h.info = blocks[min(old, len(blocks)-1)].info
	}
	return h, nil
}

// histBlock is one histogram of a file hist.
type histBlock struct{ info, text string }

var histInfo = regexp.MustCompile(`(?m)^# trigger info: (.*) \[\w+\]$`)

// histBlocks are the histograms of an event, each with the trigger that made it.
func histBlocks(text string) (out []histBlock) {
	const head = "# event histogram\n"
	for i, part := range strings.Split(text, head) {
		if m := histInfo.FindStringSubmatch(part); i > 0 && m != nil {
			out = append(out, histBlock{m[1], head + strings.TrimRight(part, "\n") + "\n"})
		}
	}
	return out
}

// histogram is the value Hist: a hist trigger of an event.
type histogram struct {
	ev   *traceEvent
	spec string // as it was written
	when string
	info string // as the kernel writes it back
}

var _ starlark.HasAttrs = (*histogram)(nil)

func (h *histogram) Type() string          { return "Hist" }
func (h *histogram) Freeze()               {}
func (h *histogram) Truth() starlark.Bool  { return true }
func (h *histogram) Hash() (uint32, error) { return starlark.String(h.spec).Hash() }
func (h *histogram) String() string        { return fmt.Sprintf("<%s of %s>", h.spec, h.ev.name) }
func (h *histogram) AttrNames() []string   { return methodNames(histMethods(nil)) }

func (h *histogram) Attr(name string) (starlark.Value, error) {
	m, ok := find(histMethods(h), name)
	if !ok {
		return nil, noAttr("Hist", name, h.AttrNames())
	}
	fn := m.fn
	m.fn = func(c *call) (starlark.Value, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		c.event = h.ev
		return fn(c)
	}
	return m.bound("Hist", h, h.ev.g)
}

// histMethods are what a Hist can do.
func histMethods(h *histogram) []method {
	control := func(word string) func(c *call) (starlark.Value, error) {
		return func(c *call) (starlark.Value, error) {
			return starlark.None, c.triggerWrite(h.spec + ":" + word + h.when)
		}
	}
	return []method{
		{name: "text", sig: "() -> string", doc: "What the file hist shows of it.", fn: func(c *call) (starlark.Value, error) { return str(h.text()), nil }},
		{name: "rows", sig: "() -> [dict]", doc: "Its entries, each a dict of its keys and values; numbers are ints.", fn: func(c *call) (starlark.Value, error) { return histRows(h.text()), nil }},
		{name: "clear", sig: "()", doc: "Empties it.", fn: control("clear")},
		{name: "pause", sig: "()", doc: "Has it count nothing.", fn: control("pause")},
		{name: "cont", sig: "()", doc: "Has it count again.", fn: control("cont")},
		{name: "close", sig: "()", doc: "Takes it off.", fn: func(c *call) (starlark.Value, error) { return starlark.None, c.triggerWrite("!" + h.spec + h.when) }},
	}
}

// text is its part of the file; "" when it is gone.
func (h *histogram) text() string {
	for _, b := range histBlocks(h.ev.g.text(h.ev.dir + "/hist")) {
		if b.info == h.info {
			return b.text
		}
	}
	return ""
}

var (
	histRow   = regexp.MustCompile(`(?m)^\{ (.*) \}(.*)$`)
	histValue = regexp.MustCompile(`(\S+): +(\S+)`)
)

// histRows takes the lines "{ key: value, key: value } hitcount: N  val: M" apart.
func histRows(text string) starlark.Value {
	var rows []starlark.Value
	for _, m := range histRow.FindAllStringSubmatch(text, -1) {
		row := new(starlark.Dict)
		for _, part := range strings.Split(m[1], ", ") {
			key, value, _ := strings.Cut(part, ":")
			_ = row.SetKey(str(strings.TrimSpace(key)), numberOr(strings.TrimSpace(value)))
		}
		for _, v := range histValue.FindAllStringSubmatch(m[2], -1) {
			_ = row.SetKey(str(v[1]), numberOr(v[2]))
		}
		rows = append(rows, row)
	}
	return starlark.NewList(rows)
}

var decimal = regexp.MustCompile(`^-?\d+$`)

// numberOr is a decimal number as an int, anything else as it is.
func numberOr(text string) starlark.Value {
	if decimal.MatchString(text) {
		if v, err := starlark.Eval(new(starlark.Thread), "", text, nil); err == nil {
			return v
		}
	}
	return str(text)
}

// eventSynth makes a synthetic event.
func eventSynth(c *call) (starlark.Value, error) {
	var name string
	fields := new(starlark.Dict)
	if err := c.unpack("name", &name, "fields", &fields); err != nil {
		return nil, err
	}
	line := name
	for i, item := range fields.Items() {
		field, ok1 := starlark.AsString(item[0])
		typ, ok2 := starlark.AsString(item[1])
		if !ok1 || !ok2 {
			return nil, c.errorf("fields: want name: type, both strings")
		}
		if i > 0 {
			line += ";"
		}
		base, size, array := strings.Cut(typ, "[")
		if typ == "string" {
			base, size, array = "char", "]", true
		}
		if line += " " + base + " " + field; array {
			line += "[" + size
		}
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if err := c.g.writeTrace("synthetic_events", line+"\n", true); err != nil {
		return nil, c.withErrorLog(c.fail(err, name, nil), line)
	}
	return &traceEvent{g: c.g, name: "synthetic:" + name, dir: "events/synthetic/" + name}, nil
}

package builtins

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// event.join: what happens between two events, by the kernel's own means. It writes what a person would write to synthetic_events and
// to two files trigger (Documentation/trace/histogram.rst, "Inter-event hist triggers"), so the files show it, and it costs what it
// costs there: the first event keeps its time in a variable of a histogram, by key, and the second one's onmatch emits the difference.

// joinMethods are the rows of module event for it.
func joinMethods() []method {
	return []method{
		{name: "join", sig: `(start, end, on, emit = None, fields = {}) -> Event`, fn: eventJoin,
			doc: "Pairs each event end with the last event start of the same key: a new event, emitted in the kernel, whose field lat is the ns between them.\n" +
				"on is the key: a field that both have, or {field of start: field of end}; it is a field of the new event too, without common_. fields are more of them,\n" +
				"name: field of end, or \"start.field\". emit names the event: synthetic:NAME, with all that events have (on, enable, filter, hist).\n" +
				"A start pairs once; one of the same key that comes before its end replaces it. Behind it are hist triggers of start and end and a synthetic\n" +
				"event, as their files show; Event.remove takes all out. The key must be no pointer to text."},
	}
}

// eventField is a line of a format file.
type eventField struct{ decl, name, size string }

var formatLine = regexp.MustCompile(`(?m)^\tfield:(.*?(\w+)(?:\[[^]]*\])?);\toffset:\d+;\tsize:(\d+);`)

// declared are the fields of an event, common ones too, and the pseudo field common_cpu of hist triggers.
func (g *Guest) declared(dir string) (fields []eventField) {
	for _, m := range formatLine.FindAllStringSubmatch(g.text(dir+"/format"), -1) {
		fields = append(fields, eventField{m[1], m[2], m[3]})
	}
	return append(fields, eventField{"unsigned int common_cpu", "common_cpu", "4"})
}

// synth is the field as a synthetic event called name declares it; "" when it cannot have it. Types that synthetic_events knows keep their
// name, others are unsigned: a field given to onmatch must be of that very type or of its size and unsigned (check_synth_field and create_var
// in kernel/trace/trace_events_hist.c).
func (f eventField) synth(name string) string {
	typ := strings.TrimSpace(strings.TrimSuffix(f.decl, f.name))
	bits := map[string]string{"1": "8", "2": "16", "4": "32", "8": "64"}[f.size]
	switch {
	case strings.HasPrefix(f.decl, "__data_loc char[]"):
		return "char " + name + "[]"
	case strings.HasPrefix(f.decl, "char ") && strings.HasSuffix(f.decl, "]"):
		return "char " + name + f.decl[strings.IndexByte(f.decl, '['):]
	case bits == "" || strings.HasSuffix(f.decl, "]"):
		return ""
	case slices.Contains(synthTypes, typ):
		return typ + " " + name
	}
	return "u" + bits + " " + name
}

// synthTypes are those that synth_field_size knows.
var synthTypes = []string{"s64", "u64", "s32", "u32", "s16", "u16", "s8", "u8", "char", "unsigned char", "int", "unsigned int", "long", "unsigned long", "bool", "pid_t", "gfp_t"}

// joining is an event.join under way.
type joining struct {
	c          *call
	start, end *traceEvent
	emit       string
	decl       []string // of the synthetic event
	params     []string // what onmatch gives it
	vars       []string // of the start: "v=field"
	keyA, keyB []string
}

func eventJoin(c *call) (starlark.Value, error) {
	var start, end, on, emit, fields starlark.Value
	if err := c.unpack("start", &start, "end", &end, "on", &on, "emit?", &emit, "fields?", &fields); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	j := &joining{c: c}
	var err error
	if j.start, err = c.eventOf("start", start); err != nil {
		return nil, err
	}
	if j.end, err = c.eventOf("end", end); err != nil {
		return nil, err
	}
	switch name, ok := emit.(starlark.String); {
	case ok:
		j.emit = string(name)
	case emit == nil || emit == starlark.None:
		j.emit = short(j.start) + "_to_" + short(j.end)
	default:
		return nil, about("emit", c.errorf("emit: got %s, want string", emit.Type()))
	}
	if err := j.keys(on); err != nil {
		return nil, about("on", err)
	}
	j.decl, j.params = append(j.decl, "u64 lat"), append(j.params, "$"+j.name("lat"))
	if err := j.more(fields); err != nil {
		return nil, about("fields", err)
	}
	return j.make()
}

// short is an event's name without its system.
func short(e *traceEvent) string {
	_, name, _ := strings.Cut(e.name, ":")
	return name
}

// name is that of a variable: those of one event's histograms share a space of names.
func (j *joining) name(v string) string { return j.emit + "_" + v }

// eventOf is an event or its name.
func (c *call) eventOf(param string, v starlark.Value) (*traceEvent, error) {
	if e, ok := v.(*traceEvent); ok {
		return e, nil
	}
	name, ok := starlark.AsString(v)
	if !ok {
		return nil, about(param, c.errorf("%s: got %s, want an event or its name", param, v.Type()))
	}
	dir, err := c.eventDir(name)
	return &traceEvent{g: c.g, name: name, dir: dir}, err
}

// field finds a field of an event.
func (j *joining) field(ev *traceEvent, name string) (eventField, error) {
	fields := j.c.g.declared(ev.dir)
	var names []string
	for _, f := range fields {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	e := j.c.errorf("%s has no field %s", ev.name, name)
	e.At = name
	if e.Hint = lang.DidYouMean(name, names); e.Hint == "" {
		e.Hint = "it has " + strings.Join(j.c.g.fieldNames(ev), ", ")
	}
	return eventField{}, e
}

// add adds a field to the synthetic event.
func (j *joining) add(name, param string, f eventField) error {
	decl := f.synth(name)
	if decl == "" {
		return j.c.errorf("%s: a synthetic event cannot have a %q", name, f.decl)
	}
	j.decl, j.params = append(j.decl, decl), append(j.params, param)
	return nil
}

// keys takes on.
func (j *joining) keys(on starlark.Value) error {
	pairs := new(starlark.Dict)
	switch x := on.(type) {
	case starlark.String:
		_ = pairs.SetKey(x, x)
	case *starlark.Dict:
		pairs = x
	default:
		return j.c.errorf("on: got %s, want a field or {field of start: field of end}", on.Type())
	}
	if n := pairs.Len(); n < 1 || n > 3 { // HIST_KEYS_MAX
		return j.c.errorf("on: %d keys: want 1 to 3", n)
	}
	for _, item := range pairs.Items() {
		a, ok1 := starlark.AsString(item[0])
		b, ok2 := starlark.AsString(item[1])
		if !ok1 || !ok2 {
			return j.c.errorf("on: want names of fields")
		}
		if _, err := j.field(j.start, a); err != nil {
			return err
		}
		f, err := j.field(j.end, b)
		if err != nil {
			return err
		}
		j.keyA, j.keyB = append(j.keyA, a), append(j.keyB, b)
		if err := j.add(strings.TrimPrefix(a, "common_"), b, f); err != nil {
			return err
		}
	}
	return nil
}

// more takes fields.
func (j *joining) more(fields starlark.Value) error {
	if fields == nil || fields == starlark.None {
		return nil
	}
	dict, ok := fields.(*starlark.Dict)
	if !ok {
		return j.c.errorf("fields: got %s, want {name: field of end, or \"start.field\"}", fields.Type())
	}
	for _, item := range dict.Items() {
		name, ok1 := starlark.AsString(item[0])
		of, ok2 := starlark.AsString(item[1])
		if !ok1 || !ok2 {
			return j.c.errorf("fields: want name: field, both strings")
		}
		first, field, ofStart := strings.Cut(of, ".")
		ev, param := j.end, of
		switch {
		case first == "start" && ofStart:
			ev, param = j.start, "$"+j.name(name)
			j.vars = append(j.vars, j.name(name)+"="+field)
		case first == "end" && ofStart:
			param = field
		default:
			field = of
		}
		f, err := j.field(ev, field)
		if err != nil {
			return err
		}
		if err := j.add(name, param, f); err != nil {
			return err
		}
	}
	return nil
}

// make writes the files; what was made is taken back when one refuses.
func (j *joining) make() (starlark.Value, error) {
	c := j.c
	line := j.emit + " " + strings.Join(j.decl, "; ")
	if err := c.g.writeTrace("synthetic_events", line+"\n", true); err != nil {
		return nil, c.withErrorLog(c.fail(err, j.emit, nil), line)
	}
	ev := &traceEvent{g: c.g, name: "synthetic:" + j.emit, dir: "events/synthetic/" + j.emit}
	vars := append([]string{j.name("ts") + "=common_timestamp"}, j.vars...)
	first := fmt.Sprintf("hist:keys=%s:%s", strings.Join(j.keyA, ","), strings.Join(vars, ":"))
	then := fmt.Sprintf("hist:keys=%s:%s=common_timestamp-$%s:onmatch(%s).%s(%s)", strings.Join(j.keyB, ","), j.name("lat"), j.name("ts"),
		strings.Replace(j.start.name, ":", ".", 1), j.emit, strings.Join(j.params, ","))
	for _, t := range []joint{{j.start, first}, {j.end, then}} {
		c.event = t.ev
		if err := c.triggerWrite(t.text); err != nil {
			_ = ev.unjoin()
			_ = c.g.writeTrace("synthetic_events", "!"+j.emit+"\n", true)
			return nil, err
		}
		ev.joints = append(ev.joints, t)
	}
	return ev, nil
}

// joint is a trigger behind an event of event.join.
type joint struct {
	ev   *traceEvent
	text string
}

// unjoin takes the triggers off, the last first: the first one's variable is in use till then.
func (e *traceEvent) unjoin() error {
	if len(e.joints) > 0 {
		if err := e.g.writeTrace(e.dir+"/enable", "0", false); err != nil {
			return err
		}
	}
	for n := len(e.joints); n > 0; n-- {
		t := e.joints[n-1]
		if err := e.g.writeTrace(t.ev.dir+"/trigger", "!"+t.text+"\n", true); err != nil {
			return err
		}
		e.joints = e.joints[:n-1]
	}
	return nil
}

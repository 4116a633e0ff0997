package builtins

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/lang"
)

// Events of scripts: event.define and what its result can do.

// defineMethods are the rows of module event for them.
func defineMethods() []method {
	return []method{
		{name: "define", sig: `(name, fields = {}, fmt = "") -> Event`, fn: eventDefine,
			doc: "Makes a new event \"system:name\" with a directory below events/, an id, a filter and an enable; Event.emit makes it happen.\nfields are name: type, in order: u8 to u64, s8 to s64, int, long, bool, pid_t, \"char[16]\", or \"string\" of any length.\nfmt is a printf format that takes the fields in their order (\"pid=%d name=%s\"); with REC->field in it, a whole print fmt as\nformat files have it; without one each field is shown as name=value. tracer.reset() removes the event."},
		{name: "synth", sig: "(name, fields) -> Event", fn: eventSynth,
			doc: "Makes a synthetic event, for the actions of hist triggers.\nfields are name: type (\"u64\", \"pid_t\", \"char[16]\",\n\"string\" of any length). It is in events/synthetic/, and has the methods of any event."},
	}
}

func eventDefine(c *call) (starlark.Value, error) {
	var name, text string
	fields := new(starlark.Dict)
	if err := c.unpack("name", &name, "fields?", &fields, "fmt?", &text); err != nil {
		return nil, err
	}
	system, event, ok := strings.Cut(name, ":")
	if !ok {
		return nil, c.errorf("%q: want system:name", name)
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	var list []ftrace.DefineField
	for _, item := range fields.Items() {
		n, ok1 := starlark.AsString(item[0])
		typ, ok2 := starlark.AsString(item[1])
		if !ok1 || !ok2 {
			return nil, c.errorf("fields: want name: type, both strings")
		}
		list = append(list, ftrace.DefineField{Name: n, Type: typ})
	}
	if strings.Contains(text, "REC->") && !strings.HasPrefix(text, `"`) {
		text = `"` + text
	}
	if _, err := c.g.T.Define(system, event, list, text); err != nil {
		e := &lang.Error{Msg: fmt.Sprintf("%s: %s: %v", c.name, name, err), At: name}
		var de *ftrace.DefineError
		if errors.As(err, &de) {
			e.Code = de.Errno.Name()
			if de.Field != "" {
				e.At = de.Field
			}
		}
		return nil, e
	}
	return &traceEvent{g: c.g, name: name, dir: "events/" + system + "/" + event}, nil
}

// definedEvent is the receiver, which must be an event of event.define.
func (c *call) definedEvent() (*ftrace.TraceEvent, error) {
	for _, ev := range c.g.T.Defined() {
		if ev.Key() == c.event.name {
			return ev, nil
		}
	}
	e := c.errorf("%s is no event of event.define", c.event.name)
	e.Code = "EINVAL"
	return nil, e
}

// eventEmit makes the event happen: on the CPU that runs, in a handler, or else in the guest's kthread kscoped.
func eventEmit(c *call) (starlark.Value, error) {
	ev, err := c.definedEvent()
	if err != nil {
		return nil, err
	}
	if len(c.args) > 0 {
		return nil, c.errorf("want fields by name only")
	}
	values, err := c.emitValues(ev)
	if err != nil {
		return nil, err
	}
	if cpu := c.g.M.Running(); cpu != nil {
		ev.Emit(cpu, values)
		return starlark.None, nil
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	err = c.g.guard(func() error {
		return c.g.M.Do("event "+ev.Key(), func(cpu *kernel.VCPU) error {
			ev.Emit(cpu, values)
			return nil
		})
	})
	return starlark.None, c.fail(err, ev.Key(), nil)
}

// emitValues are the fields in order; one that is not given is 0 or "".
func (c *call) emitValues(ev *ftrace.TraceEvent) ([]any, error) {
	values := make([]any, len(ev.Fields))
	var names []string
	for i := range ev.Fields {
		names = append(names, ev.Fields[i].Name)
	}
next:
	for _, kw := range c.kwargs {
		name := string(kw[0].(starlark.String))
		for i := range ev.Fields {
			x := &ev.Fields[i]
			if x.Name != name {
				continue
			}
			wantText := x.DataLoc() || strings.HasPrefix(x.Type, "char[")
			switch v := kw[1].(type) {
			case starlark.String:
				if !wantText {
					return nil, c.errorf("field %s is %s: want int, not string", name, x.Type)
				}
				values[i] = string(v)
			case starlark.Bool:
				values[i] = uint64(0)
				if v {
					values[i] = uint64(1)
				}
			case starlark.Int:
				if wantText {
					return nil, c.errorf("field %s is %s: want string, not int", name, x.Type)
				}
				n, ok := v.Uint64()
				if s, sok := v.Int64(); !ok && sok {
					n, ok = uint64(s), true
				}
				if !ok {
					return nil, c.errorf("field %s = %s does not fit 64 bits", name, v)
				}
				values[i] = n
			default:
				return nil, c.errorf("field %s is %s: cannot take %s", name, x.Type, v.Type())
			}
			continue next
		}
		return nil, &lang.Error{Msg: fmt.Sprintf("%s: %s has no field %s", c.name, ev.Key(), name), At: name, Hint: lang.DidYouMean(name, names)}
	}
	return values, nil
}

// eventRemove takes an event of event.define out again.
func eventRemove(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(c.event.name, "synthetic:"); ok {
		if err := c.ready(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(c.g.env.live(), func(h *hook) bool { return h.armed && h.spec == "tracepoint:"+c.event.name }) {
			return nil, &lang.Error{Msg: fmt.Sprintf("%s: %s: %v", c.name, name, kernel.EBUSY), Code: "EBUSY", Hint: "on() has a handler at it still: its close() takes it off"}
		}
		if err := c.event.unjoin(); err != nil {
			return nil, c.fail(err, name, nil)
		}
		return starlark.None, c.fail(c.g.writeTrace("synthetic_events", "!"+name+"\n", true), name, nil)
	}
	ev, err := c.definedEvent()
	if err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	return starlark.None, c.fail(c.g.T.Undefine(ev), ev.Key(), nil)
}

// undefine takes out all events of event.define, for tracer.reset.
func (g *Guest) undefine() error {
	for _, ev := range g.T.Defined() {
		for _, t := range append(g.T.Instances(), g.T) {
			if err := t.EnableEvent(ev, false); err != nil {
				return err
			}
		}
		if err := g.T.Undefine(ev); err != nil {
			return err
		}
	}
	return nil
}

// eventOn is on() for the receiver.
func eventOn(c *call) (starlark.Value, error) {
	on := *c
	on.args = append(starlark.Tuple{str("tracepoint:" + c.event.name)}, c.args...)
	return onFn(&on)
}

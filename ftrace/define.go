package ftrace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// Events that the host defines: what TRACE_EVENT is for C, for a script. They have files, an id, filters and enables as any
// other event, and happen when Emit says so.

// firstDynamic is the first id of an event that is no part of the image, as on Debian's 6.1.
const firstDynamic = 1392

// NextEventID is an id for a new event, that none has had before: the ring may have records of events that are gone.
func (t *Tracer) NextEventID() uint16 {
	r := t.root()
	id := max(firstDynamic, r.lastID+1)
	for _, f := range r.events.All() {
		id = max(id, f.ID+1)
	}
	r.lastID = id
	return id
}

// DefineField is a field of a new event: a name, and a type as C has it: u8 to u64, s8 to s64, int, long, pid_t, bool …, or
// "string", of any length, or "char[N]".
type DefineField struct{ Name, Type string }

// fieldSizes are the types of single values; negative sizes are signed.
var fieldSizes = map[string]int{
	"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s8": -1, "s16": -2, "s32": -4, "s64": -8, "bool": 1, "char": -1,
	"int": -4, "unsigned int": 4, "long": -8, "unsigned long": 8, "pid_t": -4, "size_t": 8, "gfp_t": 4, "dev_t": 4,
}

// DefineError says which part of a definition is wrong.
type DefineError struct {
	Field string // "": not a field
	Msg   string
	Errno kernel.Errno
}

func (e *DefineError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("field %s: %s", e.Field, e.Msg)
	}
	return e.Msg
}

func (e *DefineError) Unwrap() error { return e.Errno }

// Define makes a new event. text is a printf format that takes the fields in their order, or a whole print fmt when it begins
// with a quotation mark; "" shows each field as name=value.
func (t *Tracer) Define(system, name string, fields []DefineField, text string) (*TraceEvent, error) {
	for _, w := range []string{system, name} {
		if !isName(w) {
			return nil, &DefineError{Msg: fmt.Sprintf("%q is no name: letters, digits and _", w), Errno: kernel.EINVAL}
		}
	}
	if _, ok := t.TraceEvent(system, name); ok {
		return nil, &DefineError{Msg: "the event exists", Errno: kernel.EEXIST}
	}
	if system == "ftrace" {
		return nil, &DefineError{Msg: "the events of system ftrace are the tracers'", Errno: kernel.EINVAL}
	}
	f := &event.Format{System: system, Name: name, ID: t.NextEventID()}
	if err := layFields(f, fields); err != nil {
		return nil, err
	}
	f.Print = printOf(f, text)
	var err error
	if f.Text, err = event.CompilePrint(f); err != nil {
		return nil, &DefineError{Msg: err.Error(), Errno: kernel.EINVAL}
	}
	ev := &TraceEvent{Format: f}
	t.AddEvent(ev)
	r := t.root()
	r.defined = append(slices.Clip(r.defined), f)
	return ev, nil
}

func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9' || i == 0) && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) < 64
}

// layFields gives the fields their places, each at a multiple of its size, as C does.
func layFields(f *event.Format, fields []DefineField) error {
	at := event.HeaderSize
	for _, x := range fields {
		if !isName(x.Name) || strings.HasPrefix(x.Name, "common_") {
			return &DefineError{x.Name, "no name for a field", kernel.EINVAL}
		}
		if _, ok := f.Field(x.Name); ok {
			return &DefineError{x.Name, "is there twice", kernel.EEXIST}
		}
		e := event.Field{Name: x.Name, Type: x.Type}
		align := 1
		switch size, known := fieldSizes[x.Type]; {
		case known:
			e.Size, e.Signed = max(size, -size), size < 0
			align = e.Size
		case x.Type == "string":
			e.Type, e.Size, e.Signed, align = "__data_loc char[]", 4, true, 4
		case strings.HasPrefix(x.Type, "char[") && strings.HasSuffix(x.Type, "]"):
			n, err := strconv.Atoi(x.Type[5 : len(x.Type)-1])
			if err != nil || n < 1 || n > 256 {
				return &DefineError{x.Name, fmt.Sprintf("type %q: want char[1] to char[256]", x.Type), kernel.EINVAL}
			}
			e.Size, e.Signed = n, true
		default:
			return &DefineError{x.Name, fmt.Sprintf("type %q is not known", x.Type), kernel.EINVAL}
		}
		at = (at + align - 1) &^ (align - 1)
		e.Offset = at
		at += e.Size
		f.Fields = append(f.Fields, e)
	}
	return nil
}

// printOf makes the print fmt.
func printOf(f *event.Format, text string) string {
	if strings.HasPrefix(text, `"`) {
		return text
	}
	var args, parts []string
	for i := range f.Fields {
		x := &f.Fields[i]
		arg, verb := "REC->"+x.Name, "%llu"
		switch {
		case x.DataLoc():
			arg, verb = "__get_str("+x.Name+")", "%s"
		case strings.HasPrefix(x.Type, "char["):
			verb = "%s"
		case x.Size < 8 && x.Signed:
			verb = "%d"
		case x.Size < 8:
			verb = "%u"
		case x.Signed:
			verb = "%lld"
		}
		args, parts = append(args, ", "+arg), append(parts, x.Name+"="+verb)
	}
	if text == "" {
		text = strings.Join(parts, " ")
	}
	return strconv.Quote(text) + strings.Join(args, "")
}

// Undefine takes an event of Define out again; EBUSY while it is on somewhere.
func (t *Tracer) Undefine(ev *TraceEvent) error {
	r := t.root()
	i := slices.Index(r.defined, ev.Format)
	if i < 0 {
		return kernel.EINVAL
	}
	if err := t.RemoveEvent(ev); err != nil {
		return err
	}
	r.defined = slices.Delete(slices.Clone(r.defined), i, i+1)
	return nil
}

// Defined lists the events of Define.
func (t *Tracer) Defined() (out []*TraceEvent) {
	r := t.root()
	for _, f := range r.defined {
		if ev, ok := t.TraceEvent(f.System, f.Name); ok {
			out = append(out, ev)
		}
	}
	return out
}

// Emit makes an event of Define happen on c: values are by field, uint64 or string.
func (ev *TraceEvent) Emit(c *kernel.VCPU, values []any) {
	n := event.HeaderSize
	for i := range ev.Fields {
		x := &ev.Fields[i]
		n = max(n, x.Offset+x.Size)
	}
	fixed := n
	for i := range ev.Fields {
		if s, ok := values[i].(string); ok && ev.Fields[i].DataLoc() {
			n += min(len(s), maxText) + 1
		}
	}
	ev.Fire(c, n, func(d []byte) {
		clear(d[event.HeaderSize:])
		at := fixed
		for i := range ev.Fields {
			x := &ev.Fields[i]
			switch v := values[i].(type) {
			case uint64:
				x.Encode(d, v)
			case string:
				if !x.DataLoc() {
					copy(d[x.Offset:x.Offset+x.Size-1], v)
					continue
				}
				k := copy(d[at:len(d)], v[:min(len(v), maxText)]) + 1
				x.Encode(d, uint64(k)<<16|uint64(at))
				at += k
			}
		}
	})
}

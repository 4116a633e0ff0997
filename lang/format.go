package lang

import (
	"bytes"
	ejson "encoding/json"
	"fmt"
	"io"
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
)

// Output is a script's standard output as JSON: each line is an object {"type": "text", "data": "..."}, one a line (ndjson) or
// all of them in one array (json). A line that is an object with a type already, as aggregations print themselves, stays as it
// is; a value with parts that is printed alone, such as a Record or a dict, is an object with its type: {"type": "Record", "data": {...}}.
// Errors are objects among them.
type Output struct {
	w     io.Writer
	array bool
	line  []byte
	n     int
}

// Formats are the values of --format.
func Formats() []string { return []string{"text", "json", "ndjson"} }

// NewOutput makes the writer for a format; nil for text.
func NewOutput(w io.Writer, format string) *Output {
	if format == "" || format == "text" {
		return nil
	}
	return &Output{w: w, array: format == "json"}
}

func (o *Output) Write(b []byte) (int, error) {
	o.line = append(o.line, b...)
	for {
		i := bytes.IndexByte(o.line, '\n')
		if i < 0 {
			return len(b), nil
		}
		o.text(o.line[:i])
		o.line = o.line[i+1:]
	}
}

// value writes a value with parts; false: it is a text like any other.
func (o *Output) value(t *starlark.Thread, v starlark.Value) bool {
	switch v := v.(type) {
	case starlark.String, starlark.Bytes, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, starlark.Callable:
		return false
	case starlark.HasAttrs, starlark.Iterable:
		text, err := starlark.Call(t, json.Module.Members["encode"], starlark.Tuple{v}, nil)
		data, ok := text.(starlark.String)
		if err != nil || !ok {
			return false // an object of the machine's
		}
		typ, _ := ejson.Marshal(v.Type())
		o.flush()
		o.object(fmt.Appendf(nil, `{"type": %s, "data": %s}`, typ, string(data)))
		return true
	}
	return false
}

// text is one line of a script.
func (o *Output) text(line []byte) {
	if bytes.HasPrefix(line, []byte(`{"type": `)) && ejson.Valid(line) {
		o.object(line)
		return
	}
	data, _ := ejson.Marshal(string(line)) // of a string it cannot fail
	o.object(fmt.Appendf(nil, `{"type": "text", "data": %s}`, data))
}

// object writes one object.
func (o *Output) object(b []byte) {
	switch {
	case !o.array:
	case o.n == 0:
		io.WriteString(o.w, "[\n")
	default:
		io.WriteString(o.w, ",\n")
	}
	o.n++
	o.w.Write(b)
	if !o.array {
		io.WriteString(o.w, "\n")
	}
}

// fail writes an error as Report words it.
func (o *Output) fail(text string, status int) {
	o.flush()
	msg, rest, _ := strings.Cut(strings.TrimPrefix(text, "error: "), "\n")
	hint := ""
	if i := strings.LastIndex("\n"+rest, "\n  hint: "); i >= 0 {
		hint, _, _ = strings.Cut(rest[i+len("  hint: "):], "\n")
		rest = rest[:i]
	}
	fields := []any{msg, strings.TrimRight(rest, "\n"), hint}
	for i := range fields {
		b, _ := ejson.Marshal(fields[i])
		fields[i] = b
	}
	o.object(fmt.Appendf(nil, `{"type": "error", "text": %s, "where": %s, "hint": %s, "status": %d}`, append(fields, status)...))
}

func (o *Output) flush() {
	if len(o.line) > 0 {
		o.text(o.line)
		o.line = nil
	}
}

// Finish writes what is left: a line without its end, and the end of the array.
func (o *Output) Finish() {
	o.flush()
	if o.array {
		if o.n == 0 {
			io.WriteString(o.w, "[")
		}
		io.WriteString(o.w, "\n]\n")
	}
}

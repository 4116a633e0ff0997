package lang

import (
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/lib/math"
	"go.starlark.net/lib/time"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// std are the rows that every host has.
func (h *Host) std() []Table {
	return []Table{
		{Title: "the language: Starlark with while, recursion, top-level if/for, sets and reassignment", Rows: []Row{
			{Name: "print", Sig: `(*args, sep = " ")`, Doc: "Prints values with a newline.\nBytes that are no text are printed as a literal, b\"\\x0f\"; hex(b) is easier to read."},
			{Name: "printf", Sig: "(format, *args)", Fn: h.printf, Doc: "Prints by C's conversions: %d %i %u %x %X %o %b %c %s %r %v %p %f %e %g, with flags, width and precision.\n%v and %s take any value, %p prints an address in 16 digits, %x of a negative number its 64-bit form, of bytes two digits for each, which \"% x\" sets apart."},
			{Name: "sprintf", Sig: "(format, *args) -> string", Fn: h.sprintf, Doc: "Like printf, as a string."},
			{Name: "hex", Sig: "(x) -> string", Fn: h.hex, Doc: "The hexadecimal text of bytes, \"0f 1f 44 00 00\", or of an int, \"0xf1f\"."},
			{Name: "table", Sig: "(rows, cols = None)", Fn: h.table, Doc: "Prints rows in aligned columns; numbers to the right.\nA row is a list or tuple; with cols it may be an object or dict that has those attributes or keys."},
			{Name: "attempt", Sig: "(fn, *args, **kwargs) -> struct(ok, value, error)", Fn: h.attempt, Doc: "Calls fn and catches its failure.\nerror has .text, .hint, .code (the errno's name) and .pos. Ctrl-C and the step budget are not caught."},
			{Name: "help", Sig: "(x = None)", Fn: h.help, Doc: "Shows the documentation of a function, module, object or name; x may be a string such as \"tracer.*\".\nIn a session, x? is short for help(x)."},
			{Name: "dir", Sig: "(x = None) -> [string]", Fn: h.dir, Doc: "Lists the attributes of x, or all global names."},
			{Name: "command_NAME", Sig: "(...)", Doc: "A function so called is a session's command: %NAME 5 cat runs command_NAME(5, \"cat\"), numbers as ints; one parameter args takes all words.\n%NAME | sort gives what it prints to a command of the host, > file to a file of the host; % lists the commands, %NAME? explains one.",
				Example: "def command_first(n = 3):\n    \"Shows the first n tasks.\"\n    for t in kernel.tasks()[:n]:\n        print(t.pid, t.comm)\n\n%first 2\n%"},
			{Name: "struct", Sig: "(**fields) -> struct", Value: starlark.NewBuiltin("struct", starlarkstruct.Make), Doc: "Makes an object with the given attributes."},
			{Name: "fail", Sig: `(*args, sep = " ")`, Doc: "Stops the script with an error."},
			{Name: "re", Sig: "(pattern) -> Regexp", Fn: compile, Doc: "Compiles a regular expression (RE2 syntax)."},
			{Name: "Regexp.match", Sig: "(text) -> (whole, group1, ...) | None", Doc: "Finds the first match and its groups."},
			{Name: "Regexp.findall", Sig: "(text) -> [string] | [tuple]", Doc: "Finds all matches: strings, or tuples when the pattern has groups."},
			{Name: "Regexp.split", Sig: "(text) -> [string]", Doc: "Splits text at the matches."},
			{Name: "Regexp.sub", Sig: "(repl, text) -> string", Doc: "Replaces all matches; $1 or ${name} stand for groups."},
			{Name: "Regexp.pattern", Sig: "-> string", Doc: "The pattern's text."},
			{Name: "json", Sig: ": encode, decode, encode_indent, indent", Value: h.json(), Doc: "JSON from and to Starlark values."},
			{Name: "math", Sig: ": floor, ceil, log, pow, sqrt, ...", Value: math.Module, Doc: "Mathematical functions and constants."},
			{Name: "time", Sig: ": now, from_timestamp, parse_time, ...", Value: time.Module, Doc: "Dates. time.now() is the machine's virtual wall clock; the host's clock cannot be reached."},
		}},
		{Title: "flag: a script's own flags", Rows: h.flagRows()},
		{Title: "test: assertions", Rows: append(h.assertRows(), h.caseRows()...)},
		{Title: "plot: pictures in text", Rows: h.plotRows()},
		{Title: "units: ints of ns and of bytes", Rows: []Row{
			unit("ns", 1, "One nanosecond: all times are ints in ns."),
			unit("us", 1000, "One microsecond in ns."),
			unit("ms", 1000*1000, "One millisecond in ns."),
			unit("s", 1000*1000*1000, "One second in ns."),
			unit("KiB", 1<<10, "1024 bytes."),
			unit("MiB", 1<<20, "1024 KiB in bytes."),
		}},
	}
}

func unit(name string, n int, doc string) Row {
	return Row{Name: name, Sig: "-> int", Value: starlark.MakeInt(n), Doc: doc}
}

// formatArgs takes the format off a printf's arguments and formats the rest.
func (h *Host) formatArgs(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	if len(kwargs) > 0 || len(args) == 0 {
		return "", Errorf("%s: want (format, *args)", b.Name())
	}
	format, ok := starlark.AsString(args[0])
	if !ok {
		return "", Errorf("%s: the format is %s, want string", b.Name(), args[0].Type())
	}
	if err := h.showable(args[1:]...); err != nil {
		return "", inCall(b, err)
	}
	text, err := Sprintf(format, args[1:])
	if e, ok := err.(*Error); ok {
		e.Msg = b.Name() + ": " + e.Msg
	}
	return text, err
}

func (h *Host) printf(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, err := h.formatArgs(b, args, kwargs)
	if err != nil {
		return nil, err
	}
	fmt.Fprint(h.out(t), text)
	return starlark.None, nil
}

func (h *Host) sprintf(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, err := h.formatArgs(b, args, kwargs)
	if err != nil {
		return nil, err
	}
	return starlark.String(text), nil
}

func (h *Host) table(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var rows starlark.Iterable
	var cols *starlark.List
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "rows", &rows, "cols?", &cols); err != nil {
		return nil, err
	}
	var names []string
	for i := 0; cols != nil && i < cols.Len(); i++ {
		names = append(names, cellText(cols.Index(i)))
	}
	if err := h.showable(rows); err != nil {
		return nil, inCall(b, err)
	}
	text, err := tableText(rows, names)
	if err != nil {
		return nil, err
	}
	fmt.Fprint(h.out(t), text)
	return starlark.None, nil
}

// dir lists attributes, or the global names when called without an argument.
func (h *Host) dir(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "x?", &x); err != nil {
		return nil, err
	}
	var names []string
	if x == nil {
		for name := range h.env {
			if isIdent(name[0]) && (starlark.Universe[name] == nil || h.rowOf(name) != nil) {
				names = append(names, name)
			}
		}
	} else if obj, ok := x.(starlark.HasAttrs); ok {
		names = append(names, obj.AttrNames()...)
	}
	sort.Strings(names)
	return Strings(names), nil
}

// firstLine is the summary of a docstring.
func firstLine(doc string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(doc), "\n")
	return line
}

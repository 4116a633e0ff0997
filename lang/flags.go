package lang

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A script's own flags: flag.string("fn", "vfs_read", "function to trace") gives the value of --fn=... behind the command
// line's --, or the default. The calls are found in the script's syntax tree before it runs, so that --help and an unknown
// flag need not run it.

// scriptFlag is one flag.KIND(name, default, doc); of kind "arg" it is an argument without a flag.
type scriptFlag struct {
	kind, name, def, doc string
}

// argKind are arguments that are known by their place.
const argKind = "arg"

// flagKinds are the functions of module flag and how each reads a value.
var flagKinds = map[string]func(text string) (starlark.Value, error){
	"string": func(text string) (starlark.Value, error) { return starlark.String(text), nil },
	argKind:  func(text string) (starlark.Value, error) { return starlark.String(text), nil },
	"int": func(text string) (starlark.Value, error) {
		n, err := strconv.ParseInt(text, 0, 64)
		return starlark.MakeInt64(n), err
	},
	"bool": func(text string) (starlark.Value, error) {
		b, err := strconv.ParseBool(text)
		return starlark.Bool(b), err
	},
	"duration": func(text string) (starlark.Value, error) {
		d, err := time.ParseDuration(text)
		return starlark.MakeInt64(int64(d)), err
	},
}

// scanFlags finds the flags that a file declares. all is false when some name is no literal: then nothing can be said about
// other flags.
func scanFlags(f *syntax.File) (flags []scriptFlag, all bool) {
	all = true
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		dot, ok := call.Fn.(*syntax.DotExpr)
		if !ok {
			return true
		}
		if mod, ok := dot.X.(*syntax.Ident); !ok || mod.Name != "flag" || flagKinds[dot.Name.Name] == nil {
			return true
		}
		fl := scriptFlag{kind: dot.Name.Name}
		for i, arg := range call.Args {
			key := [...]string{"name", "default", "doc", ""}[min(i, 3)]
			if kw, ok := arg.(*syntax.BinaryExpr); ok && kw.Op == syntax.EQ {
				key, arg = kw.X.(*syntax.Ident).Name, kw.Y
			}
			text := literal(arg)
			switch key {
			case "name":
				fl.name = text
			case "default":
				fl.def = text
			case "doc":
				fl.doc = text
			}
		}
		all = all && fl.name != ""
		flags = append(flags, fl)
		return true
	})
	return flags, all
}

// literal is the text of a literal or a name; "" for anything else.
func literal(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Literal:
		return fmt.Sprint(e.Value)
	case *syntax.Ident:
		return e.Name
	case *syntax.BinaryExpr:
		return literal(e.X) + e.Op.String() + literal(e.Y)
	}
	return ""
}

// useFlags checks the script's arguments against the flags that it declares. done means that --help was asked for.
func (h *Host) useFlags(f *syntax.File, path string) (done bool, err error) {
	flags, all := scanFlags(f)
	if len(flags) == 0 {
		return h.noFlags(f, path)
	}
	h.flags = flags
	given, rest := h.splitArgs()
	h.rest = rest
	h.given, h.args = map[string]string{}, map[string]string{}
	var names []string
	for _, fl := range flags {
		switch {
		case fl.kind != argKind:
			names = append(names, "--"+fl.name)
		case len(rest) > 0:
			h.args[fl.name], rest = rest[0], rest[1:]
		}
	}
	for _, g := range given {
		name, value, hasValue := strings.Cut(strings.TrimLeft(g, "-"), "=")
		if (name == "help" || name == "h" && h.flag("h") == nil) && !hasValue {
			h.flagHelp(h.cfg.Stdout, f, path)
			return true, nil
		}
		if all && h.flag(name) == nil {
			dashes := g[:len(g)-len(strings.TrimLeft(g, "-"))]
			e := Unknown(dashes+name, "unknown flag %s", names)
			if e.Exit = ExitUsage; e.Hint == "" && len(names) > 0 {
				e.Hint = "flags are " + strings.Join(names, ", ")
			}
			return false, e
		}
		if !hasValue {
			value = "true"
		}
		h.given[name] = value
	}
	if len(rest) > 0 && all && !h.takesArgs(f, path) {
		what := "takes no arguments but flags"
		if n := len(h.args); n > 0 {
			what = "takes " + plural(n, "argument")
		}
		return false, &Error{Msg: fmt.Sprintf("%s %s: got %s", h.display(path), what, strings.Join(rest, " ")), Exit: ExitUsage, Hint: "-- --help tells more"}
	}
	return false, nil
}

// takesArgs tells that a script looks at flag.args, in it or in a file that it loads.
func (h *Host) takesArgs(f *syntax.File, path string) (looks bool) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			mod, ok := n.X.(*syntax.Ident)
			looks = looks || ok && mod.Name == "flag" && n.Name.Name == "args"
		case *syntax.LoadStmt:
			if file, err := locate(path, n.ModuleName()); err == nil {
				src, err := h.readSource(file)
				looks = looks || err != nil || strings.Contains(string(src), "flag.args")
			}
		}
		return true
	})
	return looks
}

// noFlags is for a script without flags: flag.args has its arguments as they are, in it or in a file that it loads. One that never looks
// at them should be given none.
func (h *Host) noFlags(f *syntax.File, path string) (done bool, err error) {
	looks := len(h.cfg.Args) == 0
	loads := false
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			looks = looks || n.Name == "flag"
		case *syntax.LoadStmt:
			loads = true
		}
		return true
	})
	switch {
	case looks:
		return false, nil
	case h.cfg.Args[0] == "--help":
		h.flagHelp(h.cfg.Stdout, f, path)
		return true, nil
	case loads:
		return false, nil
	}
	return false, &Error{
		Msg: fmt.Sprintf("%s takes no arguments: got %s", h.display(path), strings.Join(h.cfg.Args, " ")), Exit: ExitUsage,
		Hint: "flag.string(name, default), flag.int ... and flag.args take them",
	}
}

// splitArgs parts flags from the other arguments. "--name value" counts as one when --name is declared and no bool.
func (h *Host) splitArgs() (flags, rest []string) {
	args := h.cfg.Args
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return flags, append(rest, args[i+1:]...)
		}
		if len(a) < 2 || a[0] != '-' {
			rest = append(rest, a)
			continue
		}
		fl := h.flag(strings.TrimLeft(a, "-"))
		if fl != nil && fl.kind != "bool" && i+1 < len(args) {
			i++
			a += "=" + args[i]
		}
		flags = append(flags, a)
	}
	return flags, rest
}

func (h *Host) flag(name string) *scriptFlag {
	for i := range h.flags {
		if h.flags[i].name == name && h.flags[i].kind != argKind {
			return &h.flags[i]
		}
	}
	return nil
}

// flagHelp prints the script's docstring and its flags.
func (h *Host) flagHelp(w io.Writer, f *syntax.File, path string) {
	if len(f.Stmts) > 0 {
		if s, ok := f.Stmts[0].(*syntax.ExprStmt); ok {
			if doc, ok := s.X.(*syntax.Literal); ok && doc.Token == syntax.STRING {
				fmt.Fprintf(w, "%s\n\n", strings.TrimSpace(doc.Value.(string)))
			}
		}
	}
	use, lines := "", ""
	for _, fl := range h.flags {
		def := ""
		if fl.def != "" {
			def = " (default " + fl.def + ")"
		}
		form := "--" + fl.name + "=" + strings.ToUpper(fl.kind)
		if fl.kind == argKind {
			form = fl.name
			use += " [" + fl.name + "]"
		}
		lines += fmt.Sprintf("  %-20s %s%s\n", form, fl.doc, def)
	}
	switch {
	case use != "":
		use = " [-- [flags]" + use + "]"
	case len(h.flags) > 0:
		use = " [-- flags]"
	}
	fmt.Fprintf(w, "usage: kscope run %s%s\n%s", h.display(path), use, lines)
}

// flagFn makes flag.string and the others.
func (h *Host) flagFn(kind string) Func {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var name, doc string
		var def starlark.Value
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "default", &def, "doc?", &doc); err != nil {
			return nil, err
		}
		if want := map[string]string{"int": "int", "duration": "int", "bool": "bool", "string": "string", argKind: "string"}[kind]; def != starlark.None && def.Type() != want {
			e := &Error{Arg: "default", Msg: fmt.Sprintf("%s: default of --%s: got %s, want %s or None", b.Name(), name, def.Type(), want)}
			if kind == "duration" {
				e.Hint = "times are ints in ns: 10 * ms"
			}
			return nil, e
		}
		given := h.given
		if kind == argKind {
			given = h.args
		}
		text, ok := given[name]
		if !ok {
			return def, nil
		}
		v, err := flagKinds[kind](text)
		if err != nil {
			want := map[string]string{"int": "an int", "bool": "true or false", "duration": "a duration such as 10ms"}[kind]
			return nil, &Error{Msg: fmt.Sprintf("--%s=%s: want %s", name, text, want), Exit: ExitUsage, Bare: true}
		}
		return v, nil
	}
}

// flagRows are module flag.
func (h *Host) flagRows() []Row {
	doc := func(what string) string {
		return "The value of the script's flag --name, " + what + ", or default; flags follow -- on the command line."
	}
	return []Row{
		{Name: "flag.string", Sig: `(name, default, doc = "") -> string`, Fn: h.flagFn("string"), Doc: doc("a string")},
		{Name: "flag.int", Sig: `(name, default, doc = "") -> int`, Fn: h.flagFn("int"), Doc: doc("an int")},
		{Name: "flag.bool", Sig: `(name, default, doc = "") -> bool`, Fn: h.flagFn("bool"), Doc: doc("a truth")},
		{Name: "flag.duration", Sig: `(name, default, doc = "") -> int`, Fn: h.flagFn("duration"), Doc: doc("a time such as 10ms, in ns")},
		{Name: "flag.arg", Sig: `(name, default, doc = "") -> string`, Fn: h.flagFn(argKind),
			Doc:     "The script's next argument that is no flag, or default. The first call in the source is the first argument; one more than there are calls\nis an error, unless the script looks at flag.args.",
			Example: "func = flag.arg(\"FUNC\", \"vfs_read\", \"function to trace\")\nfunc"},
		{Name: "flag.error", Sig: "(text)", Fn: flagError, Doc: "Ends the script: its flags or arguments are wrong. The exit status is 2.", Example: "flag.error(\"want FUNC:PARAMETER\") # fails"},
		{Name: "flag.args", Sig: "-> [string]", Get: argsOf, Doc: "The script's arguments that are no flags."},
	}
}

func flagError(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &text); err != nil {
		return nil, err
	}
	return nil, &Error{Msg: text, Exit: ExitUsage, Bare: true, Hint: "-- --help tells more"}
}

func argsOf(h *Host) (starlark.Value, error) { return Strings(h.rest), nil }

package lang

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// help implements help(x): everything that it says comes from the rows and from the docstrings of Starlark functions.
func (h *Host) help(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "x?", &x); err != nil {
		return nil, err
	}
	return starlark.None, h.showHelp(h.cfg.Stdout, x)
}

func (h *Host) showHelp(w io.Writer, x starlark.Value) error {
	switch x := x.(type) {
	case nil:
		h.overview(w)
		return nil
	case starlark.String:
		return h.helpName(w, string(x))
	case *Module:
		return h.helpName(w, x.name)
	case *starlark.Builtin:
		if h.rowOf(x.Name()) == nil {
			fmt.Fprintf(w, "%s: a function of Starlark itself; see the language's specification\n", x.Name())
			return nil
		}
		return h.helpName(w, x.Name())
	case *starlark.Function:
		fmt.Fprintf(w, "%s\n", signature(x))
		doc := strings.TrimSpace(x.Doc())
		if doc == "" {
			doc = "no docstring"
		}
		for _, line := range strings.Split(doc, "\n") {
			fmt.Fprintf(w, "%s\n", strings.TrimRight("    "+strings.TrimSpace(line), " "))
		}
		return nil
	}
	for name, v := range h.env {
		if v == x && h.rowOf(name) != nil {
			return h.helpName(w, name)
		}
	}
	if h.hasRows(x.Type()) {
		return h.helpName(w, x.Type())
	}
	return h.helpValue(w, x)
}

// hasRows tells that a type has documented attributes.
func (h *Host) hasRows(typ string) bool {
	return isType(typ) && slices.ContainsFunc(h.rows, func(r Row) bool { return strings.HasPrefix(r.Name, typ+".") })
}

// helpValue says of a value that no row is about what it is: its type, its text and its attributes.
func (h *Host) helpValue(w io.Writer, x starlark.Value) error {
	if err := h.showable(x); err != nil {
		return err
	}
	text := x.String()
	if short := cut(text, mostHelp); short != text {
		text = short + " ..."
	}
	fmt.Fprintf(w, "%s: %s\n", x.Type(), text)
	if x, ok := x.(starlark.HasAttrs); ok && len(x.AttrNames()) > 0 {
		names := slices.Sorted(slices.Values(x.AttrNames()))
		fmt.Fprintf(w, "    .%s\n", strings.Join(names, " ."))
	}
	return nil
}

// mostHelp is how much of a value's text help shows, in characters.
const mostHelp = 1000

// signature shows a Starlark function's head.
func signature(fn *starlark.Function) string {
	var params []string
	for i := 0; i < fn.NumParams(); i++ {
		name, _ := fn.Param(i)
		if d := fn.ParamDefault(i); d != nil {
			name += " = " + d.String()
		}
		params = append(params, name)
	}
	return fn.Name() + "(" + strings.Join(params, ", ") + ")"
}

// overview lists every table with one line per row.
func (h *Host) overview(w io.Writer) {
	tables := append(h.std(), h.cfg.Tables...)
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, t.Title)
		for _, r := range t.Rows {
			if typ, _, dotted := strings.Cut(r.Name, "."); !dotted || !isType(typ) {
				fmt.Fprintf(w, "  %-24s %s\n", r.Name, firstLine(r.Doc))
			}
		}
		typeLines(w, t.Rows)
	}
	fmt.Fprintln(w, "\nhelp(x) or help(\"name\") tells more about one of them.")
}

// typeLines shows the types of a table, one line each: their names are many.
func typeLines(w io.Writer, rows []Row) {
	const most = 8
	shown := map[string]bool{}
	for _, r := range rows {
		typ, _, dotted := strings.Cut(r.Name, ".")
		if !dotted || !isType(typ) || shown[typ] {
			continue
		}
		shown[typ] = true
		var names []string
		for _, other := range rows {
			if name, ok := strings.CutPrefix(other.Name, typ+"."); ok {
				names = append(names, name)
			}
		}
		more := ""
		if n := len(names); n > most {
			names, more = names[:most], fmt.Sprintf(" and %d more", n-most)
		}
		fmt.Fprintf(w, "  %-24s .%s%s; help(\"%s\")\n", typ, strings.Join(names, " ."), more, typ)
	}
}

func (h *Host) rowOf(name string) *Row {
	for i := range h.rows {
		if h.rows[i].Name == name {
			return &h.rows[i]
		}
	}
	return nil
}

// helpName shows one row in full, or a line for each row of a module, type or glob.
func (h *Host) helpName(w io.Writer, name string) error {
	if r := h.rowOf(name); r != nil {
		fmt.Fprintf(w, "%s\n    %s\n", head(*r), strings.ReplaceAll(r.Doc, "\n", "\n    "))
		return nil
	}
	found := false
	for _, r := range h.rows {
		glob, _ := path.Match(name, r.Name)
		if glob || strings.HasPrefix(r.Name, name+".") {
			found = true
			fmt.Fprintf(w, "%s\n    %s\n", head(r), firstLine(r.Doc))
		}
	}
	if found || h.givers(w, name) {
		return nil
	}
	if there := h.guestName(name); there != "" {
		fmt.Fprintln(w, there)
		return nil
	}
	if h.apropos(w, name) {
		return nil
	}
	return Unknown(name, "help: nothing is called %s", h.names())
}

// guestName words the hint for a name that the guest's kernel has; "" of any other.
func (h *Host) guestName(name string) string {
	if h.cfg.Guest == nil || starlark.Universe.Has(name) || slices.Contains(h.names(), name) {
		return ""
	}
	if call := h.cfg.Guest(name); call != "" {
		return name + " is the guest kernel's: " + call
	}
	return ""
}

// givers shows the rows whose signatures say that they give values of a type without rows of its own: they tell its attributes.
func (h *Host) givers(w io.Writer, typ string) bool {
	if !isType(typ) {
		return false
	}
	found := false
	for _, r := range h.rows {
		_, result, _ := strings.Cut(r.Sig, "->")
		if slices.Contains(strings.FieldsFunc(result, func(c rune) bool { return c > 127 || !isIdent(byte(c)) }), typ) {
			if !found {
				fmt.Fprintf(w, "%s is what these give:\n", typ)
			}
			found = true
			fmt.Fprintf(w, "%s\n    %s\n", head(r), strings.ReplaceAll(r.Doc, "\n", "\n    "))
		}
	}
	return found
}

// head is the first line of a row's help.
func head(r Row) string {
	if strings.HasPrefix(r.Sig, "(") || strings.HasPrefix(r.Sig, ":") {
		return r.Name + r.Sig
	}
	return r.Name + " " + r.Sig
}

// names are all row names and their modules.
func (h *Host) names() []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range h.rows {
		mod, _, _ := strings.Cut(r.Name, ".")
		if !seen[mod] {
			seen[mod] = true
			names = append(names, mod)
		}
		names = append(names, r.Name)
	}
	return names
}

// apropos lists the rows whose documentation has a word: who asks for help("histogram") does not know the name yet.
func (h *Host) apropos(w io.Writer, word string) bool {
	if len(word) < 3 || strings.ContainsAny(word, ".*?[") {
		return false
	}
	found := false
	for _, r := range h.rows {
		if strings.Contains(strings.ToLower(r.Name+" "+r.Doc), strings.ToLower(word)) {
			if !found {
				fmt.Fprintf(w, "nothing is called %s; it is said of\n", word)
			}
			found = true
			fmt.Fprintf(w, "  %-24s %s\n", r.Name, firstLine(r.Doc))
		}
	}
	return found
}

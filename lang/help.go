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

// overview lists the names of every table; what they are is help's of each.
func (h *Host) overview(w io.Writer) {
	const width = 78
	for _, t := range append(h.std(), h.cfg.Tables...) {
		line := " "
		fmt.Fprintln(w, t.Title)
		for _, name := range namesOf(t.Rows) {
			if len(line)+len(name) >= width {
				fmt.Fprintln(w, line)
				line = " "
			}
			line += " " + name
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, "\nhelp(\"kernel\") says what each of a module or type is, help(\"kernel.run\") all of one;\nhelp(\"word\") finds what is said of a word, x? is help(x). demo() and tour() show.")
}

// namesOf are a table's names: of types theirs alone.
func namesOf(rows []Row) (names []string) {
	for _, r := range rows {
		name := r.Name
		if typ, _, dotted := strings.Cut(name, "."); dotted && isType(typ) {
			name = typ
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sentence is the first sentence of a row's documentation.
func sentence(doc string) string {
	text := strings.ReplaceAll(doc, "\n", " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// brief is what of it a line has room for.
func brief(doc string) string {
	const most = 90
	text := sentence(doc)
	if len(text) <= most {
		return text
	}
	text = cut(text, most)
	return strings.TrimRight(text[:max(strings.LastIndexByte(text, ' '), 0)], " ,;:(") + " ..."
}

// What help shows of a row, as wide as any terminal is.
const (
	helpIndent = "    "
	helpWidth  = 79
)

// prose is a documentation in lines that no terminal breaks: its first sentence, what follows it, and lists as they are.
func prose(doc string) string {
	var out []string
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, reflow(text, helpIndent, helpWidth))
		}
		text = ""
	}
	for i, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(line, " ") { // of a list
			flush()
			out = append(out, helpIndent+line)
			continue
		}
		text += " " + line
		if i == 0 && strings.HasSuffix(line, ".") {
			flush()
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// reflow breaks a text into lines between words, each behind indent.
func reflow(text, indent string, width int) string {
	line, out := indent, ""
	for _, word := range strings.Fields(text) {
		if len(line) > len(indent) && len(line)+1+len(word) > width {
			out += line + "\n"
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	return out + line
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
		fmt.Fprintf(w, "%s\n%s\n", head(*r), prose(r.Doc))
		return nil
	}
	found := false
	for _, r := range h.rows {
		glob, _ := path.Match(name, r.Name)
		if glob || strings.HasPrefix(r.Name, name+".") {
			found = true
			fmt.Fprintf(w, "%s\n%s\n", head(r), reflow(sentence(r.Doc), helpIndent, helpWidth))
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
			fmt.Fprintf(w, "%s\n%s\n", head(r), prose(r.Doc))
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
			said := brief(r.Doc)
			for _, line := range strings.Split(r.Doc, "\n") {
				if strings.Contains(strings.ToLower(line), strings.ToLower(word)) {
					said = strings.TrimSpace(line)
					break
				}
			}
			fmt.Fprintf(w, "  %-24s %s\n", r.Name, said)
		}
	}
	return found
}

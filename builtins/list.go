package builtins

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kscope/kernel"
	"kscope/kprobe"
	"kscope/lang"
)

// listKind is a kind of specs that has places.
type listKind struct {
	name  string
	names func(g *Guest, prefix string) []string // those that begin so
	about func(g *Guest, name string) string     // -v: a prototype, or fields
}

// listKinds are the kinds of specs whose places can be listed: what a spec KIND:GLOB of on() would be armed at.
func listKinds() []listKind {
	return []listKind{
		{"kprobe", (*Guest).probeable, (*Guest).prototype},
		{"kretprobe", (*Guest).probeable, (*Guest).prototype},
		{"function", func(g *Guest, _ string) []string { return g.functions() }, (*Guest).prototype},
		{"tracepoint", func(g *Guest, _ string) []string { return g.eventNames() }, (*Guest).eventFields},
		{"watch", (*Guest).watchable, (*Guest).variableType},
	}
}

// List writes what a spec would match, one line each; without a kind, of all kinds, and without anything the kinds themselves.
// It is kscope list.
func (e *Env) List(w io.Writer, pattern string, verbose bool) error {
	if pattern == "" {
		for _, k := range onKinds() {
			fmt.Fprintf(w, "%-12s%-26s %s\n", k.name, k.form, k.doc)
		}
		return nil
	}
	g, err := e.current()
	if err != nil {
		return err
	}
	kind, glob, ok := strings.Cut(pattern, ":")
	var kinds []string
	for _, k := range onKinds() {
		kinds = append(kinds, k.name)
	}
	if i := slices.Index(kinds, kind); i >= 0 && (!ok || !slices.ContainsFunc(listKinds(), func(l listKind) bool { return l.name == kind })) {
		k := onKinds()[i] // it has no places
		fmt.Fprintf(w, "%-12s%-26s %s\n", k.name, k.form, k.doc)
		return nil
	}
	switch {
	case !ok:
		kind, glob = "", pattern
	case !slices.Contains(kinds, kind) && len(g.eventGlob(pattern)) > 0 || slices.Contains(g.eventNames(), pattern):
		kind, glob = "tracepoint", pattern
	case !slices.Contains(kinds, kind):
		e := lang.Unknown(kind, "list: no kind of probe is called %s", kinds)
		if there := elsewhere(kind); there != "" {
			e.Hint = there
		}
		return e
	}
	found, all := 0, []string(nil)
	for _, k := range listKinds() {
		if kind != "" && kind != k.name {
			continue
		}
		for _, name := range k.names(g, "") {
			all = append(all, name)
			if !kernel.Glob(glob, name) && !(k.name == "tracepoint" && kernel.Glob("*:"+glob, name)) {
				continue
			}
			found++
			fmt.Fprintf(w, "%s:%s\n", k.name, name)
			if verbose {
				fmt.Fprint(w, k.about(g, name))
			}
		}
	}
	if found == 0 {
		e := lang.Unknown(glob, "list: nothing matches %s", all)
		if there := g.withModule(glob); there != "" {
			e.Hint = there
		}
		return e
	}
	return nil
}

// probeable are the functions that take a probe at their entry and begin with prefix.
func (g *Guest) probeable(prefix string) []string {
	k, ok := kprobe.Of(g.M)
	if !ok {
		return nil
	}
	var names []string
	for _, s := range g.M.Symbols().Glob("*", "tTwW") {
		if strings.HasPrefix(s.Name, prefix) && k.Check(s.Addr) == nil {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// prototype is a function's head in C, indented.
func (g *Guest) prototype(name string) string {
	syms := g.M.Symbols().ByName(name)
	if len(syms) == 0 {
		return ""
	}
	f, ok := g.M.Types().Func(name, syms[0].Addr)
	if !ok {
		return "    no prototype: assembly\n"
	}
	return "    " + f.String() + "\n"
}

// eventFields are an event's own fields as C declares them, indented.
func (g *Guest) eventFields(name string) string {
	text, err := g.readTrace("events/" + strings.Replace(name, ":", "/", 1) + "/format")
	if err != nil {
		return ""
	}
	var out strings.Builder
	for _, line := range strings.Split(text, "\n") {
		decl, ok := strings.CutPrefix(line, "\tfield:")
		decl, _, _ = strings.Cut(decl, ";")
		if ok && !strings.Contains(decl, " common_") {
			fmt.Fprintf(&out, "    %s\n", decl)
		}
	}
	return out.String()
}

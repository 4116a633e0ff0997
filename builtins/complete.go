package builtins

import (
	"path"
	"sort"
	"strings"

	"kscope/lang"
)

// candidates tell what may stand in a string argument, by function. A nil key position means the first argument.
type candidates struct {
	call, key string // key "" means any positional argument
	names     func(g *Guest, prefix string) []string
}

// completions is the table behind Tab inside quotes.
func completions() []candidates {
	symbols := func(g *Guest, _ string) []string { return g.symbolNames("") }
	text := func(g *Guest, _ string) []string { return g.symbolNames("tTwW") }
	data := func(g *Guest, _ string) []string { return g.symbolNames("dDbBrRaAvV") }
	files := func(g *Guest, prefix string) []string { return g.paths(prefix) }
	trace := func(g *Guest, prefix string) []string {
		dir, _ := path.Split(prefix)
		var names []string
		for _, n := range g.traceNames(dir) {
			names = append(names, dir+n)
		}
		return names
	}
	programs := func(g *Guest, _ string) []string { return g.names("/bin") }
	fixed := func(names ...string) func(*Guest, string) []string {
		return func(*Guest, string) []string { return names }
	}
	return []candidates{
		{"kernel.sym", "", symbols}, {"kernel.addr", "", symbols}, {"kernel.symbols", "", symbols},
		{"kernel.func", "", text}, {"kernel.disasm", "", text}, {"kernel.poke", "", text}, {"kernel.var", "", data},
		{"kernel.read", "", data}, {"kernel.u8", "", data}, {"kernel.u16", "", data}, {"kernel.u32", "", data},
		{"kernel.u64", "", data}, {"kernel.s64", "", data}, {"kernel.str", "", data}, {"kernel.write", "", data},
		{"kernel.exec", "", programs}, {"kernel.spawn", "", programs},
		{"kernel.boot", "overhead", fixed("model", "none")},
		{"tracer.set", "", func(g *Guest, _ string) []string { return g.words("available_tracers") }},
		{"tracer.filter", "mode", fixed("set", "add", "remove")},
		{"tracer.filter", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"tracer.graph", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"kprobe.attach", "", text}, {"kprobe.ret", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"tracer.read", "", trace}, {"tracer.write", "", trace},
		{"event.enable", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"event.disable", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"event.get", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"event.format", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"fs.read", "", files}, {"fs.write", "", files}, {"fs.ls", "", files}, {"fs.mkdir", "", files},
		{"fs.rmdir", "", files}, {"fs.remove", "", files},
	}
}

// Strings completes inside quotes. Tab boots the default machine if need be: the names are the guest's.
func (e *Env) Strings(p lang.Place) []string {
	if p.Call == "help" {
		return e.rowNames()
	}
	for _, row := range completions() {
		if row.call != p.Call || row.key != p.Key {
			continue
		}
		g, err := e.current()
		if err != nil || g.busy {
			return nil
		}
		if strings.HasPrefix(p.Call, "kernel.exec") && p.Arg > 0 {
			return g.paths(p.Prefix) // arguments are mostly files
		}
		return row.names(g, p.Prefix)
	}
	return nil
}

func (e *Env) rowNames() []string {
	var names []string
	for _, r := range e.host.Rows() {
		names = append(names, r.Name)
	}
	return names
}

// symbolNames are the names of symbols of some kinds, once each.
func (g *Guest) symbolNames(kinds string) []string {
	var names []string
	for _, s := range g.M.Symbols().Glob("*", kinds) {
		names = append(names, s.Name)
	}
	sort.Strings(names)
	return compact(names)
}

// paths completes a path: the entries of the directory that prefix is in, directories with a slash.
func (g *Guest) paths(prefix string) []string {
	dir, _ := path.Split(prefix)
	if dir == "" {
		return []string{"/"}
	}
	var names []string
	_ = g.guard(func() error {
		entries, err := g.M.ListDir(dir)
		for _, e := range entries {
			if e.Type == dtDir {
				e.Name += "/"
			}
			names = append(names, dir+e.Name)
		}
		return err
	})
	return names
}

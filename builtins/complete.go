package builtins

import (
	"path"
	"slices"
	"strings"

	"kscope/ftrace"
	"kscope/kernel/guest"
	"kscope/kprobe"
	"kscope/lang"
)

// candidates tell what may stand in a string argument, by function. A nil key position means the first argument.
type candidates struct {
	call, key string // key "" means any positional argument
	names     func(g *Guest, prefix string) []string
}

// completions is the table behind Tab inside quotes.
func completions() []candidates {
	symbols := func(g *Guest, prefix string) []string { return g.symbolNames("", prefix) }
	text := func(g *Guest, prefix string) []string { return g.symbolNames("tTwW", prefix) }
	data := func(g *Guest, prefix string) []string { return g.symbolNames("dDbBrRaAvV", prefix) }
	files := func(g *Guest, prefix string) []string { return g.paths(prefix) }
	trace := func(g *Guest, prefix string) []string {
		dir, _ := path.Split(prefix)
		var names []string
		for _, n := range g.traceNames(dir) {
			names = append(names, dir+n)
		}
		return names
	}
	programs := func(g *Guest, _ string) []string { return g.programs() }
	fixed := func(names ...string) func(*Guest, string) []string {
		return func(*Guest, string) []string { return names }
	}
	return []candidates{
		{"kernel.sym", "", symbols}, {"kernel.addr", "", symbols}, {"kernel.symbols", "", symbols},
		{"kernel.func", "", text}, {"kernel.disasm", "", text}, {"kernel.poke", "", text}, {"kernel.var", "", data},
		{"kernel.read", "", data}, {"kernel.bytes_seen", "", text}, {"kernel.u8", "", data}, {"kernel.u16", "", data}, {"kernel.u32", "", data},
		{"kernel.u64", "", data}, {"kernel.s64", "", data}, {"kernel.str", "", data}, {"kernel.write", "", data},
		{"kernel.exec", "", programs}, {"kernel.spawn", "", programs},
		{"kernel.boot", "overhead", fixed("model", "none")},
		{"tracer.set", "", func(g *Guest, _ string) []string { return g.words("available_tracers") }},
		{"tracer.filter", "mode", fixed("set", "add", "remove")},
		{"tracer.filter", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"tracer.graph", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"on", "", (*Guest).specs}, {"kprobe.event", "", (*Guest).probeLines}, {"sh", "", (*Guest).shellWords},
		{"kernel.load_module", "", func(*Guest, string) []string { return guest.Modules() }},
		{"tracer.command", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"tracer.instance", "", func(g *Guest, _ string) []string { return g.instanceNames() }},
		{"tracer.remove", "", func(g *Guest, _ string) []string { return g.instanceNames() }},
		{"tracer.graph", "notrace", func(g *Guest, _ string) []string { return g.functions() }},
		{"on", "on_error", fixed("stop", "detach", "count")},
		{"kernel.boot", "features", fixed(featureNames()...)},
		{"kprobe.attach", "", text}, {"kprobe.ret", "", func(g *Guest, _ string) []string { return g.functions() }},
		{"tracer.read", "", trace}, {"tracer.write", "", trace},
		{"event.enable", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"event.disable", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"event.get", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"event.list", "", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"tracer.records", "event", func(g *Guest, _ string) []string { return g.eventNames() }},
		{"tracer.clock", "", func(g *Guest, _ string) []string { return g.clocks() }},
		{"kernel.run", "until", text}, {"kernel.inject", "at", text},
		{"kernel.unload_module", "", func(g *Guest, _ string) []string { return (&call{g: g}).loadedModules() }},
		{"kprobe.attach", "step", fixed("tf", "int3")}, {"kprobe.attach", "missing", fixed("error", "warn", "ignore")},
		{"event.join", "", func(g *Guest, _ string) []string { return g.eventNames() }},
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
	if p.Keyword {
		return e.keywordNames(p.Call)
	}
	for _, row := range completions() {
		if row.call != p.Call || row.key != p.Key {
			continue
		}
		g, err := e.current()
		if err != nil || g.busy {
			return nil
		}
		if p.Call == "tracer.command" && p.Arg == 1 {
			return filterCommands()
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

// symbolNames are the names of symbols of some kinds that begin with prefix, in no order.
func (g *Guest) symbolNames(kinds, prefix string) []string {
	var names []string
	for _, s := range g.M.Symbols().All() {
		if strings.HasPrefix(s.Name, prefix) && (kinds == "" || strings.IndexByte(kinds, s.Kind) >= 0) {
			names = append(names, s.Name)
		}
	}
	return names
}

// paths completes a path: the entries of the directory that prefix is in, directories with a slash.
func (g *Guest) paths(prefix string) []string {
	dir, _ := path.Split(prefix)
	if dir == "" {
		return []string{"/"}
	}
	var names []string
	for _, e := range g.look(dir) {
		if e.Type == dtDir {
			e.Name += "/"
		}
		names = append(names, dir+e.Name)
	}
	return names
}

// keywordNames are the names that a function's **parameter takes.
func (e *Env) keywordNames(call string) []string {
	g, err := e.current()
	if err != nil || g.busy || call != "tracer.options" {
		return nil
	}
	var names []string
	for _, n := range g.options() {
		names = append(names, strings.ReplaceAll(n, "-", "_"))
	}
	return names
}

// clocks are those of trace_clock.
func (g *Guest) clocks() []string {
	return strings.FieldsFunc(g.text("trace_clock"), func(r rune) bool { return strings.ContainsRune("[] \n", r) })
}

// specs completes a spec of on(): first the kind, then what the kind can be armed at.
func (g *Guest) specs(prefix string) []string {
	kind, glob, ok := strings.Cut(prefix, ":")
	var out []string
	if !ok {
		for _, k := range onKinds() {
			name := k.name
			if k.form != "" {
				name += ":"
			}
			out = append(out, name)
		}
		return out
	}
	for _, k := range listKinds() {
		if k.name == kind {
			for _, name := range k.names(g, glob) {
				out = append(out, kind+":"+name)
			}
		}
	}
	return out
}

// probeLines completes a line of kprobe_events: its second word is a function, and a word behind % a register.
func (g *Guest) probeLines(prefix string) []string {
	words := strings.Split(prefix, " ")
	last := words[len(words)-1]
	head := prefix[:len(prefix)-len(last)]
	var out []string
	switch i := strings.LastIndexByte(last, '%'); {
	case len(words) == 1:
		return []string{"p:", "r:"}
	case len(words) == 2:
		for _, name := range g.functions() {
			out = append(out, head+name)
		}
	case i >= 0:
		for _, r := range []string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ip", "flags"} {
			out = append(out, head+last[:i+1]+r)
		}
	}
	return out
}

// shellWords completes the last word of a command line: a command, or a file.
func (g *Guest) shellWords(prefix string) []string {
	i := strings.LastIndexAny(prefix, " ;|&<>(") + 1
	head, word := prefix[:i], prefix[i:]
	command := prefix[strings.LastIndexAny(prefix, ";|&(")+1:]
	names := g.paths(word)
	if !strings.Contains(strings.TrimLeft(command, " "), " ") && !strings.Contains(word, "/") {
		names = g.programs()
	}
	var out []string
	for _, n := range names {
		out = append(out, head+n)
	}
	return out
}

// TraceWords are what one writes into tracefs: events, tracers, functions.
func (g *Guest) TraceWords() []string {
	return slices.Concat(g.eventNames(), g.words("available_tracers"), g.functions())
}

func featureNames() []string {
	var names []string
	for _, f := range append(ftrace.Features(), kprobe.Features()...) {
		names = append(names, f.Name)
	}
	return names
}

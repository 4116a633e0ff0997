package lang

import (
	"slices"
	"sort"
	"strings"

	"go.starlark.net/starlark"
)

// Place is a string literal that is being typed: Call("...|. The modules know what may stand there.
type Place struct {
	Call   string // the function's name as written: "kernel.sym"; "" outside any call
	Arg    int    // the argument's position, from 0
	Key    string // the keyword, when given as key = "..."
	Prefix string // the string's text up to the cursor

	Keyword bool // no string but the name of a keyword argument: the names that a **parameter takes
}

// Complete gives the candidates for the text before the cursor and how many bytes of it they replace.
func (h *Host) Complete(before string, globals starlark.StringDict) (candidates []string, replace int) {
	s := scanOpen(before)
	if s.quote != "" {
		return h.completeString(s)
	}
	i := len(before)
	for i > 0 && (isIdent(before[i-1]) || before[i-1] == '.') {
		i--
	}
	path := before[i:]
	if path == "" && strings.TrimSpace(before) != "" && !strings.HasSuffix(before, "(") && !strings.HasSuffix(before, " ") {
		return nil, 0
	}
	dot := strings.LastIndexByte(path, '.')
	prefix := path[dot+1:]
	if dot < 0 {
		return h.completeName(s, prefix, globals), len(prefix)
	}
	obj := lookup(path[:dot], globals)
	if obj == nil {
		return nil, 0
	}
	for _, name := range obj.AttrNames() {
		if strings.HasPrefix(name, prefix) {
			candidates = append(candidates, name+h.suffix(obj, name))
		}
	}
	sort.Strings(candidates)
	return candidates, len(prefix)
}

// lookup walks a dotted name through attributes. Modules' computed attributes are left alone: Tab must not boot a machine.
func lookup(path string, globals starlark.StringDict) starlark.HasAttrs {
	names := strings.Split(path, ".")
	obj, _ := globals[names[0]].(starlark.HasAttrs)
	for _, name := range names[1:] {
		if m, ok := obj.(*Module); obj == nil || ok && m.rows[name].Get != nil {
			return nil
		}
		v, err := obj.Attr(name)
		if err != nil {
			return nil
		}
		obj, _ = v.(starlark.HasAttrs)
	}
	return obj
}

// suffix is "(" after a function's name, so that Tab goes on where typing would.
func (h *Host) suffix(obj starlark.HasAttrs, name string) string {
	if m, ok := obj.(*Module); ok {
		if r := m.rows[name]; r.Fn != nil && strings.HasPrefix(r.Sig, "()") {
			return "()" // nothing to type between them
		} else if r.Fn != nil {
			return "("
		}
		return ""
	}
	if v, err := obj.Attr(name); err == nil {
		if _, ok := v.(starlark.Callable); ok {
			return "("
		}
	}
	return ""
}

// completeName offers global names, keywords and the parameters of the call that the cursor is in.
func (h *Host) completeName(s scan, prefix string, globals starlark.StringDict) []string {
	var out []string
	offer := func(name string, v starlark.Value) {
		if !strings.HasPrefix(name, prefix) || name == "_" || !isIdent(name[0]) {
			return
		}
		if _, ok := v.(starlark.Callable); ok {
			name += "("
		} else if _, ok := v.(*Module); ok {
			name += "."
		}
		out = append(out, name)
	}
	for name, v := range globals {
		offer(name, v)
	}
	for name, v := range starlark.Universe {
		if globals[name] == nil {
			offer(name, v)
		}
	}
	if prefix != "" {
		for _, word := range strings.Fields("break continue def elif else for lambda load return while") {
			offer(word, nil)
		}
	}
	if n := len(s.opens); n > 0 {
		if r := h.rowOf(callee(s.src, s.opens[n-1].at)); r != nil {
			for _, p := range keywords(r.Sig) {
				offer(p+" = ", nil)
			}
			if h.cfg.Strings != nil && strings.Contains(r.Sig, "**") {
				for _, p := range h.cfg.Strings(Place{Call: r.Name, Prefix: prefix, Keyword: true}) {
					offer(p+" = ", nil)
				}
			}
		}
	}
	sort.Strings(out)
	return out
}

// keywords are the optional parameters that a signature names.
func keywords(sig string) []string {
	end := strings.LastIndexByte(sig, ')')
	if end < 1 {
		return nil
	}
	var names []string
	for _, part := range strings.Split(sig[1:end], ",") {
		if name, _, ok := strings.Cut(part, " = "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// completeString asks the modules what may stand in the string at the cursor.
func (h *Host) completeString(s scan) ([]string, int) {
	p := Place{Prefix: s.src[s.text:]}
	if n := len(s.opens); n > 0 {
		o := s.opens[n-1]
		p.Call, p.Arg = callee(s.src, o.at), o.args
		if key, _, ok := strings.Cut(s.src[o.arg:s.text], "="); ok {
			p.Key = strings.TrimSpace(key)
		}
		if s.src[o.at] == '[' && n > 1 { // a list argument: what the call takes
			p.Call, p.Arg = callee(s.src, s.opens[n-2].at), s.opens[n-2].args
		}
	}
	var names, out []string
	switch {
	case p.Call == "load" && p.Key == "":
		names = h.completeLoad(s, p)
	case h.cfg.Strings != nil:
		names = h.cfg.Strings(p)
	}
	for _, c := range names {
		if strings.HasPrefix(c, p.Prefix) {
			out = append(out, c)
		}
	}
	sort.Strings(out)
	return slices.Compact(out), len(p.Prefix)
}

// callee is the dotted name before the bracket at i.
func callee(src string, i int) string {
	j := i
	for j > 0 && (isIdent(src[j-1]) || src[j-1] == '.') {
		j--
	}
	return src[j:i]
}

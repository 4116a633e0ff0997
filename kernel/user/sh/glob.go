package sh

import (
	"slices"
	"strings"
)

// glob makes the arguments of a field: the names that it matches, or its text.
func (sh *Shell) glob(f field) []string {
	text := sh.join([]frag(f), " ")
	if sh.opts.noglob || !f.magic() {
		return []string{text}
	}
	names := sh.globPath(patternOf([]frag(f), " "))
	if len(names) == 0 {
		if sh.opts.failglob {
			sh.discard("no match: %s", text)
		}
		if sh.opts.nullglob {
			return nil
		}
		return []string{text}
	}
	return names
}

// magic says that a field has unquoted pattern characters; a [ alone is none (glob_pattern_p in lib/glob/glob.c).
func (f field) magic() bool {
	open := false
	for _, g := range f {
		if g.quoted {
			continue
		}
		if strings.ContainsAny(g.s, "*?") || strings.Contains(g.s, "(") && strings.ContainsAny(g.s, "+@!") {
			return true
		}
		i := strings.IndexByte(g.s, '[')
		if open && strings.Contains(g.s, "]") || i >= 0 && strings.Contains(g.s[i:], "]") {
			return true
		}
		open = open || i >= 0
	}
	return false
}

// globPath lists the files that a pattern matches, sorted as in the C locale.
func (sh *Shell) globPath(pat string) []string {
	root := ""
	for strings.HasPrefix(pat, "/") {
		root, pat = root+"/", pat[1:]
	}
	found := []string{root}
	for pat != "" {
		comp, rest := pat, ""
		slashes := ""
		if i := strings.IndexByte(pat, '/'); i >= 0 {
			comp, rest = pat[:i], pat[i:]
			for strings.HasPrefix(rest, "/") {
				slashes, rest = slashes+"/", rest[1:]
			}
		}
		pat = rest
		var next []string
		for _, dir := range found {
			next = append(next, sh.globIn(dir, comp, slashes)...)
		}
		found = next
	}
	slices.Sort(found)
	return found
}

// globIn matches one component in dir; with slashes only directories count.
func (sh *Shell) globIn(dir, comp, slashes string) (out []string) {
	plain := unescapePattern(comp)
	if !strings.ContainsAny(comp, "*?[(") {
		if _, e := sh.s.Lstat(dir + plain); e == 0 {
			return []string{dir + plain + slashes}
		}
		return nil
	}
	from := dir
	if from == "" {
		from = "."
	}
	entries, e := sh.s.ReadDir(from)
	if e != 0 {
		return nil
	}
	for _, d := range entries {
		if d.Name[0] == '.' && comp[0] != '.' && !(sh.opts.dotglob && d.Name != "." && d.Name != "..") {
			continue
		}
		if !sh.match(comp, d.Name) {
			continue
		}
		if slashes != "" && d.Type != 4 {
			if st, e := sh.s.Stat(dir + d.Name); e != 0 || st.Mode&modeType != modeDir {
				continue
			}
		}
		out = append(out, dir+d.Name+slashes)
	}
	return out
}

func unescapePattern(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

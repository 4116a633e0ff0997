package ftrace

import (
	"strings"

	"kscope/kernel"
)

// pattern is a parsed function pattern; see filter_parse_regex in kernel/trace/trace_events_filter.c.
type pattern struct {
	kind matchKind
	text string
	not  bool // it began with '!'
}

type matchKind uint8

const (
	matchFull   matchKind = iota
	matchFront            // abc*
	matchMiddle           // *abc*
	matchEnd              // *abc
	matchGlob             // anything else with * ? [ \: lib/glob.c
	matchIndex            // a number: line of available_filter_functions, from 1
)

// parsePattern never fails: any text is at least a literal.
func parsePattern(s string) (p pattern) {
	if rest, ok := strings.CutPrefix(s, "!"); ok {
		s, p.not = rest, true
	}
	p.text = s
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		p.kind = matchIndex
		return p
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*' && i == 0:
			p.kind = matchEnd
		case c == '*' && i == len(s)-1:
			if p.kind == matchEnd {
				p.kind = matchMiddle
			} else {
				p.kind = matchFront
			}
			s = s[:i]
		case c == '*' || c == '?' || c == '[' || c == '\\':
			p.kind = matchGlob
			return p
		}
	}
	p.text = strings.TrimPrefix(s, "*")
	return p
}

// match says whether a name matches; see ftrace_match.
func (p *pattern) match(name string) bool {
	switch p.kind {
	case matchFull:
		return name == p.text
	case matchFront:
		return strings.HasPrefix(name, p.text)
	case matchMiddle:
		return strings.Contains(name, p.text)
	case matchEnd:
		return strings.HasSuffix(name, p.text)
	case matchGlob:
		return kernel.Glob(p.text, name)
	}
	return false
}

// Match says whether a function name matches a pattern as set_ftrace_filter takes it, without a leading '!'.
func Match(text, name string) bool {
	p := parsePattern(text)
	return p.match(name) != p.not
}

// enter puts the records that match s into h, or takes them out for "!s"; see match_records. False: nothing matches.
func (s *Sites) enter(h *Hash, text string) bool {
	p, found := parsePattern(text), false
	put := func(ip uint64) {
		found = true
		if p.not {
			h.Remove(ip)
		} else {
			h.Add(ip)
		}
	}
	if p.kind == matchIndex {
		if n := simpleStrtoul(p.text); n >= 1 && n <= uint64(len(s.recs)) {
			put(s.recs[n-1].IP)
		}
		return found
	}
	check := func(i int) {
		if p.match(s.recs[i].Name) {
			put(s.recs[i].IP)
		}
	}
	if s.names != nil && s.names.candidates(&p, check) {
		return found
	}
	for i := range s.recs {
		check(i)
	}
	if s.scans++; s.scans == indexAfter {
		s.names = newNameIndex(s.recs)
	}
	return found
}

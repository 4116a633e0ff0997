package user

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// perlPattern is a pattern of grep -P: a Go pattern, which has Perl's classes, bounds and lazy repetition, and looks around only at its
// ends: (?<=…) or \K before what is matched, (?=…) behind it.
type perlPattern struct {
	around bool
	group  int // what is matched, between what is looked at
}

// horizontal are the classes that Perl has and Go has not.
var horizontal = strings.NewReplacer(`\\`, `\\`, `\h`, `[ \t]`, `\H`, `[^ \t]`, `\R`, `(?:\r\n|\n|\r)`, `\Z`, `\z`)

func (g *grepRun) compilePerl() error {
	if len(g.patterns) != 1 {
		return errors.New("the -P option only supports a single pattern")
	}
	p, before, behind := g.patterns[0], "", ""
	if rest, ok := strings.CutPrefix(p, "(?<="); ok {
		if end := closing(rest); end >= 0 {
			before, p = rest[:end], rest[end+1:]
		}
	}
	if i := topLevel(p, `\K`); i >= 0 {
		before, p = before+p[:i], p[i+2:]
	}
	if i := strings.LastIndex(p, "(?="); i >= 0 && strings.HasSuffix(p, ")") && closing(p[i+3:]) == len(p)-i-4 {
		behind, p = p[i+3:len(p)-1], p[:i]
	}
	g.perl.around = before != "" || behind != ""
	text := fmt.Sprintf("(?:%s)(?P<matched_>%s)(?:%s)", before, p, behind)
	if g.on['x'] {
		text = "^" + text + "$"
	}
	mode := ""
	if g.on['i'] {
		mode = "(?i)"
	}
	rx, err := regexp.Compile(mode + horizontal.Replace(text))
	if err != nil {
		return fmt.Errorf("of Perl's patterns this is not supported: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	g.rx, g.perl.group = rx, rx.SubexpIndex("matched_")
	return nil
}

// topLevel finds a word in a pattern outside of its groups and classes; -1: nowhere.
func topLevel(p, word string) int {
	depth, class := 0, false
	for i := 0; i < len(p); i++ {
		switch {
		case depth == 0 && !class && strings.HasPrefix(p[i:], word):
			return i
		case p[i] == '\\':
			i++
		case class:
			class = p[i] != ']'
		case p[i] == '[':
			class = true
		case p[i] == '(':
			depth++
		case p[i] == ')':
			depth--
		}
	}
	return -1
}

// closing is where the group ends that p is inside of.
func closing(p string) int { return topLevel(p, ")") }

// match finds the next match at or behind a place.
func (g *grepRun) match(line []byte, at int) []int {
	if g.kind != 'P' {
		if m := g.rx.FindIndex(line[at:]); m != nil {
			return []int{at + m[0], at + m[1]}
		}
		return nil
	}
	// What is looked at may have been matched before; else the search begins at the line's begin, so that ^ and \b see what is there.
	from := at
	if !g.perl.around {
		from = 0
	}
	for ; from <= at; from++ {
		for _, m := range g.rx.FindAllSubmatchIndex(line[from:], -1) {
			if lo, hi := from+m[2*g.perl.group], from+m[2*g.perl.group+1]; lo >= at {
				return []int{lo, hi}
			}
		}
		if !g.perl.around {
			return nil
		}
	}
	return nil
}

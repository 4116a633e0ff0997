package kernel

import (
	"cmp"
	"slices"
	"strings"
)

// Glob matches a shell pattern as lib/glob.c does: * ? [a-z] [!a] and \ as the escape. An unclosed [ is itself.
func Glob(pattern, s string) bool {
	backP, backS := -1, 0 // where to take up again after the last *
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				backP, backS = p+1, i
				p++
				continue
			}
			if ok, n := globOne(pattern[p:], s[i]); ok {
				p += n
				i++
				continue
			}
		}
		if backP < 0 {
			return false
		}
		backS++
		p, i = backP, backS
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// globOne matches one byte against the head of a pattern and returns the head's length.
func globOne(p string, c byte) (bool, int) {
	switch p[0] {
	case '?':
		return true, 1
	case '\\':
		if len(p) > 1 {
			return p[1] == c, 2
		}
	case '[':
		if n := globClass(p); n > 0 {
			return inClass(p[1:n-1], c), n
		}
	}
	return p[0] == c, 1
}

// globClass is the length of the class at the head of p, 0 when it is not closed. A ] right behind [ or [! is a member.
func globClass(p string) int {
	i := 1
	if i < len(p) && p[i] == '!' {
		i++
	}
	for j := i + 1; j < len(p); j++ {
		if p[j] == ']' {
			return j + 1
		}
	}
	return 0
}

func inClass(set string, c byte) bool {
	invert := set[0] == '!'
	if invert {
		set = set[1:]
	}
	in := false
	for i := 0; i < len(set); i++ {
		lo, hi := set[i], set[i]
		if i+2 < len(set) && set[i+1] == '-' {
			hi = set[i+2]
			i += 2
		}
		in = in || lo <= c && c <= hi
	}
	return in != invert
}

// Suggest returns up to three of names that are within a third of name's length in edits, best first.
func Suggest(name string, names []string) []string {
	type near struct {
		name string
		d    int
	}
	limit := max(1, len(name)/3)
	var found []near
	for _, n := range names {
		if len(n) > len(name)+limit || len(name) > len(n)+limit {
			continue
		}
		if d := edits(name, n, limit); d <= limit {
			found = append(found, near{n, d})
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(a.d-b.d, strings.Compare(a.name, b.name)) })
	var out []string
	for _, f := range found {
		if len(out) < 3 && !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out
}

// edits counts insertions, deletions, changes and swaps of neighbours; it stops counting beyond limit.
func edits(a, b string, limit int) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			d := prev[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, prev[j]+1, cur[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			best = min(best, d)
		}
		if best > limit {
			return best
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

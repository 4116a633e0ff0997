package lang

import (
	"sort"
	"strings"
)

// Near gives up to three candidates that x may have been meant to be, best first. It is exact about ties (alphabetical), so
// hints are the same in every run.
func Near(x string, candidates []string) []string {
	type scored struct {
		name string
		d    int
	}
	limit := 0 // a name of one or two letters is near to too many
	if len(x) > 2 {
		limit = max(1, (len(x)+2)/4) // a name may be wrong in a quarter of its letters
	}
	var near []scored
	seen := map[string]bool{x: true}
	for _, c := range candidates {
		if seen[c] {
			continue
		}
		seen[c] = true
		d := distance(strings.ToLower(x), strings.ToLower(c), limit)
		if d > limit && (len(x) >= 3 || len(x) == 2 && len(c) == 3) && strings.HasPrefix(c, x) && len(c)-len(x) <= 8 {
			d = limit // a name cut short
		}
		if d > limit && len(c) >= 4 && strings.HasPrefix(x, c) {
			d = limit // a name spelt out: histogram for hist
		}
		if d <= limit {
			near = append(near, scored{c, d})
		}
	}
	sort.Slice(near, func(i, j int) bool {
		if near[i].d != near[j].d {
			return near[i].d < near[j].d
		}
		return near[i].name < near[j].name
	})
	var names []string
	for i := 0; i < len(near) && i < 3; i++ {
		if near[i].d > near[0].d+1 {
			break // clearly worse than the best
		}
		names = append(names, near[i].name)
	}
	return names
}

// DidYouMean words the hint for a wrong name, or is empty when nothing is near.
func DidYouMean(x string, candidates []string) string {
	names := Near(x, candidates)
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "did you mean " + names[0] + "?"
	}
	last := len(names) - 1
	return "did you mean " + strings.Join(names[:last], ", ") + " or " + names[last] + "?"
}

// distance is the number of insertions, deletions, substitutions and swaps of neighbours between a and b (optimal string
// alignment). It gives up with limit+1 when the lengths alone exceed the limit.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j-1]+cost, prev[j]+1, cur[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}

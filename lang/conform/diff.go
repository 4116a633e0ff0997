package conform

// span is one difference: a[a:aEnd] stands where b[b:bEnd] does.
type span struct{ a, aEnd, b, bEnd int }

// diff returns the spans outside a longest common subsequence of lines (Myers' O(ND) on what is left between the common
// begin and end). The work is bounded: past maxEdits edits the rest counts as one difference.
func diff(a, b []string) []span {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	var spans []span
	for _, s := range myers(x, y) {
		spans = append(spans, span{s.a + head, s.aEnd + head, s.b + head, s.bEnd + head})
	}
	return spans
}

const maxEdits = 4000

// myers keeps the furthest x of each diagonal after d edits and walks back through them.
func myers(a, b []string) []span {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+3)
	mid := limit + 1
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[mid-d-1:mid+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := v[mid+k-1] + 1
			if k == -d || k != d && v[mid+k-1] < v[mid+k+1] {
				x = v[mid+k+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			v[mid+k] = x
			if x >= n && x-k >= m {
				return walkBack(trace, n, m)
			}
		}
	}
	return []span{{0, n, 0, m}}
}

// walkBack turns the recorded diagonals into spans, merging neighbours.
func walkBack(trace [][]int, x, y int) []span {
	var rev []span
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d] // v[d+1+k] is diagonal k before edit d
		k := x - y
		down := k == -d || k != d && v[d+1+k-1] < v[d+1+k+1]
		pk := k - 1
		if down {
			pk = k + 1
		}
		px := v[d+1+pk]
		py := px - pk
		s := span{px, px + 1, py, py}
		if down {
			s = span{px, px, py, py + 1}
		}
		if last := len(rev) - 1; last >= 0 && rev[last].a == s.aEnd && rev[last].b == s.bEnd {
			rev[last].a, rev[last].b = s.a, s.b
		} else {
			rev = append(rev, s)
		}
		x, y = px, py
	}
	for i, j := 0, len(rev)-1; i < j; i, j = i+1, j-1 {
		rev[i], rev[j] = rev[j], rev[i]
	}
	return rev
}

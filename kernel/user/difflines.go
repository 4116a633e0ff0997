package user

// diffHunk is one change: lines [a0, a1) of the first file become [b0, b1) of the second.
type diffHunk struct{ a0, a1, b0, b1 int }

// diffLines finds the least changes by Myers's algorithm in linear space ("An O(ND) difference algorithm and its
// variations", 1986), and then slides each change as far down as it goes, as shift_boundaries() in GNU diff's analyze.c does.
func diffLines(a, b []string) []diffHunk {
	ids := map[string]int{}
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = len(ids)
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	d := &differ{a: number(a), b: number(b)}
	d.delA, d.insB = make([]bool, len(a)+1), make([]bool, len(b)+1)
	d.split(0, len(a), 0, len(b))
	shiftDown(d.a, d.delA, d.insB)
	shiftDown(d.b, d.insB, d.delA)
	var out []diffHunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if !d.delA[i] && !d.insB[j] {
			i++
			j++
			continue
		}
		h := diffHunk{a0: i, b0: j}
		for i < len(a) && d.delA[i] {
			i++
		}
		for j < len(b) && d.insB[j] {
			j++
		}
		h.a1, h.b1 = i, j
		out = append(out, h)
	}
	return out
}

type differ struct {
	a, b       []int
	delA, insB []bool
}

// split marks the changes between a[a0:a1] and b[b0:b1].
func (d *differ) split(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	switch {
	case a0 == a1:
		for ; b0 < b1; b0++ {
			d.insB[b0] = true
		}
	case b0 == b1:
		for ; a0 < a1; a0++ {
			d.delA[a0] = true
		}
	default:
		x, y := d.middle(a0, a1, b0, b1)
		d.split(a0, x, b0, y)
		d.split(x, a1, y, b1)
	}
}

// middle is a point on a shortest path, found by searches from both ends that meet.
func (d *differ) middle(a0, a1, b0, b1 int) (x, y int) {
	lo, hi := a0-b1, a1-b0 // the diagonals
	fw, bw := make([]int, hi-lo+3), make([]int, hi-lo+3)
	at := func(k int) int { return k - lo + 1 }
	fmid, bmid := a0-b0, a1-b1
	fmin, fmax, bmin, bmax := fmid, fmid, bmid, bmid
	odd := (fmid-bmid)&1 != 0
	fw[at(fmid)], bw[at(bmid)] = a0, a1
	for {
		if fmin > lo {
			fmin--
			fw[at(fmin-1)] = -1
		} else {
			fmin++
		}
		if fmax < hi {
			fmax++
			fw[at(fmax+1)] = -1
		} else {
			fmax--
		}
		for k := fmax; k >= fmin; k -= 2 {
			x := fw[at(k-1)] + 1
			if fw[at(k-1)] < fw[at(k+1)] {
				x = fw[at(k+1)]
			}
			y := x - k
			for x < a1 && y < b1 && d.a[x] == d.b[y] {
				x, y = x+1, y+1
			}
			fw[at(k)] = x
			if odd && bmin <= k && k <= bmax && bw[at(k)] <= x {
				return x, y
			}
		}
		const far = 1 << 60
		if bmin > lo {
			bmin--
			bw[at(bmin-1)] = far
		} else {
			bmin++
		}
		if bmax < hi {
			bmax++
			bw[at(bmax+1)] = far
		} else {
			bmax--
		}
		for k := bmax; k >= bmin; k -= 2 {
			x := bw[at(k+1)] - 1
			if bw[at(k-1)] < bw[at(k+1)] {
				x = bw[at(k-1)]
			}
			y := x - k
			for a0 < x && b0 < y && d.a[x-1] == d.b[y-1] {
				x, y = x-1, y-1
			}
			bw[at(k)] = x
			if !odd && fmin <= k && k <= fmax && x <= fw[at(k)] {
				return x, y
			}
		}
	}
}

// shiftDown moves runs of changed lines of one file towards its end while the line behind a run equals its first one, and
// joins runs that meet. other is the other file's marks: a run stays beside a change there when it passed one.
func shiftDown(lines []int, changed, other []bool) {
	i, j, end := 0, 0, len(lines)
	for {
		for i < end && !changed[i] {
			for other[j] {
				j++
			}
			i, j = i+1, j+1
		}
		if i == end {
			return
		}
		start := i
		for i++; changed[i]; i++ {
		}
		for other[j] {
			j++
		}
		corresponding := end
		for {
			length := i - start
			for start > 0 && lines[start-1] == lines[i-1] {
				start--
				i--
				changed[start], changed[i] = true, false
				for start > 0 && changed[start-1] {
					start--
				}
				for j--; j >= 0 && other[j]; j-- {
				}
			}
			if corresponding = end; j > 0 && other[j-1] {
				corresponding = i
			}
			for i != end && lines[start] == lines[i] {
				changed[start], changed[i] = false, true
				start++
				i++
				for changed[i] {
					i++
				}
				for j++; other[j]; j++ {
					corresponding = i
				}
			}
			if length == i-start {
				break
			}
		}
		for corresponding < i {
			start--
			i--
			changed[start], changed[i] = true, false
			for j--; j >= 0 && other[j]; j-- {
			}
		}
	}
}

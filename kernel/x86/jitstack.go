//go:build linux && amd64 && !race

package x86

// The saved registers. gcc's functions push a part of this row, with moves between the pushes, and pop it before they return: one probe
// does for all of them.

var savedRow = [6]uint8{R15, R14, R13, R12, RBP, RBX}

func savedIndex(off uint8) int {
	for i, r := range savedRow {
		if r*8 == off {
			return i
		}
	}
	return -1
}

// plainOp is the operation of a uop without what it is fused with.
func plainOp(u *uop) uint16 {
	if u.op >= o_push_run {
		return firstOps[u.op-o_push_run]
	}
	return u.op
}

// pushes writes the pushes of saved registers from uop t.k on, also those behind moves, which do not mind; t.done has them. false:
// that is not one.
func (t *translator) pushes(us []uop, all *[numOps]template) bool {
	first := savedIndex(us[t.k].s)
	if first < 0 {
		return false
	}
	j, written := first, uint32(0)
	t.done = 1 << t.k
	for k := t.k + 1; k < len(us) && k < 64; k++ {
		u := &us[k]
		if op := plainOp(u); op == o_push_r {
			if j == 5 || u.s != savedRow[j+1]*8 || written>>savedRow[j+1]&1 != 0 {
				break
			}
			j++
			t.done |= 1 << k
		} else if p := &all[op]; !p.quiet || u.d>>3 == RSP || u.s>>3 == RSP || u.m>>3 == RSP || u.x>>3 == RSP {
			break
		} else {
			written |= 1 << (u.d >> 3)
		}
	}
	n := int32(j - first + 1)
	t.pushPlace(n)
	for k, r := range savedRow[first : j+1] {
		t.hot.store(3, t.get(r*8, hCX), hAX, 8*(n-1-int32(k)))
	}
	t.moveSP(-n)
	return true
}

// pops writes a row of pops of saved registers, and a ret behind them, and returns how many uops these are; 0: it is none.
func (t *translator) pops(us []uop) int {
	j := savedIndex(us[0].d)
	if j < 0 {
		return 0
	}
	i, n := j, 1
	for n < len(us) && i > 0 && plainOp(&us[n]) == o_pop_r && us[n].d == savedRow[i-1]*8 {
		i, n = i-1, n+1
	}
	words := int32(n)
	isRet := n == len(us)-1 && us[n].op == o_ret
	if isRet {
		words++
	}
	t.hot.rr(3, opMov, hAX, fixed[RSP])
	t.probeN(8*words, false)
	if isRet {
		t.hot.load(3, hDX, hAX, int32(8*n))
		t.target(hCX)
	}
	for k, r := range savedRow[i : j+1] {
		t.loadTo(r*8, 3, int32(8*(n-1-k)))
	}
	t.moveSP(words)
	if isRet {
		t.returns()
		n++
	}
	return n
}

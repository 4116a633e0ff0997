//go:build linux && amd64 && !race

package x86

// Groups. A probe is most of what an access costs. So accesses to nearby places
// from one base register, with nothing between them that could leave or needs rax, share one probe for all of them. When it misses, the
// first is executed by its slow function, and the interpreter goes on from there to the block's end.

// maxGroup bounds the bytes that a group spans: most objects do not cross a page, but stacks do.
const maxGroup = 256

// group writes the group that begins with uop t.k and returns how many uops it has; 0: there is none.
func (t *translator) group(us []uop, all *[numOps]template) int {
	first := &us[t.k]
	p := &all[plainOp(first)]
	if p.access == 0 {
		return 0
	}
	base, write := first.m, p.access == 2
	lo, hi := int64(first.disp), int64(first.disp)+1<<p.sz
	end, n := t.k+1, 1
	for k := t.k; k < len(us); k++ {
		u := &us[k]
		p := &all[plainOp(u)]
		if p.quiet && t.keepsAX(u, p) && u.d>>3 != base>>3 {
			continue
		}
		if p.access == 0 || u.m != base {
			break
		}
		a, b := min(lo, int64(u.disp)), max(hi, int64(u.disp)+1<<p.sz)
		if b-a > maxGroup {
			break
		}
		lo, hi, write = a, b, write || p.access == 2
		if k > t.k {
			end, n = k+1, n+1
		}
		if p.access == 1 && p.form != "mr" && p.form != "mi" && u.d>>3 == base>>3 {
			break
		}
	}
	if n < 2 {
		return 0
	}
	t.addressOf(base, slotZero, 0, uint64(lo))
	t.probeN(int32(hi-lo), write)
	k := t.k
	t.grouped, t.low = true, uint64(lo)
	for ; t.k < end; t.k++ {
		p := &all[plainOp(&us[t.k])]
		p.emit(t, &us[t.k], p)
	}
	if t.bare {
		panic("BUG: a uop of a group has no template")
	}
	t.k, t.grouped, t.at, t.flags = k, false, 0, flagsNone
	return end - k
}

// keepsAX reports whether a quiet uop leaves rax alone.
func (t *translator) keepsAX(u *uop, p *template) bool {
	switch plainOp(u) {
	default:
		return true
	case o_lea_16_B, o_lea_16_X:
		return false
	case o_lea_32_B, o_lea_32_X, o_lea_64_B, o_lea_64_X:
		return t.plainLea(u, p)
	}
}

package agg

import (
	"fmt"
	"math/bits"

	"go.starlark.net/starlark"
)

// Buckets are numbered as bpftrace numbers them (src/output.cpp, hist_index_label and lhist_to_str).
//
// hist: 0 is for negative values. Then, with N = 1 << bits, each run of N numbers is one power of two: first 0..N-1 and
// N..2N-1, one value each, then runs whose buckets hold 2, 4, 8 ... values.
//
// lhist: 0 is below lo, the last at and above hi.

// maxBits is the finest that bpftrace takes.
const maxBits = 5

func (p *params) bucket(v int64) int {
	if p.step > 0 {
		switch {
		case v < p.lo:
			return 0
		case v >= p.hi:
			return p.steps() + 1
		}
		return 1 + int(uint64(v-p.lo)/uint64(p.step))
	}
	if v < 0 {
		return 0
	}
	n := uint64(v)
	if n < 1<<p.bits {
		return int(n) + 1
	}
	power := bits.Len64(n) - 1 - p.bits // each bucket of this run holds 1 << power values
	return power<<p.bits + int(n>>power) + 1
}

// steps is the number of buckets between lo and hi.
func (p *params) steps() int { return int((p.hi - p.lo) / p.step) }

// bound is what a bucket holds: from .from up to, but without, .to; to is unsigned, since the last ends at 2^63.
type bound struct {
	from   int64
	to     uint64
	below  bool // no lower bound
	above  bool // no upper bound
	signed int64
}

func (p *params) bounds(i int) bound {
	if p.step > 0 {
		switch i {
		case 0:
			return bound{below: true, signed: p.lo}
		case p.steps() + 1:
			return bound{above: true, from: p.hi}
		}
		from := p.lo + int64(i-1)*p.step
		return bound{from: from, signed: from + p.step}
	}
	if i == 0 {
		return bound{below: true}
	}
	from, to := p.start(i-1), p.start(i)
	return bound{from: int64(from), to: to, signed: int64(to)}
}

// start is the least value of the bucket behind number i of a log2 histogram.
func (p *params) start(i int) uint64 {
	n := 1 << p.bits
	if i < 2*n {
		return uint64(i)
	}
	return uint64(n+i&(n-1)) << (i>>p.bits - 1)
}

func (b bound) lo() starlark.Value {
	if b.below {
		return starlark.None
	}
	return starlark.MakeInt64(b.from)
}

func (b bound) hi() starlark.Value {
	if b.above {
		return starlark.None
	}
	if b.to != 0 {
		return starlark.MakeUint64(b.to)
	}
	return starlark.MakeInt64(b.signed)
}

// label is the bucket as bpftrace's text has it.
func (p *params) label(i int) string {
	if p.step > 0 {
		switch i {
		case 0:
			return "(..., " + p.number(p.lo) + ")"
		case p.steps() + 1:
			return "[" + p.number(p.hi) + ", ...)"
		}
		from := p.lo + int64(i-1)*p.step
		return "[" + p.number(from) + ", " + p.number(from+p.step) + ")"
	}
	switch {
	case i == 0:
		return "(..., 0)"
	case i <= 2<<p.bits:
		return fmt.Sprintf("[%d]", i-1)
	}
	return "[" + power(i-1, p.bits) + ", " + power(i, p.bits) + ")"
}

// number is an edge of lhist: in K and M when the step is a multiple of 1024.
func (p *params) number(n int64) string {
	switch {
	case p.step%1024 != 0 || n == 0:
	case n%(1<<20) == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%dK", n>>10)
	}
	return fmt.Sprint(n)
}

// power is an edge of hist: in the largest of K, M, G ... that the bucket's power of two reaches.
func power(i, k int) string {
	n := 1 << k
	exp := i>>k - 1
	decade := exp / 10
	text := fmt.Sprint((n + i&(n-1)) << (exp - 10*decade))
	if decade > 0 {
		text += "KMGTPE"[decade-1 : decade]
	}
	return text
}

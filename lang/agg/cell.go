package agg

import (
	"math/big"
	"math/bits"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// A cell is what an aggregation keeps for one key. There is one type of cell for each kind; all arithmetic is on integers, so
// that bytes are equal on every processor.
type cell[C any] interface {
	*C
	add(p *params, v int64)
	merge(p *params, o *C)
	// since makes the cell what came in since base was the cell, or since mark was called.
	since(p *params, base *C)
	mark()
	detach() // after a copy: shares nothing with the original
	empty() bool
	divide(n int64)
	// weight is what cells are sorted by.
	weight(p *params) int64
	value(p *params) starlark.Value
}

// wide is a sum of 128 bits: no number of int64 overflows it.
type wide struct {
	hi int64
	lo uint64
}

func (w *wide) add(v int64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, uint64(v), 0)
	w.hi += v>>63 + int64(carry)
}

func (w *wide) plus(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi += o.hi + int64(carry)
}

func (w *wide) minus(o wide) {
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, o.lo, 0)
	w.hi -= o.hi + int64(borrow)
}

func (w wide) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(w.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(w.lo))
}

// average is the sum over n, towards zero as in C.
func (w wide) average(n int64) int64 {
	if n == 0 {
		return 0
	}
	if w.hi == int64(w.lo)>>63 { // fits
		return int64(w.lo) / n
	}
	return new(big.Int).Quo(w.big(), big.NewInt(n)).Int64()
}

// sumCell is of count and sum. It wraps at 64 bits, as the kernel's counters do.
type sumCell int64

func (c *sumCell) add(_ *params, v int64)         { *c += sumCell(v) }
func (c *sumCell) merge(_ *params, o *sumCell)    { *c += *o }
func (c *sumCell) since(_ *params, base *sumCell) { *c -= *base }
func (c *sumCell) mark()                          {}
func (c *sumCell) detach()                        {}
func (c *sumCell) empty() bool                    { return *c == 0 }
func (c *sumCell) divide(n int64)                 { *c /= sumCell(n) }
func (c *sumCell) weight(*params) int64           { return int64(*c) }
func (c *sumCell) value(*params) starlark.Value   { return starlark.MakeInt64(int64(*c)) }

// edgeCell is of min and max: the extreme of all values, and of those since the last delta.
type edgeCell struct {
	v, recent     int64
	some, someNow bool
}

func (c *edgeCell) add(p *params, v int64) {
	if !c.some || (v > c.v) == p.max {
		c.v, c.some = v, true
	}
	if !c.someNow || (v > c.recent) == p.max {
		c.recent, c.someNow = v, true
	}
}

func (c *edgeCell) merge(p *params, o *edgeCell) {
	if o.some {
		c.add(p, o.v)
	}
}

func (c *edgeCell) since(_ *params, _ *edgeCell) {
	*c = edgeCell{v: c.recent, recent: c.recent, some: c.someNow, someNow: c.someNow}
}
func (c *edgeCell) mark()                        { c.recent, c.someNow = 0, false }
func (c *edgeCell) detach()                      {}
func (c *edgeCell) empty() bool                  { return !c.some }
func (c *edgeCell) divide(n int64)               { c.v /= n }
func (c *edgeCell) weight(*params) int64         { return c.v }
func (c *edgeCell) value(*params) starlark.Value { return starlark.MakeInt64(c.v) }

// avgCell is of avg.
type avgCell struct {
	n     int64
	total wide
}

func (c *avgCell) add(_ *params, v int64)         { c.n++; c.total.add(v) }
func (c *avgCell) merge(_ *params, o *avgCell)    { c.n += o.n; c.total.plus(o.total) }
func (c *avgCell) since(_ *params, base *avgCell) { c.n -= base.n; c.total.minus(base.total) }
func (c *avgCell) mark()                          {}
func (c *avgCell) detach()                        {}
func (c *avgCell) empty() bool                    { return c.n == 0 }
func (c *avgCell) divide(n int64) {
	*c = avgCell{n: min(c.n, 1), total: narrow(c.total.average(c.n) / n)}
}
func (c *avgCell) weight(*params) int64           { return c.total.average(c.n) }
func (c *avgCell) value(p *params) starlark.Value { return starlark.MakeInt64(c.weight(p)) }

func narrow(v int64) (w wide) {
	w.add(v)
	return w
}

// statCell is of stats: with the sum of squares, in 192 bits, for the standard deviation.
type statCell struct {
	avgCell
	lo, hi int64
	sq     [3]uint64
	div    int64 // of scale
}

func (c *statCell) add(p *params, v int64) {
	if c.n == 0 || v < c.lo {
		c.lo = v
	}
	if c.n == 0 || v > c.hi {
		c.hi = v
	}
	c.avgCell.add(p, v)
	m := uint64(v)
	if v < 0 {
		m = -m
	}
	hi, lo := bits.Mul64(m, m)
	c.addSquares([3]uint64{lo, hi, 0})
}

func (c *statCell) addSquares(x [3]uint64) {
	var carry uint64
	for i := range c.sq {
		c.sq[i], carry = bits.Add64(c.sq[i], x[i], carry)
	}
}

func (c *statCell) merge(p *params, o *statCell) {
	if o.n == 0 {
		return
	}
	if c.n == 0 {
		c.lo, c.hi = o.lo, o.hi
	}
	c.lo, c.hi = min(c.lo, o.lo), max(c.hi, o.hi)
	c.avgCell.merge(p, &o.avgCell)
	c.addSquares(o.sq)
}

// since keeps the extremes of all: they cannot be taken back.
func (c *statCell) since(p *params, base *statCell) {
	c.avgCell.since(p, &base.avgCell)
	var borrow uint64
	for i := range c.sq {
		c.sq[i], borrow = bits.Sub64(c.sq[i], base.sq[i], borrow)
	}
}

func (c *statCell) divide(n int64) { c.div = max(c.div, 1) * n }

// stddev is the standard deviation of a sample, rounded down: sqrt((n*Σx² - (Σx)²) / (n*(n-1))), as the s^2 of Linux's
// function profile (function_stat_show in kernel/trace/ftrace.c).
func (c *statCell) stddev() *big.Int {
	if c.n < 2 {
		return new(big.Int)
	}
	sq := new(big.Int)
	for i := len(c.sq) - 1; i >= 0; i-- {
		sq.Lsh(sq, 64).Add(sq, new(big.Int).SetUint64(c.sq[i]))
	}
	n, total := big.NewInt(c.n), c.total.big()
	sq.Mul(sq, n).Sub(sq, new(big.Int).Mul(total, total))
	sq.Quo(sq, new(big.Int).Mul(n, big.NewInt(c.n-1)))
	return sq.Sqrt(sq)
}

// stat is what a statCell says, after scale.
type stat struct {
	count, average, min, max int64
	total, stddev            *big.Int
}

func (c *statCell) stat() stat {
	d := max(c.div, 1)
	big10 := big.NewInt(d)
	return stat{
		count: c.n, average: c.total.average(c.n) / d, min: c.lo / d, max: c.hi / d,
		total: new(big.Int).Quo(c.total.big(), big10), stddev: new(big.Int).Quo(c.stddev(), big10),
	}
}

func (c *statCell) value(*params) starlark.Value {
	s := c.stat()
	num := starlark.MakeInt64
	return starlarkstruct.FromStringDict(starlark.String("stats"), starlark.StringDict{
		"count": num(s.count), "average": num(s.average), "total": starlark.MakeBigInt(s.total), "min": num(s.min), "max": num(s.max),
		"stddev": starlark.MakeBigInt(s.stddev),
	})
}

// histCell is of hist and lhist: the counts of a run of buckets, from the first that has any to the last.
type histCell struct {
	n      int64
	first  int
	counts []int64
}

func (c *histCell) add(p *params, v int64) { c.bump(p.bucket(v), 1) }

func (c *histCell) bump(i int, by int64) {
	switch {
	case len(c.counts) == 0:
		c.first, c.counts = i, append(c.counts, 0)
	case i < c.first:
		c.counts = append(make([]int64, c.first-i, c.first-i+len(c.counts)), c.counts...)
		c.first = i
	}
	for i-c.first >= len(c.counts) {
		c.counts = append(c.counts, 0)
	}
	c.counts[i-c.first] += by
	c.n += by
}

func (c *histCell) merge(_ *params, o *histCell) {
	for i, n := range o.counts {
		if n != 0 {
			c.bump(o.first+i, n)
		}
	}
}

func (c *histCell) since(_ *params, base *histCell) {
	for i, n := range base.counts {
		if n != 0 {
			c.bump(base.first+i, -n)
		}
	}
	for len(c.counts) > 0 && c.counts[len(c.counts)-1] == 0 {
		c.counts = c.counts[:len(c.counts)-1]
	}
	for len(c.counts) > 0 && c.counts[0] == 0 {
		c.counts, c.first = c.counts[1:], c.first+1
	}
}

func (c *histCell) divide(n int64) {
	c.n = 0
	for i := range c.counts {
		c.counts[i] /= n
		c.n += c.counts[i]
	}
}

func (c *histCell) mark()       {}
func (c *histCell) detach()     { c.counts = slices.Clone(c.counts) }
func (c *histCell) empty() bool { return len(c.counts) == 0 }

func (c *histCell) weight(*params) int64 { return c.n }

// value is a list of the buckets: .lo (None: no lower bound), .hi (exclusive; None: no upper bound), .count.
func (c *histCell) value(p *params) starlark.Value {
	var out []starlark.Value
	for i, n := range c.counts {
		b := p.bounds(c.first + i)
		out = append(out, starlarkstruct.FromStringDict(starlark.String("bucket"), starlark.StringDict{
			"lo": b.lo(), "hi": b.hi(), "count": starlark.MakeInt64(n),
		}))
	}
	return starlark.NewList(out)
}

// quantCell is of quantiles: every value, since exact answers need them all.
type quantCell struct{ values []int64 }

func (c *quantCell) add(_ *params, v int64)        { c.values = append(c.values, v) }
func (c *quantCell) merge(_ *params, o *quantCell) { c.values = append(c.values, o.values...) }
func (c *quantCell) since(_ *params, base *quantCell) {
	c.values = c.values[min(len(base.values), len(c.values)):]
}
func (c *quantCell) mark()       {}
func (c *quantCell) detach()     { c.values = slices.Clone(c.values) }
func (c *quantCell) empty() bool { return len(c.values) == 0 }
func (c *quantCell) divide(n int64) {
	for i := range c.values {
		c.values[i] /= n
	}
}

// weight is the last of the quantiles that were asked for.
func (c *quantCell) weight(p *params) int64 {
	q := c.quantiles(p)
	if len(q) == 0 {
		return 0
	}
	return q[len(q)-1]
}

// quantiles are the values at p.quants by nearest rank: the least value that so many percent of the values do not exceed.
func (c *quantCell) quantiles(p *params) []int64 {
	n := int64(len(c.values))
	if n == 0 {
		return nil
	}
	sorted := slices.Clone(c.values)
	slices.Sort(sorted)
	out := make([]int64, len(p.quants))
	for i, q := range p.quants {
		rank := (q.micro*n + 100e6 - 1) / 100e6
		out[i] = sorted[min(max(rank, 1), n)-1]
	}
	return out
}

func (c *quantCell) value(p *params) starlark.Value {
	d := starlark.NewDict(len(p.quants))
	for i, v := range c.quantiles(p) {
		_ = d.SetKey(p.quants[i].given, starlark.MakeInt64(v)) // a new dict of numbers takes them
	}
	return d
}

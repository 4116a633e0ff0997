// Package agg is the aggregations of kscope's scripts: counts, sums, averages, extremes, histograms and quantiles by key, as
// bpftrace's maps.
//
// Main types: [Set] (the aggregations of one script, in the order of their creation), [Agg] (one of them, a Starlark value),
// cell (what it keeps for a key; one type for each kind, cell.go), Stack (a key part made of a list).
//
// The flow:
//
//  1. A row of kinds makes agg.count, agg.hist ...: get-or-create by name (rows.go).
//  2. add and inc encode the key into a scratch buffer, find its index in the table, and add to the cell with that index
//     (key.go, store.go): no allocation for a key that is there already.
//  3. print sorts the indices and writes bpftrace's text or JSON, Linux's hist file, or bcc's distribution (print.go,
//     style.go).
//  4. At the end of a script Set.PrintAll shows what is not empty.
//
// An Agg is a handle: Freeze does nothing, so a handler of a loaded, frozen file may count. Everything is integers; where
// bpftrace uses single floats, for the bars, each step is rounded to float32, so that amd64 and arm64 print the same.
//
// All of it belongs to the goroutine that runs Starlark.
package agg

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"kscope/lang"
)

type token = syntax.Token

const lt = syntax.LT

// Set is the aggregations of one script.
type Set struct {
	Style string // of what is printed without a style; "": bpftrace
	list  []*Agg
	quiet bool // autoprint(False)
}

// Agg is one aggregation: the value of agg.count(...) and the others.
type Agg struct {
	set   *Set
	name  string
	p     *params
	index map[string]int32
	keys  []starlark.Value
	cells store
	buf   []byte // scratch of find
	one   [1]starlark.Value
	small [64]int32 // by the int that is a key's only part: index + 1; 0: see index

	base     *Agg // what it was at the last delta()
	methods  map[string]starlark.Value
	used     string // the method that was asked for last
	usedLast starlark.Value
}

var (
	_ starlark.HasAttrs        = (*Agg)(nil)
	_ starlark.HasSetKey       = (*Agg)(nil)
	_ starlark.IterableMapping = (*Agg)(nil)
	_ starlark.Sequence        = (*Agg)(nil)
	_ starlark.Container       = (*Agg)(nil)
)

// New makes an empty aggregation that belongs to no set.
func newAgg(name string, p *params) *Agg {
	return &Agg{name: name, p: p, index: map[string]int32{}, cells: kindOf(p.kind).make(p)}
}

func (a *Agg) String() string {
	return fmt.Sprintf("<agg.%s %s: %d keys>", a.p.kind, a.name, len(a.keys))
}
func (a *Agg) Type() string          { return "Agg" }
func (a *Agg) Freeze()               {}
func (a *Agg) Truth() starlark.Bool  { return len(a.keys) > 0 }
func (a *Agg) Hash() (uint32, error) { return starlark.String(a.name).Hash() }
func (a *Agg) Len() int              { return len(a.keys) }

// find gives the index of a key, -1 when it is not there.
func (a *Agg) find(key starlark.Tuple) (int, error) {
	small := a.smallOf(key)
	if small != nil && *small != 0 {
		return int(*small) - 1, nil
	}
	var err error
	if a.buf, err = encode(a.buf[:0], key); err != nil {
		return -1, err
	}
	if i, ok := a.index[string(a.buf)]; ok {
		if small != nil {
			*small = i + 1
		}
		return int(i), nil
	}
	return -1, nil
}

// smallOf is where the index of a key is that is one small int, as those of CPUs and results are: 40 ns less than its encoding and the
// map. Else nil.
func (a *Agg) smallOf(key starlark.Tuple) *int32 {
	if len(key) == 1 {
		if n, ok := key[0].(starlark.Int); ok {
			if x, ok := n.Int64(); ok && uint64(x) < uint64(len(a.small)) {
				return &a.small[x]
			}
		}
	}
	return nil
}

// slot gives the index of a key, which it makes if need be.
func (a *Agg) slot(key starlark.Tuple) (int, error) {
	i, err := a.find(key)
	if i >= 0 || err != nil {
		return i, err
	}
	if n := len(a.p.keys); n > 0 && n != len(key) {
		return -1, lang.Errorf("@%s: a key of %d, want %d: %q", a.name, len(key), n, a.p.keys)
	}
	i = len(a.keys)
	a.index[string(a.buf)] = int32(i)
	a.keys = append(a.keys, own(key))
	a.cells.grow()
	return i, nil
}

// Add adds a value to a key's cell. A key of one part that is a tuple has its parts: a.add(v, (x, y)) is a.add(v, x, y).
func (a *Agg) Add(v int64, key starlark.Tuple) error {
	if len(key) == 1 {
		if t, ok := key[0].(starlark.Tuple); ok {
			key = t
		}
	}
	i, err := a.slot(key)
	if err == nil {
		a.cells.add(i, v)
	}
	return err
}

// counts tells that an index may be assigned to: c[k] += 1.
func (a *Agg) counts() bool { return a.p.kind == "count" || a.p.kind == "sum" }

// Get is a[key]: 0 for a key that a count or sum does not have, so that += works.
func (a *Agg) Get(key starlark.Value) (starlark.Value, bool, error) {
	a.one[0] = key
	k := starlark.Tuple(a.one[:])
	if t, ok := key.(starlark.Tuple); ok {
		k = t
	}
	i, err := a.find(k)
	switch {
	case err != nil:
		return nil, false, err
	case i >= 0:
		return a.cells.value(i), true, nil
	case a.counts():
		return starlark.MakeInt(0), true, nil
	}
	return nil, false, &lang.Error{Msg: fmt.Sprintf("@%s has no key %s", a.name, key), Hint: "a.get(key) gives None then"}
}

// Has is `key in a`.
func (a *Agg) Has(key starlark.Value) (bool, error) {
	i, err := a.find(parts(key))
	return i >= 0, err
}

// SetKey is a[key] = n of count and sum.
func (a *Agg) SetKey(key, v starlark.Value) error {
	if !a.counts() {
		return &lang.Error{
			Msg:  fmt.Sprintf("@%s: only count and sum can be assigned to; this is %s", a.name, a.p.kind),
			Hint: "write a.add(value, key)",
		}
	}
	n, err := number(v)
	if err != nil {
		return err
	}
	a.one[0] = key
	k := starlark.Tuple(a.one[:])
	if t, ok := key.(starlark.Tuple); ok {
		k = t
	}
	i, err := a.slot(k)
	if err == nil {
		a.cells.zero(i)
		a.cells.add(i, n)
	}
	return err
}

// number takes a value to aggregate: 64 bits; an unsigned one with the highest bit set is negative, as registers are.
func number(v starlark.Value) (int64, error) {
	n, ok := v.(starlark.Int)
	if !ok {
		e := lang.Errorf("a value to aggregate is %s, want int", v.Type())
		if v == starlark.None {
			e.Hint = "an attribute that does not apply is None"
		} else if _, isFloat := v.(starlark.Float); isFloat {
			e.Hint = "use // or int()"
		}
		return 0, e
	}
	if x, ok := n.Int64(); ok {
		return x, nil
	}
	if x, ok := n.Uint64(); ok {
		return int64(x), nil
	}
	return 0, lang.Errorf("%s does not fit 64 bits", v)
}

// order lists the indices of all keys: by weight and then by key, or by key; desc turns the order around.
func (a *Agg) order(by string, desc bool) []int {
	idx := make([]int, len(a.keys))
	for i := range idx {
		idx[i] = i
	}
	var weights []int64
	if by != byKey {
		weights = make([]int64, len(a.keys))
		for i := range weights {
			weights[i] = a.cells.weight(i)
		}
	}
	sign := 1
	if desc {
		sign = -1
	}
	sortBy(idx, func(i, j int) int {
		if weights != nil && weights[i] != weights[j] {
			if weights[i] < weights[j] {
				return -sign
			}
			return sign
		}
		c := compareKeys(a.keys[i], a.keys[j])
		if weights == nil {
			return sign * c
		}
		return c
	})
	return idx
}

// What items and print sort by.
const (
	byValue = "value"
	byKey   = "key"
)

// Iterate goes over the keys in their order.
func (a *Agg) Iterate() starlark.Iterator { return a.keyList().Iterate() }

func (a *Agg) keyList() *starlark.List {
	keys := make([]starlark.Value, 0, len(a.keys))
	for _, i := range a.order(byKey, false) {
		keys = append(keys, a.keys[i])
	}
	return starlark.NewList(keys)
}

// Items are (key, value) in the order of keys; dict(a) copies them.
func (a *Agg) Items() []starlark.Tuple {
	var out []starlark.Tuple
	for _, i := range a.order(byKey, false) {
		out = append(out, starlark.Tuple{a.keys[i], a.cells.value(i)})
	}
	return out
}

// clear forgets all keys.
func (a *Agg) clear() {
	clear(a.small[:])
	a.index, a.keys, a.cells, a.base = map[string]int32{}, nil, kindOf(a.p.kind).make(a.p), nil
}

// remove forgets one key.
func (a *Agg) remove(key starlark.Tuple) error {
	clear(a.small[:]) // so that find encodes it
	i, err := a.find(key)
	if i < 0 || err != nil {
		return err
	}
	clear(a.small[:])
	delete(a.index, string(a.buf))
	last := len(a.keys) - 1
	if i != last {
		a.keys[i] = a.keys[last]
		if a.buf, err = encode(a.buf[:0], parts(a.keys[i])); err != nil {
			return err
		}
		a.index[string(a.buf)] = int32(i)
	}
	a.keys[last] = nil
	a.keys = a.keys[:last]
	a.cells.remove(i)
	a.base = nil
	return nil
}

// copy makes an aggregation of its own with the same cells.
func (a *Agg) copy() *Agg {
	n := newAgg(a.name, a.p)
	n.set = a.set
	n.keys, n.cells = slices.Clone(a.keys), a.cells.clone()
	for k, i := range a.index {
		n.index[k] = i
	}
	return n
}

// merge adds the cells of another aggregation of the same kind.
func (a *Agg) merge(o *Agg) error {
	if a.p.kind != o.p.kind || a.p.bits != o.p.bits || a.p.lo != o.p.lo || a.p.hi != o.p.hi || a.p.step != o.p.step {
		return lang.Errorf("@%s is agg.%s, @%s is agg.%s or has other buckets: they do not merge", a.name, a.p.kind, o.name, o.p.kind)
	}
	if a == o {
		o = a.copy()
	}
	for j, key := range o.keys {
		i, err := a.slot(parts(key))
		if err != nil {
			return err
		}
		a.cells.merge(i, o.cells, j)
	}
	return nil
}

// delta is what came in since the last delta; keys to which nothing came are left out.
func (a *Agg) delta() (*Agg, error) {
	base := a.base
	if base == nil {
		base = newAgg(a.name, a.p)
	}
	now, out := a.copy(), newAgg(a.name, a.p)
	out.set = a.set
	for i, key := range now.keys {
		j, err := base.slot(parts(key))
		if err != nil {
			return nil, err
		}
		now.cells.since(i, base.cells, j)
		if now.cells.empty(i) {
			continue
		}
		k, err := out.slot(parts(key))
		if err != nil {
			return nil, err
		}
		out.cells.merge(k, now.cells, i)
	}
	a.base = a.copy()
	a.cells.mark()
	return out, nil
}

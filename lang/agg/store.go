package agg

import (
	"slices"

	"go.starlark.net/starlark"
)

// params are what an aggregation was made with.
type params struct {
	kind         string
	keys         []string // names of the parts of its keys; empty: any
	unit         string
	bits         int // of hist
	lo, hi, step int64
	quants       []quantile
	max          bool
}

// quantile is a percentage: as it was given and in millionths.
type quantile struct {
	given starlark.Value
	micro int64
}

// store is the column of an aggregation's cells, one for each key. It has one implementation, cells, for each type of cell.
type store interface {
	grow()
	add(i int, v int64)
	value(i int) starlark.Value
	weight(i int) int64
	zero(i int)
	remove(i int) // puts the last cell in place of cell i
	merge(i int, o store, j int)
	since(i int, o store, j int)
	mark()
	empty(i int) bool
	divide(i int, n int64)
	clone() store
	at(i int) any // the cell itself, for printers
}

// cells is the store of one type of cell.
type cells[C any, P cell[C]] struct {
	p    *params
	list []C
}

func newCells[C any, P cell[C]](p *params) store { return &cells[C, P]{p: p} }

func (s *cells[C, P]) cell(i int) P                { return P(&s.list[i]) }
func (s *cells[C, P]) grow()                       { var c C; s.list = append(s.list, c) }
func (s *cells[C, P]) add(i int, v int64)          { s.cell(i).add(s.p, v) }
func (s *cells[C, P]) value(i int) starlark.Value  { return s.cell(i).value(s.p) }
func (s *cells[C, P]) weight(i int) int64          { return s.cell(i).weight(s.p) }
func (s *cells[C, P]) zero(i int)                  { var c C; s.list[i] = c }
func (s *cells[C, P]) divide(i int, n int64)       { s.cell(i).divide(n) }
func (s *cells[C, P]) empty(i int) bool            { return s.cell(i).empty() }
func (s *cells[C, P]) at(i int) any                { return s.cell(i) }
func (s *cells[C, P]) merge(i int, o store, j int) { s.cell(i).merge(s.p, o.(*cells[C, P]).cell(j)) }
func (s *cells[C, P]) since(i int, o store, j int) { s.cell(i).since(s.p, o.(*cells[C, P]).cell(j)) }

func (s *cells[C, P]) remove(i int) {
	last := len(s.list) - 1
	s.list[i] = s.list[last]
	var c C
	s.list[last] = c
	s.list = s.list[:last]
}

func (s *cells[C, P]) mark() {
	for i := range s.list {
		s.cell(i).mark()
	}
}

func (s *cells[C, P]) clone() store {
	n := &cells[C, P]{p: s.p, list: slices.Clone(s.list)}
	for i := range n.list {
		n.cell(i).detach()
	}
	return n
}

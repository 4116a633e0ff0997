package event

import (
	"bytes"
	"encoding/binary"
)

// HistMap is the table of a histogram: Linux's tracing_map. Keys are bytes of one length, each with sums, variables and a name of
// a task. Its sort is Linux's, so that rows that sort equal come in the order that Linux shows them in. Known keys are found
// without allocation; there are at most 1<<Bits keys, further ones are counted as drops.
type HistMap struct {
	Bits    int
	KeySize int // a multiple of 8
	Sums    int
	Vars    int
	Keys    []HistKey

	Hits, Drops uint64

	slots []histSlot // twice as many as keys may be, so that a free one is found soon
	n     int
}

type histSlot struct {
	hash uint32 // 0: free
	elt  *HistElt
}

// HistElt is a row.
type HistElt struct {
	Key  []byte
	Sums []uint64
	Vars []HistVar
	Comm [16]byte
}

// HistVar is a variable of a row: a number, or the bytes of a string.
type HistVar struct {
	Set bool
	Num uint64
	Str []byte
}

// HistKey is a part of the key, and how it compares.
type HistKey struct {
	Offset, Size int
	Signed       bool
	Kind         HistKeyKind
}

// HistKeyKind is how a part of a key compares.
type HistKeyKind uint8

const (
	HistNumber HistKeyKind = iota
	HistString
	HistOpaque // all are equal
)

// HistSort is a sort key: a sum, or behind the sums a part of the key.
type HistSort struct {
	Field      int
	Descending bool
}

// Init makes the slots.
func (m *HistMap) Init() { m.slots = make([]histSlot, 2<<m.Bits) }

// Clear takes all rows out.
func (m *HistMap) Clear() {
	clear(m.slots)
	m.n, m.Hits, m.Drops = 0, 0, 0
}

// Len is the number of rows.
func (m *HistMap) Len() int { return m.n }

// Clone copies the table with its rows.
func (m *HistMap) Clone() *HistMap {
	c := *m
	c.slots = make([]histSlot, len(m.slots))
	for i, s := range m.slots {
		if s.elt == nil {
			continue
		}
		e := &HistElt{Key: bytes.Clone(s.elt.Key), Sums: append([]uint64(nil), s.elt.Sums...), Comm: s.elt.Comm}
		for _, v := range s.elt.Vars {
			v.Str = bytes.Clone(v.Str)
			e.Vars = append(e.Vars, v)
		}
		c.slots[i] = histSlot{s.hash, e}
	}
	return &c
}

// find gives the slot of a key, or the free one where it would be; nil: there is none.
func (m *HistMap) find(key []byte) (s *histSlot, hash uint32) {
	if hash = hashKey(key); hash == 0 {
		hash = 1
	}
	mask := uint32(len(m.slots) - 1)
	i := hash >> (32 - (m.Bits + 1)) & mask
	for {
		s = &m.slots[i]
		if s.hash == 0 || s.hash == hash && bytes.Equal(s.elt.Key, key) {
			return s, hash
		}
		i = (i + 1) & mask
	}
}

// Insert finds the row of a key, or makes it, and counts a hit; nil: the table is full.
func (m *HistMap) Insert(key []byte) (e *HistElt, fresh bool) {
	s, hash := m.find(key)
	if s.elt == nil {
		if m.n == 1<<m.Bits {
			m.Drops++
			return nil, false
		}
		m.n++
		s.hash, s.elt = hash, &HistElt{Key: bytes.Clone(key), Sums: make([]uint64, m.Sums), Vars: make([]HistVar, m.Vars)}
		fresh = true
	}
	m.Hits++
	return s.elt, fresh
}

// Lookup finds the row of a key; nil: there is none.
func (m *HistMap) Lookup(key []byte) *HistElt {
	s, _ := m.find(key)
	return s.elt
}

// Sorted lists the rows as tracing_map_sort_entries does.
func (m *HistMap) Sorted(keys []HistSort) []*HistElt {
	var list []*HistElt
	for i := range m.slots {
		if e := m.slots[i].elt; e != nil {
			list = append(list, e)
		}
	}
	if len(list) < 2 {
		return list
	}
	heapSort(list, func(a, b *HistElt) int { return bytes.Compare(a.Key, b.Key) }) // merge_dups, cmp_entries_dup
	first := m.compare(keys[0])
	heapSort(list, first)
	if len(keys) > 1 {
		m.sortWithin(list, first, m.compare(keys[1]))
	}
	return list
}

// sortWithin is sort_secondary: it sorts each run of rows that the first key calls equal.
func (m *HistMap) sortWithin(list []*HistElt, first, second func(a, b *HistElt) int) {
	start, n := 0, 1
	for i := 0; i < len(list)-1; i++ {
		if first(list[i], list[i+1]) == 0 {
			if n++; i < len(list)-2 {
				continue
			}
		}
		if n >= 2 {
			heapSort(list[start:start+n], second)
		}
		start, n = i+1, 1
	}
}

func (m *HistMap) compare(k HistSort) func(a, b *HistElt) int {
	sign := 1
	if k.Descending {
		sign = -1
	}
	if k.Field < m.Sums {
		return func(a, b *HistElt) int { return sign * order(a.Sums[k.Field], b.Sums[k.Field]) }
	}
	x := m.Keys[k.Field-m.Sums]
	switch x.Kind {
	case HistOpaque:
		return func(a, b *HistElt) int { return 0 }
	case HistString:
		return func(a, b *HistElt) int {
			return sign * bytes.Compare(untilNUL(a.Key[x.Offset:x.Offset+x.Size]), untilNUL(b.Key[x.Offset:x.Offset+x.Size]))
		}
	}
	num := func(e *HistElt) uint64 {
		n := number(e.Key[x.Offset:x.Offset+x.Size], x.Signed)
		if x.Signed {
			n ^= 1 << 63
		}
		return n
	}
	return func(a, b *HistElt) int { return sign * order(num(a), num(b)) }
}

func order(a, b uint64) int {
	switch {
	case a > b:
		return 1
	case a < b:
		return -1
	}
	return 0
}

// heapSort is the sort of Linux's lib/sort.c, a heap sort that sifts to the bottom and then back up: what it makes of equal
// elements is part of what a histogram shows.
func heapSort(list []*HistElt, cmp func(a, b *HistElt) int) {
	n := len(list)
	for a := n / 2; n > 1; {
		if a > 0 {
			a--
		} else {
			n--
			list[0], list[n] = list[n], list[0]
		}
		b := a
		for 2*b+2 < n {
			if cmp(list[2*b+1], list[2*b+2]) >= 0 {
				b = 2*b + 1
			} else {
				b = 2*b + 2
			}
		}
		if 2*b+2 == n {
			b = 2*b + 1
		}
		for b != a && cmp(list[a], list[b]) >= 0 {
			b = (b - 1) / 2
		}
		for c := b; b != a; {
			b = (b - 1) / 2
			list[b], list[c] = list[c], list[b]
		}
	}
}

// hashKey mixes the words of a key. It need not be Linux's: rows are sorted by key before they are sorted by what is asked for.
func hashKey(key []byte) uint32 {
	h := uint64(0)
	for ; len(key) >= 8; key = key[8:] {
		h = (h ^ binary.LittleEndian.Uint64(key)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return uint32(h * 0x9e3779b97f4a7c15 >> 32)
}

// Reader gives a function that reads a number from a record without allocation; nil: the field is no number of 1, 2, 4 or 8 bytes.
func (x *Field) Reader() func(d []byte) uint64 {
	switch x.Size {
	case 1, 2, 4, 8:
		return x.reader()
	}
	return nil
}

// TextOf gives a function that finds the bytes of a string in a record, up to its NUL; nil: the field holds no string.
func (x *Field) TextOf() func(d []byte) []byte {
	switch {
	case x.DataLoc() && x.Type[len("__data_loc "):] == "char[]":
		return func(d []byte) []byte { return untilNUL(x.located(d)) }
	case len(x.Type) > 4 && x.Type[:5] == "char[":
		return func(d []byte) []byte { return untilNUL(x.bytes(d)) }
	}
	return nil
}

package lang

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// measure walks a value as writing it as text would.
type measure struct {
	h       *Host
	size    uint64
	visits  int
	depth   int
	path    map[starlark.Value]bool // the lists, dicts and structs that the walk is in
	structs int                     // of those
}

// textSize is about how many bytes v has as text, for which starlark-go has no bound: a value may hold another many times over. It
// refuses what cannot be written: a value nested too deep, or one that holds itself by way of a struct.
func (h *Host) textSize(v starlark.Value) (uint64, error) {
	if s, ok := v.(starlark.String); ok {
		return uint64(len(s)), nil
	}
	m := measure{h: h}
	err := m.value(v)
	if err == nil && m.size > maxText {
		err = &Error{Msg: fmt.Sprintf("a value has more than %s as text", mebi(maxText)), Exit: ExitLimit}
	}
	return m.size, err
}

// maxText is how long the text of a value may be: one that holds others many times over has more than can be walked.
const maxText = 64 << 20

// showable is the error for values that cannot be written as text, or whose text has no room.
func (h *Host) showable(values ...starlark.Value) error {
	total := uint64(0)
	for _, v := range values {
		n, err := h.textSize(v)
		if err != nil {
			return err
		}
		total += n
	}
	return h.room(total)
}

func (m *measure) value(v starlark.Value) error {
	if m.depth > maxDepth {
		return Errorf("a value nested more than %d deep has no text", maxDepth)
	}
	if m.visits++; m.visits%4096 == 0 && m.h.stopped.Load() {
		return Errorf("interrupted")
	}
	if m.size += 2; m.size > maxText {
		return nil
	}
	switch v := v.(type) {
	case starlark.String:
		m.size += uint64(len(v))
	case starlark.Bytes:
		m.size += uint64(len(v))
	case starlark.Int:
		if _, small := v.Int64(); small {
			m.size += 8
		} else {
			m.size += uint64(v.BigInt().BitLen() / 3)
		}
	case starlark.Tuple:
		return m.tuple(v)
	case *starlark.List, *starlark.Set, *starlark.Dict, *starlarkstruct.Struct:
		return m.within(v)
	default:
		m.size += 32
	}
	return nil
}

func (m *measure) tuple(elems starlark.Tuple) error {
	m.depth++
	for _, x := range elems {
		if err := m.value(x); err != nil || m.size > maxText {
			return err
		}
	}
	m.depth--
	return nil
}

// within walks what v holds; a value that holds itself is written as "..." there, unless a struct is in between.
func (m *measure) within(v starlark.Value) (err error) {
	switch {
	case m.path[v] && m.structs > 0:
		return Errorf("a struct that holds itself has no text")
	case m.path[v]:
		return nil
	case m.path == nil:
		m.path = map[starlark.Value]bool{}
	}
	m.path[v] = true
	switch v := v.(type) {
	case *starlark.List:
		m.depth++
		for i := 0; i < v.Len() && err == nil && m.size <= maxText; i++ {
			err = m.value(v.Index(i))
		}
		m.depth--
	case *starlark.Dict:
		for _, item := range v.Items() {
			if err = m.tuple(item); err != nil || m.size > maxText {
				break
			}
		}
	case *starlark.Set:
		err = m.tuple(slices.Collect(v.Elements()))
	case *starlarkstruct.Struct:
		m.structs++
		err = m.fields(v)
		m.structs--
	}
	delete(m.path, v)
	return err
}

func (m *measure) fields(s *starlarkstruct.Struct) error {
	var values starlark.Tuple
	for _, name := range s.AttrNames() {
		if x, err := s.Attr(name); err == nil {
			values = append(values, x)
		}
		m.size += uint64(len(name))
	}
	return m.tuple(values)
}

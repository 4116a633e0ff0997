package agg

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"kscope/lang"
)

// A key is zero or more parts, each any hashable value; a list is a part too: a stack. The table of an aggregation finds keys
// by their encoding, a string that is equal exactly for equal keys.

// Stack is a key part made of a list: the frames of a stack, innermost first.
type Stack struct{ frames starlark.Tuple }

var (
	_ starlark.Iterable   = (*Stack)(nil)
	_ starlark.Sequence   = (*Stack)(nil)
	_ starlark.Indexable  = (*Stack)(nil)
	_ starlark.Comparable = (*Stack)(nil)
)

func (s *Stack) Type() string               { return "Stack" }
func (s *Stack) Freeze()                    {}
func (s *Stack) Truth() starlark.Bool       { return len(s.frames) > 0 }
func (s *Stack) Hash() (uint32, error)      { return s.frames.Hash() }
func (s *Stack) Len() int                   { return len(s.frames) }
func (s *Stack) Index(i int) starlark.Value { return s.frames[i] }
func (s *Stack) Iterate() starlark.Iterator { return s.frames.Iterate() }
func (s *Stack) String() string             { return starlark.NewList(s.frames).String() }
func (s *Stack) CompareSameType(op token, y starlark.Value, depth int) (bool, error) {
	return starlark.CompareDepth(op, s.frames, y.(*Stack).frames, depth)
}

// parts are the parts of a key that is given as one value: a tuple has several.
func parts(key starlark.Value) starlark.Tuple {
	if t, ok := key.(starlark.Tuple); ok {
		return t
	}
	return starlark.Tuple{key}
}

// encode appends the encoding of a key. Each part has a tag and a length or a fixed size, so that no two keys share one.
func encode(b []byte, key starlark.Tuple) ([]byte, error) {
	for _, v := range key {
		var err error
		if b, err = encodePart(b, v); err != nil {
			return b, err
		}
	}
	return b, nil
}

func encodePart(b []byte, v starlark.Value) ([]byte, error) {
	switch v := v.(type) {
	case starlark.Int:
		if n, ok := v.Int64(); ok {
			return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(n)), nil
		}
		return encodeText(append(b, 'I'), v.String()), nil
	case starlark.String:
		return encodeText(append(b, 's'), string(v)), nil
	case starlark.Bytes:
		return encodeText(append(b, 'y'), string(v)), nil
	case starlark.Bool:
		if v {
			return append(b, 't'), nil
		}
		return append(b, 'f'), nil
	case starlark.NoneType:
		return append(b, 'n'), nil
	case starlark.Float:
		if n, err := starlark.NumberToInt(v); err == nil && starlark.Float(n.Float()) == v {
			return encodePart(b, n) // 1.0 is the key 1, as in a dict
		}
		return encodeText(append(b, 'd'), v.String()), nil
	case *starlark.List:
		return encodeSeq(append(b, 'k'), v)
	case *Stack:
		return encodeSeq(append(b, 'k'), v.frames)
	case starlark.Tuple:
		return encodeSeq(append(b, '('), v)
	}
	if _, err := v.Hash(); err != nil {
		return b, &lang.Error{Msg: fmt.Sprintf("a %s is no key: it is not hashable", v.Type()), Hint: "keys are ints, strings, tuples of them, stacks: lambda ctx: calls.inc(ctx.comm)"}
	}
	return encodeText(append(b, 'o'), v.Type()+" "+v.String()), nil
}

func encodeText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func encodeSeq(b []byte, seq starlark.Indexable) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(seq.Len()))
	for i := range seq.Len() {
		var err error
		if b, err = encodePart(b, seq.Index(i)); err != nil {
			return b, err
		}
	}
	return b, nil
}

// own is what an aggregation keeps of a key: one value for one part, else a tuple; lists, which may change, become stacks.
func own(key starlark.Tuple) starlark.Value {
	if len(key) == 1 {
		return ownPart(key[0])
	}
	t := make(starlark.Tuple, len(key))
	for i, v := range key {
		t[i] = ownPart(v)
	}
	return t
}

func ownPart(v starlark.Value) starlark.Value {
	if l, ok := v.(*starlark.List); ok {
		s := &Stack{}
		for i := range l.Len() {
			s.frames = append(s.frames, l.Index(i))
		}
		return s
	}
	return v
}

// rank orders the types of key parts.
func rank(v starlark.Value) int {
	switch v.(type) {
	case starlark.NoneType:
		return 0
	case starlark.Bool:
		return 1
	case starlark.Int, starlark.Float:
		return 2
	case starlark.String:
		return 3
	case starlark.Bytes:
		return 4
	case starlark.Tuple:
		return 5
	case *Stack:
		return 6
	}
	return 7
}

// compareKeys is a total order of keys: numbers by value, texts by bytes, tuples and stacks by their parts.
func compareKeys(a, b starlark.Value) int {
	if ra, rb := rank(a), rank(b); ra != rb {
		return ra - rb
	}
	switch a := a.(type) {
	case starlark.Tuple:
		return compareSeq(a, b.(starlark.Tuple))
	case *Stack:
		return compareSeq(a.frames, b.(*Stack).frames)
	case starlark.Int, starlark.Float, starlark.Bool:
		if less, err := starlark.Compare(lt, a, b); err == nil && less {
			return -1
		}
		if less, err := starlark.Compare(lt, b, a); err == nil && less {
			return 1
		}
		return 0
	case starlark.String:
		return strings.Compare(string(a), string(b.(starlark.String)))
	}
	return strings.Compare(a.String(), b.String())
}

func compareSeq(a, b starlark.Tuple) int {
	for i := range min(len(a), len(b)) {
		if c := compareKeys(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// stackIndent is how far bpftrace indents the frames of a stack (Output::value_to_str in src/output.cpp: get_stack(…, 8)).
const stackIndent = "        "

// keyText is a key as bpftrace prints it between brackets (Output::map_key_str): parts joined by ", ", strings bare, a stack
// as lines.
func keyText(key starlark.Value) string {
	var texts []string
	for _, v := range parts(key) {
		texts = append(texts, partText(v))
	}
	return strings.Join(texts, ", ")
}

func partText(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return string(v)
	case *Stack:
		var b strings.Builder
		b.WriteByte('\n')
		for _, f := range v.frames {
			fmt.Fprintf(&b, "%s%s\n", stackIndent, plain(f))
		}
		return b.String()
	}
	return v.String()
}

// plain is a value as print shows it: strings without quotes.
func plain(v starlark.Value) string {
	if s, ok := starlark.AsString(v); ok {
		return s
	}
	return v.String()
}

// sortBy sorts indices by a comparison, stably.
func sortBy(idx []int, compare func(i, j int) int) {
	sort.SliceStable(idx, func(a, b int) bool { return compare(idx[a], idx[b]) < 0 })
}

package lang

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// hex implements hex(x): bytes as dumps have them, ints as Python has them.
func (h *Host) hex(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "x", &x); err != nil {
		return nil, err
	}
	if err := h.showable(x, x, x); err != nil { // three characters for a byte
		return nil, inCall(b, err)
	}
	switch x := x.(type) {
	case starlark.Bytes:
		return starlark.String(fmt.Sprintf("% x", string(x))), nil
	case starlark.Int:
		return starlark.String(fmt.Sprintf("%#x", x.BigInt())), nil
	}
	return nil, &Error{Msg: fmt.Sprintf("%s: x: got %s, want bytes or an int", b.Name(), x.Type()), Hint: "bytes(text) are a string's bytes"}
}

// print is Starlark's, but bytes that are no text stand as the literal that they are: raw, they would be commands to a terminal.
func (h *Host) print(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	cloned := false
	for i, v := range args {
		if b, ok := v.(starlark.Bytes); ok && !isText(string(b)) {
			if !cloned {
				args, cloned = slices.Clone(args), true
			}
			args[i] = starlark.String(b.String())
		}
	}
	if o, ok := h.out(t).(*Output); ok && len(args) == 1 && o.value(t, args[0]) {
		return starlark.None, nil
	}
	return starlark.Universe["print"].(starlark.Callable).CallInternal(t, args, kwargs)
}

// isText tells that bytes are text.
func isText(s string) bool {
	for _, r := range s {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// typed is what a session shows of a typed expression's value: of a kernel address what is there too.
func (s *Session) typed(v starlark.Value) error {
	const kernelHalf = 0xffff_8000_0000_0000
	if n, ok := v.(starlark.Int); ok && s.Host.cfg.Symbol != nil {
		if addr, ok := n.Uint64(); ok && addr >= kernelHalf {
			text := fmt.Sprintf("%#x", addr)
			if name := s.Host.cfg.Symbol(addr); name != "" {
				text += ", " + name
			}
			fmt.Fprintf(s.Out, "%s (%s)\n", n, text)
			return nil
		}
	}
	return s.Host.show(s.Out, v)
}

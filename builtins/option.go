package builtins

import "go.starlark.net/starlark"

// option is an argument that may be absent or None: what starlark.UnpackArgs puts into it has been checked.
type option[T any] struct {
	value T
	given bool
}

// Unpack implements starlark.Unpacker.
func (o *option[T]) Unpack(v starlark.Value) error {
	if v == starlark.None {
		return nil
	}
	o.given = true
	return starlark.UnpackArg(v, &o.value)
}

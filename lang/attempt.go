package lang

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// ErrorValue is an error as Starlark sees it, in attempt(...).error.
type ErrorValue struct {
	err            error
	text, hint, at string
	code           string
}

var (
	_ starlark.Value    = (*ErrorValue)(nil)
	_ starlark.HasAttrs = (*ErrorValue)(nil)
)

func (e *ErrorValue) String() string        { return e.text }
func (e *ErrorValue) Type() string          { return "Error" }
func (e *ErrorValue) Freeze()               {}
func (e *ErrorValue) Truth() starlark.Bool  { return true }
func (e *ErrorValue) Hash() (uint32, error) { return starlark.String(e.text).Hash() }
func (e *ErrorValue) AttrNames() []string   { return []string{"code", "hint", "pos", "text"} }

func (e *ErrorValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "text":
		return starlark.String(e.text), nil
	case "code":
		return orNone(e.code), nil
	case "hint":
		return orNone(e.hint), nil
	case "pos":
		return orNone(e.at), nil
	}
	return nil, nil
}

func orNone(s string) starlark.Value {
	if s == "" {
		return starlark.None
	}
	return starlark.String(s)
}

// errorValue takes an error apart.
func (h *Host) errorValue(err error) *ErrorValue {
	v := &ErrorValue{err: err, text: err.Error()}
	var ee *starlark.EvalError
	if errors.As(err, &ee) {
		v.text, v.hint = splitHint(ee.Msg)
		for i := len(ee.CallStack) - 1; i >= 0; i-- {
			if pos := ee.CallStack[i].Pos; pos.Line > 0 {
				v.at = pos.String()
				break
			}
		}
	}
	var e *Error
	if ee != nil {
		e = h.errorOf(ee)
	}
	if e != nil || errors.As(err, &e) {
		v.text, v.hint, v.code = e.Msg, e.Hint, e.Code
	}
	v.text = strings.TrimPrefix(v.text, cancelled)
	return v
}

// attempt implements attempt(fn, ...): Starlark has no try. A cancellation (Ctrl-C, step budget) passes through, because the
// interpreter stops at the caller's next step.
func (h *Host) attempt(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, Errorf("attempt: missing argument for fn")
	}
	fn, ok := args[0].(starlark.Callable)
	if !ok {
		return nil, &Error{
			Msg:  "attempt: got " + args[0].Type() + ", want a function",
			Hint: "write attempt(fn, args...), not attempt(fn(args...))",
		}
	}
	v, err := starlark.Call(t, fn, args[1:], kwargs)
	res := starlark.StringDict{"ok": starlark.Bool(err == nil), "value": v, "error": starlark.None}
	if err != nil {
		res["value"], res["error"] = starlark.None, h.errorValue(err)
	}
	return starlarkstruct.FromStringDict(starlark.String("attempt"), res), nil
}

package lang

import (
	"fmt"
	"regexp"

	"go.starlark.net/starlark"
)

// assertRows are module test: an assertion that fails ends the script with exit status ExitAssert.
func (h *Host) assertRows() []Row {
	return []Row{
		{Name: "test.eq", Sig: `(got, want, msg = "")`, Fn: testEqual(true), Doc: "Fails unless got == want; texts of several lines are shown as a difference."},
		{Name: "test.ne", Sig: `(got, unwanted, msg = "")`, Fn: testEqual(false), Doc: "Fails if got == unwanted."},
		{Name: "test.true", Sig: `(cond, msg = "")`, Fn: testTrue, Doc: "Fails unless cond is true."},
		{Name: "test.fails", Sig: "(fn, pattern)", Fn: h.testFails, Doc: "Fails unless fn() fails with an error that matches the regular expression."},
	}
}

func assertion(b *starlark.Builtin, msg, format string, args ...any) error {
	if msg != "" {
		msg = ": " + msg
	}
	return &Error{Msg: b.Name() + msg + ": " + fmt.Sprintf(format, args...), Exit: ExitAssert}
}

func testEqual(want bool) Func {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var x, y starlark.Value
		msg, name := "", "want"
		if !want {
			name = "unwanted"
		}
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "got", &x, name, &y, "msg?", &msg); err != nil {
			return nil, err
		}
		same, err := starlark.Equal(x, y)
		if err != nil || same == want {
			return starlark.None, err
		}
		if !want {
			return nil, assertion(b, msg, "got the unwanted %s", x)
		}
		got, ok1 := starlark.AsString(x)
		wanted, ok2 := starlark.AsString(y)
		if ok1 && ok2 && len(got)+len(wanted) > 60 {
			return nil, assertion(b, msg, "%s", Diff(wanted, got))
		}
		return nil, assertion(b, msg, "got %s, want %s", x, y)
	}
}

func testTrue(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var cond starlark.Value
	msg := ""
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "cond", &cond, "msg?", &msg); err != nil {
		return nil, err
	}
	if !cond.Truth() {
		return nil, assertion(b, msg, "got %s", cond)
	}
	return starlark.None, nil
}

func (h *Host) testFails(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var fn starlark.Callable
	pattern := ""
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "fn", &fn, "pattern", &pattern); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, &Error{Msg: b.Name() + ": " + err.Error(), At: pattern}
	}
	if err := h.Takes(b.Name(), "fn", fn); err != nil {
		return nil, err
	}
	v, err := starlark.Call(t, fn, nil, nil)
	if err == nil {
		return nil, assertion(b, "", "no failure; got %s", v)
	}
	if text := h.errorValue(err).text; !re.MatchString(text) {
		return nil, assertion(b, "", "the error %q does not match %q", text, pattern)
	}
	return starlark.None, nil
}

package builtins

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"kscope/kernel"
	"kscope/lang"
)

type syntaxToken = syntax.Token

// equality answers == and != and refuses the rest.
func equality(op syntaxToken, equal bool, typ string) (bool, error) {
	switch op {
	case syntax.EQL:
		return equal, nil
	case syntax.NEQ:
		return !equal, nil
	}
	return false, fmt.Errorf("%s %s %s not implemented", typ, op, typ)
}

// fail turns an error of the packages below into one that points at the argument at and has the errno's name. names, which
// may be nil, are asked for a hint when the errno says that a name is wrong.
func (c *call) fail(err error, at string, names func() []string) error {
	var known *lang.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var callback *starlark.EvalError
	if errors.As(err, &callback) {
		return err // the error of a Starlark function that the guest called
	}
	var stop *kernel.StopError
	if errors.As(err, &stop) {
		return c.stopped(stop.Stop, stop.Doing)
	}
	e := &lang.Error{Msg: c.name + ": " + err.Error(), At: at, Cause: err}
	if at != "" {
		e.Msg = c.name + ": " + at + ": " + err.Error()
	}
	var sym *kernel.SymbolError
	if errors.As(err, &sym) {
		e.Msg, e.At, e.Off = c.name+": "+sym.Msg, sym.Text, sym.Off
		e.Hint = didYouMean(sym.Hint)
		name, _, _ := strings.Cut(sym.Text, "+")
		if why := c.g.missing(name); why != "" && sym.Err == kernel.ENOENT {
			e.Hint = why
		} else if there := c.g.withModule(name); there != "" && sym.Err == kernel.ENOENT {
			e.Hint = there
		}
		if sym.Err == kernel.EADDRNOTAVAIL {
			e.Hint = c.placeHint(name)
		}
	}
	var errno kernel.Errno
	if errors.As(err, &errno) {
		e.Code = errno.Name()
		if e.Hint == "" && names != nil && (errno == kernel.ENOENT || errno == kernel.EINVAL) {
			e.Hint = lang.DidYouMean(at, names())
		}
	}
	return e
}

// didYouMean words a hint from candidates that are already chosen.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, ", ") + "?"
}

// lastEvents is how many events are shown when a run hits its limit.
const lastEvents = 20

// stopped is the error for a machine that stopped before it had done what was asked.
func (c *call) stopped(s kernel.Stop, doing string) error {
	e := &lang.Error{Msg: c.name + ": " + doing + ": " + s.String()}
	switch s.Reason {
	case kernel.StopPanic:
		e.Exit = lang.ExitPanic
		e.Msg = c.name + ": the guest panicked\n" + strings.TrimRight(s.Text, "\n")
		e.Hint = "kernel.dmesg() has the whole log"
	case kernel.StopLimit:
		e.Exit = lang.ExitLimit
		e.Msg = fmt.Sprintf("%s: %s: %s", c.name, doing, s.Text)
		if tail := c.g.tail(lastEvents); tail != "" {
			e.Msg += "\nthe last events:\n" + strings.TrimRight(tail, "\n")
		}
	case kernel.StopDeadlock:
		e.Msg = fmt.Sprintf("%s: %s: nothing in the guest can ever run again\n%s", c.name, doing, strings.TrimRight(s.Text, "\n"))
		e.Code = "EDEADLK"
	case kernel.StopInterrupt:
		e.Msg = fmt.Sprintf("%s: %s: interrupted; the guest keeps its state", c.name, doing)
	}
	return e
}

// choice checks a string argument against the values it may have.
func (c *call) choice(what, got string, may ...string) error {
	for _, m := range may {
		if got == m {
			return nil
		}
	}
	hint := lang.DidYouMean(got, may)
	if hint == "" {
		hint = fmt.Sprintf("%s is one of %q", what, may)
	}
	return &lang.Error{Msg: fmt.Sprintf("%s: unknown %s %q", c.name, what, got), At: got, Hint: hint, Code: "EINVAL"}
}

// errorf is an error of this call.
func (c *call) errorf(format string, args ...any) *lang.Error {
	return lang.Errorf("%s: "+format, append([]any{c.name}, args...)...)
}

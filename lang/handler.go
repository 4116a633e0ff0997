package lang

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
)

// handlerSteps is the budget of one call of a handler: one that never ends must not hang the machine that it watches.
const handlerSteps = 1_000_000

// Handler is a Starlark function that Go calls again and again, in a thread of its own: what a module calls back when
// something happens. Its calls do not nest.
type Handler struct {
	h     *Host
	t     *starlark.Thread
	fn    starlark.Callable
	made  Origin // where the script gave it away
	end   uint64 // of this call's steps
	lease uint64 // of the host's budget, as far as it goes

	plain bool // fn is written in Starlark: it keeps no arguments
	one   [1]starlark.Value
}

// Handler makes a handler of what thread by gives away, which may be nil for one of our own; Close ends it.
func (h *Host) Handler(by *starlark.Thread, name string, fn starlark.Callable) *Handler {
	left := h.left
	x := &Handler{h: h, fn: fn, made: Given(by), t: h.Thread(name)}
	h.left = left // the thread's first lease goes back: each call takes its own
	_, x.plain = fn.(*starlark.Function)
	x.t.OnMaxSteps = func(t *starlark.Thread) { x.renew() }
	return x
}

// overBudget is the error of a call that was too long.
type overBudget struct{ err error }

func (o *overBudget) Error() string { return o.err.Error() }
func (o *overBudget) Unwrap() error { return o.err }

// Close forgets the thread.
func (x *Handler) Close() { x.h.Drop(x.t) }

// Thread is the thread that calls run in.
func (x *Handler) Thread() *starlark.Thread { return x.t }

// Call1 is Call with one argument: nothing is allocated for it.
func (x *Handler) Call1(arg starlark.Value) (starlark.Value, error) {
	if !x.plain {
		return x.Call(arg)
	}
	x.one[0] = arg
	v, err := x.Call(x.one[:]...)
	x.one[0] = nil
	return v, err
}

// Call calls the function. What is left of its budget goes back to the host.
func (x *Handler) Call(args ...starlark.Value) (starlark.Value, error) {
	x.end = x.t.Steps + handlerSteps
	x.lease = x.t.Steps
	x.renew()
	v, err := starlark.Call(x.t, x.fn, args, nil)
	if x.h.cfg.MaxSteps != 0 && x.lease > x.t.Steps {
		x.h.left += x.lease - x.t.Steps
	}
	if err != nil && x.t.Steps >= x.end {
		x.t.Uncancel() // the next call has a budget of its own
		err = &overBudget{err}
	}
	if err != nil {
		err = x.made.Blame(err)
	}
	return v, err
}

// renew takes the next lease of the host's budget, or cancels the call.
func (x *Handler) renew() {
	t, n := x.t, x.end-min(x.end, x.t.Steps)
	if n == 0 {
		t.Cancel(fmt.Sprintf("more than %d steps in one call of a handler", handlerSteps))
		return
	}
	if x.h.budgeted() {
		if n = x.h.take(t, min(n, lease)); n == 0 {
			return
		}
	}
	x.lease = t.Steps + n
	t.SetMaxExecutionSteps(x.lease)
}

// Origin is where a script gave a function away that is called later: where its errors are shown when the function, being a
// built-in one, has no place of its own.
type Origin struct{ stack starlark.CallStack }

// Given is the place that thread t is at now.
func Given(t *starlark.Thread) Origin {
	if t == nil {
		return Origin{}
	}
	return Origin{t.CallStack()}
}

// Blame adds the place to an error of the function.
func (o Origin) Blame(err error) error {
	var ee *starlark.EvalError
	if err == nil || o.stack == nil || !errors.As(err, &ee) {
		return err
	}
	for _, fr := range ee.CallStack {
		if fr.Pos.Line > 0 {
			return err
		}
	}
	ee.CallStack = append(o.stack[:len(o.stack):len(o.stack)], ee.CallStack...)
	return err
}

// Takes tells whether a function can be called with arguments of those names, in that order; the error, for parameter param of
// the function called by, says how it should look.
func (h *Host) Takes(by, param string, fn starlark.Callable, args ...string) error {
	b, ok := fn.(*starlark.Builtin)
	if !ok {
		return Takes(by, param, fn, args...)
	}
	if r := h.function(b.Name()); r != nil {
		if params, ok := Params(r.Sig); ok {
			least, most := arityOf(params)
			return misfit(by, param, fn, least, most, args)
		}
	}
	return nil
}

// Takes is the same without a host, which knows of functions written in Starlark only.
func Takes(by, param string, fn starlark.Callable, args ...string) error {
	if f, ok := fn.(*starlark.Function); ok {
		least, most := arity(f)
		return misfit(by, param, fn, least, most, args)
	}
	return nil
}

func misfit(by, param string, fn starlark.Callable, least, most int, args []string) error {
	if least <= len(args) && len(args) <= most {
		return nil
	}
	want := "no argument"
	if len(args) > 0 {
		want = strings.Join(args, ", ")
	}
	return &Error{
		Msg: fmt.Sprintf("%s: %s: %s takes %s, but is called with %s", by, param, fn.Name(), counted(least, most), want),
		Arg: param, Hint: wanted(fn, args), Code: "EINVAL",
	}
}

// wanted shows how a function should be written.
func wanted(fn starlark.Callable, args []string) string {
	list := strings.Join(args, ", ")
	if f, ok := fn.(*starlark.Function); ok && f.Name() != "lambda" {
		return fmt.Sprintf("write def %s(%s):", f.Name(), list)
	} else if ok {
		return "write " + strings.TrimRight("lambda "+list, " ") + ": ..."
	}
	return fmt.Sprintf("write %s: %s(...)", strings.TrimRight("lambda "+list, " "), fn.Name())
}

// arity is how many arguments without names a function can be called with.
func arity(fn *starlark.Function) (least, most int) {
	n := fn.NumParams()
	if fn.HasKwargs() {
		n--
	}
	if most = n - fn.NumKwonlyParams(); fn.HasVarargs() {
		most--
	}
	for i := range most {
		if fn.ParamDefault(i) == nil {
			least++
		}
	}
	for i := range fn.NumKwonlyParams() {
		if fn.ParamDefault(most+i) == nil {
			return 1 << 20, 1 << 20 // it must be given by name
		}
	}
	if fn.HasVarargs() {
		most = math.MaxInt
	}
	return least, most
}

// arityOf is the same of a signature.
func arityOf(params []Param) (least, most int) {
	for _, p := range params {
		switch {
		case p.Stars == 1:
			most = math.MaxInt
		case p.Stars == 0 && !p.Named:
			if most++; !p.Optional {
				least++
			}
		}
	}
	return least, most
}

// counted words how many arguments a function takes.
func counted(least, most int) string {
	switch {
	case most == 0:
		return "no argument"
	case least == 1<<20:
		return "arguments by name"
	case most == math.MaxInt:
		return fmt.Sprintf("at least %d", least)
	case least == most && most == 1:
		return "one argument"
	case least == most:
		return fmt.Sprintf("%d arguments", least)
	}
	return fmt.Sprintf("%d to %d arguments", least, most)
}

package lang

import (
	"fmt"

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
	end   uint64 // of this call's steps
	lease uint64 // of the host's budget, as far as it goes
}

// Handler makes a handler; Close ends it.
func (h *Host) Handler(name string, fn starlark.Callable) *Handler {
	left := h.left
	x := &Handler{h: h, fn: fn, t: h.Thread(name)}
	h.left = left // the thread's first lease goes back: each call takes its own
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

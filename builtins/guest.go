package builtins

import (
	"fmt"

	"kscope/ftrace"
	"kscope/kernel"
)

// Guest is a booted machine with its companions.
type Guest struct {
	M *kernel.Machine
	T *ftrace.Tracer

	env   *Env
	procs map[int]*process // programs that scripts started
	err   error            // of a Starlark program, until a run reports it
	busy  bool             // something drives the machine: what runs inside it may not
}

// NewGuest wraps a booted machine with the parts that it was made with.
func NewGuest(m *kernel.Machine) (*Guest, error) {
	t, ok := ftrace.Of(m)
	if !ok {
		return nil, fmt.Errorf("the machine has no tracer")
	}
	return &Guest{M: m, T: t, procs: map[int]*process{}}, nil
}

// guard marks the machine as running while fn drives it, so that Ctrl-C reaches it and nothing inside drives it again.
func (g *Guest) guard(fn func() error) error {
	if g.busy {
		return kernel.EBUSY
	}
	g.busy = true
	outer := g.env.running.Swap(g.M)
	defer func() {
		g.busy = false
		g.env.running.Store(outer)
	}()
	return fn()
}

// fork copies the machine; programs that are under way go on in the copy too, and what they write is kept apart.
func (g *Guest) fork(seed uint64) (*Guest, error) {
	n, err := NewGuest(g.M.Fork(seed))
	if err == nil {
		g.env.adopt(n)
	}
	return n, err
}

// programError is the error of a Starlark program that failed during the last run.
func (g *Guest) programError() error {
	err := g.err
	g.err = nil
	return err
}

// traceable tells whether a function has a call site that ftrace can patch; addr is its symbol or the site itself.
func (g *Guest) traceable(addr uint64) bool {
	_, ok := g.T.Sites().At(addr)
	return ok
}

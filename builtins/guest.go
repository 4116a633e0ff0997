package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kprobe"
)

// Guest is a booted machine with its companions, seen through one of its tracers: the machine's own or an instance.
type Guest struct {
	*shared
	T   *ftrace.Tracer
	dir string // of the tracer's files in tracefs: "" or "instances/NAME/"
}

// shared is what all views of a machine have in common.
type shared struct {
	M *kernel.Machine

	env   *Env
	procs map[int]*process  // programs that scripts started
	err   error             // of a Starlark program, until a run reports it
	spots map[spotKey]*spot // guest probes of on()
	oops  int               // reports of the guest that were told
	kept  *keeper           // copies of the machine for kernel.rewind; nil: none are made
	busy  bool              // something drives the machine: what runs inside it may not
	ctxs  []probeCtx        // for newCtx

	lastBytes [16]byte // for comm: what it has read last, and the value
	lastComm  starlark.Value
}

// NewGuest wraps a machine that has just booted, with the parts that it was made with.
func NewGuest(m *kernel.Machine) (*Guest, error) {
	return wrap(m)
}

func wrap(m *kernel.Machine) (*Guest, error) {
	t, ok := ftrace.Of(m)
	if !ok {
		return nil, fmt.Errorf("the machine has no tracer")
	}
	g := &Guest{shared: &shared{M: m, procs: map[int]*process{}}, T: t}
	g.oops = len(m.Oopses())
	if k, ok := kprobe.Of(m); ok {
		k.Owner = g
	}
	return g, nil
}

// instance is the view of the machine through an instance.
func (g *Guest) instance(t *ftrace.Tracer) *Guest {
	return &Guest{shared: g.shared, T: t, dir: "instances/" + t.Name() + "/"}
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
	err := fn()
	if failed := g.programError(); failed != nil { // of a probe's handler or a program that ran meanwhile
		return failed
	}
	return err
}

// fork makes a guest of a copy of the machine. Programs that are under way go on in the copy too, with output of their own.
func (g *Guest) fork(m *kernel.Machine) (*Guest, error) {
	n, err := wrap(m)
	if err != nil {
		return nil, err
	}
	g.env.adopt(n)
	for pid, p := range g.procs {
		if p.copy != nil {
			n.procs[pid], p.copy = p.copy, nil
		}
	}
	return n, nil
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

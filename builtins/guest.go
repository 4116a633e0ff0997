package builtins

import (
	"errors"

	"kscope/kernel"
)

// Guest is a booted machine with its companions.
type Guest struct {
	M *kernel.Machine

	env   *Env
	procs map[int]*process // programs that scripts started
	sites map[uint64]bool  // functions with an ftrace call site
	err   error            // of a Starlark program, until a run reports it
}

// NewGuest wraps a booted machine.
func NewGuest(m *kernel.Machine) *Guest {
	return &Guest{M: m, procs: map[int]*process{}}
}

// guard marks the machine as running while fn drives it, so that Ctrl-C reaches it.
func (g *Guest) guard(fn func() error) error {
	outer := g.env.running.Swap(g.M)
	defer g.env.running.Store(outer)
	return fn()
}

// fork copies the machine; programs that are under way go on in the copy too, and what they write is kept apart.
func (g *Guest) fork(seed uint64) *Guest {
	n := NewGuest(g.M.Fork(seed))
	n.env = g.env
	return n
}

// programError is the error of a Starlark program that failed during the last run.
func (g *Guest) programError() error {
	err := g.err
	g.err = nil
	return err
}

// traceable tells whether a function has a call site that ftrace can patch.
func (g *Guest) traceable(addr uint64) bool { return g.sites[addr] }

// hostTrace is the file trace as the host sees it, without running the guest.
func (g *Guest) hostTrace() (string, error) { return "", errors.New("not there yet") }

// readPipe takes up to n lines (0: all there are) out of a trace_pipe.
func (g *Guest) readPipe(file string, n int) (string, error) { return g.readTrace(file) }

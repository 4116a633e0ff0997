package builtins

import (
	"fmt"

	"kscope/kprobe"
)

// end is the end of a script: END handlers, then the aggregations that are not empty, in the order of their creation, then what
// was missed and lost.
func (e *Env) end() error {
	if e.listed {
		return nil // a dry run has nothing to report
	}
	for _, h := range e.ends {
		h.fireMoment(nil, &moment{kind: "END"})
		if err := h.g.programError(); err != nil {
			return err
		}
	}
	if err := e.aggs.PrintAll(e.host.Stdout()); err != nil {
		return err
	}
	if e.guest != nil && (e.hooked || len(e.probes) > 0) {
		e.guest.missed()
	}
	if e.guest != nil && e.hooked {
		e.guest.overran()
	}
	return nil
}

// Handled is how often the script's handlers were called, for the line that shows progress.
func (e *Env) Handled() uint64 {
	n := uint64(0)
	for _, h := range e.live() {
		n += h.calls
	}
	for _, p := range e.probes {
		n += p.p.Hits
	}
	return n
}

// overran says what the rings lost, in one line, with the knob that helps.
func (g *Guest) overran() {
	var overrun, dropped uint64
	for cpu := range g.M.NumCPU() {
		s := g.T.Stats(cpu)
		overrun += s.Overrun
		dropped += s.Dropped
	}
	if overrun+dropped > 0 {
		fmt.Fprintf(g.env.host.Stdout(), "lost: %d records overwritten, %d dropped (buffer_size_kb)\n", overrun, dropped)
	}
}

// missed says what the probes of the script did not see: one line, with the cause, when there is something to say.
func (g *Guest) missed() {
	var nested, full uint64
	if _, ok := kprobe.Of(g.M); !ok {
		return
	}
	for _, p := range g.env.probes { // closed ones too
		nested += p.p.Missed
		if p.r != nil {
			full += p.r.NoFree
		}
	}
	for _, p := range g.spots {
		nested += p.probe.Missed
		if p.ret != nil {
			full += p.ret.NoFree
		}
	}
	if nested > 0 {
		fmt.Fprintf(g.env.host.Stdout(), "missed: %d hits within other handlers (nmissed)\n", nested)
	}
	if full > 0 {
		fmt.Fprintf(g.env.host.Stdout(), "missed: %d returns for want of an instance (maxactive)\n", full)
	}
}

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
	if e.guest != nil {
		e.guest.missed()
	}
	return nil
}

// missed says what the probes of on() did not see: one line, with the cause, when there is something to say.
func (g *Guest) missed() {
	var nested, full uint64
	if _, ok := kprobe.Of(g.M); !ok {
		return
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

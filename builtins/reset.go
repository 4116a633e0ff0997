package builtins

import (
	"go.starlark.net/starlark"

	"kscope/lang"
)

// attach remembers a probe for reset(): in a session a handler with a mistake would otherwise stay until the end.
func (e *Env) attach(p *probe) { e.probes = append(e.probes, p) }

// resetRow is the function reset.
func (e *Env) resetRow() lang.Row {
	return lang.Row{
		Name: "reset", Sig: "()", Fn: e.onGuest(reset),
		Doc:     "Detaches every handler of on() and every probe of this machine, empties the aggregations, and brings tracefs back to its state at boot.",
		Example: "h = on(\"kretprobe:vfs_read\", lambda c: c.latency)\nkernel.exec(\"cat\", [\"/etc/hostname\"]).out # fails\nreset()\nkernel.exec(\"cat\", [\"/etc/hostname\"]).out\nh.armed",
	}
}

// reset implements reset(): the newest is detached first.
func reset(c *call) (starlark.Value, error) {
	if err := c.unpack(); err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	e := c.g.env
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, h := range e.live() { // first none is called any more: to detach them runs the guest
		h.armed = h.armed && h.g.M != c.g.M
	}
	var open []*probe
	var probes []*probe
	for _, p := range e.probes {
		switch {
		case p.g.M != c.g.M:
			probes = append(probes, p)
		case !p.closed:
			p.closed = true
			open = append(open, p)
		}
	}
	live := e.live()
	for i := len(live) - 1; i >= 0; i-- {
		if h := live[i]; h.g.M == c.g.M {
			keep(h.detach(false))
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		keep(c.change("reset", open[i].detach))
	}
	e.probes = probes
	e.aggs.ClearAll()
	if first != nil {
		return nil, c.fail(first, "", nil)
	}
	return tracerReset(&call{g: c.g, thread: c.thread, name: c.name})
}

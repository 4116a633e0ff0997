package ftrace

import (
	"slices"

	"kscope/ftrace/ring"
	"kscope/kernel"
)

// Reset brings all of tracefs back to what it was at boot: no tracer, event, filter, command, option, instance or mark is left,
// and the rings are empty and as small as at boot, which no write could do. What other packages have added (probes) they take
// out themselves, first. EBUSY: a file of an instance is open. An instance resets itself alone.
func (t *Tracer) Reset() error {
	return t.m.Do("reset of tracing", func(c *kernel.VCPU) error { return t.resetAll(c) })
}

func (t *Tracer) resetAll(c *kernel.VCPU) error {
	if t.top == nil {
		for len(t.instances) > 0 {
			if err := t.rmdir(t.instances[0].name); err != nil {
				return err
			}
		}
	}
	t.switchOn(c, false)
	steps := []func() error{t.resetTracer, t.dropProbes, t.resetEvents, t.resetOptions}
	if t.top == nil {
		steps = append(steps, t.resetShared)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	t.resetRings()
	t.on = true
	return nil
}

// resetTracer takes the current tracer and all filters off.
func (t *Tracer) resetTracer() error {
	if old := t.current; old.reset != nil {
		t.current = &tracers[nopTracer]
		if err := old.reset(t); err != nil {
			return err
		}
	}
	t.ops.Filter, t.ops.Notrace, t.mods = nil, nil, [2][]pendingMod{}
	for _, u := range t.graphers() {
		u.ops.Filter, u.ops.Notrace = nil, nil
	}
	t.pids, t.eventPids = pidLists{}, pidLists{}
	return nil
}

// dropProbes removes all function commands, with what they hold of events.
func (t *Tracer) dropProbes() error {
	for _, p := range t.probes {
		for i := range t.sites.recs { // in order of address
			if s := p.events[t.sites.recs[i].IP]; s != nil {
				if err := t.use(s.ev).enable(false, true); err != nil {
					return err
				}
			}
		}
		if err := t.sites.Unregister(p.ops); err != nil {
			return err
		}
	}
	t.probes = nil
	return nil
}

func (t *Tracer) resetEvents() error {
	t.use(t.markEvent()).dropTriggers()
	for _, ev := range t.root().catalog {
		u, ok := t.uses[ev]
		if !ok {
			continue
		}
		u.dropTriggers()
		if err := t.EnableEvent(ev, false); err != nil {
			return err
		}
		u.filter, u.text = nil, ""
	}
	return nil
}

// resetOptions sets each option that differs, so that its consequences follow.
func (t *Tracer) resetOptions() error {
	boot := defaultOptions()
	if t.top != nil {
		boot &^= 1<<optEventFork | 1<<optFunctionFork
	}
	for o := range numOptions {
		if want := boot>>o&1 != 0; t.opt(o) != want {
			if err := t.setOption(o, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// resetShared is what the machine has once.
func (t *Tracer) resetShared() error {
	g, s := t.graph, t.stack
	if err := t.prof.set(false); err != nil {
		return err
	}
	for _, s := range slices.Clone(t.synths) {
		if s.ev.held > 0 {
			continue // an event probe goes first; see the comment of Reset
		}
		if err := t.deleteSynth(s.ev.Name); err != nil {
			return err
		}
	}
	for i := range t.prof.cpu {
		t.prof.cpu[i] = profileCPU{}
	}
	g.function, g.notrace, g.maxDepth, g.thresh = nil, nil, 0, 0
	if err := s.set(false); err != nil {
		return err
	}
	s.ops.Filter, s.max, s.entries = nil, 0, nil
	if err := t.sites.SetEnabled(true); err != nil {
		return err
	}
	for name, value := range map[string]uint32{"ftrace_enabled": 1, "stack_tracer_enabled": 0} { // what their sysctls show
		if va, ok := t.m.Symbols().Lookup(name); ok {
			if err := t.m.PutU32(va, value); err != nil {
				return err
			}
		}
	}
	*t.cmdline = *newCmdlines(defaultCmdlines)
	return nil
}

// resetRings gives every CPU new rings, of boot's size or an instance's.
func (t *Tracer) resetRings() {
	pages := ring.Pages(defaultKB)
	if t.top == nil {
		t.expanded, pages = false, ring.MinPages
	}
	lost := t.lost
	for i := range t.cpu {
		t.cpu[i] = cpuState{ring: ring.New(pages)}
	}
	if lost != nil {
		t.lost = nil
		t.OnLost(lost)
	}
	t.clock, t.counter, t.percent, t.maxLat, t.started, t.setCPU = 0, 0, defaultPercent, 0, 0, 0
	t.errs, t.skew = errorLog{}, nil
}

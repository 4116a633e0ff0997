package kprobe

import (
	"slices"
	"strings"

	"kscope/kernel"
)

// onModule follows modules as kprobes_module_callback and trace_kprobe_module_callback do: events that wait for one are put in
// place when it comes; with its text its probes go.
func (k *Kprobes) onModule(_ *kernel.VCPU, ev kernel.ModuleEvent, mod *kernel.Module) error {
	switch ev {
	case kernel.ModuleComing:
		return k.moduleComing(mod.Name)
	case kernel.ModuleRelease:
		k.moduleGone(mod)
	}
	return nil
}

func (k *Kprobes) moduleComing(name string) error {
	for _, e := range k.events {
		if e.placed || !strings.HasPrefix(e.Symbol, name+":") {
			continue
		}
		if e.probe != nil {
			k.bury(e.probe)
		}
		if err := k.place1(e); err != nil {
			k.warn("Failed to re-register probe " + e.Name + " on " + name + ": " + err.Error())
			continue
		}
		e.placed = true
		if e.On() {
			if err := k.Enable(e.probe); err != nil {
				return err
			}
		}
	}
	return nil
}

// unlist leaves of a site only what kprobes/list shows of a probe that is gone (kill_kprobe).
func (k *Kprobes) unlist(s *site) {
	for i, o := range k.list {
		if o == s {
			k.list[i] = &site{addr: s.addr, probes: s.probes, ftrace: s.ftrace, gone: true}
		}
	}
	if s.detour != 0 {
		k.detours.put(s.detour, nil)
		if !k.m.InDetour()[s.detour] {
			k.m.DetourFree(s.detour)
		}
	}
	s.armed, s.probes, s.opt = false, nil, optNone
	k.trimOpt()
}

// moduleGone forgets a module's sites. ftrace has dropped its call sites already; its int3s go with the text.
func (k *Kprobes) moduleGone(mod *kernel.Module) {
	for _, s := range slices.Clone(k.list) {
		if !mod.Has(s.addr) {
			continue
		}
		for _, p := range s.probes {
			p.enabled = false
			if p.event != nil {
				p.event.placed = false
			}
		}
		if s.ftrace && s.armed {
			if err := k.armFtrace(s, false); err != nil {
				panic("BUG: kprobe: taking a probe off a module: " + err.Error())
			}
		}
		k.unlist(s)
		k.setSite(s.addr, nil)
		if s.slot != 0 {
			k.slots.give(s.slot)
		}
	}
	for at := range k.bounds {
		if mod.Has(at) {
			delete(k.bounds, at)
			delete(k.flows, at)
		}
	}
}

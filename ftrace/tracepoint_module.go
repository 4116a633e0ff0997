package ftrace

import (
	"slices"
	"strconv"

	"kscope/kernel"
)

// Events that modules bring: those of their section _ftrace_events, with tracepoints whose gates are slots that the loader
// has given them. They come before the module's init and go with its memory; see trace_module_notify in
// kernel/trace/trace_events.c.

// traceSlots is the number of such gates; see guest/arch/gates.S.
const traceSlots = 48

// addModuleEvents makes a module's tracepoints and events. A row that cannot be read makes none.
func (p *points) addModuleEvents(mod *kernel.Module) {
	start, size, ok := mod.Section("_ftrace_events")
	if !ok {
		return
	}
	rows, _, err := p.imageRows(start, start+size)
	if err != nil {
		return
	}
	var mine []pointRow
	for _, r := range rows {
		slot, ok := mod.TraceSlot(r.point)
		if _, taken := p.t.TraceEvent(r.System, r.Name); taken || !ok || slot >= traceSlots || p.find(r.point) != nil {
			continue
		}
		if r.ID == 0 || p.t.root().events.ByID(r.ID) != nil {
			r.ID = p.freeID()
		}
		tp := &tracepoint{name: r.point, module: mod.Name, slot: slot, bySys: map[uint64]*pointEvent{}}
		p.list, p.slots[slot], mine = append(slices.Clone(p.list), tp), tp, append(mine, r)
		p.addRows(mine[len(mine)-1:])
	}
}

// moduleIDs is where the numbers of events begin that bring none, or one that is taken: above all that Debian's kernel has.
const moduleIDs = 1600

func (p *points) freeID() uint16 {
	id := uint16(moduleIDs)
	for p.t.root().events.ByID(id) != nil {
		id++
	}
	return id
}

// dropModuleEvents takes a module's events out, whoever has them on. Rings that may hold such events are emptied: another module's
// could get the same numbers; see trace_module_remove_events in kernel/trace/trace_events.c.
func (p *points) dropModuleEvents(mod *kernel.Module) {
	for _, tp := range p.list {
		if tp.module != mod.Name {
			continue
		}
		for _, e := range tp.events {
			e.Switch = nil // its jump labels go with the module
			e.held = 0
			for _, u := range e.users {
				u.dropTriggers()
				u.soft, u.asleep = 0, false
				_ = u.arm(false)
			}
			_ = p.t.RemoveEvent(e.TraceEvent)
		}
		p.slots[tp.slot] = nil
	}
	p.t.ClearStale()
	p.list = slices.DeleteFunc(slices.Clone(p.list), func(tp *tracepoint) bool { return tp.module == mod.Name })
}

// registerSlots binds the gates of modules' tracepoints.
func (p *points) registerSlots() {
	for n := range traceSlots {
		p.t.m.RegisterGate("__traceiter_slot_"+strconv.Itoa(n), func(c *kernel.VCPU) uint64 {
			if tp := p.slots[n]; tp != nil {
				p.hit(tp, c)
			}
			return 0
		})
	}
}

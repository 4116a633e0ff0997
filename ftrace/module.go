package ftrace

import (
	"encoding/binary"
	"slices"
	"sort"

	"kscope/kernel"
)

// moduleSites counts the sites of a loaded module: each module's records have pages of their own.
type moduleSites struct {
	name string
	n    int
}

// onModule follows the modules of the machine: sites come as nops before a module's init runs and get what the registered
// ops want (ftrace_module_init, ftrace_module_enable); they go before their text is freed (ftrace_free_mem,
// ftrace_release_mod).
func (t *Tracer) onModule(_ *kernel.VCPU, ev kernel.ModuleEvent, mod *kernel.Module) error {
	switch ev {
	case kernel.ModuleInit:
		t.sites.addModule(mod)
		t.points.addModuleEvents(mod)
		t.points.addModule(mod)
	case kernel.ModuleComing:
		t.enterPending(mod)
		t.sites.enableModule(mod)
	case kernel.ModuleInitGone:
		t.dropSites(mod.Init)
	case kernel.ModuleRelease:
		t.points.dropModuleEvents(mod)
		t.dropSites(mod.Core)
		t.dropSites(mod.Init)
		t.sites.modules = slices.DeleteFunc(slices.Clone(t.sites.modules), func(m moduleSites) bool { return m.name == mod.Name })
		t.sites.recount()
	}
	return nil
}

// addModule makes nops and records of the module's __mcount_loc. What is no call of __fentry__ is left alone.
func (s *Sites) addModule(mod *kernel.Module) {
	addr, size, ok := mod.Section("__mcount_loc")
	fentry, ok2 := s.m.Symbols().Lookup("__fentry__")
	table := make([]byte, size)
	if !ok || !ok2 || s.m.Read(addr, table) != nil {
		return
	}
	recs := slices.Clone(s.recs)
	for i := 0; i+8 <= len(table); i += 8 {
		ip := binary.LittleEndian.Uint64(table[i:])
		sym, _ := s.m.Symbols().At(ip)
		if !mod.Has(ip) || sym.Module != mod.Name || s.checkSite(ip, fentry) != nil {
			continue
		}
		at := sort.Search(len(recs), func(i int) bool { return recs[i].IP >= ip })
		if at < len(recs) && recs[at].IP == ip || s.m.Text().Early(ip, nop5[:]) != nil {
			continue
		}
		recs = slices.Insert(recs, at, Record{IP: ip, Name: sym.Name, Module: mod.Name})
	}
	if n := len(recs) - len(s.recs); n > 0 {
		s.modules = append(slices.Clone(s.modules), moduleSites{mod.Name, n})
	}
	s.setRecs(recs)
	s.recount()
}

// recount is the number of pages and groups of all records.
func (s *Sites) recount() {
	s.pages, s.group = 0, 0
	s.countPages(s.allocated)
	for _, m := range s.modules {
		s.countPages(m.n)
	}
}

// enableModule patches the new sites for the ops that want them. Nothing runs them yet: no protocol is needed
// (text_poke_early in ftrace_modify_code_direct).
func (s *Sites) enableModule(mod *kernel.Module) {
	var pokes []kernel.Poke
	for i := range s.recs {
		if r := &s.recs[i]; mod.Has(r.IP) {
			if p, ok := s.recompute(r); ok {
				pokes = append(pokes, p)
			}
		}
	}
	if len(pokes) > 0 {
		s.m.Text().Instant("ftrace "+mod.Name, pokes)
	}
}

// enterPending moves to the filters what was asked of the module before it came (process_cached_mods).
func (t *Tracer) enterPending(mod *kernel.Module) {
	for i, hash := range []**Hash{&t.ops.Filter, &t.ops.Notrace} {
		var rest []pendingMod
		for _, p := range t.mods[i] {
			if parse := parsePattern(p.module); parse.not || !parse.match(mod.Name) {
				rest = append(rest, p)
				continue
			}
			h := (*hash).Clone()
			if h == nil {
				h = NewHash()
			}
			t.sites.enterMod(h, p.fn, mod.Name, true)
			*hash = h
		}
		if len(rest) != len(t.mods[i]) {
			t.mods[i] = rest
			(*hash).pending = len(rest) > 0
		}
	}
	for _, u := range t.graphers() {
		u.ops.Filter, u.ops.Notrace = t.ops.Filter, t.ops.Notrace
	}
}

// dropSites forgets the records of text that goes, and takes them out of every filter (clear_mod_from_hashes).
func (t *Tracer) dropSites(a kernel.ModuleArea) {
	t.points.dropSites(a)
	s := t.sites
	var gone []uint64
	recs := make([]Record, 0, len(s.recs))
	for _, r := range s.recs {
		if a.Has(r.IP) {
			gone = append(gone, r.IP)
		} else {
			recs = append(recs, r)
		}
	}
	if gone == nil {
		return
	}
	s.setRecs(recs)
	hashes := []*Hash{t.ops.Filter, t.ops.Notrace, t.graph.function, t.graph.notrace, t.stack.ops.Filter}
	for _, o := range s.ops {
		hashes = append(hashes, o.Filter, o.Notrace)
	}
	for _, h := range hashes {
		for _, ip := range gone {
			if h.Has(ip) {
				h.Remove(ip)
			}
		}
	}
	for _, p := range t.probes {
		for _, ip := range gone {
			delete(p.counts, ip)
		}
	}
}

// addModule takes over the jump labels of a module's tracepoints, and makes jumps of those whose event is on
// (jump_label_add_module).
func (p *points) addModule(mod *kernel.Module) {
	addr, size, _ := mod.Section("__jump_table")
	table := make([]byte, size)
	if p.t.m.Read(addr, table) != nil {
		return
	}
	var pokes []kernel.Poke
	for i := 0; i+jumpEntry <= len(table); i += jumpEntry {
		s, key := jumpRow(addr+uint64(i), table[i:])
		for _, tp := range p.list {
			at, ok := p.t.m.Symbols().Lookup("__tracepoint_" + tp.name)
			if b := [siteSize]byte{}; !ok || at != key || !mod.Has(s.code) || p.t.m.Read(s.code, b[:]) != nil || b != nop5 {
				continue
			}
			tp.sites = append(slices.Clone(tp.sites), s)
			p.t.m.AddCold(p.coldPieces(tp, []jumpSite{s}))
			if tp.users > 0 {
				pokes = append(pokes, s.poke(true))
			}
		}
	}
	if len(pokes) > 0 {
		p.t.m.Text().Instant("jump_label "+mod.Name, pokes)
	}
}

// dropSites is jump_label_del_module.
func (p *points) dropSites(a kernel.ModuleArea) {
	p.t.m.DropCold(a)
	for _, tp := range p.list {
		tp.sites = slices.DeleteFunc(slices.Clone(tp.sites), func(s jumpSite) bool { return a.Has(s.code) })
	}
}

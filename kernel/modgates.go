package kernel

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Offsets in struct load_info and the number of words that module_elf_check fills in (kernel/guest/include/module.h).
const (
	loadID    = 16
	loadWords = 9
)

// Costs of the loader's steps in ns: a byte looked at or copied costs 1/8, a symbol looked up 60.
const (
	costModBytes  = 8
	costModSymbol = 60
)

func (m *Machine) moduleGates() {
	for _, g := range []struct {
		name string
		fn   func(v *VCPU) (uint64, error)
	}{
		{"module_elf_check", m.gateElfCheck}, {"module_move", m.gateMove}, {"module_simplify_symbols", m.gateSimplify},
		{"module_relocate", m.gateRelocate}, {"module_section", m.gateSection}, {"module_owner", m.gateOwner},
		{"module_notify", m.gateNotify}, {"module_message", m.gateMessage}, {"module_drop", m.gateModDrop},
	} {
		m.RegisterGate(g.name, func(v *VCPU) uint64 {
			ret, err := g.fn(v)
			if err == nil {
				return ret
			}
			var refusal *modError
			if errors.As(err, &refusal) {
				m.mods.lines = append(m.mods.lines, refusal.lines...)
			}
			errno := EFAULT
			errors.As(err, &errno)
			return errno.Ret()
		})
	}
}

// argModule is the module that a gate's first argument names.
func (m *Machine) argModule(v *VCPU) (*Module, error) {
	if mod := m.mods.byID(v.Arg(0)); mod != nil {
		return mod, nil
	}
	return nil, EINVAL
}

// gateElfCheck: long module_elf_check(struct load_info *info).
func (m *Machine) gateElfCheck(v *VCPU) (uint64, error) {
	info := v.Arg(0)
	hdr, err := m.U64(info)
	if err != nil {
		return 0, err
	}
	size, err := m.U64(info + 8)
	if err != nil || size > maxModFile {
		return 0, EINVAL
	}
	raw := make([]byte, size)
	if err := m.Read(hdr, raw); err != nil {
		return 0, err
	}
	v.ChargeWork(size / costModBytes)
	f, err := parseModule(raw)
	if err != nil {
		return 0, err
	}
	m.mods.id++
	mod := &Module{Name: f.name, id: m.mods.id, file: f}
	var modinfo modSection
	if f.modinfo != 0 {
		modinfo = f.sections[f.modinfo]
	}
	var out []byte
	for _, w := range [loadWords]uint64{mod.id, modinfo.Off, modinfo.Size, f.core.size, f.core.text, f.core.ro, f.init.size, f.init.text, f.init.ro} {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	m.mods.list = slices.Insert(m.mods.list, 0, mod)
	return 0, m.Write(info+loadID, out)
}

// gateMove: long module_move(u64 id, void *core, void *init).
func (m *Machine) gateMove(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil {
		return 0, err
	}
	f := mod.file
	mod.bases = modBases{v.Arg(1), v.Arg(2)}
	this := &f.sections[f.this]
	if t := m.Types().Struct("module"); this.init || t == nil || this.Size < uint64(t.Size) || this.Flags&1 == 0 {
		return 0, modErrorf(kernErr, "%s: .gnu.linkonce.this_module has %d bytes, struct module another size or place", f.name, this.Size)
	}
	if err := m.writeAll(v, f.image(mod.bases)); err != nil {
		return 0, err
	}
	mod.Addr = f.addr(f.this, mod.bases)
	mod.Core = ModuleArea{mod.bases.core, f.core.size, f.core.text, f.core.ro}
	mod.Init = ModuleArea{mod.bases.init, f.init.size, f.init.text, f.init.ro}
	return mod.Addr, nil
}

func (m *Machine) writeAll(v *VCPU, writes []modWrite) error {
	for _, w := range writes {
		v.ChargeWork(uint64(len(w.data))/costModBytes + 1)
		if err := m.Write(w.addr, w.data); err != nil {
			return err
		}
	}
	return nil
}

// gateSimplify: long module_simplify_symbols(u64 id, u64 flags): 1 the module may use what is exported to GPL modules, 2 it
// has waited long enough for others that are in their init.
func (m *Machine) gateSimplify(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil {
		return 0, err
	}
	kernel := m.kernelExports()
	mod.gpl = v.Arg(1)&1 != 0
	values, uses, err := mod.file.simplify(mod.bases, v.Arg(1)&2 != 0, func(name string) (uint64, *Module, error) {
		v.ChargeWork(costModSymbol)
		return m.resolve(kernel, mod, name)
	})
	if err != nil {
		return 0, err
	}
	mod.values, mod.uses = values, nil
	for _, owner := range uses {
		if !slices.Contains(mod.uses, owner.id) {
			mod.uses = append(mod.uses, owner.id)
		}
	}
	return 0, nil
}

// export is a row of a __ksymtab.
type export struct {
	value uint64
	gpl   bool
}

// resolve is find_symbol: the kernel's exports, then those of the modules.
func (m *Machine) resolve(kernel map[string]export, who *Module, name string) (uint64, *Module, error) {
	e, ok := kernel[name]
	if point, is := strings.CutPrefix(name, traceIter); is && !ok {
		return m.traceSlot(who, point)
	}
	var owner *Module
	for _, mod := range m.mods.list {
		if !ok && mod != who && mod.State != ModuleUnformed {
			if e, ok = m.moduleExports(mod)[name]; ok {
				owner = mod
			}
		}
	}
	switch {
	case !ok || e.gpl && !who.gpl:
		return 0, nil, ENOENT
	case owner != nil && owner.State == ModuleLoading:
		return 0, owner, EBUSY
	case owner != nil && owner.State != ModuleLive:
		return 0, nil, ENOENT
	}
	return e.value, owner, nil
}

// traceIter begins the names of the gates that tracepoints call, and traceSlots of those that are free for modules.
const (
	traceIter  = "__traceiter_"
	traceSlots = traceIter + "slot_"
)

// traceSlot gives a tracepoint that a module defines one of the free gates.
func (m *Machine) traceSlot(who *Module, point string) (uint64, *Module, error) {
	if !slices.ContainsFunc(who.file.syms, func(s modSym) bool { return s.name == "__tracepoint_"+point && s.Shndx != 0 }) {
		return 0, nil, ENOENT // some other module's
	}
	used := map[int]bool{}
	for _, mod := range m.mods.list {
		for _, n := range mod.traceSlots {
			used[n] = true
		}
	}
	for n := 0; ; n++ {
		va, ok := m.img.gates[traceSlots+strconv.Itoa(n)]
		if !ok {
			return 0, nil, ENOENT
		}
		if !used[n] {
			if who.traceSlots == nil {
				who.traceSlots = map[string]int{}
			}
			who.traceSlots[point] = n
			return va, nil, nil
		}
	}
}

// TraceSlot is the number N of the gate __traceiter_slot_N that a tracepoint of the module calls.
func (mod *Module) TraceSlot(point string) (int, bool) {
	n, ok := mod.traceSlots[point]
	return n, ok
}

func (m *Machine) kernelExports() map[string]export {
	out := map[string]export{}
	for _, row := range []struct {
		suffix string
		gpl    bool
	}{{"", false}, {"_gpl", true}} {
		start, ok := m.syms.Lookup("__start___ksymtab" + row.suffix)
		end, ok2 := m.syms.Lookup("__stop___ksymtab" + row.suffix)
		if ok && ok2 && end > start {
			m.readExports(out, start, end-start, row.gpl)
		}
	}
	return out
}

func (m *Machine) moduleExports(mod *Module) map[string]export {
	out := map[string]export{}
	for _, row := range []struct {
		name string
		gpl  bool
	}{{"__ksymtab", false}, {"__ksymtab_gpl", true}} {
		if addr, size, ok := mod.Section(row.name); ok {
			m.readExports(out, addr, size, row.gpl)
		}
	}
	return out
}

// readExports reads an array of struct kernel_symbol, whose members count from their own places.
func (m *Machine) readExports(out map[string]export, addr, size uint64, gpl bool) {
	const entry = 12
	table := make([]byte, size-size%entry)
	if m.Read(addr, table) != nil {
		return
	}
	for i := uint64(0); i+entry <= uint64(len(table)); i += entry {
		at := addr + i
		value := at + uint64(int64(int32(binary.LittleEndian.Uint32(table[i:]))))
		name, err := m.Str(at+4+uint64(int64(int32(binary.LittleEndian.Uint32(table[i+4:])))), 128)
		if err == nil && name != "" {
			out[name] = export{value, gpl}
		}
	}
}

// gateOwner: struct module *module_owner(u64 id, u64 i).
func (m *Machine) gateOwner(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil || v.Arg(1) >= uint64(len(mod.uses)) {
		return 0, nil
	}
	if owner := m.mods.byID(mod.uses[v.Arg(1)]); owner != nil {
		return owner.Addr, nil
	}
	return 0, nil
}

// gateRelocate: long module_relocate(u64 id). The kept symbol table and the unwind rows are made too.
func (m *Machine) gateRelocate(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil {
		return 0, err
	}
	if mod.values == nil {
		return 0, EINVAL
	}
	writes, err := mod.file.relocate(mod.bases, mod.values)
	if err == nil {
		err = m.writeAll(v, writes)
	}
	if err == nil {
		err = m.writeAll(v, mod.file.kallsyms(mod.bases, mod.values))
	}
	mod.rows, mod.types = mod.file.unwindRows(mod.bases, mod.values), mod.file.types(mod.values)
	return 0, err
}

// gateSection: void *module_section(u64 id, const char *name, u64 *size).
func (m *Machine) gateSection(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil {
		return 0, nil
	}
	name, err := m.Str(v.Arg(1), 64)
	if err != nil {
		return 0, nil
	}
	addr, size := mod.file.sectionNamed(name, mod.bases)
	return addr, m.PutU64(v.Arg(2), size)
}

// gateNotify: long module_notify(u64 id, struct module *mod, u64 event). -EAGAIN: a batch of pokes is under way in text
// that is about to be freed; wait for it and ask again.
func (m *Machine) gateNotify(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil {
		return 0, nil
	}
	ev := ModuleEvent(v.Arg(2))
	switch ev {
	case ModuleInit:
		m.addModuleSyms(mod)
	case ModuleComing:
		mod.State = ModuleLoading
	case ModuleLiveNow:
		mod.State = ModuleLive
	case ModuleGoing:
		mod.State = ModuleUnloading
	case ModuleInitGone:
		if m.text.busyIn(mod.Init) {
			return 0, EAGAIN
		}
	case ModuleRelease:
		if m.text.busyIn(mod.Core) || m.text.busyIn(mod.Init) {
			return 0, EAGAIN
		}
		m.mods.last = mod.Name + m.moduleFlags(&Module{Addr: mod.Addr, State: ModuleLive})
	}
	for _, fn := range m.mods.on {
		if e := fn(v, ev, mod); e != nil && err == nil {
			err = e
		}
	}
	switch ev {
	case ModuleInitGone:
		m.text.forget(mod.Init)
		m.dropInitSyms(mod)
		mod.Init = ModuleArea{}
	case ModuleRelease:
		m.text.forget(mod.Core)
		m.text.forget(mod.Init)
	}
	return 0, err
}

func (m *Machine) dropInitSyms(mod *Module) {
	mod.syms = slices.DeleteFunc(slices.Clone(mod.syms), func(s Sym) bool { return mod.Init.Has(s.Addr) })
	m.syms.RemoveModule(mod.Name)
	for _, s := range mod.syms {
		m.syms.Add(s)
	}
}

// addModuleSyms puts the module's symbols into kallsyms: the size reaches to the next symbol or the end of the part
// (find_kallsyms_symbol).
func (m *Machine) addModuleSyms(mod *Module) {
	f, exports := mod.file, m.moduleExports(mod)
	mod.syms = nil
	for i := range f.syms {
		s := &f.syms[i]
		if i == 0 || s.name == "" || s.Shndx == 0 || int(s.Shndx) >= len(f.sections) || f.sections[s.Shndx].at == noPlace ||
			strings.HasPrefix(s.name, "$") || strings.HasPrefix(s.name, ".L") {
			continue
		}
		row := Sym{Name: s.name, Addr: mod.values[i], ELFSize: s.Size, Kind: f.kind(s), Section: f.sections[s.Shndx].name, Module: mod.Name}
		if _, ok := exports[s.name]; ok {
			row.Kind &^= 0x20
		}
		if mod.Has(row.Addr) {
			mod.syms = append(mod.syms, row)
		}
	}
	slices.SortStableFunc(mod.syms, func(a, b Sym) int {
		if a.Addr < b.Addr {
			return -1
		} else if a.Addr > b.Addr {
			return 1
		}
		return 0
	})
	for i := range mod.syms {
		s := &mod.syms[i]
		area := mod.Core
		if mod.Init.Has(s.Addr) {
			area = mod.Init
		}
		end := area.Base + area.Size
		if s.Addr < area.Base+area.Text {
			end = area.Base + area.Text
		}
		if j := slices.IndexFunc(mod.syms[i:], func(o Sym) bool { return o.Addr > s.Addr }); j >= 0 {
			end = min(end, mod.syms[i+j].Addr)
		}
		s.Size = end - s.Addr
	}
	for _, s := range mod.syms { // of several names of a place At finds the one added first
		m.syms.Add(s)
	}
}

// gateMessage: long module_message(char *buf, u64 len).
func (m *Machine) gateMessage(v *VCPU) (uint64, error) {
	if len(m.mods.lines) == 0 || v.Arg(1) == 0 {
		return 0, nil
	}
	line := m.mods.lines[0]
	m.mods.lines = m.mods.lines[1:]
	line = line[:min(uint64(len(line)), v.Arg(1)-1)]
	return uint64(len(line)), m.Write(v.Arg(0), append([]byte(line), 0))
}

// gateModDrop: void module_drop(u64 id).
func (m *Machine) gateModDrop(v *VCPU) (uint64, error) {
	mod, err := m.argModule(v)
	if err != nil {
		return 0, nil
	}
	if mod.syms != nil {
		m.syms.RemoveModule(mod.Name)
	}
	m.mods.list = slices.DeleteFunc(m.mods.list, func(o *Module) bool { return o == mod })
	return 0, nil
}

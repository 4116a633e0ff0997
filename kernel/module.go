package kernel

import (
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"

	"kscope/kernel/guest"
)

// Module is a module that the guest has loaded or is loading. The ELF work is done here (modelf.go, modreloc.go), for the
// gates of modgates.go; memory, lists, states, references and parameters are the guest's (kernel/guest/kernel/module).
//
// A module lies in memory of the guest's own allocator (mm/vmalloc.c) at 0xffffffffc0000000 to 0xffffffffc01fffff, below
// the shadow RAM: text, read-only data, data and the kept symbol table, each at a page; a second area holds .init sections
// until the module's init is over.
type Module struct {
	Name  string
	Addr  uint64 // of its struct module
	Core  ModuleArea
	Init  ModuleArea // zero once it is freed
	State ModuleState

	id     uint64
	file   *modFile
	bases  modBases
	values []uint64 // of file.syms, relocated
	uses   []uint64 // ids of the modules whose symbols it uses
	gpl    bool
	rows   *frameTable // unwind rows
	types  *Types      // of its own DWARF; nil: none
	syms   []Sym       // as added to kallsyms

	traceSlots map[string]int // the gates of its tracepoints; see traceSlot
}

// ModuleArea is one part of a module's memory: text, then read-only data up to RO, then the rest.
type ModuleArea struct{ Base, Size, Text, RO uint64 }

// Has says whether va is in the area.
func (a ModuleArea) Has(va uint64) bool { return va-a.Base < a.Size }

// Has says whether va is in the module.
func (mod *Module) Has(va uint64) bool { return mod.Core.Has(va) || mod.Init.Has(va) }

// Section is where a section of the module lies; ok is false when it has none of that name.
func (mod *Module) Section(name string) (addr, size uint64, ok bool) {
	addr, size = mod.file.sectionNamed(name, mod.bases)
	return addr, size, size > 0
}

// Line is the source position of an address in the module, from its own debug information.
func (mod *Module) Line(va uint64) (file string, line int, ok bool) {
	if mod.types == nil {
		return "", 0, false
	}
	defer func() {
		if r := recover(); r != nil { // debug/dwarf, on a corrupt file
			file, line, ok = "", 0, false
		}
	}()
	return mod.types.Line(va)
}

// Symbols are the module's rows of kallsyms, those of its init part too while that lives.
func (mod *Module) Symbols() []Sym { return mod.syms }

// ModuleState is enum module_state, as /proc/modules names it.
type ModuleState uint8

const (
	ModuleUnformed ModuleState = iota
	ModuleLoading
	ModuleLive
	ModuleUnloading
)

func (s ModuleState) String() string {
	return [...]string{"Unformed", "Loading", "Live", "Unloading"}[s]
}

// ModuleEvent is a step in a module's life, in this order; a load that fails goes from any of them to Going or Release.
type ModuleEvent uint8

// The values are those of MODEV_* in kernel/guest/include/module.h.
const (
	ModuleInit     ModuleEvent = iota // relocated; before anything of it runs (ftrace_module_init)
	ModuleComing                      // visible; its init runs next
	ModuleLiveNow                     // its init has succeeded
	ModuleInitGone                    // mod.Init is about to be freed
	ModuleGoing                       // its exit has run
	ModuleRelease                     // about to be freed: forget its text (ftrace_release_mod)
)

// OnModule has fn called at each event of each module, in the order of the calls of OnModule. It runs in a gate, on the
// CPU that loads; an error at ModuleComing refuses the module. A fork starts without: its parts ask again.
func (m *Machine) OnModule(fn func(c *VCPU, ev ModuleEvent, mod *Module) error) {
	m.mods.on = append(m.mods.on, fn)
}

// modules is what a machine knows of its modules, newest first, with those that are being loaded.
type modules struct {
	list  []*Module
	on    []func(c *VCPU, ev ModuleEvent, mod *Module) error
	lines []string // for the log: module_message
	last  string   // [last unloaded: …]
	id    uint64
}

func (s *modules) fork() modules {
	n := modules{lines: slices.Clone(s.lines), last: s.last, id: s.id}
	for _, mod := range s.list {
		c := *mod
		n.list = append(n.list, &c)
	}
	return n
}

func (s *modules) byID(id uint64) *Module {
	for _, mod := range s.list {
		if mod.id == id {
			return mod
		}
	}
	return nil
}

// ModuleAt is the module that holds va, nil when none does.
func (m *Machine) ModuleAt(va uint64) *Module {
	for _, mod := range m.mods.list {
		if mod.Has(va) {
			return mod
		}
	}
	return nil
}

// Module finds a visible module by name.
func (m *Machine) Module(name string) (*Module, bool) {
	for _, mod := range m.mods.list {
		if mod.Name == name && mod.State != ModuleUnformed {
			return mod, true
		}
	}
	return nil, false
}

// ModuleInfo is a row of /proc/modules.
type ModuleInfo struct {
	Name   string
	Size   uint64
	Refs   int
	UsedBy []string
	State  ModuleState
	Base   uint64
	Taints string // letters
}

// Line is the row as Linux prints it (m_show in kernel/module/procfs.c).
func (i ModuleInfo) Line() string {
	by := "-"
	if len(i.UsedBy) > 0 {
		by = strings.Join(i.UsedBy, ",") + ","
	}
	s := fmt.Sprintf("%s %d %d %s %s 0x%016x", i.Name, i.Size, i.Refs, by, i.State, i.Base)
	if i.Taints != "" {
		s += " (" + i.Taints + ")"
	}
	return s
}

// Modules lists the visible modules, newest first.
func (m *Machine) Modules() []ModuleInfo {
	var out []ModuleInfo
	for _, mod := range m.mods.list {
		if mod.State == ModuleUnformed {
			continue
		}
		i := ModuleInfo{Name: mod.Name, Size: mod.Core.Size + mod.Init.Size, State: mod.State, Base: mod.Core.Base,
			Refs: int(m.moduleField(mod, "refcnt")) - 1, Taints: m.moduleTaints(mod)}
		for _, user := range m.mods.list {
			if slices.Contains(user.uses, mod.id) {
				i.UsedBy = append(i.UsedBy, user.Name)
			}
		}
		out = append(out, i)
	}
	return out
}

// moduleField reads an integer of struct module.
func (m *Machine) moduleField(mod *Module, name string) uint64 {
	f := m.Types().Struct("module").Field(name)
	if f.Type == nil || f.Type.Size < 1 || f.Type.Size > 8 {
		return 0
	}
	var b [8]byte
	_ = m.Read(mod.Addr+uint64(f.Offset), b[:f.Type.Size])
	return binary.LittleEndian.Uint64(b[:])
}

func (m *Machine) moduleTaints(mod *Module) string {
	mask, s := m.moduleField(mod, "taints"), ""
	for i, c := range taintFlags {
		if mask>>i&1 != 0 {
			s += string(c)
		}
	}
	return s
}

// linkedIn is what print_modules() prints behind "Modules linked in:".
func (m *Machine) linkedIn() string {
	s := ""
	for _, mod := range m.mods.list {
		if mod.State != ModuleUnformed {
			s += " " + mod.Name + m.moduleFlags(mod)
		}
	}
	if m.mods.last != "" {
		s += " [last unloaded: " + m.mods.last + "]"
	}
	return s
}

// moduleFlags is module_flags().
func (m *Machine) moduleFlags(mod *Module) string {
	s := m.moduleTaints(mod) + map[ModuleState]string{ModuleLoading: "+", ModuleUnloading: "-"}[mod.State]
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// moduleDir is where depmod would have put the modules of this kernel.
const moduleDir = "/lib/modules/" + guest.Release + "/"

// LoadModule loads a module by kscoped, as finit_module would: a file with a slash in its name, or a name that modules.dep
// knows, in which case the modules that it needs come first. args are parameters, "name=value …". What Linux says goes to
// Dmesg; the error is Linux's errno.
func (m *Machine) LoadModule(name, args string) error {
	files := []string{name}
	if !strings.Contains(name, "/") {
		var err error
		if files, err = m.moduleFiles(name); err != nil {
			return err
		}
	}
	for i, file := range files {
		data := "\x00"
		last := i == len(files)-1
		if last {
			data = args + "\x00"
		}
		if len(data) > 4096 {
			return E2BIG
		}
		_, err := m.call("loading "+file, &request{op: reqInsmod, path: file, data: []byte(data)})
		if err != nil && (last || err != EEXIST) {
			return err
		}
	}
	return nil
}

// moduleFiles reads modules.dep: the files to load for name, in order.
func (m *Machine) moduleFiles(name string) ([]string, error) {
	dep, err := m.ReadFile(moduleDir + "modules.dep")
	if err != nil {
		return nil, err
	}
	name = strings.ReplaceAll(name, "-", "_")
	for _, line := range strings.Split(string(dep), "\n") {
		file, needs, ok := strings.Cut(line, ":")
		base, _, _ := strings.Cut(path.Base(file), ".ko")
		if !ok || strings.ReplaceAll(base, "-", "_") != name {
			continue
		}
		files := strings.Fields(needs)
		slices.Reverse(files)
		files = append(files, file)
		for i := range files {
			files[i] = moduleDir + files[i]
		}
		return files, nil
	}
	return nil, &SymbolError{Text: name, Msg: fmt.Sprintf("no module %q in %smodules.dep", name, moduleDir), Err: ENOENT}
}

// UnloadModule is delete_module of kscoped.
func (m *Machine) UnloadModule(name string) error {
	_, err := m.call("unloading "+name, &request{op: reqRmmod, path: name, flags: ONonblock})
	return err
}

// moduleRows is Unwinder.Module.
func (m *Machine) moduleRows(pc uint64) *frameTable {
	if mod := m.ModuleAt(pc); mod != nil {
		return mod.rows
	}
	return nil
}

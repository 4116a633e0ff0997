package kernel

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// modWrite is a change of the module's memory.
type modWrite struct {
	addr uint64
	data []byte
}

// resolver finds a symbol that modules may use: its value, and whose it is (nil: the kernel's). EBUSY: the owner is still
// in its init (then the owner is given, too).
type resolver func(name string) (value uint64, owner *Module, err error)

// simplify is simplify_symbols: each symbol's value, and the modules that are now used. All unknown symbols are named.
func (f *modFile) simplify(b modBases, giveUp bool, resolve resolver) (values []uint64, uses []*Module, err error) {
	values = make([]uint64, len(f.syms))
	var bad *modError
	fail := func(errno Errno, level, format string, args ...any) {
		if bad == nil {
			bad = &modError{}
		}
		bad.err = errno
		bad.lines = append(bad.lines, level+fmt.Sprintf(format, args...))
	}
	for i := 1; i < len(f.syms); i++ {
		s := &f.syms[i]
		switch index := elf.SectionIndex(s.Shndx); {
		case index == elf.SHN_COMMON:
			if !strings.HasPrefix(s.name, "__gnu_lto") {
				fail(ENOEXEC, kernWarn, "%s: please compile with -fno-common", f.name)
			}
		case index == elf.SHN_UNDEF:
			v, owner, e := resolve(s.name)
			switch {
			case e == nil:
				values[i] = v
				if owner != nil {
					uses = append(uses, owner)
				}
			case e == EBUSY && !giveUp:
				return nil, nil, &modError{err: EBUSY}
			case e == EBUSY:
				fail(EBUSY, kernWarn, "%s: gave up waiting for init of module %s.", f.name, owner.Name)
				fail(EBUSY, kernWarn, "%s: Unknown symbol %s (err %d)", f.name, s.name, -int(EBUSY))
			case elf.ST_BIND(s.Info) == elf.STB_WEAK && e == ENOENT:
			default:
				fail(ENOENT, kernWarn, "%s: Unknown symbol %s (err %d)", f.name, s.name, -int(ENOENT))
			}
		case int(index) < len(f.sections):
			values[i] = s.Value + f.addr(int(index), b)
		default:
			values[i] = s.Value // SHN_ABS
		}
	}
	if bad != nil {
		return nil, nil, bad
	}
	return values, uses, nil
}

// relocate is apply_relocations: the words to write into the loaded sections. Linux writes where the file says; here the
// place must be in its section.
func (f *modFile) relocate(b modBases, values []uint64) ([]modWrite, error) {
	var out []modWrite
	for i := range f.sections {
		s := &f.sections[i]
		if s.Info == 0 || s.Info >= uint32(len(f.sections)) || f.sections[s.Info].at == noPlace {
			continue
		}
		switch elf.SectionType(s.Type) {
		case elf.SHT_REL:
			return nil, modErrorf(kernErr, "module %s: REL relocation unsupported", f.name)
		case elf.SHT_RELA:
			w, err := f.relocateSection(i, f.data(int(s.Info)), f.addr(int(s.Info), b), values)
			if err != nil {
				return nil, err
			}
			out = append(out, w...)
		}
	}
	return out, nil
}

// relocateSection is apply_relocate_add of arch/x86/kernel/module.c for RELA section i over the bytes of its target, which
// lies at base.
func (f *modFile) relocateSection(i int, target []byte, base uint64, values []uint64) ([]modWrite, error) {
	var out []modWrite
	table, size := f.data(i), binary.Size(elf.Rela64{})
	done := map[uint64]bool{}
	for off := 0; off+size <= len(table); off += size {
		var r elf.Rela64
		if _, err := binary.Decode(table[off:], binary.LittleEndian, &r); err != nil {
			return nil, modErrorf(kernErr, "%s: bad relocation", f.name)
		}
		sym := elf.R_SYM64(r.Info)
		if uint64(sym) >= uint64(len(values)) {
			return nil, modErrorf(kernErr, "%s: relocation of symbol %d of %d", f.name, sym, len(values))
		}
		w, err := f.relocation(&r, values[sym]+uint64(r.Addend), target, base)
		if err != nil {
			return nil, err
		}
		if w.data == nil {
			continue
		}
		if done[r.Off] {
			return nil, invalidRelocation(&r, w.addr, values[sym])
		}
		done[r.Off] = true
		out = append(out, w)
	}
	return out, nil
}

func invalidRelocation(r *elf.Rela64, loc, val uint64) error {
	return modErrorf(kernErr, "x86/modules: Skipping invalid relocation target, existing value is nonzero for type %d, loc %016x, val %x",
		elf.R_TYPE64(r.Info), loc, val)
}

// relocation computes one word.
func (f *modFile) relocation(r *elf.Rela64, val uint64, target []byte, base uint64) (modWrite, error) {
	kind := elf.R_X86_64(elf.R_TYPE64(r.Info))
	size, loc := 4, base+r.Off
	switch kind {
	case elf.R_X86_64_NONE:
		return modWrite{}, nil
	case elf.R_X86_64_64:
		size = 8
	case elf.R_X86_64_PC64:
		size = 8
		val -= loc
	case elf.R_X86_64_32, elf.R_X86_64_32S:
	case elf.R_X86_64_PC32, elf.R_X86_64_PLT32:
		val -= loc
	default:
		return modWrite{}, modErrorf(kernErr, "%s: Unknown rela relocation: %d", f.name, uint32(kind))
	}
	if r.Off > uint64(len(target)) || uint64(size) > uint64(len(target))-r.Off {
		return modWrite{}, modErrorf(kernErr, "%s: relocation at %#x of a section of %#x bytes", f.name, r.Off, len(target))
	}
	for _, c := range target[r.Off:][:size] {
		if c != 0 {
			return modWrite{}, invalidRelocation(r, loc, val)
		}
	}
	// PC32 is not checked in 6.1: modules lie within 2 GiB of the kernel.
	if kind == elf.R_X86_64_32 && val != uint64(uint32(val)) || kind == elf.R_X86_64_32S && int64(val) != int64(int32(val)) {
		return modWrite{}, &modError{ENOEXEC, []string{
			kernErr + fmt.Sprintf("overflow in relocation type %d val %x", uint32(kind), val),
			kernErr + fmt.Sprintf("`%s' likely not compiled with -mcmodel=kernel", f.name)}}
	}
	return modWrite{loc, binary.LittleEndian.AppendUint64(nil, val)[:size]}, nil
}

// image is the loaded module as bytes: what move_module copies. NOBITS are zero, as the pages are.
func (f *modFile) image(b modBases) []modWrite {
	var out []modWrite
	for i := range f.sections {
		if f.sections[i].at != noPlace && len(f.data(i)) > 0 {
			out = append(out, modWrite{f.addr(i, b), f.data(i)})
		}
	}
	return out
}

// kallsyms is the symbol table that stays with the module (add_kallsyms).
func (f *modFile) kallsyms(b modBases, values []uint64) []modWrite {
	k := &f.kall
	table := make([]byte, binary.Size(elf.Sym64{}), k.strtab-k.symtab)
	types := []byte{0}
	name := uint32(1)
	for _, i := range k.keep {
		s := f.syms[i].Sym64
		s.Name, s.Value = name, values[i]
		name += uint32(len(f.syms[i].name) + 1)
		table, _ = binary.Append(table, binary.LittleEndian, &s)
		types = append(types, f.kind(&f.syms[i]))
	}
	return []modWrite{{b.core + k.symtab, table}, {b.core + k.strtab, k.names}, {b.core + k.typetab, types}}
}

// debugSection is a section of debug information as it reads at the module's addresses; nil when there is none, or a corrupt
// or compressed one.
func (f *modFile) debugSection(name string, values []uint64) []byte {
	at := slices.IndexFunc(f.sections, func(s modSection) bool { return s.name == name && s.at == noPlace })
	if at <= 0 || elf.SectionFlag(f.sections[at].Flags)&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	data := slices.Clone(f.data(at))
	for i := range f.sections {
		if s := &f.sections[i]; elf.SectionType(s.Type) != elf.SHT_RELA || int(s.Info) != at {
			continue
		}
		writes, err := f.relocateSection(i, f.data(at), 0, values)
		if err != nil {
			return nil
		}
		for _, w := range writes {
			copy(data[w.addr:], w.data)
		}
	}
	return data
}

// unwindRows parses .debug_frame for stacks; a file without one has no rows.
func (f *modFile) unwindRows(b modBases, values []uint64) *frameTable {
	t := &frameTable{}
	for i := range f.sections {
		if s := &f.sections[i]; s.at != noPlace && elf.SectionFlag(s.Flags)&elf.SHF_EXECINSTR != 0 {
			t.text = append(t.text, textPart{f.addr(i, b), f.data(i)})
		}
	}
	t.parse(f.debugSection(".debug_frame", values))
	return t
}

// types are the module's own debug information, for positions in its source.
func (f *modFile) types(values []uint64) *Types {
	sec := func(name string) []byte { return f.debugSection(".debug_"+name, values) }
	data, err := newDWARF(sec("abbrev"), sec("info"), sec("line"), sec("ranges"), sec("str"))
	if err != nil {
		return nil
	}
	return &Types{data: data}
}

func newDWARF(abbrev, info, line, ranges, str []byte) (data *dwarf.Data, err error) {
	defer func() {
		if r := recover(); r != nil {
			data, err = nil, fmt.Errorf("corrupt: %v", r)
		}
	}()
	if len(info) == 0 {
		return nil, dwarf.ErrUnknownPC
	}
	return dwarf.New(abbrev, nil, nil, info, line, nil, ranges, str)
}

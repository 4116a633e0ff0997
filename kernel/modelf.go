package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// modFile is the relocatable ELF file of a module: what elf_validity_check, setup_load_info and layout_sections of
// kernel/module/main.c make of it. It never changes; forks share it.
type modFile struct {
	raw      []byte
	sections []modSection
	symtab   int // index of the section
	this     int // .gnu.linkonce.this_module
	modinfo  int // .modinfo, 0: none
	syms     []modSym
	name     string // of the module
	core     modLayout
	init     modLayout
	kall     modKallsyms
}

// modSection is a section header, and where layout has put the section.
type modSection struct {
	elf.Section64
	name string
	init bool   // in the part that is freed after the module's init
	at   uint64 // offset in its part; noPlace: not loaded
}

const noPlace = ^uint64(0)

// modSym is a symbol table entry with its name.
type modSym struct {
	elf.Sym64
	name string
}

// modLayout is struct module_layout: text, then what is read-only, then the rest, each to whole pages.
type modLayout struct{ size, text, ro uint64 }

// modKallsyms says where the symbol table of the running module lies in the core part (layout_symtab).
type modKallsyms struct {
	keep                    []int // indices in syms
	symtab, strtab, typetab uint64
	names                   []byte
}

// modError is a refusal: the errno, and the lines for the kernel log with their level.
type modError struct {
	err   Errno
	lines []string
}

func (e *modError) Error() string { return fmt.Sprintf("%v: %s", e.err, strings.Join(e.lines, "; ")) }

// Unwrap gives the errno.
func (e *modError) Unwrap() error { return e.err }

// Levels of printk.
const (
	kernErr  = "\x013"
	kernWarn = "\x014"
)

func modErrorf(level, format string, args ...any) error {
	return &modError{ENOEXEC, []string{level + fmt.Sprintf(format, args...)}}
}

// moduleArea is the size of the addresses for modules; maxModFile bounds a file (kernel/guest/kernel/module/main.c).
const (
	moduleArea = 2 << 20
	maxModFile = 2 << 20
)

// parseModule checks a file as Linux 6.1 does, with its log lines, and more strictly where Linux trusts the file.
func parseModule(raw []byte) (*modFile, error) {
	f := &modFile{raw: raw}
	for _, step := range []func() error{f.readHeaders, f.checkSections, f.findParts, f.readSymbols, f.layout} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readHeaders is the first half of elf_validity_check.
func (f *modFile) readHeaders() error {
	var h elf.Header64
	if len(f.raw) < binary.Size(h) {
		return modErrorf(kernErr, "Invalid ELF header len %d", len(f.raw))
	}
	if _, err := binary.Decode(f.raw, binary.LittleEndian, &h); err != nil {
		return modErrorf(kernErr, "Invalid ELF header len %d", len(f.raw))
	}
	size, n := uint64(binary.Size(elf.Section64{})), uint64(h.Shnum)
	switch {
	case !bytes.HasPrefix(f.raw, []byte(elf.ELFMAG)):
		return modErrorf(kernErr, "Invalid ELF header magic: != \x7fELF")
	case elf.Type(h.Type) != elf.ET_REL:
		return modErrorf(kernErr, "Invalid ELF header type: %d != %d", h.Type, elf.ET_REL)
	case elf.Machine(h.Machine) != elf.EM_X86_64 || f.raw[elf.EI_CLASS] != byte(elf.ELFCLASS64):
		return modErrorf(kernErr, "Invalid architecture in ELF header: %d", h.Machine)
	case uint64(h.Shentsize) != size:
		return modErrorf(kernErr, "Invalid ELF section header size")
	case h.Shoff >= uint64(len(f.raw)) || n*size > uint64(len(f.raw))-h.Shoff:
		return modErrorf(kernErr, "Invalid ELF section header overflow")
	case h.Shstrndx == 0 || h.Shstrndx >= h.Shnum:
		return modErrorf(kernErr, "Invalid ELF section name index: %d || e_shstrndx (%d) >= e_shnum (%d)", h.Shstrndx, h.Shstrndx, n)
	}
	f.sections = make([]modSection, n)
	for i := range f.sections {
		s := &f.sections[i]
		s.at = noPlace
		if _, err := binary.Decode(f.raw[h.Shoff+uint64(i)*size:], binary.LittleEndian, &s.Section64); err != nil {
			return modErrorf(kernErr, "Invalid ELF section header overflow")
		}
	}
	return f.nameSections(int(h.Shstrndx))
}

// inside says whether the section's bytes are in the file.
func (f *modFile) inside(s *modSection) bool {
	return s.Off <= uint64(len(f.raw)) && s.Size <= uint64(len(f.raw))-s.Off
}

func (f *modFile) nameSections(index int) error {
	table := &f.sections[index]
	if !f.inside(table) {
		return modErrorf(kernErr, "Invalid ELF section hdr(type %d)", table.Type)
	}
	if table.Size == 0 {
		return modErrorf(kernErr, "empty section name table")
	}
	names := f.raw[table.Off:][:table.Size]
	if names[len(names)-1] != 0 {
		return modErrorf(kernErr, "ELF Spec violation: section name table isn't null terminated")
	}
	for i := range f.sections {
		s := &f.sections[i]
		if uint64(s.Name) < table.Size {
			s.name = cString(names[s.Name:])
		} else if s.Flags&uint64(elf.SHF_ALLOC) != 0 {
			return modErrorf(kernErr, "Invalid ELF section name in module (section %d type %d)", i, s.Type)
		}
	}
	return nil
}

func cString(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(s)
}

// checkSections is the second half of elf_validity_check.
func (f *modFile) checkSections() error {
	if z := &f.sections[0]; elf.SectionType(z.Type) != elf.SHT_NULL || z.Size != 0 || z.Addr != 0 {
		return modErrorf(kernErr, "ELF Spec violation: section 0 type(%d)!=SH_NULL or non-zero len or addr", z.Type)
	}
	for i := 1; i < len(f.sections); i++ {
		s := &f.sections[i]
		switch elf.SectionType(s.Type) {
		case elf.SHT_NULL, elf.SHT_NOBITS:
			continue
		case elf.SHT_SYMTAB:
			if s.Link == 0 || s.Link >= uint32(len(f.sections)) {
				return modErrorf(kernErr, "Invalid ELF sh_link!=SHN_UNDEF(%d) or (sh_link(%d) >= hdr->e_shnum(%d)", s.Link, s.Link,
					len(f.sections))
			}
		}
		if !f.inside(s) {
			return modErrorf(kernErr, "Invalid ELF section in module (section %d type %d)", i, s.Type)
		}
	}
	return nil
}

// find is find_sec: a section that is loaded. 0: none.
func (f *modFile) find(name string) int {
	for i := range f.sections {
		if s := &f.sections[i]; s.Flags&uint64(elf.SHF_ALLOC) != 0 && s.name == name {
			return i
		}
	}
	return 0
}

// data is a section's bytes in the file; none for SHT_NOBITS.
func (f *modFile) data(i int) []byte {
	s := &f.sections[i]
	if t := elf.SectionType(s.Type); t == elf.SHT_NOBITS || t == elf.SHT_NULL {
		return nil
	}
	return f.raw[s.Off:][:s.Size]
}

// findParts is setup_load_info.
func (f *modFile) findParts() error {
	f.modinfo = f.find(".modinfo")
	if f.modinfo != 0 {
		info := f.data(f.modinfo)
		if len(info) > 0 && info[len(info)-1] != 0 {
			return modErrorf(kernErr, "Invalid .modinfo section: not null terminated") // Linux reads on
		}
		for _, line := range strings.Split(string(info), "\x00") {
			if name, ok := strings.CutPrefix(line, "name="); ok {
				f.name = name
				break
			}
		}
	}
	for i := range f.sections {
		if elf.SectionType(f.sections[i].Type) == elf.SHT_SYMTAB {
			f.symtab = i // the last one counts
		}
	}
	if f.symtab == 0 {
		return modErrorf(kernWarn, "%s: module has no symbols (stripped?)", orElse(f.name, "(missing .modinfo section or name field)"))
	}
	if f.this = f.find(".gnu.linkonce.this_module"); f.this == 0 || f.data(f.this) == nil {
		return modErrorf(kernWarn, "%s: No module found in object", orElse(f.name, "(missing .modinfo name field)"))
	}
	return nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// maxModSyms bounds what a hostile file can make us hold.
const maxModSyms = 1 << 16

func (f *modFile) readSymbols() error {
	tab, names := f.data(f.symtab), f.data(int(f.sections[f.symtab].Link))
	size := binary.Size(elf.Sym64{})
	if len(tab)/size > maxModSyms {
		return modErrorf(kernErr, "%s: too many symbols", f.name)
	}
	for off := 0; off+size <= len(tab); off += size {
		var s modSym
		if _, err := binary.Decode(tab[off:], binary.LittleEndian, &s.Sym64); err != nil {
			return modErrorf(kernErr, "%s: bad symbol table", f.name)
		}
		if uint64(s.Name) < uint64(len(names)) {
			s.name = cString(names[s.Name:])
		}
		f.syms = append(f.syms, s)
	}
	return nil
}

// layout is layout_sections and layout_symtab: core and init parts, each with its text first, then read-only data, then
// the rest, at page boundaries (CONFIG_STRICT_MODULE_RWX).
func (f *modFile) layout() error {
	for _, i := range []int{f.modinfo, f.find("__versions"), f.find(".data..percpu")} {
		if i == 0 {
			continue
		}
		f.sections[i].Flags &^= uint64(elf.SHF_ALLOC) // read from the file only
		if f.sections[i].name == ".data..percpu" && f.sections[i].Size > 0 {
			return &modError{ENOMEM, []string{kernWarn + fmt.Sprintf("%s: Could not allocate %d bytes percpu data", f.name, f.sections[i].Size)}}
		}
	}
	for _, init := range []bool{false, true} {
		l := &f.core
		if init {
			l = &f.init
		}
		for step, want := range []struct{ must, not elf.SectionFlag }{
			{elf.SHF_EXECINSTR | elf.SHF_ALLOC, 0}, {elf.SHF_ALLOC, elf.SHF_WRITE}, {elf.SHF_ALLOC | elf.SHF_WRITE, 0},
		} {
			if err := f.place(l, want.must, want.not, init); err != nil {
				return err
			}
			l.size = pageUp(l.size)
			switch step {
			case 0:
				l.text = l.size
			case 1:
				l.ro = l.size
			}
		}
	}
	f.layoutSymbols()
	if f.core.size+f.init.size > moduleArea {
		return &modError{ENOMEM, nil}
	}
	return nil
}

// place gives an offset to each section with the flags must and without not.
func (f *modFile) place(l *modLayout, must, not elf.SectionFlag, init bool) error {
	for i := range f.sections {
		s := &f.sections[i]
		if elf.SectionFlag(s.Flags)&must != must || elf.SectionFlag(s.Flags)&not != 0 || s.at != noPlace ||
			strings.HasPrefix(s.name, ".init") != init {
			continue
		}
		align := max(s.Addralign, 1)
		if align&(align-1) != 0 || align > 4096 {
			return modErrorf(kernErr, "%s: section %s is aligned to %d", f.name, s.name, s.Addralign)
		}
		if s.Size > moduleArea {
			return &modError{ENOMEM, nil}
		}
		l.size = (l.size + align - 1) &^ (align - 1)
		s.at, s.init = l.size, init
		if l.size += s.Size; l.size > 2*moduleArea {
			return &modError{ENOMEM, nil}
		}
	}
	return nil
}

// layoutSymbols keeps what is_core_symbol keeps: symbols of sections that stay. Entry 0 is empty, as in every table.
func (f *modFile) layoutSymbols() {
	k := &f.kall
	k.names = []byte{0}
	for i := range f.syms {
		s := &f.syms[i]
		if i == 0 || s.name == "" || strings.HasPrefix(s.name, "$") || strings.HasPrefix(s.name, ".L") || int(s.Shndx) >= len(f.sections) {
			continue
		}
		if sec := &f.sections[s.Shndx]; s.Shndx != 0 && sec.at != noPlace && !sec.init {
			k.keep = append(k.keep, i)
			k.names = append(append(k.names, s.name...), 0)
		}
	}
	n := uint64(len(k.keep) + 1)
	k.symtab = f.core.size
	k.strtab = k.symtab + n*uint64(binary.Size(elf.Sym64{}))
	k.typetab = k.strtab + uint64(len(k.names))
	f.core.size = pageUp(k.typetab + n)
}

// kind is elf_type: the letter of a symbol for kallsyms, in lower case.
func (f *modFile) kind(s *modSym) byte {
	if elf.ST_BIND(s.Info) == elf.STB_WEAK {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
			return 'v'
		}
		return 'w'
	}
	sec := &f.sections[s.Shndx]
	flags := elf.SectionFlag(sec.Flags)
	switch {
	case flags&elf.SHF_EXECINSTR != 0:
		return 't'
	case flags&elf.SHF_WRITE == 0:
		return 'r'
	case elf.SectionType(sec.Type) == elf.SHT_NOBITS:
		return 'b'
	}
	return 'd'
}

// bases say where the parts of a module lie.
type modBases struct{ core, init uint64 }

// addr is the address of section i, 0 when it is not loaded.
func (f *modFile) addr(i int, b modBases) uint64 {
	switch s := &f.sections[i]; {
	case s.at == noPlace:
		return 0
	case s.init:
		return b.init + s.at
	default:
		return b.core + s.at
	}
}

// sectionNamed finds a loaded section for module_section.
func (f *modFile) sectionNamed(name string, b modBases) (addr, size uint64) {
	k := &f.kall
	n := uint64(len(k.keep) + 1)
	switch name {
	case ".symtab":
		return b.core + k.symtab, n * uint64(binary.Size(elf.Sym64{}))
	case ".strtab":
		return b.core + k.strtab, uint64(len(k.names))
	case ".typetab":
		return b.core + k.typetab, n
	}
	i := slices.IndexFunc(f.sections, func(s modSection) bool { return s.name == name && s.at != noPlace })
	if i < 0 || f.sections[i].Size == 0 {
		return 0, 0
	}
	return f.addr(i, b), f.sections[i].Size
}

package kernel

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kscope/kernel/guest"
)

// Sym is one row of kallsyms. Sections name it as the ELF file does; Module is "" for the kernel itself,
// a module's name, or "__builtin__ftrace" and the like for text that appeared at run time.
type Sym struct {
	Name    string
	Addr    uint64 // per-CPU symbols: the offset in the per-CPU area
	Size    uint64 // up to the next symbol or padding, as kallsyms counts: what %pS prints behind the slash
	ELFSize uint64 // the size that the compiler gave, without padding
	Kind    byte   // nm's letter: t T d D b B r R a A w W v V
	Section string
	Module  string
}

// PerCPUSection is the section of the per-CPU variables; it is linked at address 0.
const PerCPUSection = ".data..percpu"

// PerCPU says that Addr is an offset into each CPU's area.
func (s Sym) PerCPU() bool { return s.Section == PerCPUSection }

// Text says that the symbol names code.
func (s Sym) Text() bool { return s.Kind == 't' || s.Kind == 'T' || s.Kind == 'w' || s.Kind == 'W' }

func (s Sym) suffix() string {
	if s.Module == "" {
		return ""
	}
	return " [" + s.Module + "]"
}

// Symbols answers names from addresses and addresses from names, as kernel/kallsyms.c does. The rows of the image are
// shared by all forks of a machine and never change; rows added at run time belong to one machine.
type Symbols struct {
	base  *symTable
	added []Sym // sorted by address; few
}

type symTable struct {
	rows   []Sym            // sorted as scripts/kallsyms.c sorts: by address, aliases by likely preference
	percpu []Sym            // the same for the per-CPU section
	byName map[string][]Sym // both, in address order
	lo, hi uint64           // addresses that belong to the kernel image
}

// NewSymbols reads the symbol table of a linked image.
func NewSymbols(f *elf.File) (*Symbols, error) {
	raw, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("reading symbols: %w", err)
	}
	t := &symTable{byName: map[string][]Sym{}}
	for _, s := range raw {
		row, ok := rowOf(f, s)
		if !ok {
			continue
		}
		if row.PerCPU() {
			row.Kind = 'A' | row.Kind&0x20 // CONFIG_KALLSYMS_ABSOLUTE_PERCPU
			t.percpu = append(t.percpu, row)
		} else {
			t.rows = append(t.rows, row)
		}
	}
	end := imageEnd(f, &t.lo, &t.hi)
	sortSyms(t.rows)
	sortSyms(t.percpu)
	sizeSyms(t.rows, end)
	sizeSyms(t.percpu, perCPUEnd(f))
	for _, list := range [][]Sym{t.percpu, t.rows} {
		for _, s := range list {
			t.byName[s.Name] = append(t.byName[s.Name], s)
		}
	}
	return &Symbols{base: t}, nil
}

// rowOf turns an ELF symbol into a row, or drops what kallsyms drops (see is_ignored_symbol in scripts/kallsyms.c).
func rowOf(f *elf.File, s elf.Symbol) (Sym, bool) {
	typ := elf.ST_TYPE(s.Info)
	if s.Name == "" || typ == elf.STT_FILE || typ == elf.STT_SECTION || s.Section == elf.SHN_UNDEF {
		return Sym{}, false
	}
	if s.Name[0] == '$' || strings.HasPrefix(s.Name, ".L") {
		return Sym{}, false
	}
	row := Sym{Name: s.Name, Addr: s.Value, ELFSize: s.Size, Kind: 'A'}
	global := elf.ST_BIND(s.Info) != elf.STB_LOCAL
	if s.Section < elf.SHN_LORESERVE && int(s.Section) < len(f.Sections) {
		sec := f.Sections[s.Section]
		if sec.Flags&elf.SHF_ALLOC == 0 {
			return Sym{}, false
		}
		row.Section = sec.Name
		row.Kind = sectionKind(sec)
	} else if s.Section != elf.SHN_ABS || s.Value < 1<<63 {
		return Sym{}, false // absolute numbers are no addresses
	}
	if elf.ST_BIND(s.Info) == elf.STB_WEAK {
		row.Kind = 'W'
		if typ == elf.STT_OBJECT {
			row.Kind = 'V'
		}
	}
	if !global {
		row.Kind |= 0x20
	}
	return row, true
}

// sectionKind is nm's letter for a global symbol of a section.
func sectionKind(s *elf.Section) byte {
	switch {
	case s.Flags&elf.SHF_EXECINSTR != 0:
		return 'T'
	case s.Type == elf.SHT_NOBITS:
		return 'B'
	case s.Flags&elf.SHF_WRITE != 0:
		return 'D'
	}
	return 'R'
}

func imageEnd(f *elf.File, lo, hi *uint64) uint64 {
	*lo = ^uint64(0)
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Name == PerCPUSection || s.Addr < 1<<63 {
			continue
		}
		*lo = min(*lo, s.Addr)
		*hi = max(*hi, s.Addr+s.Size)
	}
	return *hi
}

func perCPUEnd(f *elf.File) uint64 {
	if s := f.Section(PerCPUSection); s != nil {
		return s.Addr + s.Size
	}
	return 0
}

// sortSyms orders by address; among aliases the one that lookups prefer comes first: not weak, not a linker script's
// mark, fewest leading underscores (see compare_symbols in scripts/kallsyms.c), then by name, to be stable.
func sortSyms(rows []Sym) {
	rank := func(s Sym) int {
		n := len(s.Name) - len(strings.TrimLeft(s.Name, "_"))
		if s.ELFSize == 0 && (strings.HasPrefix(s.Name, "__start_") || strings.HasPrefix(s.Name, "__stop_") ||
			strings.HasPrefix(s.Name, "__end_") || strings.HasSuffix(s.Name, "_start") || strings.HasSuffix(s.Name, "_end")) {
			n += 100
		}
		if s.Kind|0x20 == 'w' || s.Kind|0x20 == 'v' {
			n += 1000
		}
		return n
	}
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		if a.Addr != b.Addr {
			return a.Addr < b.Addr
		}
		if ra, rb := rank(a), rank(b); ra != rb {
			return ra < rb
		}
		return a.Name < b.Name
	})
}

// sizeSyms gives each row the distance to the next higher address (get_symbol_pos in kernel/kallsyms.c), or to the padding
// between two objects of the image, which belongs to no symbol.
func sizeSyms(rows []Sym, end uint64) {
	next, size := end, uint64(0)
	for i := len(rows) - 1; i >= 0; i-- {
		if i+1 < len(rows) && rows[i+1].Addr != rows[i].Addr {
			next, size = rows[i+1].Addr, 0
		}
		size = max(size, rows[i].ELFSize)
		if next > rows[i].Addr {
			rows[i].Size = guest.SymbolSize(rows[i].Addr, size, next)
		}
	}
}

// Fork is the table for a fork of the machine.
func (s *Symbols) Fork() *Symbols { return &Symbols{base: s.base, added: slices.Clone(s.added)} }

// Add names text or data that appeared at run time: trampolines, slots, modules. Ranges do not overlap; a row of the same
// address and name replaces the old one.
func (s *Symbols) Add(row Sym) {
	if row.Kind == 0 {
		row.Kind = 't'
	}
	if row.ELFSize == 0 {
		row.ELFSize = row.Size
	}
	i := sort.Search(len(s.added), func(i int) bool { return s.added[i].Addr >= row.Addr })
	if i < len(s.added) && s.added[i].Addr == row.Addr && s.added[i].Name == row.Name {
		s.added[i] = row
		return
	}
	s.added = slices.Insert(s.added, i, row)
}

// Remove forgets the rows added at addr.
func (s *Symbols) Remove(addr uint64) {
	s.added = slices.DeleteFunc(s.added, func(r Sym) bool { return r.Addr == addr })
}

// RemoveModule forgets all rows of a module.
func (s *Symbols) RemoveModule(name string) {
	s.added = slices.DeleteFunc(s.added, func(r Sym) bool { return r.Module == name })
}

// ByName returns every symbol of that name in address order; static functions can share one. "mod:name" asks for a
// module's only.
func (s *Symbols) ByName(name string) []Sym {
	mod, plain, qualified := strings.Cut(name, ":")
	if !qualified {
		mod, plain = "", name
	}
	var out []Sym
	if !qualified {
		out = s.base.byName[plain]
	}
	for _, r := range s.added {
		if r.Name == plain && (!qualified || r.Module == mod) {
			out = append(out[:len(out):len(out)], r)
		}
	}
	return out
}

// Lookup returns the address of the first symbol of that name (kallsyms_lookup_name).
func (s *Symbols) Lookup(name string) (uint64, bool) {
	if rows := s.ByName(name); len(rows) > 0 {
		return rows[0].Addr, true
	}
	return 0, false
}

// MustLookup is for names that the image has to have; kscope's own image always does, a foreign one is refused at load.
func (s *Symbols) MustLookup(name string) uint64 {
	a, ok := s.Lookup(name)
	if !ok {
		panic("BUG: the image has no symbol " + name)
	}
	return a
}

// At returns the symbol that covers addr and the offset in it. Sym.Name is "" when nothing does.
func (s *Symbols) At(addr uint64) (Sym, uint64) {
	if i := sort.Search(len(s.added), func(i int) bool { return s.added[i].Addr > addr }); i > 0 {
		if r := s.added[i-1]; addr-r.Addr < r.Size {
			return r, addr - r.Addr
		}
	}
	if addr < s.base.lo || addr >= s.base.hi {
		return Sym{}, 0
	}
	rows := s.base.rows
	i := sort.Search(len(rows), func(i int) bool { return rows[i].Addr > addr })
	if i == 0 {
		return Sym{}, 0
	}
	for i--; i > 0 && rows[i-1].Addr == rows[i].Addr; i-- {
	}
	if addr-rows[i].Addr >= rows[i].Size {
		return Sym{}, 0
	}
	return rows[i], addr - rows[i].Addr
}

// Name returns what %ps prints: the symbol without offset, or the number.
func (s *Symbols) Name(addr uint64) string {
	if r, _ := s.At(addr); r.Name != "" {
		return r.Name + r.suffix()
	}
	return "0x" + strconv.FormatUint(addr, 16)
}

// Format returns what %pS prints: "vfs_read+0x1f/0x2d0", with " [module]" behind it, or the number.
func (s *Symbols) Format(addr uint64) string { return s.format(addr, addr) }

// FormatReturn returns what %pB prints: as Format, but named by the call in front of addr, since a call that does not
// return can be its function's last instruction (sprint_backtrace).
func (s *Symbols) FormatReturn(addr uint64) string { return s.format(addr-1, addr) }

func (s *Symbols) format(probe, addr uint64) string {
	r, off := s.At(probe)
	if r.Name == "" {
		return "0x" + strconv.FormatUint(addr, 16)
	}
	off += addr - probe
	return r.Name + "+0x" + strconv.FormatUint(off, 16) + "/0x" + strconv.FormatUint(r.Size, 16) + r.suffix()
}

// All returns every symbol: per-CPU first, then by address, as /proc/kallsyms lists them.
func (s *Symbols) All() []Sym {
	return slices.Concat(s.base.percpu, s.base.rows, s.added)
}

// Glob returns the symbols whose names match, in the order of All; kinds, when not "", keeps only those letters.
func (s *Symbols) Glob(pattern, kinds string) []Sym {
	var out []Sym
	for _, r := range s.All() {
		if (kinds == "" || strings.IndexByte(kinds, r.Kind) >= 0) && Glob(pattern, r.Name) {
			out = append(out, r)
		}
	}
	return out
}

// Suggest returns the symbol names closest to a misspelt one, best first, at most three.
func (s *Symbols) Suggest(name string) []string {
	names := slices.Collect(maps.Keys(s.base.byName))
	for _, r := range s.added {
		names = append(names, r.Name)
	}
	return Suggest(name, names)
}

// SymbolError says why a piece of text names no address. Off is where in Text.
type SymbolError struct {
	Text string
	Off  int
	Msg  string
	Hint []string // closest names
	Err  Errno    // what Linux answers
}

func (e *SymbolError) Error() string {
	s := e.Msg
	if len(e.Hint) > 0 {
		s += fmt.Sprintf("; did you mean %q?", e.Hint[0])
	}
	return s
}

// Unwrap lets errors.As find the errno that Linux gives.
func (e *SymbolError) Unwrap() error { return e.Err }

// Resolve turns "name", "name+0x10", "module:name" or "0xffffffff81000000" into an address. A name that several
// functions share is refused, as kprobes refuse it (EADDRNOTAVAIL).
func (s *Symbols) Resolve(text string) (uint64, error) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		v, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return 0, &SymbolError{Text: text, Msg: fmt.Sprintf("%q is no address", text), Err: EINVAL}
		}
		return v, nil
	}
	name, offText, hasOff := strings.Cut(text, "+")
	var off uint64
	if hasOff {
		v, err := strconv.ParseUint(offText, 0, 64)
		if err != nil {
			return 0, &SymbolError{Text: text, Off: len(name) + 1, Msg: fmt.Sprintf("%q is no offset", offText), Err: EINVAL}
		}
		off = v
	}
	rows := s.ByName(name)
	switch {
	case len(rows) == 0:
		return 0, &SymbolError{Text: text, Msg: fmt.Sprintf("no symbol %q", name), Hint: s.Suggest(name), Err: ENOENT}
	case len(rows) > 1 && rows[0].Addr != rows[len(rows)-1].Addr:
		return 0, &SymbolError{Text: text, Msg: fmt.Sprintf("%d symbols are named %q", len(rows), name), Err: EADDRNOTAVAIL}
	}
	return rows[0].Addr + off, nil
}

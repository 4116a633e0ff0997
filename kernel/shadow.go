package kernel

import (
	"fmt"
	"sort"
)

// Shadow RAM: the last 4 MiB of RAM, mapped R-X at shadowBase and never given to the guest's page allocator. It holds what
// tracers add to the guest: trampolines, detours, single-step slots.
const shadowBase = 0xffffffffc0200000

// ShadowText is one named piece of shadow RAM.
type ShadowText struct {
	Addr, Size uint64
	Name       string
	Like       uint64 // the code that it is a copy of, for the unwinder; 0: none
}

// shadow allocates first fit from a list sorted by address; pieces are 16-byte aligned.
type shadow struct {
	pieces []ShadowText
}

func (s *shadow) fork() shadow { return shadow{append([]ShadowText(nil), s.pieces...)} }

// ShadowAlloc reserves n bytes of shadow RAM under a name that stacks and %pS show.
func (m *Machine) ShadowAlloc(n int, name string) (uint64, error) {
	size := (uint64(n) + 15) &^ 15
	if n <= 0 {
		return 0, EINVAL
	}
	at := uint64(shadowBase)
	i := 0
	for ; i < len(m.shadow.pieces) && m.shadow.pieces[i].Addr-at < size; i++ {
		at = m.shadow.pieces[i].Addr + (m.shadow.pieces[i].Size+15)&^15
	}
	if at+size > detourBase {
		return 0, fmt.Errorf("allocating %d bytes of shadow RAM for %s: %w", n, name, ENOMEM)
	}
	m.shadow.pieces = append(m.shadow.pieces, ShadowText{})
	copy(m.shadow.pieces[i+1:], m.shadow.pieces[i:])
	m.shadow.pieces[i] = ShadowText{Addr: at, Size: uint64(n), Name: name}
	m.syms.Add(Sym{Name: name, Addr: at, Size: uint64(n), Kind: 't', Section: shadowSection, Module: "__builtin__kscope"})
	return at, nil
}

// shadowSection is what Sym.Section says of shadow text.
const shadowSection = ".shadow"

// ShadowLike says that the piece at va is a copy of the code at template, so that stacks unwind through it by the rows of
// the original.
func (m *Machine) ShadowLike(va, template uint64) {
	if i := m.shadowAt(va); i >= 0 {
		m.shadow.pieces[i].Like = template
	}
}

// unwindAlias is Unwinder.Alias.
func (m *Machine) unwindAlias(pc uint64) (uint64, bool) {
	if d := m.detourAt(pc); d != nil && d.n != 0 {
		if at, ok := m.inTemplate(pc); ok {
			return at, true
		}
		return m.DetourOrig(pc), true
	}
	if i := m.shadowAt(pc); i >= 0 && m.shadow.pieces[i].Like != 0 {
		return m.shadow.pieces[i].Like + pc - m.shadow.pieces[i].Addr, true
	}
	return 0, false
}

// ShadowFree gives a piece back. Its bytes become int3, so that a stray jump is seen.
func (m *Machine) ShadowFree(va uint64) {
	i := m.shadowAt(va)
	if i < 0 || m.shadow.pieces[i].Addr != va {
		panic(fmt.Sprintf("BUG: kernel: ShadowFree(%#x): not allocated", va))
	}
	if m.gates[va] != nil {
		m.EntryFunc(va, nil)
	}
	if m.entryGates[va] != nil {
		m.EntryTrampoline(va, nil, nil)
	}
	b := make([]byte, m.shadow.pieces[i].Size)
	for j := range b {
		b[j] = 0xcc
	}
	m.ShadowWrite(va, b)
	m.syms.Remove(va)
	m.shadow.pieces = append(m.shadow.pieces[:i], m.shadow.pieces[i+1:]...)
}

// ShadowWrite writes shadow RAM; code there is seen new by every CPU at once.
func (m *Machine) ShadowWrite(va uint64, b []byte) {
	if va < shadowBase || va+uint64(len(b)) > shadowBase+shadowSize {
		panic(fmt.Sprintf("BUG: kernel: ShadowWrite(%#x, %d bytes) outside shadow RAM", va, len(b)))
	}
	m.writeCode(m.shadowPhys(va), b)
}

// ShadowName finds the piece that holds va.
func (m *Machine) ShadowName(va uint64) (ShadowText, bool) {
	if i := m.shadowAt(va); i >= 0 {
		return m.shadow.pieces[i], true
	}
	return ShadowText{}, false
}

// ShadowTexts lists the pieces by address.
func (m *Machine) ShadowTexts() []ShadowText { return append([]ShadowText(nil), m.shadow.pieces...) }

func (m *Machine) shadowAt(va uint64) int {
	i := sort.Search(len(m.shadow.pieces), func(i int) bool { return m.shadow.pieces[i].Addr > va }) - 1
	if i >= 0 && va < m.shadow.pieces[i].Addr+m.shadow.pieces[i].Size {
		return i
	}
	return -1
}

func (m *Machine) shadowPhys(va uint64) uint64 { return m.phys.Size() - shadowSize + va - shadowBase }
